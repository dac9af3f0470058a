"""NQE models with a registered encoder and logic of one's own."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from random_plans import atom, negated
from small_models import ENTITY_COUNT, RELATION_COUNT, small_settings
from torch import Tensor, nn

from nqe.errors import NqeError
from nqe.model import (
    ENCODERS,
    LOGICS,
    Encoder,
    NQEModel,
    from_pretrained,
    save_pretrained,
)
from nqe.model.batch import Projections
from nqe.query.plan import Op
from nqe.query.step_table import StepTable
from nqe.settings import ModelSettings
from nqe.training.loss import SoftmaxLoss, Targets


class MeanEncoder(Encoder):
    """Passes the mean of a fact's elements through a linear map and a sigmoid."""

    def __init__(self, settings: ModelSettings) -> None:
        super().__init__()
        self.map = nn.Linear(settings.width, settings.width)

    def forward(self, entities: Tensor, relations: Tensor, projections: Projections) -> Tensor:
        elements = torch.cat([entities, relations])
        means = []
        for group in projections.groups:
            vectors = elements[group.tokens]  # (facts, elements, width)
            if group.padding is None:
                means.append(vectors.mean(1))
            else:
                real = ~group.padding[..., None]
                means.append((vectors * real).sum(1) / real.sum(1))
        return torch.sigmoid(self.map(torch.cat(means)))


class Hamacher:
    """The Hamacher product, ab / (a + b - ab)."""

    def conjoin(self, inputs: Tensor) -> Tensor:
        return 1 / (1 + (1 / inputs.clamp_min(1e-6) - 1).sum(1))

    def disjoin(self, inputs: Tensor) -> Tensor:
        return 1 - self.conjoin(1 - inputs)

    def negate(self, inputs: Tensor) -> Tensor:
        return 1 - inputs


@pytest.fixture
def custom_model(monkeypatch: pytest.MonkeyPatch) -> NQEModel:
    monkeypatch.setitem(ENCODERS, "mean", MeanEncoder)
    monkeypatch.setitem(LOGICS, "hamacher", Hamacher())
    settings = small_settings(encoder="mean", logic="hamacher")
    return NQEModel(settings, ENTITY_COUNT, RELATION_COUNT)


def test_a_registered_encoder_and_logic_compute_the_vectors(custom_model: NQEModel) -> None:
    atoms = [atom(2), atom(4, 2), atom(3, 1)]
    plans = [*atoms, negated(Op.AND, atoms), negated(Op.OR, atoms)]
    with torch.no_grad():
        vectors = custom_model.encode(StepTable.of(plans))
        alone = torch.cat([custom_model.encode(StepTable.of([plan])) for plan in plans])
        first, second, third = vectors[:3]
    torch.testing.assert_close(vectors, alone)
    pair = 1 / (1 / first + 1 / second - 1)
    torch.testing.assert_close(vectors[3], 1 - 1 / (1 / pair + 1 / third - 1))


def test_a_registered_encoder_learns(custom_model: NQEModel) -> None:
    plans = StepTable.of([atom(2), atom(4, 2), negated(Op.OR, [atom(3), atom(2, 1)])])
    loss = SoftmaxLoss(0.1, ENTITY_COUNT)
    targets = Targets(torch.arange(3), torch.tensor([5, 1, 2]), torch.ones(3, dtype=torch.long))
    optimizer = torch.optim.Adam(custom_model.parameters(), lr=0.05)
    losses = []
    for _ in range(30):
        value = loss(custom_model.compare(plans), targets)
        optimizer.zero_grad()
        value.backward()
        optimizer.step()
        losses.append(float(value.detach()))
    assert losses[-1] < losses[0] / 1.5


def test_a_registered_encoder_is_saved_and_loaded_by_its_name(
    custom_model: NQEModel, tmp_path: Path
) -> None:
    save_pretrained(custom_model, tmp_path / "model")
    loaded = from_pretrained(tmp_path / "model", "cpu")
    plans = StepTable.of([atom(2), atom(4, 2)])
    assert isinstance(loaded, NQEModel)
    assert isinstance(loaded.encoder, MeanEncoder)
    assert torch.equal(loaded.encode(plans), custom_model.eval().encode(plans))


def test_an_unknown_name_is_refused_with_the_known_ones() -> None:
    with pytest.raises(NqeError, match="unknown logic 'fuzzy'; choose one of product, godel, luka"):
        NQEModel(small_settings(logic="fuzzy"), 3, 2)
    with pytest.raises(NqeError, match="unknown encoder 'mean'; choose one of transformer"):
        NQEModel(small_settings(encoder="mean"), 3, 2)
    with pytest.raises(NqeError, match="unknown score 'cosine'; choose one of centred, dot"):
        NQEModel(small_settings(score="cosine"), 3, 2)


def test_an_encoder_without_a_forward_method_raises() -> None:
    with pytest.raises(NotImplementedError):
        Encoder()(torch.zeros(0, 8), torch.zeros(0, 8), None)
