"""Safe writing of files and folders: under a temporary name first, then renamed.

Whatever has its final name is complete on disk, even after a power cut.
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

# What to do about the errors of a full disk or a path without permission.
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
    """A temporary file to write, which replaces the path unless the block raises."""
    with raise_storage_errors(path), _create_parents(path):
        # A hidden name with the same ending, as the ending decides what some writers write.
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
    """A temporary folder to fill, which replaces the path unless the block raises.

    `check_replaceable` decides whether an existing folder may be replaced.
    """
    with raise_storage_errors(path), _create_parents(path):
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
    """Refuse to replace anything that nqe has not written.

    A folder may be replaced if it is empty or if its marker file contains the text, so a mistyped
    path never costs anyone their files.
    """
    if path.is_dir():
        if any(path.iterdir()) and not contains_text(path / marker, text):
            raise StorageError(
                f"{path}: the folder holds other files; choose another name for the output"
            )
    elif path.exists():
        raise StorageError(f"{path}: a file of that name exists; choose another for the folder")


def explain_os_error(error: OSError) -> str:
    """What the operating system says about an error, and what to do about it."""
    reason = os.strerror(error.errno).lower() if error.errno else str(error)
    return f"cannot be written ({reason}); {ADVICE.get(error.errno or 0, OTHER_ADVICE)}"


@contextmanager
def raise_storage_errors(path: Path) -> Iterator[None]:
    """Raise the operating system's errors within the block as a StorageError about the path."""
    try:
        yield
    except OSError as error:
        raise StorageError(f"{path}: {explain_os_error(error)}") from error


def contains_text(path: Path, text: str) -> bool:
    """Whether a file exists and contains the text."""
    try:
        return text in path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return False


def _sync(path: Path) -> None:
    """Wait until a file's content, or a folder's list of names, is on disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _swap(temporary: Path, path: Path) -> None:
    """Replace the path by the temporary folder; the old folder is deleted only after that."""
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
        # Not even an interrupt may lose the old folder.
        if not path.exists():
            (old / path.name).rename(path)
        raise
    finally:
        shutil.rmtree(old, ignore_errors=True)


def _exchange(one: Path, other: Path) -> bool:
    """Swap two folders in one step, which a kill cannot interrupt; False if that is impossible."""
    rename = getattr(ctypes.CDLL(None), "renameat2", None)
    at_cwd, exchange = -100, 2  # AT_FDCWD and RENAME_EXCHANGE of Linux
    return rename is not None and not rename(at_cwd, bytes(one), at_cwd, bytes(other), exchange)


@contextmanager
def _create_parents(path: Path) -> Iterator[None]:
    """Create the missing folders above a path, and remove them again if the block raises."""
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
