"""Writing that leaves nothing half-written: a temporary name first, then a rename.

What has the final name is on the disk in full, also after a power cut.
"""

from __future__ import annotations

import ctypes
import errno
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from nqe.errors import StorageError

# What to do about the errors that a full or forbidden place gives; other errors get the last.
ADVICE = {
    errno.ENOSPC: "free some space and run it again",
    errno.EDQUOT: "free some space and run it again",
    errno.EFBIG: "raise the limit on file sizes or choose another place",
    errno.EACCES: "choose a place you may write to",
    errno.EPERM: "choose a place you may write to",
    errno.EROFS: "choose a place you may write to",
}
OTHER_ADVICE = "choose another place"


@contextmanager
def new_file(path: Path) -> Iterator[Path]:
    """A temporary file to write; it takes the path's place when the block ends well."""
    with told_plainly(path), _parents(path):
        # A hidden name with the same ending, as writers go by the ending.
        ending = "".join(path.suffixes)
        handle, name = tempfile.mkstemp(prefix=".nqe-", suffix=ending, dir=path.parent)
        os.close(handle)
        temporary = Path(name)
        try:
            yield temporary
            temporary.chmod(0o666 & ~_umask())
            _sync(temporary)
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)


@contextmanager
def new_folder(path: Path, marker: str, text: str = "") -> Iterator[Path]:
    """A temporary folder to fill; it takes the path's place when the block ends well.

    A folder that is there already is replaced only when `check_replaceable` lets it.
    """
    with told_plainly(path), _parents(path):
        check_replaceable(path, marker, text)
        temporary = Path(tempfile.mkdtemp(prefix=".nqe-", dir=path.parent))
        try:
            temporary.chmod(0o777 & ~_umask())
            yield temporary
            for inside in (temporary, *temporary.rglob("*")):
                _sync(inside)
            _swap(temporary, path)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)


def check_replaceable(path: Path, marker: str, text: str = "") -> None:
    """Refuse a path at which something else stands.

    A folder may be replaced when it is empty or has a marker file with the text in it, so that
    a mistyped path never costs anyone their files.
    """
    if path.is_dir():
        if any(path.iterdir()) and not has_mark(path / marker, text):
            raise StorageError(
                f"{path}: the folder holds other files; choose another name for the output"
            )
    elif path.exists():
        raise StorageError(f"{path}: a file of that name exists; choose another for the folder")


def plain_reason(error: OSError) -> str:
    """What the system says of an error, and what to do about it."""
    reason = os.strerror(error.errno).lower() if error.errno else str(error)
    return f"cannot be written ({reason}); {ADVICE.get(error.errno or 0, OTHER_ADVICE)}"


@contextmanager
def told_plainly(path: Path) -> Iterator[None]:
    """What the system refuses about a path becomes a StorageError that says so."""
    try:
        yield
    except OSError as error:
        raise StorageError(f"{path}: {plain_reason(error)}") from error


def has_mark(path: Path, text: str) -> bool:
    """Whether a file is there and has the text in it."""
    try:
        return text in path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return False


def _sync(path: Path) -> None:
    """Wait until a file is on the disk; of a folder, its names."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _swap(temporary: Path, path: Path) -> None:
    """Put the temporary folder in the path's place; the old one is deleted only after that."""
    if not path.exists():
        temporary.rename(path)
        return
    if _exchange(temporary, path):
        return
    old = Path(tempfile.mkdtemp(prefix=".nqe-old-", dir=path.parent))
    try:
        path.rename(old / path.name)
        temporary.rename(path)
    except BaseException:
        # An interrupt too must not cost the old folder.
        if not path.exists():
            (old / path.name).rename(path)
        raise
    finally:
        shutil.rmtree(old, ignore_errors=True)


def _exchange(one: Path, other: Path) -> bool:
    """Let two folders change places at once, so that not even a kill comes between; if possible."""
    rename = getattr(ctypes.CDLL(None), "renameat2", None)
    here, exchange = -100, 2  # AT_FDCWD, RENAME_EXCHANGE of Linux
    return rename is not None and not rename(here, bytes(one), here, bytes(other), exchange)


@contextmanager
def _parents(path: Path) -> Iterator[None]:
    """The folders above a path, made where missing and taken away again if the block fails."""
    missing = [folder for folder in path.absolute().parents if not folder.exists()]
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        yield
    except BaseException:
        for folder in missing:
            with suppress(OSError):
                folder.rmdir()
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
