"""Input files: a file or standard input, decompressed, as numbered lines of text."""

from __future__ import annotations

import bz2
import gzip
import io
import re
import select
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import IO, TYPE_CHECKING, cast

import pyarrow as pa

from nqe.errors import InputError
from nqe.readers.records import BadLine, Record, Records
from nqe.text_format import STANDARD_STREAM

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

# Bytes to read at once.
CHUNK = 1 << 20
# Bytes to look at when the format is detected.
HEAD = 1 << 16
# Milliseconds to wait for a pipe before looking for Ctrl-C.
PATIENCE = 200

Stream = IO[bytes]


def _zstd(stream: Stream) -> Stream:
    return cast(Stream, pa.CompressedInputStream(pa.PythonFile(stream, mode="r"), "zstd"))


# Compressions by the bytes that their files begin with. The pattern of bzip2 is long enough that
# no text begins like it.
_COMPRESSIONS: dict[re.Pattern[bytes], Callable[[Stream], Stream]] = {
    re.compile(rb"\x1f\x8b"): lambda stream: cast(Stream, gzip.GzipFile(fileobj=stream)),
    re.compile(rb"BZh[1-9](1AY&SY|\x17rE8P\x90)"): lambda stream: cast(Stream, bz2.BZ2File(stream)),
    re.compile(rb"\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18"): _zstd,
}
_MAGIC_SIZE = 10
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class _PeekableBytes(io.RawIOBase):
    """The bytes of a file or pipe, of which the first can be looked at before they are read."""

    def __init__(self, file: Stream) -> None:
        self._file, self._peeked = file, b""
        self._poll = select.poll()
        self._poll.register(file, select.POLLIN)

    def readable(self) -> bool:
        """Always true."""
        return True

    def peek(self, size: int) -> bytes:
        """The first bytes, which later reads return again; fewer only if there are no more."""
        while len(self._peeked) < size and (more := self._next(size - len(self._peeked))):
            self._peeked += more
        return self._peeked

    def readinto(self, buffer: WriteableBuffer) -> int:
        """Put the bytes of one read into a buffer, and return their number."""
        view = memoryview(buffer)
        chunk, self._peeked = self._peeked[: len(view)], self._peeked[len(view) :]
        chunk = chunk or self._next(len(view))
        view[: len(chunk)] = chunk
        return len(chunk)

    def _next(self, size: int) -> bytes:
        # Ctrl-C just before a blocking read of a pipe would have no effect until data arrives.
        while not self._poll.poll(PATIENCE):
            pass
        return self._file.read(size)


@dataclass(eq=False)
class Source:
    """One file, or standard input if the name is `-`, opened and decompressed; it is read once."""

    name: str
    _raw: Stream = field(init=False)

    def __post_init__(self) -> None:
        try:
            where = 0 if self.name == STANDARD_STREAM else self.name
            self._raw = cast(Stream, io.FileIO(where, closefd=self.name != STANDARD_STREAM))
        except FileNotFoundError:
            raise InputError(f"{self.name}: no such file; check the path") from None
        except IsADirectoryError:
            raise InputError(f"{self.name}: a folder; name its files one by one") from None
        except OSError as error:
            raise InputError(
                f"{self.name}: cannot be opened ({error.strerror}); check the path"
            ) from error

    def __enter__(self) -> Source:
        return self

    def __exit__(self, *_: object) -> None:
        self._raw.close()

    @cached_property
    def size(self) -> int | None:
        """The file's size in bytes; None for standard input and other pipes."""
        return Path(self.name).stat().st_size if self._is_file else None

    @property
    def position(self) -> int:
        """How many bytes of the file were read, before decompression; 0 for pipes."""
        return self._raw.tell() if self._is_file else 0

    @cached_property
    def head(self) -> bytes:
        """The first bytes, at least one whole line, to detect the format from."""
        head = self._read(HEAD)
        while b"\n" not in head and (more := self._read(HEAD)):
            head += more
        return head.removeprefix(_BYTE_ORDER_MARK)

    def head_lines(self) -> list[str]:
        """The first complete lines that are not empty, to detect the format from.

        A first line that is not UTF-8 is an error; further such lines are left out here, and
        `parse_lines` reports them.
        """
        lines = self.head.split(b"\n")
        more = len(lines) > 1 and len(self.head) >= HEAD - len(_BYTE_ORDER_MARK)
        complete = lines[:-1] if more else lines
        filled = [(number, line) for number, line in enumerate(complete, start=1) if line.strip()]
        texts = [_decode(line) for _, line in filled]
        if texts and isinstance(texts[0], BadLine):
            raise InputError(f"{self.name}:{filled[0][0]}: {texts[0].problem}")
        return [text.strip("\r") for text in texts if isinstance(text, str)]

    def lines(self) -> Iterator[tuple[int, str]]:
        """The lines that are not empty, with their numbers from 1.

        A line that is not UTF-8 is an error.
        """
        for number, line in self._decoded_lines():
            if isinstance(line, BadLine):
                raise InputError(f"{self.name}:{number}: {line.problem}")
            yield number, line

    def parse_lines(self, parse: Callable[[str], Record]) -> Records:
        """One record per line that is not empty: the result of `parse`, or a bad line.

        Bad lines are those that are not UTF-8 and those for which `parse` raises an InputError.
        """
        for number, line in self._decoded_lines():
            if isinstance(line, BadLine):
                yield number, line
                continue
            try:
                record = parse(line)
            except InputError as error:
                record = BadLine(str(error), line)
            yield number, record

    def open_seekable(self) -> str | io.BytesIO:
        """Input for random access: the file's path, or all bytes if it is compressed or a pipe."""
        plain = isinstance(self._stream, io.BufferedReader)
        return self.name if plain and self._is_file else io.BytesIO(b"".join(self._chunks()))

    @cached_property
    def _is_file(self) -> bool:
        return self.name != STANDARD_STREAM and Path(self.name).is_file()

    @cached_property
    def _stream(self) -> Stream:
        raw = _PeekableBytes(self._raw)
        start = raw.peek(_MAGIC_SIZE)
        buffered = cast(Stream, io.BufferedReader(raw, CHUNK))
        for magic, decompress in _COMPRESSIONS.items():
            if magic.match(start):
                return decompress(buffered)
        return buffered

    def _read(self, size: int) -> bytes:
        try:
            return self._stream.read(size)
        except (EOFError, zlib.error, OSError, ValueError) as error:
            raise InputError(
                f"{self.name}: the archive is cut short or damaged ({error}); get the file again"
            ) from error

    def _chunks(self) -> Iterator[bytes]:
        yield self.head
        while chunk := self._read(CHUNK):
            yield chunk

    def _decoded_lines(self) -> Iterator[tuple[int, str | BadLine]]:
        """The lines that are not empty, with their numbers from 1."""
        number = 0
        for block in self._line_blocks():
            for line in _decode_lines(block):
                number += 1
                if isinstance(line, BadLine):
                    yield number, line
                elif (text := line.strip("\r")) and not text.isspace():
                    yield number, text

    def _line_blocks(self) -> Iterator[bytes]:
        """The bytes in blocks of complete lines, each without its last line end."""
        rest = b""
        for chunk in self._chunks():
            block, found, rest_of_chunk = chunk.rpartition(b"\n")
            if found:
                yield rest + block
                rest = rest_of_chunk
            else:
                rest += chunk
        if rest:
            yield rest


def _decode_lines(block: bytes) -> Iterable[str | BadLine]:
    """The lines of a block, all at once unless one of them is not UTF-8."""
    text = _decode(block)
    return text.split("\n") if isinstance(text, str) else map(_decode, block.split(b"\n"))


def _decode(line: bytes) -> str | BadLine:
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        problem = f"not UTF-8 text (byte 0x{line[error.start]:02x}); save the file as UTF-8"
        return BadLine(problem, line.decode("utf-8", errors="backslashreplace"))
