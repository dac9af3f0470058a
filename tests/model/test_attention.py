"""Attention within facts: its gradients, padding, and half precision."""

from __future__ import annotations

from functools import partial

import pytest
import torch
from random_plans import atom
from small_models import HETEROGENEITIES, random, small_model

from nqe.model.attention import Layout, attend, full_layout, masked_layout
from nqe.model.batch import MOST_PADDING, Batch, Projections
from nqe.model.edge_kinds import EDGES
from nqe.query.step_table import StepTable

HEADS, HEAD_WIDTH = 2, 2


def projections_of(*arities: int) -> Projections:
    plans = [atom(arity, number % arity) for number, arity in enumerate(arities)]
    projections = Batch.of(StepTable.of(plans)).levels[0].projections
    assert projections is not None
    return projections


def layouts(projections: Projections) -> dict[str, tuple[Layout, int]]:
    """Both layouts, each with its number of query, key and value rows."""
    elements = len(projections.entities) + len(projections.relations)
    masked = len(projections.asked) + 2 * elements
    return {
        "full": (full_layout(projections, HEADS), 3 * elements * HEADS),
        "masked": (masked_layout(projections, HEADS), masked * HEADS),
    }


# Facts of one length, of lengths that share a group by padding, and of lengths that do not.
@pytest.mark.parametrize("arities", [(2, 2), (2, 4, 3), (2 * MOST_PADDING + 1, 2)], ids=str)
@pytest.mark.parametrize("name", ["full", "masked"])
def test_the_gradients_of_attention_agree_with_numerical_ones(
    arities: tuple[int, ...], name: str
) -> None:
    projections = projections_of(*arities)
    assert any(group.padding is not None for group in projections.groups) == (len(arities) == 3)
    layout, count = layouts(projections)[name]
    rows, edges = random(count, HEAD_WIDTH), random(3, HEADS, len(EDGES), HEAD_WIDTH)
    assert torch.autograd.gradcheck(partial(attend, layout=layout), (rows, edges))
    assert torch.autograd.gradcheck(lambda rows: attend(rows, None, layout), (rows,))


def test_attention_ignores_padding() -> None:
    layout, count = layouts(projections_of(2, 4))["full"]
    rows, edges = random(count, HEAD_WIDTH), random(3, HEADS, len(EDGES), HEAD_WIDTH)
    alone, first_rows = layouts(projections_of(2))["full"]
    # The short fact has the first two of six entities and the first of four relations.
    of_short = [element * 3 * HEADS + row for element in (0, 1, 6) for row in range(3 * HEADS)]
    assert len(of_short) == first_rows
    outputs = attend(rows, edges, layout).view(-1, HEADS, HEAD_WIDTH)[[0, 1, 6]]
    torch.testing.assert_close(outputs.flatten(0, 1), attend(rows[of_short], edges, alone))


@pytest.mark.parametrize("kind", HETEROGENEITIES)
def test_a_layer_for_masked_elements_alone_agrees_with_one_for_all_elements(kind: str) -> None:
    model = small_model(heterogeneity=kind).double()
    layer = model.encoder.layers[0]
    projections = projections_of(2, 3, 4, 3, 9)
    elements = random(len(projections.entities) + len(projections.relations), 8)
    weight = random(len(projections.asked), 8).detach()
    full = layer(elements, projections, full_layout(projections, 2))[projections.asked]
    masked = layer.forward_masked(elements, projections)
    torch.testing.assert_close(masked, full)
    wanted = [elements, *layer.parameters()]
    of_full, of_masked = (
        torch.autograd.grad((one * weight).sum(), wanted, allow_unused=True)
        for one in (full, masked)
    )
    for one, other in zip(of_full, of_masked, strict=True):
        torch.testing.assert_close(one, other)


def test_attention_trains_in_half_precision_under_autocast() -> None:
    model = small_model()
    plans = StepTable.of([atom(2), atom(4, 2), atom(3, 1)])
    exact = torch.autograd.grad(model.encode(plans).sum(), list(model.encoder.parameters()))
    # As in training, autocast covers the forward pass alone.
    with torch.autocast("cpu", dtype=torch.bfloat16):
        vectors = model.encode(plans)
    near = torch.autograd.grad(vectors.sum(), list(model.encoder.parameters()))
    for half, single in zip(near, exact, strict=True):
        assert half.dtype == torch.float32
        torch.testing.assert_close(half, single, atol=0.05, rtol=0.05)
