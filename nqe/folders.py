"""Folders that nqe writes (graphs, query sets, runs, checkpoints): their manifest and version."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nqe.errors import StorageError
from nqe.files import check_replaceable, contains_text, new_folder
from nqe.version import VERSION

MANIFEST = "manifest.json"


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
    manifest_file: str = MANIFEST
    older_versions: tuple[int, ...] = ()
    """Earlier versions of the format that can still be read."""

    @property
    def marker(self) -> str:
        """A text that the manifest contains, even if it is damaged."""
        return f'"{self.format}"'

    def recognises(self, folder: Path) -> bool:
        """Whether a folder is of this kind, or was before it was damaged."""
        return contains_text(folder / self.manifest_file, self.marker)

    def check_output(self, folder: Path) -> None:
        """Refuse a path that `create` would not replace."""
        check_replaceable(folder, self.manifest_file, self.marker)

    @contextmanager
    def create(self, folder: Path, manifest: Mapping[str, Any]) -> Iterator[Path]:
        """A temporary folder to fill, which then gets its manifest and replaces `folder`.

        If the block raises, `folder` stays unchanged.
        """
        head = {"format": self.format, "version": self.version, "written_by": f"nqe {VERSION}"}
        text = json.dumps({**head, **manifest}, indent=2) + "\n"
        with new_folder(folder, self.manifest_file, self.marker) as temporary:
            yield temporary
            (temporary / self.manifest_file).write_text(text, encoding="utf-8")

    def read_manifest(self, folder: Path) -> dict[str, Any]:
        """The manifest of a folder, after a check of its format and version."""
        path = folder / self.manifest_file
        if not path.is_file():
            missing = f"no {self.manifest_file} in it" if folder.exists() else "no such folder"
            raise StorageError(
                f"{folder}: not a {self.noun} ({missing}); make one with `{self.command}`"
            )
        try:
            manifest = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise StorageError(f"{path}: damaged ({error}); {self.how_to_rebuild}") from error
        if not isinstance(manifest, dict) or manifest.get("format") != self.format:
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
        return manifest
