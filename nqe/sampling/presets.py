"""Presets of sampling settings: published benchmarks, and queries that are no trees."""

from __future__ import annotations

from nqe.errors import choose
from nqe.sampling.patterns import PATTERNS
from nqe.settings import SamplingSettings

CONJUNCTIVE = ("1p", "2p", "3p", "2i", "3i", "pi", "ip")

PRESETS = {
    # The paper's WD50K-NFOL: all shapes, closed atoms, any slot.
    "wd50k-nfol": SamplingSettings(match="closed", train=20_000, valid=1_000, test=2_000),
    # StarQE's WD50K-QE: conjunctive shapes, object slots, one qualifier per atom, open atoms.
    "wd50k-qe": SamplingSettings(
        shapes=CONJUNCTIVE,
        match="open",
        slots=("object",),
        qualifiers=1,
        train=30_000,
        valid=1_000,
        test=2_000,
    ),
    # Cycles, several targets and the like; both kinds of atoms, and few enough rows to rank.
    "beyond-trees": SamplingSettings(
        shapes=tuple(PATTERNS), match="any", train=0, valid=50, test=250, max_answers=100
    ),
}


def choose_preset(name: str) -> SamplingSettings:
    """Return the settings of a preset."""
    return choose(PRESETS, name, "preset")
