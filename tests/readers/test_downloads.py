"""Downloads: continued after a drop, started over when that is safer, and ended with a reason."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from socket import gaierror
from urllib.error import URLError

import pytest
from data_server import DataServer, serve

from nqe.errors import InputError, StorageError
from nqe.readers import downloads
from nqe.readers.downloads import CHUNK, WAITS, Download, DownloadError, download

CONTENT = bytes(range(256)) * 2048  # 512 KB


@pytest.fixture
def server() -> Iterator[DataServer]:
    with serve({"/a": CONTENT}) as server:
        yield server


@pytest.fixture
def waits() -> list[float]:
    """The seconds that were waited for."""
    return []


@pytest.fixture
def what(server: DataServer, tmp_path: Path) -> Download:
    return Download(f"{server.address}/a", tmp_path / "a.part")


def ranges(server: DataServer) -> list[str | None]:
    return [asked for _, asked in server.requests]


class Seen:
    """Keeps the progress that it receives."""

    def __init__(self) -> None:
        self.tasks: list[tuple[str, int | None]] = []
        self.last = (0, 0)

    def start(self, task: str, total: int | None) -> None:
        self.tasks.append((task, total))

    def update(self, done: int, items: int, detail: str = "") -> None:
        self.last = (done, items)


def test_a_file_is_downloaded_with_progress(what: Download) -> None:
    seen = Seen()
    download(what, seen)
    assert what.partial.read_bytes() == CONTENT
    assert seen.tasks == [("a", len(CONTENT))]
    assert seen.last == (len(CONTENT), len(CONTENT) // 1000)


def test_a_dropped_download_is_continued_where_it_stopped(
    server: DataServer, what: Download, waits: list[float]
) -> None:
    server.drops = [1000, 10]
    seen = Seen()
    download(what, seen, waits.append)
    assert what.partial.read_bytes() == CONTENT
    assert ranges(server) == [None, "bytes=1000-", "bytes=1010-"]
    assert waits == list(WAITS[:2])
    assert seen.tasks == [("a", len(CONTENT))] * 3
    assert seen.last == (len(CONTENT), (len(CONTENT) - 1010) // 1000)


def test_as_long_as_much_comes_each_time_drops_are_no_failures(
    server: DataServer, what: Download, waits: list[float]
) -> None:
    server.drops = [CHUNK] * (len(WAITS) + 2)
    download(what, wait=waits.append)
    assert what.partial.read_bytes() == CONTENT
    assert waits == [WAITS[0]] * (len(WAITS) + 2)


def test_a_server_that_always_drops_is_given_up(
    server: DataServer, what: Download, waits: list[float]
) -> None:
    server.drops = [10] * 100
    with pytest.raises(DownloadError, match=r"dropped after 50 of 524,288 bytes"):
        download(what, wait=waits.append)
    assert waits == list(WAITS)
    assert what.size == 50


def test_a_later_call_continues_an_earlier_one(
    server: DataServer, what: Download, waits: list[float]
) -> None:
    server.drops = [10] * (len(WAITS) + 1)
    with pytest.raises(DownloadError):
        download(what, wait=waits.append)
    download(what)
    assert what.partial.read_bytes() == CONTENT
    assert ranges(server)[-1] == "bytes=50-"


def test_a_server_that_ignores_ranges_makes_it_start_over(
    server: DataServer, what: Download, waits: list[float]
) -> None:
    server.takes_ranges = False
    server.drops = [1000]
    download(what, wait=waits.append)
    assert what.partial.read_bytes() == CONTENT


def test_a_file_that_changed_meanwhile_is_not_mixed_with_the_old_one(
    server: DataServer, what: Download
) -> None:
    server.drops = [1000]

    def change(_: float) -> None:
        server.files["/a"] = b"new" * 1000

    download(what, wait=change)
    assert what.partial.read_bytes() == b"new" * 1000


@pytest.mark.parametrize(("has_tags", "weak"), [(False, ""), (True, "W/")])
def test_without_a_sure_version_a_part_is_continued_only_if_a_checksum_follows(
    server: DataServer, what: Download, waits: list[float], has_tags: bool, weak: str
) -> None:
    server.has_tags, server.weak = has_tags, weak
    server.drops = [1000]
    download(what, wait=waits.append)
    assert ranges(server) == [None, None]
    what.discard()
    server.drops = [1000]
    download(Download(what.address, what.partial, is_verified=True), wait=waits.append)
    assert ranges(server)[2:] == [None, "bytes=1000-"]
    assert what.partial.read_bytes() == CONTENT


def test_a_part_that_is_complete_is_not_downloaded_again(
    server: DataServer, what: Download
) -> None:
    download(what)
    download(what)
    assert ranges(server) == [None, f"bytes={len(CONTENT)}-"]
    assert what.partial.read_bytes() == CONTENT


def test_a_part_that_is_longer_than_the_file_is_discarded(
    what: Download, waits: list[float]
) -> None:
    what.partial.write_bytes(CONTENT + b"more")
    download(Download(what.address, what.partial, is_verified=True), wait=waits.append)
    assert what.partial.read_bytes() == CONTENT


def test_a_busy_server_is_asked_again_when_it_says(
    server: DataServer, what: Download, waits: list[float]
) -> None:
    server.errors = [(503, {"Retry-After": "7"}), (429, {"Retry-After": "99999"}), (500, {})]
    download(what, wait=waits.append)
    assert what.partial.read_bytes() == CONTENT
    assert waits == [7.0, downloads.LONGEST_WAIT, WAITS[2]]


def test_a_file_that_is_not_there_is_asked_for_once(
    server: DataServer, what: Download, waits: list[float]
) -> None:
    server.files.clear()
    with pytest.raises(DownloadError, match=r"/a: the server answers 404 \(Not Found\)$"):
        download(what, wait=waits.append)
    assert waits == []


def test_a_server_that_is_not_there_is_given_up(tmp_path: Path, waits: list[float]) -> None:
    with serve() as server:
        address = server.address
    with pytest.raises(DownloadError, match=r"cannot be reached .*[Rr]efused"):
        download(Download(f"{address}/a", tmp_path / "a.part"), wait=waits.append)
    assert waits == list(WAITS)


def test_without_a_network_nothing_is_tried_again(
    what: Download, waits: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise URLError(gaierror(-2, "Name or service not known"))

    monkeypatch.setattr(downloads, "urlopen", fail)
    with pytest.raises(DownloadError, match=r"/a: cannot be reached \(Name or service not known\)"):
        download(what, wait=waits.append)
    assert waits == []


def test_a_download_has_a_largest_size(what: Download, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(downloads, "LARGEST", 1000)
    with pytest.raises(DownloadError, match="has more than"):
        download(what)
    assert what.size == 0


def test_a_part_that_cannot_be_written_is_no_fault_of_the_network(
    server: DataServer, tmp_path: Path, waits: list[float]
) -> None:
    with pytest.raises(StorageError, match="cannot be written"):
        download(Download(f"{server.address}/a", tmp_path / "no" / "a.part"), wait=waits.append)
    assert waits == []


@pytest.mark.parametrize("address", ["file:///etc/passwd", "ftp://a/b", "http://", "a/b"])
def test_only_addresses_of_http_are_downloaded(address: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="begin it with https:// or http://"):
        download(Download(address, tmp_path / "a.part"))
