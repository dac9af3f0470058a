"""How many processor cores this process may use."""

from __future__ import annotations

import os


def usable_cores() -> int:
    """Count the cores that this process may run on; where that is unknown, all cores."""
    if hasattr(os, "sched_getaffinity"):  # not on macOS and Windows
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
