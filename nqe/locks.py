"""Locks against two processes that write the same thing: files that the system locks.

The system releases a lock when its process ends, however it ends, so a lock file that a killed
process left behind locks nothing.
"""

from __future__ import annotations

import errno
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from nqe.errors import StorageError

INTERVAL = 0.05
"""Seconds between two attempts to take a lock that another process holds."""

_HELD = {errno.EAGAIN, errno.EACCES, errno.EDEADLK}
# Some network file systems have no locks; there, nothing can be said about other processes.
_WITHOUT_LOCKS = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP}

_PLACE = 1 << 20
"""Windows locks a byte of the file: one behind the text, so that others can read the text."""

try:
    import fcntl
except ImportError:  # as on Windows
    fcntl = None  # type: ignore[assignment]


def _lock(handle: int) -> bool | None:
    """Lock an open file; raises OSError if another process holds it, gives None without locks."""
    if sys.platform == "win32":
        import msvcrt

        os.lseek(handle, _PLACE, os.SEEK_SET)
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        return True
    if fcntl is None:
        return None
    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return True


@dataclass(frozen=True)
class Lock:
    """A lock file that this process holds."""

    path: Path
    handle: int
    is_sure: bool
    """Whether no other process holds it; where the file system has no locks, nobody knows."""

    def release(self) -> None:
        """Release the lock and delete its file."""
        if sys.platform == "win32":  # an open file cannot be deleted there
            os.close(self.handle)
            with suppress(OSError):
                self.path.unlink()
            return
        if _is_at(self.handle, self.path):
            self.path.unlink(missing_ok=True)
        os.close(self.handle)


@contextmanager
def hold_lock(path: Path, subject: Path, patience: float = 0.0) -> Iterator[Lock]:
    """Hold the lock file at a path within the block.

    If another process still holds it after `patience` seconds, the error says which process
    writes the subject.
    """
    deadline = time.monotonic() + patience
    lock = None
    try:
        while True:
            with defer_interrupts():  # which might leave a lock file behind
                lock = try_lock(path)
            if lock is not None:
                break
            if time.monotonic() >= deadline:
                raise StorageError(
                    f"{subject}: is being written by {_read_holder(path)}; "
                    "wait until that has ended, or choose another name"
                )
            time.sleep(INTERVAL)
        yield lock
    finally:
        if lock is not None:
            with defer_interrupts():
                lock.release()


@contextmanager
def defer_interrupts() -> Iterator[None]:
    """Hold back Ctrl-C and SIGTERM until the end of a short block; only in the main thread."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    former = {one: signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM)}
    handled = {one: handler for one, handler in former.items() if callable(handler)}
    for number in handled:
        signal.signal(number, lambda number, _: came.append(number))
    try:
        yield
    finally:
        for number, handler in handled.items():
            signal.signal(number, handler)
    for one in came:
        signal.raise_signal(one)


def try_lock(path: Path) -> Lock | None:
    """Take the lock file at a path; None if another process holds it."""
    while True:
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            is_taken = _is_taken(handle)
            # The process that held it before may have deleted the file meanwhile.
            is_current = is_taken is not False and _is_at(handle, path)
        except BaseException:
            os.close(handle)
            raise
        if is_current:
            _write_holder(handle)
            return Lock(path, handle, is_sure=is_taken is True)
        os.close(handle)
        if is_taken is False:
            return None


def _is_taken(handle: int) -> bool | None:
    """Whether this process now has the lock; None if the file system knows no locks."""
    try:
        return _lock(handle)
    except OSError as error:
        if error.errno in _HELD:
            return False
        if error.errno in _WITHOUT_LOCKS:
            return None
        raise


def _is_at(handle: int, path: Path) -> bool:
    """Whether an open file still is the file at the path."""
    try:
        return os.path.samestat(os.fstat(handle), path.stat())
    except FileNotFoundError:
        return False


def _write_holder(handle: int) -> None:
    """Write into the lock file who holds it."""
    command = " ".join([Path(sys.argv[0]).name, *sys.argv[1:2]]) if sys.argv else "python"
    now = datetime.now().isoformat(" ", "seconds")
    text = f"process {os.getpid()} on {socket.gethostname()} ({command}, since {now})"
    with suppress(OSError):  # a full disk; the lock holds without the text
        os.ftruncate(handle, 0)
        os.lseek(handle, 0, os.SEEK_SET)
        os.write(handle, text.encode(errors="replace"))


def _read_holder(path: Path) -> str:
    try:
        text = path.read_text(encoding="utf-8", errors="replace")[:200]
    except OSError:
        text = ""
    return text if text.isprintable() and text else "another process"
