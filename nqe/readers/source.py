"""Input files: a file or standard input, decompressed, as numbered lines of text."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import re
import select
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, TypeVar, cast

import pyarrow as pa

from nqe.errors import InputError
from nqe.readers.records import BadLine
from nqe.text_format import STANDARD_STREAM

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

# Bytes to read at once.
CHUNK = 1 << 20
# Bytes to look at when the format is detected.
HEAD = 1 << 16
# The most bytes that a line may have, so that a file without line ends is refused in time.
LONGEST_LINE = 16 << 20
# The most bytes that are held in memory for random access.
LARGEST_IN_MEMORY = 512 << 20
# The most bytes that an xz archive may need to be decompressed; `xz -9` makes those of 65 MB.
_XZ_MEMORY = 128 << 20
# Milliseconds to wait for a pipe before looking for Ctrl-C.
PATIENCE = 200

Stream = IO[bytes]
Decompressor = bz2.BZ2Decompressor | lzma.LZMADecompressor
Parsed = TypeVar("Parsed")


class _JoinedArchives(io.RawIOBase):
    """The content of a file that is one bzip2 or xz archive after another, and then zeros, if any.

    Python's own readers end without an error where an archive is followed by anything else.
    """

    def __init__(self, file: Stream, make: Callable[[], Decompressor]) -> None:
        self._file, self._make, self._archive, self._is_over = file, make, make(), False

    def readable(self) -> bool:
        """Always true."""
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        """Put the next bytes into a buffer, and return their number."""
        view = memoryview(buffer)
        chunk = b""
        while not chunk and not self._is_over:
            chunk = self._decompress(len(view))
        view[: len(chunk)] = chunk
        return len(chunk)

    def _decompress(self, size: int) -> bytes:
        if self._archive.eof:
            return self._begin_next(size)
        given = self._file.read(CHUNK) if self._archive.needs_input else b""
        if self._archive.needs_input and not given:
            raise EOFError("it ends too early")
        return self._archive.decompress(given, size)

    def _begin_next(self, size: int) -> bytes:
        rest = self._archive.unused_data.lstrip(b"\0")
        while not rest and (more := self._file.read(CHUNK)):
            rest = more.lstrip(b"\0")
        self._archive, self._is_over = self._make(), not rest
        return self._archive.decompress(rest, size) if rest else b""


def _bzip2(stream: Stream) -> Stream:
    return cast(Stream, io.BufferedReader(_JoinedArchives(stream, bz2.BZ2Decompressor), CHUNK))


def _xz(stream: Stream) -> Stream:
    make = partial(lzma.LZMADecompressor, lzma.FORMAT_XZ, _XZ_MEMORY)
    return cast(Stream, io.BufferedReader(_JoinedArchives(stream, make), CHUNK))


def _zstd(stream: Stream) -> Stream:
    return cast(Stream, pa.CompressedInputStream(pa.PythonFile(stream, mode="r"), "zstd"))


# Compressions by the bytes that their files begin with. The pattern of bzip2 is long enough that
# no text begins like it.
_COMPRESSIONS: dict[re.Pattern[bytes], Callable[[Stream], Stream]] = {
    re.compile(rb"\x1f\x8b"): lambda stream: cast(Stream, gzip.GzipFile(fileobj=stream)),
    re.compile(rb"BZh[1-9](1AY&SY|\x17rE8P\x90)"): _bzip2,
    re.compile(rb"\xfd7zXZ\x00"): _xz,
    re.compile(rb"\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18"): _zstd,
}
_MAGIC_SIZE = 10
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
# Other encodings by the bytes that their texts begin with, the longer ones first.
_OTHER_ENCODINGS = {b"\xff\xfe\0\0": "UTF-32", b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}
_NUL = "a NUL byte, which no text has; if the file is UTF-16, save it as UTF-8, or remove the byte"


class _PeekableBytes(io.RawIOBase):
    """The bytes of a file or pipe, of which the first can be looked at before they are read."""

    def __init__(self, file: Stream) -> None:
        self._file, self._peeked = file, b""
        self._wait = _make_wait(file)

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
        chunk: bytes | None = None
        while chunk is None:  # None if the pipe does not block and has no data yet
            self._wait()
            chunk = self._file.read(size)
        return chunk


def _make_wait(file: Stream) -> Callable[[], None]:
    """What waits until a file can be read, and can be interrupted meanwhile.

    Ctrl-C just before a blocking read of a pipe would have no effect until data arrives. Where the
    system cannot wait for files (Windows), nothing waits, and the read itself blocks.
    """
    if not hasattr(select, "poll"):
        return lambda: None
    poll = select.poll()
    poll.register(file, select.POLLIN)

    def wait() -> None:
        while not poll.poll(PATIENCE):
            pass

    return wait


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
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            raise InputError(f"{self.name}: cannot be opened ({reason}); check the path") from error

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
        """The first bytes, to detect the format from: a whole line, unless it is too long."""
        parts = [self._read(HEAD)]
        size = len(parts[0])
        while b"\n" not in parts[-1] and size <= LONGEST_LINE and (more := self._read(HEAD)):
            parts.append(more)
            size += len(more)
        for mark, encoding in _OTHER_ENCODINGS.items():
            if parts[0].startswith(mark):
                problem = f"not UTF-8 text ({encoding}, by its first bytes)"
                raise InputError(f"{self.name}:1: {problem}; save the file as UTF-8")
        return b"".join(parts).removeprefix(_BYTE_ORDER_MARK)

    def head_lines(self) -> list[str]:
        """The first complete lines that are not empty, to detect the format from.

        A first line that is too long or not UTF-8 is an error; further such lines are left out
        here, and `parse_lines` reports them.
        """
        lines = self._end_lines(self.head).split(b"\n")
        self._check_length(len(lines[0]), 1)
        more = len(lines) > 1 and len(self.head) >= HEAD - len(_BYTE_ORDER_MARK)
        complete = lines[:-1] if more else lines
        texts = [(number, _decode(line)) for number, line in enumerate(complete, start=1)]
        filled = [(n, text) for n, text in texts if isinstance(text, BadLine) or text.strip()]
        if filled and isinstance(filled[0][1], BadLine):
            raise InputError(f"{self.name}:{filled[0][0]}: {filled[0][1].problem}")
        return [text.strip("\r") for _, text in filled if isinstance(text, str)]

    def lines(self) -> Iterator[tuple[int, str]]:
        """The lines that are not empty, with their numbers from 1.

        A line that is not UTF-8 is an error.
        """
        for number, line in self._decoded_lines():
            if isinstance(line, BadLine):
                raise InputError(f"{self.name}:{number}: {line.problem}")
            yield number, line

    def parse_lines(self, parse: Callable[[str], Parsed]) -> Iterator[tuple[int, Parsed | BadLine]]:
        """The result of `parse` for each line that is not empty, or a bad line.

        Bad lines are those that are not UTF-8 and those for which `parse` raises an InputError.
        """
        for number, line in self._decoded_lines():
            if isinstance(line, BadLine):
                yield number, line
                continue
            try:
                parsed: Parsed | BadLine = parse(line)
            except InputError as error:
                parsed = BadLine(str(error), line)
            yield number, parsed

    def byte_lines(self) -> Iterator[tuple[int, bytes]]:
        """The lines that are not empty as they are, with their numbers from 1."""
        number = 0
        for block in self._line_blocks():
            if block.isspace():
                number += block.count(b"\n") + 1
                continue
            for line in block.split(b"\n"):
                number += 1
                if line and not line.isspace():
                    yield number, line

    def chunks(self) -> Iterator[bytes]:
        """The bytes after decompression, from the first to the last."""
        yield self.head
        while chunk := self._read(CHUNK):
            yield chunk

    def open_seekable(self) -> str | io.BytesIO:
        """Input for random access: the file's path, or all bytes if it is compressed or a pipe."""
        if self._decompress is None and self._is_file:
            return self.name
        content = io.BytesIO()
        for chunk in self.chunks():
            content.write(chunk)
            if content.tell() > LARGEST_IN_MEMORY:
                raise InputError(
                    f"{self.name}: more than {LARGEST_IN_MEMORY >> 20} MB of Parquet in an "
                    "archive or a pipe; save it as a plain file, and give that"
                )
        content.seek(0)
        return content

    @cached_property
    def _is_file(self) -> bool:
        return self.name != STANDARD_STREAM and Path(self.name).is_file()

    @cached_property
    def _peekable(self) -> _PeekableBytes:
        return _PeekableBytes(self._raw)

    @cached_property
    def _decompress(self) -> Callable[[Stream], Stream] | None:
        """What decompresses the file; None if it is not compressed."""
        start = self._peekable.peek(_MAGIC_SIZE)
        found = (one for magic, one in _COMPRESSIONS.items() if magic.match(start))
        return next(found, None)

    @cached_property
    def _stream(self) -> Stream:
        decompress = self._decompress
        buffered = cast(Stream, io.BufferedReader(self._peekable, CHUNK))
        return buffered if decompress is None else decompress(buffered)

    def _read(self, size: int) -> bytes:
        try:
            return self._stream.read(size)
        except (EOFError, zlib.error, lzma.LZMAError, OSError, ValueError) as error:
            if isinstance(error, OSError) and error.errno:  # of the system, not of the archive
                raise InputError(
                    f"{self.name}: cannot be read ({error.strerror}); check the file"
                ) from error
            raise InputError(
                f"{self.name}: the archive is cut short or damaged ({error}); get the file again"
            ) from error

    def _decoded_lines(self) -> Iterator[tuple[int, str | BadLine]]:
        """The lines that are not empty, with their numbers from 1."""
        number = 0
        for block in self._line_blocks():
            if block.isspace():
                number += block.count(b"\n") + 1
                continue
            for line in _decode_lines(block):
                number += 1
                if isinstance(line, BadLine):
                    yield number, line
                elif (text := line.strip("\r")) and not text.isspace():
                    yield number, text

    def _line_blocks(self) -> Iterator[bytes]:
        """The bytes in blocks of complete lines, each without its last line end."""
        parts: list[bytes] = []  # of the line that the next chunk continues
        size, number = 0, 1  # the bytes in those parts, and the number of that line
        for chunk in map(self._end_lines, self.chunks()):
            end = chunk.find(b"\n")
            self._check_length(size + (end if end >= 0 else len(chunk)), number)
            if end < 0:
                parts.append(chunk)
                size += len(chunk)
                continue
            block, _, rest = chunk.rpartition(b"\n")
            yield b"".join((*parts, block))
            parts, size = [rest], len(rest)
            number += chunk.count(b"\n")
        if size:
            yield b"".join(parts)

    def _end_lines(self, chunk: bytes) -> bytes:
        """The bytes with line feeds, also where carriage returns alone end lines."""
        return chunk.replace(b"\r", b"\n") if self._has_returns_alone else chunk

    @cached_property
    def _has_returns_alone(self) -> bool:
        return b"\n" not in self.head and b"\r" in self.head

    def _check_length(self, size: int, number: int) -> None:
        """Refuse a line of that many bytes if it is too long."""
        if size > LONGEST_LINE:
            raise InputError(
                f"{self.name}:{number}: a line of more than {LONGEST_LINE >> 20} MB; "
                "check that the file is text, or break the line"
            )


def _decode_lines(block: bytes) -> Iterable[str | BadLine]:
    """The lines of a block, all at once unless one of them is not UTF-8."""
    text = _decode(block)
    return text.split("\n") if isinstance(text, str) else map(_decode, block.split(b"\n"))


def _decode(line: bytes) -> str | BadLine:
    try:
        text = line.decode("utf-8")
        return BadLine(_NUL, text) if "\0" in text else text
    except UnicodeDecodeError as error:
        problem = f"not UTF-8 text (byte 0x{line[error.start]:02x}); save the file as UTF-8"
        return BadLine(problem, line.decode("utf-8", errors="backslashreplace"))
