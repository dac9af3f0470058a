"""The folder in which nqe keeps files between runs: the shell's history, fetched data sets."""

from __future__ import annotations

import os
from pathlib import Path


def find_home() -> Path:
    """NQE_HOME, or `nqe` in the user's cache folder."""
    if home := os.environ.get("NQE_HOME"):
        return Path(home)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "nqe"
