"""How the threads of PyTorch wait for each other: they go to sleep soon, instead of spinning.

The threads of an operation wait for the slowest of them. By default they spin while they wait, for
milliseconds, which costs little on an idle machine. Where another process uses a core, the thread
that all wait for often has no core, because the others spin on it.
"""

from __future__ import annotations

import os
import sys

WAITING = {
    # GNU's OpenMP, which PyTorch uses on Linux: turns of a loop before a thread sleeps. A turn
    # takes about 15 ns, and the default is 300,000. benchmarks/results/busy-training.md compares.
    "GOMP_SPINCOUNT": "1000",
    # LLVM's and Intel's OpenMP (macOS, Windows): milliseconds; the default is 200. Not measured.
    "KMP_BLOCKTIME": "1",
}
"""Environment variables that OpenMP reads when PyTorch is imported."""
CHOICES = (*WAITING, "OMP_WAIT_POLICY", "KMP_LIBRARY")
"""Variables that say how threads wait; if the user has set one of them, all stay as they are."""


def let_threads_sleep() -> None:
    """Set up how threads wait, unless the user has chosen it or PyTorch is imported already.

    Processes that this one starts inherit it.
    """
    if "torch" in sys.modules or any(name in os.environ for name in CHOICES):
        return
    os.environ.update(WAITING)
