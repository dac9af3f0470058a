"""The table of model kinds, and the function that builds a new model of the kind in settings."""

from __future__ import annotations

from collections.abc import Callable

from nqe.errors import choose
from nqe.graph.vocabulary import Vocabulary
from nqe.model.model import Model
from nqe.model.nqe_model import NQEModel
from nqe.model.starqe_model import StarQEModel
from nqe.settings import ModelSettings

MODELS: dict[str, Callable[[ModelSettings, int, int, Vocabulary | None], Model]] = {
    "nqe": NQEModel,
    "starqe": StarQEModel,
}
"""Kinds of models by the value of `model.kind`; the arguments are those of `new_model`."""


def new_model(
    settings: ModelSettings,
    entity_count: int,
    relation_count: int,
    vocabulary: Vocabulary | None = None,
) -> Model:
    """Build a model of the kind that the settings name, with random weights."""
    build = choose(MODELS, settings.kind, "kind of model")
    return build(settings, entity_count, relation_count, vocabulary)
