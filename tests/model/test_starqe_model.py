"""StarQE: its vectors are those of message passing in loops, and it says what it cannot express."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from random_plans import (
    atom,
    batches,
    chain,
    conjunction,
    conjunctive_batches,
    mixed_conjunctive,
    negated,
)
from slow_starqe import slow_vectors
from small_models import ENTITY_COUNT, RELATION_COUNT, enlarge_weights, small_settings
from torch import Tensor

from nqe.errors import NqeError
from nqe.graph.fact_columns import Facts
from nqe.model.starqe_model import StarQEModel
from nqe.query.plan import Op, Plan, PlanBuilder
from nqe.query.step_table import StepTable

NEAR = {"atol": 1e-4, "rtol": 1e-4}


def starqe(**changed: Any) -> StarQEModel:
    """A small model in eval mode, most of whose values are not cut off by a ReLU."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        chosen = small_settings(kind="starqe", **changed)
        model = StarQEModel(chosen, ENTITY_COUNT, RELATION_COUNT)
        enlarge_weights(model)
        for layer in model.layers:
            layer.norm.running_mean.normal_(std=0.1)
            layer.norm.running_var.uniform_(0.1, 0.4)
            layer.norm.bias.data.uniform_(0.3, 0.9)
    return model.eval()


def vectors(model: StarQEModel, *plans: Plan) -> Tensor:
    with torch.no_grad():
        return model.encode(StepTable.of(plans))


@given(plans=conjunctive_batches)
@settings(max_examples=30)
def test_vectors_are_those_of_message_passing_in_loops(plans: list[Plan]) -> None:
    model = starqe()
    with torch.no_grad():
        torch.testing.assert_close(vectors(model, *plans), slow_vectors(model, plans), **NEAR)


@given(plans=conjunctive_batches)
@settings(max_examples=15)
def test_in_training_the_means_are_those_of_the_batch(plans: list[Plan]) -> None:
    model = starqe(dropout=0.0).train()
    with torch.no_grad():
        torch.testing.assert_close(vectors(model, *plans), slow_vectors(model, plans), **NEAR)


def test_most_values_of_the_small_model_are_not_zero() -> None:
    assert (vectors(starqe(), *mixed_conjunctive()) > 0).float().mean() > 0.5


def test_training_moves_the_running_means_to_those_of_its_batches() -> None:
    plans = StepTable.of(mixed_conjunctive())
    model = starqe(dropout=0.0).train()
    for _ in range(200):
        in_training = model.encode(plans)
    torch.testing.assert_close(model.eval().encode(plans), in_training, atol=0.05, rtol=0.05)


def test_open_and_closed_atoms_have_the_same_graph() -> None:
    closed, opened = vectors(starqe(), atom(4, 1, closed=True), atom(4, 1, closed=False))
    assert torch.equal(closed, opened)


def test_subject_differs_from_object() -> None:
    swapped = Plan((replace(atom(2).target, slots=(1, None), asked=1),))
    as_subject, as_object = vectors(starqe(), atom(2), swapped)
    assert (as_subject - as_object).abs().max() > 1e-3


def test_the_order_of_qualifiers_makes_no_difference() -> None:
    step = atom(4, 1).target
    subject, object_, first, second = step.slots
    shuffled = replace(
        step, attributes=step.attributes[::-1], slots=(subject, object_, second, first)
    )
    one, other = vectors(starqe(), Plan((step,)), Plan((shuffled,)))
    torch.testing.assert_close(one, other, **NEAR)


@pytest.mark.parametrize("changed", [{"first": 5}, {"value": 4}, {"value": 6}], ids=str)
def test_the_farthest_entity_and_qualifier_reach_the_target(changed: dict[str, int]) -> None:
    model = starqe(layers=3)
    one, other = vectors(model, chain(3, value=3), chain(3, **({"value": 3} | changed)))
    assert (one - other).abs().max() > 1e-4


def anything(asked: int = 0) -> Plan:
    """An atom whose other slot may hold any entity."""
    builder = PlanBuilder()
    below = builder.add_connective(Op.ANY, "y", ())
    builder.add_projection("x", 0, (), (None, None), asked, True, ((1 - asked, below),))
    return builder.finish()


def with_variable_value() -> Plan:
    """An atom with a variable as the value of its qualifier."""
    builder = PlanBuilder()
    below = builder.add_projection("y", 1, (), (3, None), 1, False)
    builder.add_projection("x", 0, (2,), (4, None, None), 1, True, ((2, below),))
    return builder.finish()


def united() -> Plan:
    union = negated(Op.OR, [atom(2, 1), atom(2, 1, relation=2)])
    return replace(union, steps=union.steps[:-1])


VALUE = "a qualifier whose value is a variable or asked for"
CASES = {
    "or": (united(), "an `or`"),
    "not": (negated(Op.AND, [atom(2, 1), atom(2, 1, relation=2)]), "a `not`"),
    "any": (anything(), "a variable that nothing restricts"),
    "target as value": (atom(3, 2), VALUE),
    "variable as value": (with_variable_value(), VALUE),
    "chain": (chain(3), "a chain of more than 2 facts"),
}


@pytest.mark.parametrize(("plan", "what"), CASES.values(), ids=CASES)
def test_what_a_graph_cannot_express_is_refused_by_name(plan: Plan, what: str) -> None:
    model, table = starqe(), StepTable.of([atom(3, 1), plan, atom(2, 0)])
    [(name, found)] = model.find_inexpressible(table).items()
    assert name.startswith(what)
    assert found.tolist() == [False, True, False]
    for use in (model.encode, model.compare):
        with pytest.raises(NqeError, match=f"of the kind 'starqe' cannot express {what}.*; ask"):
            use(table)


def test_shapes_are_named_with_what_they_have() -> None:
    table = StepTable.of([united(), negated(Op.AND, [atom(2, 1)] * 2), united(), atom(2)])
    with pytest.raises(NqeError) as caught:
        starqe().check_expressible(table, ("2u", "nope", "2u", "1p"))
    assert str(caught.value) == (
        "a model of the kind 'starqe' cannot express an `or` (2u), or a `not` (nope); choose other "
        "shapes or queries, or train a model of the kind 'nqe'"
    )


@given(plans=batches)
@settings(max_examples=40)
def test_any_plan_is_either_refused_by_name_or_encoded(plans: list[Plan]) -> None:
    model = starqe(layers=5)
    refused = np.zeros(len(plans), dtype=bool)
    for found in model.find_inexpressible(StepTable.of(plans)).values():
        refused |= found
    kept = [plan for plan, one in zip(plans, refused, strict=True) if not one]
    assert vectors(model, *kept).isfinite().all()
    for plan in (plan for plan, one in zip(plans, refused, strict=True) if one):
        with pytest.raises(NqeError, match="cannot express"):
            vectors(model, plan)


def test_a_model_with_more_layers_expresses_a_longer_chain() -> None:
    assert vectors(starqe(layers=3), chain(3)).shape == (1, 8)
    wide = conjunction([atom(2, 1, relation=one) for one in range(4)])
    assert vectors(starqe(layers=1), wide).shape == (1, 8)


def test_a_process_without_queries_of_a_batch_trains_with_the_others() -> None:
    model = starqe().train()
    scores = model.compare(StepTable.of([]), torch.tensor([1, 2])).scores()
    assert scores.shape == (0, 2)
    scores.sum().backward()
    before = {name: one.clone() for name, one in model.named_buffers()}
    assert all(torch.equal(before[name], one) for name, one in starqe().named_buffers())


def test_relations_cannot_be_asked_for() -> None:
    model = starqe()
    assert not model.predicts_relations
    with pytest.raises(NqeError, match="of the kind 'starqe' predicts no relations; train one"):
        model.score_relations(Facts.empty())
