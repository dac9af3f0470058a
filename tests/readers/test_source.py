"""Input files: compression, encodings, line ends, pipes."""

from __future__ import annotations

import bz2
import gzip
import os
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from helpers import ReadContent
from hypothesis import given
from hypothesis import strategies as st

from nqe.errors import InputError
from nqe.graph import Dataset, Fact
from nqe.readers import BadLines, read
from nqe.readers.source import HEAD, Source


def zstd(content: bytes) -> bytes:
    return pa.Codec("zstd").compress(content, asbytes=True)


COMPRESSIONS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "bzip2": bz2.compress,
    "zstd": zstd,
}
compressed = pytest.mark.parametrize("compress", COMPRESSIONS.values(), ids=COMPRESSIONS.keys())
# More than is looked at first, and than is read at a time.
MANY = "".join(f"e{i},r,e{i + 1},q,e{i % 97}\n" for i in range(60_000)).encode()


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    path = tmp_path_factory.mktemp("many") / "facts"
    path.write_bytes(MANY)
    return read(path)


@compressed
def test_a_compressed_file_is_read_by_its_content_whatever_its_name(
    read_content: ReadContent, compress: Callable[[bytes], bytes], many: Dataset
) -> None:
    assert read_content(compress(MANY)) == many


@compressed
def test_several_compressed_files_in_one_are_read_as_one(
    read_content: ReadContent, compress: Callable[[bytes], bytes]
) -> None:
    dataset = read_content(compress(b"a,r,b\n") + compress(b"c,r,d\n"))
    assert set(dataset.graph) == {Fact("a", "r", "b"), Fact("c", "r", "d")}


@compressed
def test_an_archive_cut_short_anywhere_is_reported(
    read_content: ReadContent, compress: Callable[[bytes], bytes]
) -> None:
    whole = compress(MANY[:5_000])
    for size in np.linspace(12, len(whole) - 1, 20).astype(int).tolist():
        with pytest.raises(InputError, match=r"facts: the archive is cut short .*; get the file"):
            read_content(whole[:size])


@compressed
def test_a_damaged_archive_is_reported(
    read_content: ReadContent, compress: Callable[[bytes], bytes]
) -> None:
    whole = bytearray(compress(MANY))
    whole[len(whole) // 2 : len(whole) // 2 + 40] = bytes(40)
    # What comes out of it before the damage is noticed may be no statement.
    with pytest.raises(InputError, match=r"facts: the archive is cut short or damaged|facts:\d+: "):
        read_content(bytes(whole))


@compressed
def test_an_empty_archive_is_empty(
    read_content: ReadContent, compress: Callable[[bytes], bytes]
) -> None:
    with pytest.raises(InputError, match="facts: empty"):
        read_content(compress(b""))


@pytest.mark.parametrize(
    "content", [b"\xef\xbb\xbfa,r,b\n", b"a,r,b\r\n", b"a,r,b", b"\n\na,r,b\n\n"]
)
def test_byte_order_marks_and_line_ends_do_not_matter(
    read_content: ReadContent, content: bytes
) -> None:
    assert set(read_content(content).graph) == {Fact("a", "r", "b")}


@given(st.lists(st.sampled_from(["a,r,b", "a,r,c,q,d", "", "  "])), st.sampled_from(["\n", "\r\n"]))
def test_lines_are_numbered_from_one_and_empty_lines_are_skipped(
    lines: list[str], end: str
) -> None:
    read_end, write_end = os.pipe()
    os.write(write_end, end.join(lines).encode())
    os.close(write_end)
    with Source(f"/dev/fd/{read_end}") as source:
        found = list(source.lines())
    os.close(read_end)
    assert found == [(i, line) for i, line in enumerate(lines, start=1) if line.strip()]


@pytest.mark.parametrize("size", [HEAD - 1, HEAD, HEAD + 1, 3 * HEAD])
def test_a_first_line_of_any_length_is_read_whole(read_content: ReadContent, size: int) -> None:
    name = "x" * (size - len(",r,b\n"))
    dataset = read_content(f"{name},r,b\na,r,b\n")
    assert set(dataset.graph) == {Fact(name, "r", "b"), Fact("a", "r", "b")}


def test_the_line_of_an_error_far_into_a_file_is_right(read_content: ReadContent) -> None:
    with pytest.raises(InputError, match="facts:60001: qualifier 'q' has no value"):
        read_content(MANY + b"a,r,b,q\n")


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16", "cp1252"])
def test_a_file_in_another_encoding_is_reported(read_content: ReadContent, encoding: str) -> None:
    message = r"facts:1: not UTF-8 text \(byte 0x..\); save the file as UTF-8"
    with pytest.raises(InputError, match=message):
        read_content("Zürich,r,b\n".encode(encoding))


def test_a_line_in_another_encoding_is_reported_and_can_be_skipped(
    read_content: ReadContent,
) -> None:
    content = b"a,r,b\nc,r,d\nZ\xfcrich,r,b\ne,r,f\n"
    with pytest.raises(InputError, match=r"facts:3: not UTF-8 text \(byte 0xfc\)"):
        read_content(content)
    bad = BadLines(skip=True)
    assert len(read_content(content, bad=bad).graph) == 3
    assert bad.count == 1
    assert "facts:3\tnot UTF-8" in bad.to_tsv()
    assert "Z\\xfcrich,r,b\n" in bad.to_tsv()


def test_an_earlier_bad_line_is_reported_before_a_later_one(read_content: ReadContent) -> None:
    with pytest.raises(InputError, match="facts:2: qualifier"):
        read_content(b"a,r,b\nc,r,d,q\n\xff,r,b\n")


def test_a_named_pipe_is_read_like_a_file(tmp_path: Path, many: Dataset) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=lambda: path.write_bytes(MANY))
    writer.start()
    assert read(path) == many
    writer.join()


def test_a_missing_file_is_reported(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nothing\.txt: no such file; check the path"):
        read(tmp_path / "nothing.txt")


def test_a_path_below_a_file_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match=r"cannot be opened \(Not a directory\); check the path"):
        read(tmp_path / "file" / "train.txt")
