"""The weights that a training begins with: those of an earlier model instead of random ones."""

from __future__ import annotations

from pathlib import Path

from nqe.errors import NqeError
from nqe.model.checkpoint import load
from nqe.model.model import Model


def copy_weights(model: Model, start: Path) -> None:
    """Give a new model the weights of a RUN or checkpoint of the same sizes and names."""
    earlier = load(start, "cpu")
    _check_names(model, earlier, start)
    _check_sizes(model, earlier, start)
    model.load_state_dict(earlier.state_dict())


def _check_names(model: Model, earlier: Model, start: Path) -> None:
    own, other = model.vocabulary, earlier.vocabulary
    if own is None or other is None or not own.same_ids(other):
        raise NqeError(
            f"{start}: trained on other entities or relations than the graph has, so its weights "
            "mean something else; give a run of this graph, or leave out --start-from"
        )


def _check_sizes(model: Model, earlier: Model, start: Path) -> None:
    own, other = (
        {name: tuple(value.shape) for name, value in one.state_dict().items()}
        for one in (model, earlier)
    )
    if model.settings.kind != earlier.settings.kind or own != other:
        raise NqeError(
            f"{start}: its model has other sizes or parts than this run asks for; use its own "
            "[model] settings (its settings.toml has them), or leave out --start-from"
        )
