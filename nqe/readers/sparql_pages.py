"""The pages of a result that were received so far, in a folder, so that an import can go on.

A page is appended to a file of lines, and then the state, which says how many bytes of that file
count, is replaced. What an interruption leaves behind those bytes is cut off.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from nqe.documents import check_digest, parse_document, read_document_bytes, render_document
from nqe.files import new_file, raise_storage_errors
from nqe.locks import hold_lock

_VERSION = 1
_LOCK = ".lock"


@dataclass(frozen=True)
class Progressed:
    """What is asked for, and how much of it was received."""

    url: str
    query: str
    page_size: int
    pages: int = 0
    solutions: int = 0
    """The rows of a SELECT, or the solutions that the triples of a CONSTRUCT are made of."""
    lines: int = 0
    size: int = 0
    """The bytes of all lines."""
    repeated: int = 0
    """The lines that an earlier page had as well."""
    header: tuple[str, ...] = ()
    is_complete: bool = False

    @property
    def key(self) -> tuple[str, str, int]:
        """What must be the same for an import to go on."""
        return self.url, self.query, self.page_size


class StoredPages:
    """The file of lines of one result, and its state."""

    def __init__(self, folder: Path, number: int, wanted: Progressed) -> None:
        self.path = folder / f"{number}.lines"
        self._state_path = folder / f"{number}.json"
        found = self._load()
        self.is_fresh_start = found is None and self._state_path.exists()
        """Whether what was stored is of another query, or damaged, and so of no use."""
        if found is not None and found.key != wanted.key:
            found, self.is_fresh_start = None, True
        self.state = found or wanted
        with raise_storage_errors(self.path), self.path.open("ab") as file:
            file.truncate(self.state.size)

    def append(self, lines: Iterable[bytes], state: Progressed) -> None:
        """Store the lines of a page; the state says how it is then, except for sizes."""
        with raise_storage_errors(self.path), self.path.open("ab") as file:
            file.writelines(line + b"\n" for line in lines)
            file.flush()
            os.fsync(file.fileno())
            size = file.tell()
        self.state = Progressed(**{**asdict(state), "size": size})
        content = {"version": _VERSION, **asdict(self.state)}
        with new_file(self._state_path) as temporary:
            temporary.write_text(render_document(self._state_path, content), encoding="utf-8")

    def list_lines(self) -> Iterator[bytes]:
        """The lines of all pages, without their ends."""
        with self.path.open("rb") as file:
            yield from (line.rstrip(b"\n") for line in file)

    def _load(self) -> Progressed | None:
        """The state that was stored, if it fits the file of lines."""
        try:
            content = parse_document(read_document_bytes(self._state_path))
            check_digest(content)
            found = _read_state(content)
            return found if self.path.stat().st_size >= found.size else None
        except (OSError, ValueError, LookupError, TypeError):
            return None


def _read_state(content: Mapping[str, Any]) -> Progressed:
    if content["version"] != _VERSION:
        raise ValueError("of another version")
    values = {field.name: content[field.name] for field in fields(Progressed)}
    return Progressed(**{**values, "header": tuple(values["header"])})


@contextmanager
def hold_folder(folder: Path) -> Iterator[None]:
    """Keep other processes out of a folder of pages within the block; remove it if it is empty."""
    with raise_storage_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
    try:
        with hold_lock(folder / _LOCK, folder):
            try:
                yield
            finally:
                _remove_unused(folder)
    finally:
        _remove_empty(folder)


def remove_pages(folder: Path) -> None:
    """Remove what was stored in a folder, and the folder if nothing else is in it."""
    for path in (*folder.glob("[0-9]*.lines"), *folder.glob("[0-9]*.json")):
        with suppress(OSError):
            path.unlink()
    _remove_empty(folder)


def _remove_unused(folder: Path) -> None:
    """Remove files of lines in which no page was stored."""
    for path in folder.glob("[0-9]*.lines"):
        if not path.with_suffix(".json").exists():
            path.unlink(missing_ok=True)


def _remove_empty(folder: Path) -> None:
    with suppress(OSError):
        folder.rmdir()
