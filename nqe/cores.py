"""The number of CPU cores that this process may use."""

from __future__ import annotations

import os


def usable_cores() -> int:
    """Count the cores this process may run on; all of the machine's where that is unknown."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
