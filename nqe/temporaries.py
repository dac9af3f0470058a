"""Temporary names beside what is written, and the removal of those that killed processes left.

The temporary files of a path begin with a prefix of their own and are made only while its lock
is held. So whoever gets the lock knows that all of them are left over.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path

from nqe.locks import hold_lock, try_lock

PATIENCE = 5.0
"""Seconds to wait for another process that writes the same file or folder."""
REPLACED = "-old-"
"""In the name of a folder that holds the old version of a folder while that is replaced."""
_PREFIX = re.compile(r"\.nqe-[0-9a-f]{12}(?=[-.])")


@contextmanager
def reserve(path: Path) -> Iterator[str]:
    """Lock a path for writing within the block; gives the prefix for its temporary names.

    What killed processes left in the folder, for this path or for others, is removed.
    """
    # A hash, as the name itself may be as long as names can be.
    prefix = f".nqe-{sha256(path.name.encode(errors='surrogateescape')).hexdigest()[:12]}"
    with hold_lock(_lock_file(path.parent, prefix), path, PATIENCE) as lock:
        if lock.is_sure:
            _remove_leftovers(path.parent, prefix)
            _remove_others(path.parent, prefix)
        yield prefix


def _remove_others(folder: Path, own: str) -> None:
    """Remove what killed processes left that wrote other paths in a folder."""
    for prefix in _find_prefixes(folder) - {own}:
        with suppress(OSError):  # what belongs to another user stays
            lock = try_lock(_lock_file(folder, prefix))
            if lock is not None:
                try:
                    _remove_leftovers(folder, prefix)
                finally:
                    lock.release()


def _lock_file(folder: Path, prefix: str) -> Path:
    return folder / f"{prefix}.lock"


def _find_prefixes(folder: Path) -> set[str]:
    found = (_PREFIX.match(path.name) for path in folder.iterdir())
    return {match[0] for match in found if match}


def _remove_leftovers(folder: Path, prefix: str) -> None:
    """Remove the temporaries of a prefix; an old version whose place is empty is put back."""
    for left in folder.glob(f"{prefix}-*"):
        if REPLACED in left.name:
            for old in left.iterdir():
                if not (folder / old.name).exists():
                    old.rename(folder / old.name)
        if left.is_dir() and not left.is_symlink():
            shutil.rmtree(left, ignore_errors=True)
        else:
            with suppress(OSError):
                left.unlink()
