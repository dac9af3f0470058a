"""Input files: compression, encodings, line ends, pipes."""

from __future__ import annotations

import bz2
import gzip
import os
import select
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
from nqe.readers import FORMATS, BadLines, read, read_labels, source
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


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252"])
def test_a_file_in_another_encoding_is_reported(read_content: ReadContent, encoding: str) -> None:
    message = r"facts:1: not UTF-8 text \(byte 0x..\); save the file as UTF-8"
    with pytest.raises(InputError, match=message):
        read_content("Zürich,r,b\n".encode(encoding))


@pytest.mark.parametrize("format", [None, "statements", "table"])
@pytest.mark.parametrize("mark", [b"\xff\xfe", b"\xfe\xff"])
def test_a_file_in_utf_16_is_named_by_its_first_bytes(
    read_content: ReadContent, mark: bytes, format: str | None
) -> None:
    encoding = "utf-16-le" if mark == b"\xff\xfe" else "utf-16-be"
    message = r"facts:1: not UTF-8 text \(UTF-16, by its first bytes\); save the file as UTF-8"
    with pytest.raises(InputError, match=message):
        read_content(mark + "a,r,b\n".encode(encoding), format=format)


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


def test_a_line_that_is_too_long_is_refused_with_its_number(
    read_content: ReadContent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source, "LONGEST_LINE", 3 << 20)
    message = r"facts:3: a line of more than 3 MB; check that the file is text, or break the line"
    longest = f"{'x' * ((3 << 20) - len(',r,b'))},r,b\n"
    assert len(read_content(f"a,r,b\n{longest}c,r,d\n").graph) == 3
    with pytest.raises(InputError, match=message):
        read_content(f"a,r,b\n\ny{longest}c,r,d\n", bad=BadLines(skip=True))


@pytest.mark.parametrize("format", [None, *FORMATS])
def test_a_stream_of_zeros_that_never_ends_is_refused(format: str | None) -> None:
    with pytest.raises(InputError, match=r"/dev/zero:1: a line of more than 16 MB; check"):
        read("/dev/zero", format=format)
    with pytest.raises(InputError, match=r"/dev/zero:1: a line of more than 16 MB; check"):
        read_labels("/dev/zero")


@compressed
def test_an_archive_of_zeros_is_refused_before_it_is_decompressed_whole(
    read_content: ReadContent, compress: Callable[[bytes], bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source, "LONGEST_LINE", 1 << 20)
    with pytest.raises(InputError, match="facts:1: a line of more than 1 MB"):
        read_content(compress(bytes(8 << 20)))
    with pytest.raises(InputError, match="facts:2: a line of more than 1 MB"):
        read_content(compress(b"a,r,b\n" + bytes(8 << 20)))


def test_a_compressed_parquet_file_has_a_limit(
    read_content: ReadContent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source, "LARGEST_IN_MEMORY", 2 << 20)
    message = "facts: more than 2 MB of Parquet in an archive or a pipe; save it as a plain file"
    with pytest.raises(InputError, match=message):
        read_content(gzip.compress(b"PAR1\x15\x00" + bytes(8 << 20)))


def test_empty_lines_are_counted_without_being_decoded(
    read_content: ReadContent, monkeypatch: pytest.MonkeyPatch
) -> None:
    decoded: list[int] = []
    decode = source._decode
    monkeypatch.setattr(source, "_decode", lambda b: (decoded.append(len(b)), decode(b))[1])
    content = gzip.compress(b"a,r,b\n" + b"\n" * (8 << 20) + b"a,r\n")
    with pytest.raises(InputError, match=rf"facts:{2 + (8 << 20)}: 2 part\(s\)"):
        read_content(content)
    assert sum(decoded) < 3 << 20


def test_a_beginning_of_empty_lines_is_not_called_an_empty_file(read_content: ReadContent) -> None:
    content = "\n" * HEAD + "a,r,b\n"
    with pytest.raises(InputError, match="facts:1: the first 64 KB are empty lines; remove them"):
        read_content(content)
    assert len(read_content(content, format="statements").graph) == 1


def test_of_long_bad_lines_only_the_beginning_and_the_end_are_kept(
    read_content: ReadContent,
) -> None:
    bad = BadLines(skip=True)
    long = "x" * (1 << 20)
    read_content(f"a,r,b\nc,r,{long}\x07\nc,r,d,{long}\n", bad=bad)
    assert bad.count == 2
    assert len(bad.to_tsv()) < 10_000
    assert all(line.problem.endswith(("rename it", "drop the pair")) for _, line in bad.kept)


@pytest.mark.parametrize("name", ["x" * 300, "a\0b"])
def test_a_name_that_no_file_can_have_is_reported(name: str) -> None:
    with pytest.raises(InputError, match=r"cannot be read .*; check the path"):
        read(name)
    with pytest.raises(InputError, match=r"cannot be opened .*; check the path"):
        read_labels(name)


def test_a_pipe_is_read_where_the_system_cannot_wait_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, many: Dataset
) -> None:
    monkeypatch.delattr(select, "poll")
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=lambda: path.write_bytes(MANY))
    writer.start()
    assert read(path) == many
    writer.join()
