"""Where facts come from: a file or standard input, compressed or not, as lines of text."""

from __future__ import annotations

import bz2
import gzip
import io
import sys
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import IO, Protocol, cast

import pyarrow as pa

from nqe.errors import InputError

STDIN = "-"
CHUNK = 1 << 20
HEAD = 1 << 16

Stream = IO[bytes]


def _zstd(stream: Stream) -> Stream:
    return cast(Stream, pa.CompressedInputStream(pa.PythonFile(stream, mode="r"), "zstd"))


# A compression by the bytes its files begin with.
_COMPRESSIONS: dict[bytes, Callable[[Stream], Stream]] = {
    b"\x1f\x8b": lambda stream: cast(Stream, gzip.GzipFile(fileobj=stream)),
    b"BZh": lambda stream: cast(Stream, bz2.BZ2File(stream)),
    b"\x28\xb5\x2f\xfd": _zstd,
}


class Watch(Protocol):
    """Someone who wants to see how far reading is."""

    def start(self, name: str, size: int | None) -> None:
        """A source of so many bytes (None: unknown) is being read."""

    def update(self, position: int, facts: int) -> None:
        """So many of its bytes and facts are read."""


class Silence:
    """Watches nothing."""

    def start(self, name: str, size: int | None) -> None:
        """Pass over it."""

    def update(self, position: int, facts: int) -> None:
        """Pass over it."""


@dataclass(eq=False)
class Source:
    """One file (or `-`, standard input), opened and decompressed; read it once."""

    name: str
    _raw: Stream = field(init=False)

    def __post_init__(self) -> None:
        if self.name == STDIN:
            self._raw = sys.stdin.buffer
            return
        try:
            self._raw = Path(self.name).open("rb")  # noqa: SIM115 closed by `close`
        except FileNotFoundError:
            raise InputError(f"{self.name}: no such file; check the path") from None
        except IsADirectoryError:
            raise InputError(f"{self.name}: a folder; name its files one by one") from None
        except OSError as error:
            raise InputError(f"{self.name}: cannot be opened ({error.strerror})") from error

    def __enter__(self) -> Source:
        return self

    def __exit__(self, *_: object) -> None:
        if self.name != STDIN:
            self._raw.close()

    @property
    def size(self) -> int | None:
        """How many bytes there are to read; None for standard input."""
        return None if self.name == STDIN else Path(self.name).stat().st_size

    @property
    def position(self) -> int:
        """How many bytes of the file are read, compressed as they are."""
        return 0 if self.name == STDIN else self._raw.tell()

    @cached_property
    def head(self) -> bytes:
        """The first bytes, to tell the format from."""
        return self._read(HEAD)

    def head_lines(self) -> list[str]:
        """The first whole lines that are not empty, to tell the format from."""
        text = self.head.decode("utf-8-sig", errors="replace")
        lines = text.splitlines()
        whole = lines[:-1] if len(self.head) == HEAD else lines
        return [line for line in whole if line.strip()]

    def lines(self) -> Iterator[tuple[int, str]]:
        """Line numbers from 1 with the lines, their ends cut off; empty lines are passed over."""
        number, first = 1, True
        for block in self._line_blocks():
            text = self._decode(block, number)
            if first:
                text, first = text.removeprefix("\ufeff"), False
            for line in text.split("\n"):
                stripped = line.strip("\r")
                if stripped and not stripped.isspace():
                    yield number, stripped
                number += 1

    def everything(self) -> bytes:
        """All bytes at once, for formats that must be read from their end."""
        return b"".join(self._chunks())

    @cached_property
    def _stream(self) -> Stream:
        buffered = io.BufferedReader(cast(io.RawIOBase, self._raw), CHUNK)
        start = buffered.peek(4)[:4]
        for magic, decompress in _COMPRESSIONS.items():
            if start.startswith(magic):
                return decompress(cast(Stream, buffered))
        return cast(Stream, buffered)

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

    def _decode(self, block: bytes, number: int) -> str:
        try:
            return block.decode("utf-8")
        except UnicodeDecodeError as error:
            line = number + block.count(b"\n", 0, error.start)
            byte = block[error.start]
            raise InputError(
                f"{self.name}:{line}: not UTF-8 text (byte 0x{byte:02x}); save the file as UTF-8"
            ) from None
