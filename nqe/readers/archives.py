"""Files out of zip archives: only those that are named, and no more bytes than a limit."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO
from zipfile import BadZipFile, ZipFile

from nqe.errors import InputError

LARGEST = 1 << 30
"""The most bytes that a file in an archive may have."""
CHUNK = 1 << 20


def unpack_file(archive: Path, member: str, target: Path, largest: int = LARGEST) -> None:
    """Write one file of an archive to a path, whatever paths the archive has."""
    size = 0
    with _open_member(archive, member) as source, target.open("wb") as file:
        while chunk := source.read(CHUNK):
            size += len(chunk)
            if size > largest:  # counted, as an archive may say less than it holds
                raise InputError(
                    f"{archive}: {member} has more than {largest >> 20:,} MB; get the archive again"
                )
            file.write(chunk)


@contextmanager
def _open_member(archive: Path, member: str) -> Iterator[IO[bytes]]:
    try:
        with ZipFile(archive) as opened, opened.open(member) as source:
            yield source
    except KeyError:
        raise InputError(f"{archive}: has no file {member}; get the archive again") from None
    except (BadZipFile, EOFError, zlib.error, NotImplementedError, RuntimeError) as error:
        raise InputError(
            f"{archive}: no zip archive, or a damaged one ({error}); get it again"
        ) from error
