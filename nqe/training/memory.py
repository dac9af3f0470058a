"""Settings of the C library's memory allocator that make long trainings on a CPU faster."""

from __future__ import annotations

import ctypes
import sys

_M_TRIM_THRESHOLD, _M_MMAP_MAX = -1, -4  # constants of glibc's mallopt


def keep_freed_memory() -> None:
    """Let the process reuse freed memory instead of returning it to the system.

    Every step allocates and frees tensors as large as the entity table. By default each of them
    gets new pages from the system, which must be zeroed: a tenth of the training time.
    """
    if not sys.platform.startswith("linux"):
        return
    library = ctypes.CDLL(None)
    set_option = getattr(library, "mallopt", None)
    if set_option is not None:
        set_option(_M_MMAP_MAX, 0)
        set_option(_M_TRIM_THRESHOLD, 2**31 - 1)


def return_freed_memory() -> None:
    """Return freed memory that is fragmented to the system.

    Batches of mixed shapes differ in size; if all their memory were kept, it would grow for
    hours.
    """
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
    if trim is not None:
        trim(0)
