"""Version numbers: of the package, and of what its parts compute."""

VERSION = "0.1.0"

# Raise a number by one when that part computes something else from the same data, settings and
# seed. Caches compare them, so that a benchmark does not reuse what an older version made.
SAMPLER_VERSION = 1
MODEL_VERSION = 2
TRAINER_VERSION = 2
EVALUATION_VERSION = 1
