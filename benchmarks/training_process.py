"""A training of a few steps in a process of its own, with what the environment says of threads.

`python benchmarks/training_process.py DATA STEPS SECONDS` trains with the default settings on the
one-hop queries of a data set and prints as JSON the queries per second, the number of threads, how
they wait, and the digest of the weights. If the steps take longer than these seconds, it ends early
and without a digest.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nqe.demo import NAME, demo_dataset
from nqe.readers import read
from nqe.run_folders import LAST, WEIGHTS
from nqe.settings import RunSettings, TrainSettings
from nqe.training import TrainingStatus, fit_weights

WARM_UP = 2


class OutOfTime(Exception):
    """The steps took longer than they may."""


@dataclass
class Times:
    """When each step ended."""

    most: float
    ends: list[float] = field(default_factory=list)

    def add(self, _status: TrainingStatus) -> None:
        """Note the end of a step; the time counts from the end of the warm-up."""
        self.ends.append(time.perf_counter())
        if len(self.ends) > WARM_UP + 1 and self.ends[-1] - self.ends[WARM_UP - 1] > self.most:
            raise OutOfTime

    def rate(self, batch: int) -> float:
        """Queries per second after the warm-up."""
        counted = self.ends[WARM_UP - 1 :]
        return batch * (len(counted) - 1) / (counted[-1] - counted[0])


def train(data: str, steps: int, seconds: float) -> dict[str, Any]:
    """Train, and return what is printed."""
    dataset = demo_dataset() if data == NAME else read(data)
    settings = RunSettings(train=TrainSettings(shapes=("1p",), steps=steps, valid_queries=10))
    times, digest = Times(seconds), None
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder, "run")
        try:
            fit_weights(dataset, run, settings=settings, on_step=times.add)
            digest = hashlib.sha256((run / LAST / WEIGHTS).read_bytes()).hexdigest()
        except OutOfTime:
            pass
    return {
        "rate": times.rate(settings.train.batch),
        "threads": sys.modules["torch"].get_num_threads(),
        "spins": os.environ.get("GOMP_SPINCOUNT"),
        "digest": digest,
    }


if __name__ == "__main__":
    print(json.dumps(train(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]))))
