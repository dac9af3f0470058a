"""What to tell about names that were added after a model was trained."""

from __future__ import annotations

from collections.abc import Sequence


def describe_unseen(names: Sequence[str], has_rules: bool) -> str:
    """Say what is predicted about names that the model was not trained with."""
    listed = ", ".join(names)
    if has_rules:
        return f"added after training, so rules alone predict about: {listed}"
    return f"not seen in training, so nothing is predicted about: {listed}"
