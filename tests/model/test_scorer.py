"""Scores: the paper's dot product and the centred score."""

from __future__ import annotations

import pytest
import torch
from random_plans import atom
from slow_model import fuzzy
from small_models import ENTITY_COUNT, small_model
from torch import Tensor

from nqe.model import Model, NQEModel
from nqe.query.step_table import StepTable
from nqe.settings import ModelSettings

QUERIES = torch.rand(6, 8, generator=torch.Generator().manual_seed(3))
by_score = pytest.mark.parametrize("score", ["dot", "centred"])


def scores(model: Model, entities: Tensor | slice | None = None) -> Tensor:
    with torch.no_grad():
        return model.score(QUERIES, model.entity_block(entities))


def test_the_dot_score_is_the_product_with_the_entity_table() -> None:
    model = small_model(score="dot")
    table = fuzzy(model.entities.weights, model.settings.steepness)
    torch.testing.assert_close(scores(model), (QUERIES @ table.T).detach())


def test_the_centred_score_subtracts_a_half_and_adds_a_bias_per_entity() -> None:
    model = small_model(score="centred")
    table = fuzzy(model.entities.weights, model.settings.steepness)
    product = (QUERIES - 0.5) @ (table - 0.5).T
    expected = model.scorer.temperature * product + model.scorer.bias
    torch.testing.assert_close(scores(model), expected.detach())


def test_the_scores_differ_by_one_term_per_query_and_one_term_per_entity() -> None:
    dot, centred = small_model(score="dot"), small_model(score="centred")
    temperature = float(centred.scorer.temperature.detach())
    difference = scores(centred) / temperature - scores(dot)
    table = fuzzy(dot.entities.weights, dot.settings.steepness).detach()
    of_query = difference - difference[:, :1]
    torch.testing.assert_close(of_query, of_query[:1].expand_as(of_query), atol=1e-5, rtol=0)
    of_entity = centred.scorer.bias.detach() / temperature - table.sum(1) / 2
    expected = of_entity + 8 / 4 - QUERIES.sum(1, keepdim=True) / 2
    torch.testing.assert_close(difference, expected, atol=1e-5, rtol=0)


def test_the_temperature_in_the_settings_is_the_initial_value() -> None:
    model = NQEModel(ModelSettings(width=8, heads=2, temperature=7.0), 3, 2)
    assert float(model.scorer.temperature.detach()) == 7
    assert model.scorer.temperature.requires_grad
    assert torch.equal(model.scorer.bias, torch.zeros(3))


@by_score
def test_chosen_entities_have_the_scores_they_have_among_all(score: str) -> None:
    model = small_model(score=score)
    all_scores = scores(model)
    chosen = torch.tensor([4, 0, 9, 4])
    torch.testing.assert_close(scores(model, slice(2, 7)), all_scores[:, 2:7])
    torch.testing.assert_close(scores(model, chosen), all_scores[:, chosen])


@by_score
@pytest.mark.parametrize("entities", [None, torch.tensor([7, 2, 11])], ids=["all", "some"])
def test_comparing_in_one_operation_has_the_same_scores_and_gradients(
    score: str, entities: Tensor | None
) -> None:
    model = small_model(score=score).double()
    plans = StepTable.of([atom(2), atom(4, 3), atom(3, shift=2)])
    weight = torch.linspace(-1, 1, 3 * (ENTITY_COUNT if entities is None else 3)).view(3, -1)
    separate = model.score(model.encode(plans), model.entity_block(entities))
    compared = model.compare(plans, entities).scores()
    torch.testing.assert_close(separate, compared)
    of_separate, of_compared = (
        torch.autograd.grad((one * weight).sum(), list(model.parameters()))
        for one in (separate, compared)
    )
    for one, other in zip(of_separate, of_compared, strict=True):
        torch.testing.assert_close(one, other)
