"""Changes to what nqe wrote, for tests and benchmarks of what it then says."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

from nqe.documents import DIGEST, render_document
from nqe.errors import StorageError
from nqe.folders import FILES, describe_files

MANIFESTS = ("manifest.json", "config.json")


def sign_again(place: Path) -> None:
    """Compute the digests of a changed JSON file or folder anew, so that other checks are reached.

    What lacks a digest, or is not JSON any more, is left as it is.
    """
    if place.is_file():
        _sign(place)
        return
    # Folders within a folder first, as their manifests count as files of the outer one.
    folders = sorted((path for path in place.rglob("*") if path.is_dir()), reverse=True)
    for folder in (*folders, place):
        for file in sorted(folder.glob("*.json")):
            _sign(file)
        for name in MANIFESTS:
            if (folder / name).is_file():
                _sign(folder / name, describe_files(folder, {name}))


def change_json(path: Path, **changes: Any) -> None:
    """Change entries of a JSON file; its digest is left as it is."""
    content = json.loads(path.read_text(encoding="utf-8")) | changes
    path.write_text(json.dumps(content), encoding="utf-8")


def _sign(path: Path, files: dict[str, Any] | None = None) -> None:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError):
        return
    if not isinstance(content, dict) or DIGEST not in content:
        return
    if files is not None and isinstance(content.get(FILES), dict):
        content[FILES] = {name: files[name] for name in content[FILES] if name in files}
    with suppress(StorageError):  # a number that is not finite
        path.write_text(render_document(path, content), encoding="utf-8")
