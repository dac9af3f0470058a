"""Writing that leaves nothing half-written: a temporary name first, then a rename."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from nqe.errors import StorageError


@contextmanager
def new_file(path: Path) -> Iterator[Path]:
    """A temporary file to write; it takes the path's place when the block ends well."""
    with _told_plainly(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        # A hidden name with the same ending, as writers go by the ending.
        ending = "".join(path.suffixes)
        handle, name = tempfile.mkstemp(prefix=".nqe-", suffix=ending, dir=path.parent)
        os.close(handle)
        temporary = Path(name)
        try:
            yield temporary
            temporary.chmod(0o666 & ~_umask())
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)


@contextmanager
def new_folder(path: Path, marker: str) -> Iterator[Path]:
    """A temporary folder to fill; it takes the path's place when the block ends well.

    A folder that is there already is replaced only when it is empty or holds the marker file,
    so that a mistyped path never costs anyone their files.
    """
    with _told_plainly(path):
        _refuse_to_replace(path, marker)
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(prefix=".nqe-", dir=path.parent))
        try:
            yield temporary
            temporary.chmod(0o777 & ~_umask())
            _swap(temporary, path)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)


def _refuse_to_replace(path: Path, marker: str) -> None:
    if path.is_dir():
        if any(path.iterdir()) and not (path / marker).exists():
            raise StorageError(
                f"{path}: the folder holds other files; choose another name for the output"
            )
    elif path.exists():
        raise StorageError(f"{path}: a file of that name exists; choose another for the folder")


def _swap(temporary: Path, path: Path) -> None:
    """Put the temporary folder in the path's place; the old one is deleted only after that."""
    if not path.exists():
        temporary.rename(path)
        return
    old = Path(tempfile.mkdtemp(prefix=".nqe-old-", dir=path.parent))
    path.rename(old / path.name)
    try:
        temporary.rename(path)
    except OSError:
        (old / path.name).rename(path)
        raise
    finally:
        shutil.rmtree(old, ignore_errors=True)


@contextmanager
def _told_plainly(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        advice = {
            errno.ENOSPC: "free some space and run it again",
            errno.EDQUOT: "free some space and run it again",
            errno.EACCES: "choose a place you may write to",
            errno.EROFS: "choose a place you may write to",
        }.get(error.errno or 0)
        if advice is None:
            raise
        reason = os.strerror(error.errno or 0).lower()
        raise StorageError(f"{path}: cannot be written ({reason}); {advice}") from error


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
