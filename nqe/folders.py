"""Folders that nqe writes (graphs, query sets, runs, checkpoints): manifest, version, digests.

The manifest lists the size and the digest of every file, so that a file which was changed,
damaged or belongs to another version of the folder is noticed when it is read.
"""

from __future__ import annotations

import glob
import mmap
import os
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import file_digest, sha256
from io import BufferedReader
from pathlib import Path
from textwrap import shorten
from typing import Any, TypeVar

from nqe.documents import (
    check_digest,
    parse_document,
    read_document_bytes,
    render_document,
)
from nqe.errors import StorageError
from nqe.files import check_replaceable, contains_text, new_file, new_folder
from nqe.version import VERSION

Loaded = TypeVar("Loaded")

MANIFEST = "manifest.json"
FILES = "files"
"""The manifest's list of files."""
READS = 50
"""How often a folder is read before it is given up because others keep replacing it."""


@dataclass(frozen=True)
class FolderKind:
    """A kind of folder: the name and version of its format, and how error messages speak of it."""

    format: str
    version: int
    noun: str
    """What to call such a folder: "graph folder"."""
    command: str
    """The command that writes such a folder: "nqe import"."""
    how_to_rebuild: str
    """What to do about a folder that cannot be read: "import the graph again"."""
    contents: tuple[str, ...]
    """Patterns for the paths of the files that such a folder may hold beside its manifest."""
    entries: Mapping[str, tuple[type, ...]]
    """The entries of the manifest that are used, with their types; NoneType if optional."""
    manifest_file: str = MANIFEST
    older_versions: tuple[int, ...] = ()
    """Earlier versions of the format that can still be read; their manifests have no digests."""
    for_people: tuple[str, ...] = ()
    """Files that people read and may edit, so that the manifest does not list them."""
    grows: bool = False
    """Whether files are added and changed later, so that the manifest cannot list them.

    Such a folder is never replaced.
    """

    @property
    def marker(self) -> str:
        """A text that the manifest contains, even if it is damaged."""
        return f'"{self.format}"'

    def recognises(self, folder: Path) -> bool:
        """Whether a folder is of this kind, or was before it was damaged."""
        return contains_text(folder / self.manifest_file, self.marker)

    def check_output(self, folder: Path) -> None:
        """Refuse a path that `create` would not replace."""
        check_replaceable(
            folder, self.manifest_file, self.marker, contents=self._list_contents(folder)
        )

    @contextmanager
    def create(
        self, folder: Path, manifest: Mapping[str, Any], *, keep_others: bool = False
    ) -> Iterator[Path]:
        """A temporary folder to fill, which then gets its manifest and replaces `folder`.

        If the block raises, `folder` stays unchanged. Files in it that nqe has not written are
        an error, or with `keep_others` are put into the new folder.
        """
        head = {"format": self.format, "version": self.version, "written_by": f"nqe {VERSION}"}
        with new_folder(
            folder,
            self.manifest_file,
            self.marker,
            contents=() if self.grows else self._list_contents(folder),
            keep_others=keep_others,
        ) as temporary:
            yield temporary
            files = {} if self.grows else {FILES: describe_files(temporary, self.for_people)}
            text = render_document(folder, {**head, **manifest, **files})
            (temporary / self.manifest_file).write_text(text, encoding="utf-8")

    def update(self, folder: Path, changes: Mapping[str, Any]) -> None:
        """Change entries of a folder's manifest."""
        path = folder / self.manifest_file
        text = render_document(path, {**self.read_manifest(folder), **changes})
        with new_file(path) as temporary:
            temporary.write_text(text, encoding="utf-8")

    def read_manifest(self, folder: Path) -> dict[str, Any]:
        """The manifest of a folder, after a check of its format, version and digest."""
        path = folder / self.manifest_file
        if not path.is_file():
            missing = f"no {self.manifest_file} in it" if folder.exists() else "no such folder"
            raise StorageError(
                f"{folder}: not a {self.noun} ({missing}); make one with `{self.command}`"
            )
        try:
            data = read_document_bytes(path)
        except (OSError, ValueError) as error:
            raise StorageError(f"{path}: damaged ({error}); {self.how_to_rebuild}") from error
        return self.parse_manifest(path, data)

    def parse_manifest(self, path: Path, data: bytes) -> dict[str, Any]:
        """The manifest in the bytes of the file at a path."""
        try:
            manifest = parse_document(data)
        except ValueError as error:
            raise StorageError(f"{path}: damaged ({error}); {self.how_to_rebuild}") from error
        if manifest.get("format") != self.format:
            raise StorageError(
                f"{path}: not a {self.noun}'s manifest; give a folder that `{self.command}` made"
            )
        readable = (*self.older_versions, self.version)
        if manifest.get("version") not in readable:
            raise StorageError(
                f"{path}: format version {manifest.get('version')}, but this nqe reads "
                f"{' and '.join(map(str, readable))}; {self.how_to_rebuild} or use a version of "
                "nqe that reads it"
            )
        try:
            is_signed = manifest["version"] not in self.older_versions
            check_digest(manifest, required=is_signed)
            _check_entries(manifest, self.entries)
            if is_signed and not self.grows:
                _check_entries(manifest, {FILES: (dict,)})
                _check_entries(manifest[FILES], dict.fromkeys(manifest[FILES], (dict,)))
        except ValueError as error:
            raise StorageError(f"{path}: damaged ({error}); {self.how_to_rebuild}") from error
        return manifest

    def open(self, folder: Path) -> OpenFolder:
        """Open a folder to read its files."""
        return OpenFolder(self, folder, self.read_manifest(folder))

    def read(self, folder: Path, load: Callable[[OpenFolder], Loaded]) -> Loaded:
        """The result of `load` for a folder; if it is replaced meanwhile, it is read again."""
        for _ in range(READS):
            before = self._identify(folder)
            try:
                return load(self.open(folder))
            except StorageError:
                if self._identify(folder) == before:
                    raise
        raise StorageError(f"{folder}: is replaced all the time; read it when that has ended")

    def _identify(self, folder: Path) -> tuple[int, ...]:
        """What differs if a folder was replaced, even by one with the same content; () if none."""
        try:
            stats = [path.stat() for path in (folder, folder / self.manifest_file)]
        except (OSError, ValueError):  # not there, or a null character in the path
            return ()
        return tuple(number for one in stats for number in (one.st_ino, one.st_mtime_ns))

    def _list_contents(self, folder: Path) -> tuple[str, ...]:
        """Patterns for the files of an existing folder that nqe wrote."""
        try:
            listed = parse_document(read_document_bytes(folder / self.manifest_file)).get(FILES, ())
        except (OSError, ValueError):
            listed = ()
        return (self.manifest_file, *self.contents, *map(glob.escape, map(str, listed)))


@dataclass(frozen=True)
class OpenFolder:
    """A folder whose manifest was read; every file is compared with it when it is read."""

    kind: FolderKind
    path: Path
    manifest: Mapping[str, Any]

    @property
    def is_signed(self) -> bool:
        """Whether the manifest lists the folder's files; that of older versions does not."""
        return FILES in self.manifest

    def has(self, name: str) -> bool:
        """Whether the folder has a file of this name."""
        return name in self.manifest[FILES] if self.is_signed else (self.path / name).is_file()

    def read_bytes(self, name: str) -> bytes:
        """The content of a file."""
        with self._open(name) as file, self._report_damage(name):
            data = file.read()
        self._check(name, len(data), sha256(data).hexdigest() if self.is_signed else "")
        return data

    def map_bytes(self, name: str) -> bytes | mmap.mmap:
        """The content of a file, as memory that all processes which map it share."""
        # Compared by reading, so that only what is used later counts as this process's memory.
        with self.open_file(name) as file, self._report_damage(name):
            return _map(file)

    def check_file(self, name: str) -> None:
        """Refuse a file that differs from what the manifest says of it."""
        with self.open_file(name):
            pass

    @contextmanager
    def open_file(self, name: str) -> Iterator[BufferedReader]:
        """A file to read within the block, for files that need not fit into memory twice."""
        with self._open(name) as file:
            self._check_open_file(name, file)
            yield file

    @contextmanager
    def locate_file(self, name: str) -> Iterator[Path]:
        """The path of a file, for libraries that read nothing but paths.

        Leaving the block is an error if the path is another file by then.
        """
        path = self.path / name
        with self.open_file(name) as file:
            yield path
            with self._report_damage(name):
                is_same = os.path.samestat(os.fstat(file.fileno()), path.stat())
            if not is_same:
                raise StorageError(f"{self.path}: was replaced while it was read; read it again")

    def open_inner(self, kind: FolderKind, name: str) -> OpenFolder:
        """Open a folder within this one."""
        manifest = f"{name}/{kind.manifest_file}"
        content = kind.parse_manifest(self.path / manifest, self.read_bytes(manifest))
        return OpenFolder(kind, self.path / name, content)

    def check_all(self) -> list[str]:
        """List what is wrong with the folder's files, one sentence each; empty if all is well."""
        problems = []
        for name in self.manifest.get(FILES, ()):
            try:
                self.check_file(name)
            except StorageError as error:
                problems.append(str(error))
        return problems

    def _open(self, name: str) -> BufferedReader:
        path = self.path / name
        with self._report_damage(name):
            if path.exists() and not path.is_file():  # opening a pipe would wait for ever
                raise OSError("not an ordinary file")
            return path.open("rb")

    def _check_open_file(self, name: str, file: BufferedReader) -> None:
        if self.is_signed:
            with self._report_damage(name):
                digest = file_digest(file, "sha256").hexdigest()
                size = file.tell()
                file.seek(0)
            self._check(name, size, digest)

    def _check(self, name: str, size: int, digest: str) -> None:
        if self.is_signed and self.manifest[FILES].get(name) != {"bytes": size, "sha256": digest}:
            raise StorageError(
                f"{self.path / name}: damaged, or changed after nqe wrote it; "
                f"{self.kind.how_to_rebuild}"
            )

    @contextmanager
    def _report_damage(self, name: str) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            reason = error.strerror or str(error)
            raise StorageError(
                f"{self.path / name}: cannot be read ({reason.lower()}); {self.kind.how_to_rebuild}"
            ) from error


def _map(file: BufferedReader) -> bytes | mmap.mmap:
    """Map a file into memory, or read it where that cannot be done."""
    if sys.platform == "win32":  # a mapped file could not be replaced there
        return file.read()
    try:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError):  # a file system that cannot map files, or an empty file
        return file.read()


def describe_files(folder: Path, leave_out: Collection[str] = ()) -> dict[str, dict[str, Any]]:
    """The size and digest of every file below a folder, by its path in it."""
    described = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_file() and name not in leave_out:
            with path.open("rb") as file:
                digest = file_digest(file, "sha256").hexdigest()
                described[name] = {"bytes": file.tell(), "sha256": digest}
    return described


def _check_entries(manifest: Mapping[str, Any], entries: Mapping[str, tuple[type, ...]]) -> None:
    for name, types in entries.items():
        value = manifest.get(name)
        if type(value) not in types:
            raise ValueError(f"its entry '{name}' is {shorten(repr(value), 60)}")
