"""Changes to what nqe wrote, for tests and benchmarks of what it then says."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

from nqe.documents import DIGEST, render_document
from nqe.errors import StorageError
from nqe.folders import FILES, describe_files
from nqe.graph import storage
from nqe.graph.fingerprint import compute_fingerprint
from nqe.graph.splits import SPLITS
from nqe.graph.vocabulary import Vocabulary
from nqe.run_folders import WEIGHTS

MANIFESTS = ("manifest.json", "config.json")


def sign_again(place: Path, *, fingerprints: bool = False) -> None:
    """Compute the digests of a changed JSON file or folder anew, so that other checks are reached.

    What lacks a digest, or is not JSON any more, is left as it is. With `fingerprints`, the
    fingerprints of graphs are computed anew as well, and what calibrations say about weights.
    """
    if place.is_file():
        _sign(place)
        return
    # Folders within a folder first, as their manifests count as files of the outer one.
    folders = sorted((path for path in place.rglob("*") if path.is_dir()), reverse=True)
    for folder in (*folders, place):
        files = describe_files(folder)
        for file in sorted(folder.glob("*.json")):
            if file.name not in MANIFESTS:
                _sign(file, weights=files.get(WEIGHTS, {}).get("sha256") if fingerprints else None)
        for name in MANIFESTS:
            if (folder / name).is_file():
                graph = _describe_graph(folder) if fingerprints else {}
                _sign(folder / name, describe_files(folder, {name}), graph)


def change_json(path: Path, **changes: Any) -> None:
    """Change entries of a JSON file; its digest is left as it is."""
    content = json.loads(path.read_text(encoding="utf-8")) | changes
    path.write_text(json.dumps(content), encoding="utf-8")


def _sign(
    path: Path,
    files: dict[str, Any] | None = None,
    graph: dict[str, Any] | None = None,
    weights: str | None = None,
) -> None:
    """Compute the digest of a document anew, and what it says about other files."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return
    if not isinstance(content, dict) or DIGEST not in content:
        return
    if files is not None and isinstance(content.get(FILES), dict):
        content[FILES] = {name: files[name] for name in content[FILES] if name in files}
    if content.get("format") == storage.KIND.format:
        content |= graph or {}
    if isinstance(content.get("weights"), str) and weights is not None:
        content["weights"] = weights
    with suppress(StorageError, RecursionError):  # a number that is not finite, deep nesting
        path.write_text(render_document(path, content), encoding="utf-8")


def _describe_graph(folder: Path) -> dict[str, Any]:
    """The fingerprint of a graph folder, which is a digest as well; {} if it cannot be read."""
    try:
        names = [
            storage._read_names(kind, (folder / file).read_bytes())
            for kind, file in (("entity", "entities.parquet"), ("relation", "relations.parquet"))
        ]
        vocabulary = Vocabulary(*names)
        paths = {split: folder / f"{split}.parquet" for split in SPLITS}
        splits = {
            split: storage._read_facts(path.read_bytes())
            for split, path in paths.items()
            if path.is_file()
        }
        return {"fingerprint": compute_fingerprint(vocabulary, splits)}
    except Exception:  # whatever a damaged file causes; loading it is what is tested
        return {}
