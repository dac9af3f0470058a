"""Descriptions by id; those of ids that no fact has named yet can wait in a temporary file."""

from __future__ import annotations

import gzip
import json
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import chain
from typing import IO
from weakref import finalize

from nqe.errors import StorageError
from nqe.graph.vocabulary import Description
from nqe.readers.records import DescribedId

MOST_WAITING = 100_000
"""Descriptions of this many ids are kept in memory before some are set aside."""

Choose = Callable[[str], bool]


class DescriptionStore(dict[str, Description]):
    """Collects descriptions in the order of the sources.

    A source may describe many more ids than its facts name, and may name them later than it
    describes them. The descriptions of such ids are set aside, so that the memory holds only
    those of the graph.
    """

    def __init__(self, most: int | None = MOST_WAITING) -> None:
        """`most` is how many ids have their descriptions in memory; None for all."""
        super().__init__()
        self._file: IO[bytes] | None = None
        self._least = self._most = most

    def add(self, described: DescribedId) -> None:
        """Add a description to those that the id has: the first label stays its label."""
        earlier = self.get(described.id, Description())
        self[described.id] = earlier.merge(described.description)

    @property
    def is_full(self) -> bool:
        """Whether there are so many descriptions that it is time to set some aside."""
        return self._most is not None and len(self) >= self._most

    @property
    def are_aside(self) -> bool:
        """Whether any descriptions are set aside."""
        return self._file is not None

    def set_aside(self, is_named: Choose) -> None:
        """Move the descriptions of ids that no fact names into the file."""
        waiting = [name for name in self if not is_named(name)]
        try:
            self._file = self._file or self._open_file()
            with gzip.GzipFile(fileobj=self._file, mode="wb", compresslevel=1) as archive:
                for name in waiting:
                    archive.write(_write(name, self.pop(name)))
            self._file.flush()
        except OSError as error:
            self._close_file()
            raise StorageError(
                f"the descriptions cannot be set aside in {tempfile.gettempdir()} "
                f"({error.strerror or error}); name another folder in the variable TMPDIR"
            ) from error
        # Twice as many as are left, so that each is looked at a few times and not at each addition.
        self._most = max(self._least or 0, 2 * len(self))

    def restore(self, is_wanted: Choose) -> None:
        """Take back the descriptions of the ids that are wanted, and forget the others."""
        later = [DescribedId(name, description) for name, description in self.items()]
        self.clear()
        for described in chain(self._list_aside(), later):
            if is_wanted(described.id):
                self.add(described)

    def _open_file(self) -> IO[bytes]:
        """A file without a name, which ends with the store or with the process."""
        file = tempfile.TemporaryFile()  # noqa: SIM115
        finalize(self, file.close)
        return file

    def _close_file(self) -> None:
        """Close a file whose disk is full, so that nothing is left to be written."""
        with suppress(OSError):
            if self._file is not None:
                self._file.close()
        self._file = None

    def _list_aside(self) -> Iterator[DescribedId]:
        if self._file is None:
            return
        self._file.seek(0)
        with self._file as file, gzip.GzipFile(fileobj=file) as archive:
            yield from map(_read, archive)
        self._file = None


def _write(name: str, description: Description) -> bytes:
    parts = name, description.label, description.description, description.aliases
    return f"{json.dumps(parts)}\n".encode()


def _read(line: bytes) -> DescribedId:
    name, label, description, aliases = json.loads(line)
    return DescribedId(name, Description(label, description, tuple(aliases)))
