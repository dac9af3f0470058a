"""Checks of what the manifests of query sets say, whatever their queries are."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nqe.errors import NqeError, StorageError
from nqe.graph.dataset import Dataset


def are_counts(value: Any, depth: int) -> bool:
    """Whether a value is a number, or a dict of numbers, or a dict of such dicts, and so on."""
    if not depth:
        return isinstance(value, int)
    return isinstance(value, dict) and all(are_counts(one, depth - 1) for one in value.values())


def check_fits(
    folder: str | Path, manifest: Mapping[str, Any], dataset: Dataset, how_to_rebuild: str
) -> None:
    """Refuse a query set that was sampled from another graph than the data set."""
    own, names = manifest["fingerprint"], dataset.vocabulary
    if own != dataset.fingerprint:
        raise NqeError(
            f"{folder}: sampled from another graph (fingerprint {own}, the graph's is "
            f"{dataset.fingerprint}); give the graph it was sampled from, or sample again"
        )
    counts = len(names.entities), len(names.relations)
    if (manifest["entities"], manifest["relations"]) != counts:
        raise StorageError(
            f"{folder}: damaged (its manifest tells of other numbers of entities and relations "
            f"than the graph has); {how_to_rebuild}"
        )
