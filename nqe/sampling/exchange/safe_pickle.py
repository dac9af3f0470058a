"""Loads pickles from other programs without running code: built-in containers and values only.

What a pickle would build is measured before it is loaded, and a file that would grow out of all
proportion is refused; see pickle_limits.py.
"""

from __future__ import annotations

import io
import os
import pickle
import stat
from collections import defaultdict
from pathlib import Path
from typing import Any

from nqe.errors import InputError
from nqe.sampling.exchange.pickle_limits import TooLarge, check_growth

# The largest file that is read. The published ones have up to some hundred megabytes.
LARGEST_FILE = 2 << 30

# Everything that a pickle may call: built-in types only, as a pickle cannot change those.
# Python 2, and protocols up to 2, call their module __builtin__.
TYPES = (dict, list, tuple, set, frozenset, int)
ALLOWED: dict[tuple[str, str], Any] = {
    **{(home, kind.__name__): kind for home in ("builtins", "__builtin__") for kind in TYPES},
    ("__builtin__", "long"): int,
    ("collections", "defaultdict"): defaultdict,
}


class Forbidden(Exception):
    """A pickle asks for something other than a built-in container."""


class _Unpickler(pickle.Unpickler):
    """Finds only what is allowed; every way to call code goes through `find_class`."""

    def find_class(self, module: str, name: str) -> Any:
        """Return the type of that name, if it is allowed."""
        if (module, name) not in ALLOWED:
            raise Forbidden(f"{module}.{name}")
        return ALLOWED[module, name]

    def persistent_load(self, number: Any) -> Any:
        """Refuse objects that only the program that wrote the pickle could look up."""
        raise Forbidden(f"a persistent id {number!r}")


def load(path: Path) -> Any:
    """Load a pickle; texts of Python 2 are read as latin-1."""
    try:
        content = _read(path)
        check_growth(content)
        return _Unpickler(io.BytesIO(content), encoding="latin-1").load()
    except InputError:
        raise
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise InputError(f"{path}: cannot be read ({reason}); check the path") from error
    except Forbidden as error:
        raise InputError(
            f"{path}: the pickle asks for {error}, which is not a built-in container and could "
            "run code; nothing was run; convert the file to plain dicts, lists and sets"
        ) from error
    except TooLarge as error:
        raise InputError(
            f"{path}: the pickle would grow too large ({error}); check where it comes from"
        ) from error
    except Exception as error:  # wrong bytes make the unpickler raise anything
        raise InputError(
            f"{path}: not a complete pickle ({_reason(error)}); download or copy the file again"
        ) from error


def _read(path: Path) -> bytes:
    """The bytes of a file of limited size; a device may never end."""
    with path.open("rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode) or status.st_size > LARGEST_FILE:
            raise InputError(
                f"{path}: not a file of at most {LARGEST_FILE >> 30} GB; check where it comes from"
            )
        return file.read(status.st_size)


def _reason(error: Exception) -> str:
    text = " ".join(str(error).split()) or type(error).__name__
    return text[:100]
