"""Folders that nqe writes: what kind one is, told by its manifest."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nqe.errors import StorageError
from nqe.files import check_replaceable, has_mark, new_folder
from nqe.version import VERSION

MANIFEST = "manifest.json"


@dataclass(frozen=True)
class FolderKind:
    """A kind of folder: the name and version of its format, what to call it, how to get one."""

    format: str
    version: int
    noun: str
    command: str
    again: str
    file: str = MANIFEST
    """The name of the manifest."""
    older_versions: tuple[int, ...] = ()
    """Versions of the format before this one that can still be read."""

    @property
    def mark(self) -> str:
        """What the manifest of such a folder has in it, even a damaged one."""
        return f'"{self.format}"'

    def is_one(self, folder: Path) -> bool:
        """Whether a folder is of this kind, or was before something damaged it."""
        return has_mark(folder / self.file, self.mark)

    def check_output(self, folder: Path) -> None:
        """Refuse a place that `new` would not replace."""
        check_replaceable(folder, self.file, self.mark)

    @contextmanager
    def new(self, folder: Path, manifest: Mapping[str, Any]) -> Iterator[Path]:
        """A temporary folder to fill; it takes the place, manifest and all, when that ends well."""
        head = {"format": self.format, "version": self.version, "written_by": f"nqe {VERSION}"}
        text = json.dumps({**head, **manifest}, indent=2) + "\n"
        with new_folder(folder, self.file, self.mark) as temporary:
            yield temporary
            (temporary / self.file).write_text(text, encoding="utf-8")

    def manifest(self, folder: Path) -> dict[str, Any]:
        """The manifest of a folder, its format checked."""
        path = folder / self.file
        if not path.is_file():
            missing = "no such folder" if not folder.exists() else f"no {self.file} in it"
            raise StorageError(
                f"{folder}: not a {self.noun} ({missing}); make one with `{self.command}`"
            )
        try:
            manifest = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise StorageError(f"{path}: damaged ({error}); {self.again}") from error
        if not isinstance(manifest, dict) or manifest.get("format") != self.format:
            raise StorageError(
                f"{path}: not a {self.noun}'s manifest; give a folder that `{self.command}` made"
            )
        readable = (*self.older_versions, self.version)
        if manifest.get("version") not in readable:
            raise StorageError(
                f"{path}: format version {manifest.get('version')}, but this nqe reads "
                f"{' and '.join(map(str, readable))}; {self.again} or use a fitting nqe"
            )
        return manifest
