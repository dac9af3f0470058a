"""Locks: one writer at a time, released when its process dies, with a sentence that names it."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from nqe import locks
from nqe.errors import StorageError
from nqe.files import new_file, new_folder
from nqe.locks import hold_lock, try_lock

HOLDER = """
import sys, time
from pathlib import Path
from nqe.locks import hold_lock
with hold_lock(Path("lock"), Path("thing")):
    print("held", flush=True)
    time.sleep(600)
"""


@contextmanager
def other_process(folder: Path, script: str = HOLDER) -> Iterator[subprocess.Popen[str]]:
    """Another process that has said its first word."""
    process = subprocess.Popen(
        [sys.executable, "-c", script], cwd=folder, stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline()
        yield process
    finally:
        process.kill()
        process.communicate()


def test_a_second_process_is_told_who_holds_the_lock(tmp_path: Path) -> None:
    with other_process(tmp_path) as holder:
        sentence = rf"thing: is being written by process {holder.pid} on .* since .*; wait until"
        lock = hold_lock(tmp_path / "lock", Path("thing"))
        with pytest.raises(StorageError, match=sentence), lock:
            pass


def test_a_lock_ends_with_its_process_however_that_ends(tmp_path: Path) -> None:
    with other_process(tmp_path) as holder:
        holder.kill()
        holder.wait()
    assert (tmp_path / "lock").exists()
    with hold_lock(tmp_path / "lock", Path("thing")):
        pass
    assert os.listdir(tmp_path) == []


def test_a_lock_is_waited_for(tmp_path: Path) -> None:
    script = HOLDER.replace("600", "0.3")
    lock = hold_lock(tmp_path / "lock", Path("thing"), patience=30)
    with other_process(tmp_path, script), lock:
        pass


def test_a_lock_file_that_was_deleted_meanwhile_is_not_taken_for_the_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "lock"
    opened: list[int] = []

    def open_and_delete(*arguments: object) -> int:
        opened.append(os_open(*arguments))  # type: ignore[arg-type]
        if len(opened) == 1:
            path.unlink()
        return opened[-1]

    os_open = os.open
    monkeypatch.setattr(os, "open", open_and_delete)
    lock = try_lock(path)
    assert lock is not None
    assert len(opened) == 2
    assert os.path.samestat(os.fstat(lock.handle), path.stat())
    lock.release()


def test_nothing_is_left_of_locks_after_writing(tmp_path: Path) -> None:
    with new_file(tmp_path / "a"):
        pass
    with new_folder(tmp_path / "b", "mark"):
        pass
    assert sorted(os.listdir(tmp_path)) == ["a", "b"]


KILLED = """
import time
from pathlib import Path
from nqe.files import new_file, new_folder
writer = {writer}
with writer as temporary:
    print("writing", flush=True)
    time.sleep(60)
"""


@pytest.mark.parametrize("writer", ['new_file(Path("a.txt"))', 'new_folder(Path("a"), "mark")'])
def test_what_a_killed_process_left_is_removed_by_the_next_write(
    tmp_path: Path, writer: str
) -> None:
    with other_process(tmp_path, KILLED.format(writer=writer)) as process:
        living = sorted(os.listdir(tmp_path))
        assert len(living) == 2  # the temporary and its lock
        with new_file(tmp_path / "b.txt"):
            pass
        assert sorted(os.listdir(tmp_path)) == [*living, "b.txt"]
        process.kill()
        process.wait()
    assert sorted(os.listdir(tmp_path)) == [*living, "b.txt"]
    with new_file(tmp_path / "b.txt"):
        pass
    assert os.listdir(tmp_path) == ["b.txt"]


def test_the_old_version_of_a_folder_is_put_back_if_a_kill_left_its_place_empty(
    tmp_path: Path,
) -> None:
    (tmp_path / ".nqe-0123456789ab-old-x" / "graph").mkdir(parents=True)
    (tmp_path / ".nqe-0123456789ab-old-x" / "graph" / "mark").write_text("old")
    (tmp_path / ".nqe-0123456789ab-y").mkdir()
    with new_file(tmp_path / "b.txt"):
        pass
    assert sorted(os.listdir(tmp_path)) == ["b.txt", "graph"]
    assert (tmp_path / "graph" / "mark").read_text() == "old"


def test_a_symbolic_link_is_written_through(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    for name in ("file", "folder"):
        (tmp_path / name).symlink_to(tmp_path / "real" / name)
    for content in ("old", "new"):
        with new_file(tmp_path / "file") as file:
            file.write_text(content)
        with new_folder(tmp_path / "folder", "mark") as folder:
            (folder / "mark").write_text(content)
        assert (tmp_path / "file").is_symlink()
        assert (tmp_path / "folder").is_symlink()
        assert (tmp_path / "real" / "file").read_text() == content
        assert (tmp_path / "real" / "folder" / "mark").read_text() == content
    assert sorted(os.listdir(tmp_path / "real")) == ["file", "folder"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
def test_a_pipe_or_device_is_not_replaced_by_a_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path(os.devnull)):
        with pytest.raises(StorageError, match="is not an ordinary file"), new_file(path):
            pass


@pytest.mark.parametrize("name", ["x" * 300, "a\0b"])
def test_a_name_that_cannot_be_is_refused_in_one_sentence(tmp_path: Path, name: str) -> None:
    for writer in (new_file(tmp_path / name), new_folder(tmp_path / name, "mark")):
        with pytest.raises(StorageError, match="; choose a"), writer:
            pass
    assert os.listdir(tmp_path) == []


def test_the_longest_name_that_can_be_is_written(tmp_path: Path) -> None:
    name = "x" * 255
    with new_file(tmp_path / name):
        pass
    assert os.listdir(tmp_path) == [name]


def test_without_locks_nothing_of_other_writers_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: int) -> None:
        raise OSError(errno.ENOLCK, "no locks")

    monkeypatch.setattr(locks, "_lock", refuse)
    with new_file(tmp_path / "a") as first:
        with new_file(tmp_path / "b"):
            pass
        with new_file(tmp_path / "a") as second:
            second.write_text("second")
        first.write_text("first")
    assert (tmp_path / "a").read_text() == "first"
    assert (tmp_path / "b").exists()


def test_a_lock_file_that_cannot_be_opened_stops_no_other_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / ".nqe-0123456789ab.lock"
    other.touch()

    def refuse_other(path: Path, *rest: int) -> int:
        if Path(path) == other:
            raise PermissionError(errno.EACCES, "of another user")
        return os_open(path, *rest)

    os_open = os.open
    monkeypatch.setattr(os, "open", refuse_other)
    with new_file(tmp_path / "a"):
        pass
    assert sorted(os.listdir(tmp_path)) == [other.name, "a"]


@pytest.fixture
def ctrl_c() -> Iterator[None]:
    """Let SIGINT raise KeyboardInterrupt, even where it is ignored, as under nohup."""
    former = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, former)


@pytest.mark.usefixtures("ctrl_c")
def test_an_interrupt_while_a_lock_is_taken_or_released_leaves_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for moment in ("try_lock", "_is_at"):
        original = getattr(locks, moment)

        def interrupted(*arguments: Any, original: Any = original) -> Any:
            result = original(*arguments)
            signal.raise_signal(signal.SIGINT)
            return result

        with monkeypatch.context() as patched:
            patched.setattr(locks, moment, interrupted)
            with pytest.raises(KeyboardInterrupt), hold_lock(tmp_path / "lock", Path("thing")):
                pass
        assert os.listdir(tmp_path) == []
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.usefixtures("ctrl_c")
def test_interrupts_are_held_back_to_the_end_of_the_block() -> None:
    done = []

    def work() -> None:
        with locks.defer_interrupts():
            signal.raise_signal(signal.SIGINT)
            done.append("the block went on")

    with pytest.raises(KeyboardInterrupt):
        work()
    assert done == ["the block went on"]
