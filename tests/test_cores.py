"""How many cores a process may use, also where the system does not tell."""

from __future__ import annotations

import os

import pytest

from nqe.cores import usable_cores
from nqe.demo import demo_dataset
from nqe.sampling import sample
from nqe.settings import SamplingSettings


def test_a_process_may_use_the_cores_that_it_is_bound_to(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 8)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {2, 3, 5}, raising=False)
    assert usable_cores() == 3


@pytest.mark.parametrize(("count", "expected"), [(8, 8), (None, 1)])
def test_without_affinity_all_cores_count(
    monkeypatch: pytest.MonkeyPatch, count: int | None, expected: int
) -> None:
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: count)
    assert usable_cores() == expected


def test_queries_are_sampled_without_affinity(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    settings = SamplingSettings(shapes=("1p",), train=0, valid=0, test=3)
    assert len(sample(demo_dataset(), settings).splits["test"]) == 3
