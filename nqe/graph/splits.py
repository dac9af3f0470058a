"""The splits that a data set or a query set may have, and their check in a manifest."""

from __future__ import annotations

from typing import Any

SPLITS = ("train", "valid", "test")
ADDED = "added"
"""The split of facts that were added after a data set was saved; it is always known."""


def check_splits(splits: Any) -> None:
    """Raise a ValueError unless this is what a manifest says about splits, by their names."""
    if not isinstance(splits, dict) or not all(isinstance(one, dict) for one in splits.values()):
        raise ValueError("the manifest does not list the splits")
    unknown = [name for name in splits if name not in SPLITS]
    if unknown:
        raise ValueError(f"unknown split {unknown[0]!r:.60}; splits are {', '.join(SPLITS)}")
