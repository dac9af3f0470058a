"""The encoder: vectors and gradients against the slow reference by the paper's equations."""

from __future__ import annotations

import pytest
import torch
from random_plans import atom, negated
from slow_model import slow_layer, slow_results
from small_models import HETEROGENEITIES, small_model

from nqe.model.attention import full_layout
from nqe.model.batch import Batch
from nqe.query.plan import Op, Plan, PlanBuilder
from nqe.query.step_table import StepTable


def nested() -> Plan:
    """A projection of projections: P(P(), P())."""
    builder = PlanBuilder()
    first = builder.add_projection("y", 1, (), (3, None), 1, False)
    second = builder.add_projection("z", 2, (4, 4), (None, 1, 2, 2), 0, True)
    builder.add_projection("x", 0, (1,), (None, None, None), 2, True, ((0, first), (1, second)))
    return builder.finish()


def example_plans() -> list[Plan]:
    """Atoms of several arities with each slot asked for, nested ones, and connectives."""
    atoms = [atom(arity, asked, shift=asked) for arity in (2, 3, 5) for asked in range(arity)]
    return [*atoms, nested(), negated(Op.AND, atoms[:2]), negated(Op.OR, atoms[2:5])]


@pytest.mark.parametrize("layers", [1, 3])
@pytest.mark.parametrize("kind", HETEROGENEITIES)
def test_vectors_and_all_gradients_agree_with_the_equations(kind: str, layers: int) -> None:
    model = small_model(heterogeneity=kind, layers=layers).double()
    plans = example_plans() if layers == 1 else example_plans()[2::3]
    vectors = model.encode(StepTable.of(plans))
    expected = torch.stack([slow_results(model, plan)[-1] for plan in plans])
    torch.testing.assert_close(vectors, expected)
    weight = torch.linspace(-1, 1, vectors.numel(), dtype=torch.float64).view_as(vectors)
    named = dict(model.named_parameters())
    gradients, references = (
        torch.autograd.grad((one * weight).sum(), list(named.values()), allow_unused=True)
        for one in (vectors, expected)
    )
    for name, found, reference in zip(named, gradients, references, strict=True):
        assert (found is None) == name.startswith("scorer")
        if found is not None:
            assert reference is not None
            assert found.abs().max() > 0, name
            torch.testing.assert_close(found, reference, msg=lambda text, name=name: name + text)


@pytest.mark.parametrize("kind", HETEROGENEITIES)
def test_a_layer_agrees_with_the_equations_for_every_element(kind: str) -> None:
    model = small_model(heterogeneity=kind, heads=4).double()
    layer = model.encoder.layers[0]
    projections = Batch.of(StepTable.of([atom(4)])).levels[0].projections
    assert projections is not None
    elements = torch.randn(7, 8, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    # A level lists all entities before all relations; in a fact they alternate.
    in_fact = elements[[0, 4, 1, 5, 2, 6, 3]]
    expected = torch.stack(slow_layer(layer, list(in_fact)))
    found = layer(elements, projections, full_layout(projections, 4))
    torch.testing.assert_close(found[[0, 4, 1, 5, 2, 6, 3]], expected)


def test_node_heterogeneity_means_maps_by_role_and_edge_heterogeneity_biases_by_edge() -> None:
    dual, node, edge = (
        small_model(heterogeneity=kind).encoder.layers[0] for kind in HETEROGENEITIES
    )
    assert dual.relation_maps is not dual.entity_maps
    assert dual.edges.shape == (3, 13, 8)  # no bias for self
    assert node.relation_maps is not node.entity_maps
    assert node.edges is None
    assert edge.relation_maps is edge.entity_maps
    assert edge.edges.shape == (3, 13, 8)
