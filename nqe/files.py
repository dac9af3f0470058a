"""Safe writing of files and folders: under a temporary name first, then renamed.

Whatever has its final name is complete on disk, even after a power cut. While a path is written
it is locked, and a symbolic link is written through: what it points to is replaced.
"""

from __future__ import annotations

import ctypes
import errno
import os
import secrets
import shutil
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from fnmatch import fnmatchcase
from pathlib import Path

from nqe.errors import StorageError
from nqe.temporaries import REPLACED, reserve

# What to do about the errors of a full disk or a path without permission.
ADVICE = {
    errno.ENOSPC: "free some space and run it again",
    errno.EDQUOT: "free some space and run it again",
    errno.EFBIG: "raise the limit on file sizes or choose another place",
    errno.EACCES: "choose a place you may write to",
    errno.EPERM: "choose a place you may write to",
    errno.EROFS: "choose a place you may write to",
    errno.ENAMETOOLONG: "choose a shorter name",
}
OTHER_ADVICE = "choose another place"
HIDDEN_FILES = (".DS_Store", "Thumbs.db", "desktop.ini")
"""Files that file managers put into folders; nobody misses them."""


@contextmanager
def new_file(path: Path) -> Iterator[Path]:
    """A temporary file to write, which replaces the path unless the block raises."""
    with raise_storage_errors(path):
        target = _follow_link(path)
        _check_regular(path)
        with _create_parents(target), reserve(target) as prefix:
            # The same ending, as the ending decides what some writers write.
            temporary = _choose_name(target, prefix + "-", "".join(target.suffixes[-2:]))
            try:
                temporary.touch(0o600, exist_ok=False)
                yield temporary
                temporary.chmod(0o666 & ~_umask())
                _sync(temporary)
                temporary.replace(target)
            finally:
                temporary.unlink(missing_ok=True)


@contextmanager
def new_folder(
    path: Path,
    marker: str,
    text: str = "",
    *,
    contents: Iterable[str] = ("*",),
    keep_others: bool = False,
) -> Iterator[Path]:
    """A temporary folder to fill, which replaces the path unless the block raises.

    `check_replaceable` decides whether an existing folder may be replaced. With `keep_others`,
    files in it that are not among the contents do not prevent that; the new folder gets them.
    """
    with raise_storage_errors(path):
        target = _follow_link(path)
        with _create_parents(target), reserve(target) as prefix:
            check_replaceable(target, marker, text, contents=("*",) if keep_others else contents)
            temporary = _choose_name(target, prefix + "-")
            try:
                temporary.mkdir()
                yield temporary
                if keep_others:
                    _copy_others(target, temporary, contents)
                for inside in (temporary, *temporary.rglob("*")):
                    _sync(inside)
                _swap(temporary, target, prefix)
            finally:
                shutil.rmtree(temporary, ignore_errors=True)


def check_replaceable(
    path: Path, marker: str, text: str = "", *, contents: Iterable[str] = ("*",)
) -> None:
    """Refuse to replace anything that nqe has not written.

    A folder may be replaced if it is empty, or if its marker file contains the text and all other
    files match the contents, so a mistyped path never costs anyone their files.
    """
    if path.is_dir():
        if any(path.iterdir()) and not contains_text(path / marker, text):
            raise StorageError(
                f"{path}: the folder holds other files; choose another name for the output"
            )
        others = find_other_files(path, contents)
        if others:
            shown = ", ".join(others[:5]) + (", …" if len(others) > 5 else "")
            raise StorageError(
                f"{path}: replacing the folder would delete {shown}, which nqe did not write; "
                "move that elsewhere, or choose another name for the output"
            )
    elif path.exists():
        raise StorageError(f"{path}: a file of that name exists; choose another for the folder")


def find_other_files(folder: Path, contents: Iterable[str]) -> list[str]:
    """List the files below a folder whose paths in it match none of the patterns."""
    known = (*contents, *HIDDEN_FILES)
    names = (
        path.relative_to(folder).as_posix() for path in folder.rglob("*") if not _is_folder(path)
    )
    return sorted(name for name in names if not any(fnmatchcase(name, one) for one in known))


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
    except (OSError, ValueError):  # not UTF-8, or a null character in the path
        return False


def _choose_name(path: Path, prefix: str, ending: str = "") -> Path:
    """A name beside a path that nothing has.

    It is chosen before anything is made, so that an interrupt at any moment leaves nothing.
    """
    return path.parent / f"{prefix}{secrets.token_hex(8)}{ending}"


def _follow_link(path: Path) -> Path:
    """The path to write for a path: what it points to, if it is a symbolic link."""
    if "\0" in str(path):
        raise StorageError(f"{path}: no path may have a null character; choose another name")
    return Path(os.path.realpath(path)) if path.is_symlink() else path


def _check_regular(path: Path) -> None:
    """Refuse to replace a device or a pipe by a file."""
    if path.exists() and not path.is_file() and not path.is_dir():
        raise StorageError(f"{path}: is not an ordinary file; choose another name for the output")


def _copy_others(old: Path, new: Path, contents: Iterable[str]) -> None:
    """Copy the files of an old folder that are not among its contents into the new one."""
    for name in find_other_files(old, contents) if old.is_dir() else ():
        (new / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(old / name, new / name, follow_symlinks=False)


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def _sync(path: Path) -> None:
    """Wait until a file's content, or a folder's list of names, is on disk."""
    if sys.platform == "win32" and path.is_dir():  # folders cannot be opened there
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _swap(temporary: Path, path: Path, prefix: str) -> None:
    """Replace the path by the temporary folder; the old folder is deleted only after that."""
    if not path.exists():
        temporary.rename(path)
        return
    if _exchange(temporary, path):
        return
    old = _choose_name(path, prefix + REPLACED)
    try:
        old.mkdir()
        path.rename(old / path.name)
        temporary.rename(path)
    except BaseException:
        # Not even an interrupt may lose the old folder.
        if not path.exists():
            (old / path.name).rename(path)
        raise
    finally:
        if path.exists():
            shutil.rmtree(old, ignore_errors=True)


def _exchange(one: Path, other: Path) -> bool:
    """Swap two folders in one step, which a kill cannot interrupt; False if that is impossible."""
    if sys.platform != "linux":
        return False
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
