"""Safe writing: a failure leaves what was there before, and nothing half-written."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from nqe.errors import StorageError
from nqe.files import _exchange, check_replaceable, new_file, new_folder


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_file_gets_its_name_when_it_is_complete(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "er" / "a.txt.gz"
    with new_file(path) as temporary:
        assert temporary.name.endswith(".txt.gz")
        temporary.write_text("new")
        assert not path.exists()
    assert path.read_text() == "new"
    assert names(path.parent) == ["a.txt.gz"]


@pytest.mark.parametrize("failure", [ValueError, KeyboardInterrupt, SystemExit])
def test_a_failure_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, failure: type[BaseException]
) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")

    def write() -> None:
        with new_file(path) as temporary:
            temporary.write_text("half")
            raise failure

    with pytest.raises(failure):
        write()
    assert path.read_text() == "old"
    assert names(tmp_path) == ["a.txt"]


@pytest.mark.parametrize("failure", [ValueError, KeyboardInterrupt, SystemExit])
def test_a_failure_leaves_the_old_folder_and_nothing_else(
    tmp_path: Path, failure: type[BaseException]
) -> None:
    path = tmp_path / "graph"
    with new_folder(path, "mark") as temporary:
        (temporary / "mark").write_text("old")

    def write() -> None:
        with new_folder(path, "mark") as temporary:
            (temporary / "mark").write_text("half")
            raise failure

    with pytest.raises(failure):
        write()
    assert (path / "mark").read_text() == "old"
    assert names(tmp_path) == ["graph"]


INTERRUPTED_SWAP = """
import sys
from pathlib import Path
import nqe.files
from nqe.files import new_folder

nqe.files._exchange = lambda one, other: False  # as where folders cannot change places at once
renames = 0

def interrupt(event, arguments):
    global renames
    renames += event == "os.rename"
    if event == "os.rename" and renames == {number}:
        raise KeyboardInterrupt

sys.addaudithook(interrupt)
with new_folder(Path("graph"), "mark") as temporary:
    (temporary / "mark").write_text("new")
"""


@pytest.mark.parametrize("number", [1, 2])
def test_an_interrupt_while_folders_change_places_keeps_the_old_one(
    tmp_path: Path, number: int
) -> None:
    with new_folder(tmp_path / "graph", "mark") as temporary:
        (temporary / "mark").write_text("old")
    script = INTERRUPTED_SWAP.format(number=number)
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, check=False
    )
    assert b"KeyboardInterrupt" in done.stderr
    assert names(tmp_path) == ["graph"]
    assert (tmp_path / "graph" / "mark").read_text() == "old"


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lets folders change places")
def test_folders_change_places_at_once(tmp_path: Path) -> None:
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "mark").write_text(name)
    assert _exchange(tmp_path / "one", tmp_path / "other")
    assert (tmp_path / "one" / "mark").read_text() == "other"
    assert (tmp_path / "other" / "mark").read_text() == "one"
    assert not _exchange(tmp_path / "one", tmp_path / "missing")


def test_folders_created_for_a_failed_output_are_removed(tmp_path: Path) -> None:
    def write() -> None:
        with new_folder(tmp_path / "a" / "b" / "c", "mark"):
            raise ValueError

    with pytest.raises(ValueError, match=r"^$"):
        write()
    assert names(tmp_path) == []


def test_a_folder_with_its_marker_file_is_replaced_whole(tmp_path: Path) -> None:
    path = tmp_path / "graph"
    for content in ("one", "two"):
        with new_folder(path, "mark") as temporary:
            (temporary / "mark").touch()
            (temporary / content).touch()
    assert names(path) == ["mark", "two"]
    assert names(tmp_path) == ["graph"]


def test_an_empty_folder_may_be_filled(tmp_path: Path) -> None:
    path = tmp_path / "graph"
    path.mkdir()
    with new_folder(path, "mark") as temporary:
        (temporary / "mark").touch()
    assert names(path) == ["mark"]


def test_a_folder_with_other_files_is_never_touched(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(StorageError, match="holds other files; choose another name"):
        check_replaceable(tmp_path, "mark")
    with pytest.raises(StorageError, match="holds other files"), new_folder(tmp_path, "mark"):
        pass
    assert names(tmp_path) == ["thesis.tex"]


def test_a_marker_file_without_the_right_text_does_not_count(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text('{"name": "my web page"}')
    (tmp_path / "index.html").touch()
    with pytest.raises(StorageError, match="holds other files"):
        check_replaceable(tmp_path, "manifest.json", '"nqe-graph"')
    (tmp_path / "manifest.json").write_text('{"format": "nqe-graph"}')
    check_replaceable(tmp_path, "manifest.json", '"nqe-graph"')


def test_a_file_in_the_place_of_a_folder_is_never_touched(tmp_path: Path) -> None:
    path = tmp_path / "graph"
    path.write_text("mine")
    with pytest.raises(StorageError, match="a file of that name exists"), new_folder(path, "mark"):
        pass
    assert path.read_text() == "mine"


def test_a_place_below_a_file_is_refused_in_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for path in (tmp_path / "file" / "a", tmp_path / "file" / "a" / "b"):
        message = r"cannot be written \(.*\); choose another place"
        with pytest.raises(StorageError, match=message), new_folder(path, "mark"):
            pass
        with pytest.raises(StorageError, match=message), new_file(path):
            pass


def test_new_files_and_folders_have_the_usual_permissions(tmp_path: Path) -> None:
    mask = os.umask(0o027)
    try:
        with new_file(tmp_path / "file"):
            pass
        with new_folder(tmp_path / "folder", "mark"):
            pass
    finally:
        os.umask(mask)
    assert (tmp_path / "file").stat().st_mode & 0o777 == 0o640
    assert (tmp_path / "folder").stat().st_mode & 0o777 == 0o750
