"""The number of cores that this process may use."""

from __future__ import annotations

import os

import pytest

from nqe.cores import usable_cores


def test_cores_are_counted_where_the_system_does_not_tell_the_affinity(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 6)
    assert usable_cores() == 6
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert usable_cores() == 1
