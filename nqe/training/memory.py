"""Memory of a long training on a CPU."""

from __future__ import annotations

import ctypes
import sys

_MOST_MAPPED, _TRIM_FROM = -4, -1  # M_MMAP_MAX and M_TRIM_THRESHOLD of glibc


def keep_memory() -> None:
    """Let freed memory be used again instead of given back.

    Tensors as large as the table of entities are made and freed at every step. By default each
    gets pages from the system anew, which must be zeroed one by one: a tenth of the time.
    """
    if not sys.platform.startswith("linux"):
        return
    library = ctypes.CDLL(None)
    set_option = getattr(library, "mallopt", None)
    if set_option is not None:
        set_option(_MOST_MAPPED, 0)
        set_option(_TRIM_FROM, 2**31 - 1)


def tidy_memory() -> None:
    """Give back freed memory that lies in pieces.

    Batches of mixed shapes differ in size; kept for good, their memory would grow for hours.
    """
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
    if trim is not None:
        trim(0)
