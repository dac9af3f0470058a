"""Scores: the paper's dot product and the centred score."""

from __future__ import annotations

import pytest
import torch
from random_plans import atom
from slow_model import fuzzy
from small_models import ENTITY_COUNT, small_model
from torch import Tensor

from nqe.model import Model, NQEModel
from nqe.model.scorer import standardise
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


def slow_standardise(vectors: Tensor) -> Tensor:
    """Standardise vectors in double precision, by the definition."""
    exact = vectors.detach().double()
    centred = exact - exact.mean(-1, keepdim=True)
    return (centred / centred.square().mean(-1, keepdim=True).sqrt()).float()


def test_the_centred_score_adds_to_the_deviation_of_the_query_and_a_bias_per_entity() -> None:
    model = small_model(score="centred")
    table = fuzzy(model.entities.weights, model.settings.steepness)
    centred = QUERIES - QUERIES.mean(-1, keepdim=True)
    transformed = centred + 0.05 * slow_standardise(QUERIES) + model.scorer.offset
    product = transformed @ (table - 0.5).T
    expected = model.scorer.temperature * product + model.scorer.bias
    torch.testing.assert_close(scores(model), expected.detach(), rtol=1e-4, atol=1e-4)


def test_without_biases_the_centred_score_ranks_as_the_dot_score_of_centred_entities() -> None:
    model = small_model(score="centred")
    torch.nn.init.zeros_(model.scorer.bias)
    torch.nn.init.zeros_(model.scorer.offset)
    table = fuzzy(model.entities.weights, model.settings.steepness).detach()
    product = QUERIES @ (table - table.mean(-1, keepdim=True)).T
    assert torch.equal(scores(model).argsort(), product.argsort())


@pytest.mark.parametrize("parts", [1, 2, 4, 16, 64])
def test_a_conjunction_of_many_parts_keeps_the_order_and_the_size_of_its_scores(parts: int) -> None:
    generator = torch.Generator().manual_seed(parts)
    vectors = torch.sigmoid(torch.randn(parts, 50, 200, generator=generator))
    product = vectors.prod(0)
    exact = slow_standardise(vectors.double().prod(0))
    torch.testing.assert_close(standardise(product), exact, rtol=1e-3, atol=1e-3)
    assert float(exact.std()) == pytest.approx(1, abs=0.01)


@pytest.mark.parametrize("value", [0.0, 1e-30, 0.3, 1.0])
def test_a_constant_vector_has_finite_gradients_and_only_the_biases_as_scores(value: float) -> None:
    model = small_model(score="centred")
    torch.nn.init.zeros_(model.scorer.offset)
    queries = torch.full((1, 8), value, requires_grad=True)
    found = model.score(queries, model.entity_block())
    torch.testing.assert_close(found[0], model.scorer.bias, atol=0.2, rtol=0)
    found.square().sum().backward()
    assert queries.grad is not None
    assert bool(queries.grad.isfinite().all())


def test_a_wide_conjunction_has_gradients_of_the_size_of_others() -> None:
    sizes = []
    for parts in (2, 16):
        weights = torch.randn(parts, 1, 200, generator=torch.Generator().manual_seed(parts))
        weights.requires_grad_()
        standardise(torch.sigmoid(weights).prod(0))[0, :20].sum().backward()
        assert weights.grad is not None
        sizes.append(float(weights.grad.abs().max()))
    assert 0.1 < sizes[0] / sizes[1] < 10


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
