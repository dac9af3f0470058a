"""Where facts come from: a file or standard input, compressed or not, as lines of text."""

from __future__ import annotations

import bz2
import gzip
import io
import re
import select
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import IO, TYPE_CHECKING, cast

import pyarrow as pa

from nqe.errors import InputError
from nqe.readers.bad_lines import Bad, BadLines

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

STDIN = "-"
CHUNK = 1 << 20
HEAD = 1 << 16
# So many milliseconds a pipe is waited for at a time.
PATIENCE = 200

Stream = IO[bytes]


def _zstd(stream: Stream) -> Stream:
    return cast(Stream, pa.CompressedInputStream(pa.PythonFile(stream, mode="r"), "zstd"))


# A compression by the bytes its files begin with. So much of bzip2's are looked at that no text
# can begin like it.
_COMPRESSIONS: dict[re.Pattern[bytes], Callable[[Stream], Stream]] = {
    re.compile(rb"\x1f\x8b"): lambda stream: cast(Stream, gzip.GzipFile(fileobj=stream)),
    re.compile(rb"BZh[1-9](1AY&SY|\x17rE8P\x90)"): lambda stream: cast(Stream, bz2.BZ2File(stream)),
    re.compile(rb"\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18"): _zstd,
}
_MAGIC_SIZE = 10
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class _Raw(io.RawIOBase):
    """The bytes of a file or pipe, of which the first can be looked at."""

    def __init__(self, file: Stream) -> None:
        self._file, self._seen = file, b""
        self._poll = select.poll()
        self._poll.register(file, select.POLLIN)

    def readable(self) -> bool:
        """Always."""
        return True

    def peek(self, size: int) -> bytes:
        """The first bytes, which are read again later; fewer only where there are no more."""
        while len(self._seen) < size and (more := self._next(size - len(self._seen))):
            self._seen += more
        return self._seen

    def readinto(self, buffer: WriteableBuffer) -> int:
        """Fill a buffer as far as one read goes."""
        view = memoryview(buffer)
        chunk, self._seen = self._seen[: len(view)], self._seen[len(view) :]
        chunk = chunk or self._next(len(view))
        view[: len(chunk)] = chunk
        return len(chunk)

    def _next(self, size: int) -> bytes:
        # Ctrl-C just before a read of a silent pipe would go unseen until the pipe speaks.
        while not self._poll.poll(PATIENCE):
            pass
        return self._file.read(size)


@dataclass(eq=False)
class Source:
    """One file (or `-`, standard input), opened and decompressed; read it once."""

    name: str
    bad: BadLines = field(default_factory=BadLines)
    _raw: Stream = field(init=False)

    def __post_init__(self) -> None:
        try:
            where = 0 if self.name == STDIN else self.name
            self._raw = cast(Stream, io.FileIO(where, closefd=self.name != STDIN))
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
        """How many bytes there are to read; None for standard input and other pipes."""
        return Path(self.name).stat().st_size if self._is_file else None

    @property
    def position(self) -> int:
        """How many bytes of the file are read, compressed as they are; 0 for pipes."""
        return self._raw.tell() if self._is_file else 0

    @cached_property
    def head(self) -> bytes:
        """The first bytes and at least the first line, to tell the format from."""
        head = self._read(HEAD)
        while b"\n" not in head and (more := self._read(HEAD)):
            head += more
        return head.removeprefix(_BYTE_ORDER_MARK)

    def head_lines(self) -> list[str]:
        """The first whole lines that are not empty, to tell the format from.

        The very first one must be UTF-8; others that are not are left for `lines` to report.
        """
        lines = self.head.split(b"\n")
        more = len(lines) > 1 and len(self.head) >= HEAD - len(_BYTE_ORDER_MARK)
        whole = lines[:-1] if more else lines
        filled = [(number, line) for number, line in enumerate(whole, start=1) if line.strip()]
        texts = [_decoded(line) for _, line in filled]
        if texts and isinstance(texts[0], Bad):
            raise InputError(f"{self.name}:{filled[0][0]}: {texts[0].what}")
        return [text.strip("\r") for text in texts if isinstance(text, str)]

    def lines(self) -> Iterator[tuple[int, str]]:
        """Line numbers from 1 with the lines, their ends cut off.

        Empty lines are passed over; those that are not UTF-8 are reported as bad.
        """
        number = 1
        for block in self._line_blocks():
            for line in self._decode(block, number):
                stripped = line.strip("\r")
                if stripped and not stripped.isspace():
                    yield number, stripped
                number += 1

    def seekable(self) -> str | io.BytesIO:
        """Where to read from any place: the file itself, or all bytes if compressed or a pipe."""
        plain = isinstance(self._stream, io.BufferedReader)
        return self.name if plain and self._is_file else io.BytesIO(b"".join(self._chunks()))

    @cached_property
    def _is_file(self) -> bool:
        return self.name != STDIN and Path(self.name).is_file()

    @cached_property
    def _stream(self) -> Stream:
        raw = _Raw(self._raw)
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

    def _line_blocks(self) -> Iterator[bytes]:
        """The bytes in blocks that end where a line ends; the line's end itself is cut off."""
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

    def _decode(self, block: bytes, number: int) -> Iterator[str]:
        """The lines of a block of which the first has that number; a bad one becomes empty."""
        texts = _decoded(block)
        if isinstance(texts, str):
            yield from texts.split("\n")
            return
        for place, line in enumerate(block.split(b"\n")):
            text = _decoded(line)
            if isinstance(text, Bad):
                self.bad.report(self.name, number + place, text)
                text = ""
            yield text


def _decoded(line: bytes) -> str | Bad:
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        what = f"not UTF-8 text (byte 0x{line[error.start]:02x}); save the file as UTF-8"
        return Bad(what, line.decode("utf-8", errors="backslashreplace"))
