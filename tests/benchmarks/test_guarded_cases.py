"""Cases with limits: one that hangs, dies or takes too much costs one case."""

from __future__ import annotations

import os
import time

import pytest
from guarded_cases import Outcome, Tally, run_cases

MEGABYTE = 1 << 20


def run(case: int) -> Outcome:
    """Do something else for each number."""
    match case:
        case 1:
            time.sleep(60)
        case 2:
            os._exit(3)
        case 3:
            raise KeyError("lost")
        case 4:
            return Outcome("harmless", f"held {len(bytearray(os.urandom(MEGABYTE)) * 1_200)}")
        case 5:
            return Outcome("refused", "no")
    return Outcome("harmless")


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_what_ends_a_case_is_recorded_and_the_next_one_is_run() -> None:
    tally = Tally()
    for measured in run_cases(run, 7, seconds=2):
        tally.add(measured)
    assert tally.verdicts == {"failed": 4, "harmless": 2, "refused": 1}
    said = dict(tally.failures)
    assert said[1] == "no result after 2 s"
    assert said[2] == "the process ended with 3"
    assert said[3].startswith("KeyError at test_guarded_cases.py:")
    assert said[4].startswith("took 1,")
    assert tally.megabytes > 1_000
