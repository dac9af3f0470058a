"""Batches: each query's vector is the same whatever else is in the batch, and however written."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from random_plans import atom, batches, longest, negated, plans
from slow_model import slow_results
from small_models import HETEROGENEITIES, LOGIC_NAMES, small_model

from nqe.errors import NqeError
from nqe.graph import Fact, Graph
from nqe.model import Batch, EmbeddingRunner, Model
from nqe.model.batch import LEAST_FACTS
from nqe.query.plan import Op, Plan, Step
from nqe.query.step_table import StepTable
from nqe.sampling.one_hop import closed_queries

MODELS = {
    (logic, kind): small_model(logic=logic, heterogeneity=kind)
    for logic in LOGIC_NAMES
    for kind in HETEROGENEITIES
}
NEAR = {"atol": 1e-5, "rtol": 0.0}
by_model = pytest.mark.parametrize("model", MODELS.values(), ids=map("-".join, MODELS))


def mixed() -> list[Plan]:
    """Every arity up to six, some often and some rarely, one very long, connectives of all."""
    many = [atom(3, 2, closed=bool(n % 2), shift=n) for n in range(LEAST_FACTS + 3)]
    few = [atom(arity, asked) for arity in range(2, 7) for asked in range(arity)]
    deep = [negated(op, few[:3]) for op in (Op.AND, Op.OR)]
    return [*few, longest(), *many, *deep, longest()]


@by_model
@given(plans=batches)
@settings(max_examples=8)
def test_a_query_has_the_same_vector_alone_and_among_others(
    model: Model, plans: list[Plan]
) -> None:
    with torch.no_grad():
        together, steps = model(Batch.of(plans)), model.results(Batch.of(plans))
        alone = [Batch.of([plan]) for plan in plans]
        torch.testing.assert_close(together, torch.cat([model(one) for one in alone]), **NEAR)
        torch.testing.assert_close(steps, torch.cat([model.results(one) for one in alone]), **NEAR)


@by_model
@given(plans=batches)
@settings(max_examples=4)
def test_every_step_has_the_vector_that_the_equations_give(model: Model, plans: list[Plan]) -> None:
    with torch.no_grad():
        expected = [slow_results(model, plan) for plan in plans]
        results, vectors = model.results(Batch.of(plans)), model(Batch.of(plans))
    torch.testing.assert_close(results, torch.cat(expected), **NEAR)
    torch.testing.assert_close(vectors, torch.stack([one[-1] for one in expected]), **NEAR)


@pytest.mark.parametrize("kind", HETEROGENEITIES)
def test_facts_of_all_lengths_are_at_home_in_one_batch(kind: str) -> None:
    model, plans = MODELS["product", kind], mixed()
    with torch.no_grad():
        together = model(Batch.of(plans))
        alone = torch.cat([model(Batch.of([plan])) for plan in plans])
    torch.testing.assert_close(together, alone, **NEAR)


def test_long_and_frequent_facts_are_attended_to_apart() -> None:
    (level, *_) = Batch.of(mixed()).levels
    assert level.projections is not None
    groups = level.projections.groups
    sizes = [tuple(group.tokens.shape) for group in groups]
    assert sum(facts for facts, _ in sizes) == len(level.projections.asked)
    assert len(groups) > 1
    for group in groups:
        padding = group.padding
        if padding is not None:
            lengths = (~padding).sum(1)
            assert int(lengths.max()) == group.tokens.shape[1]


@st.composite
def plans_and_shuffled(draw: st.DrawFn) -> tuple[Plan, Plan]:
    """A plan, and the same with each atom's qualifiers in another order."""
    plan = draw(plans())
    return plan, replace(plan, steps=tuple(shuffled(step, draw) for step in plan.steps))


def shuffled(step: Step, draw: st.DrawFn) -> Step:
    if step.op != Op.PROJECTION:
        return step
    order = (0, 1, *(2 + place for place in draw(st.permutations(range(len(step.attributes))))))
    return replace(
        step,
        attributes=tuple(step.attributes[place - 2] for place in order[2:]),
        slots=tuple(step.slots[place] for place in order),
        filled=tuple(order.index(place) for place in step.filled),
        asked=order.index(step.asked),
    )


@pytest.mark.parametrize("kind", HETEROGENEITIES)
@given(both=plans_and_shuffled())
@settings(max_examples=30)
def test_the_order_of_qualifiers_makes_no_difference(kind: str, both: tuple[Plan, Plan]) -> None:
    with torch.no_grad():
        one, other = MODELS["product", kind].results(Batch.of(both)).chunk(2)
    torch.testing.assert_close(one, other, **NEAR)


def test_subject_and_object_are_told_apart_and_so_are_open_and_closed_atoms() -> None:
    model = MODELS["product", "dual"]
    with torch.no_grad():
        closed, opened = model(Batch.of([atom(3), atom(3, closed=False)]))
        swapped = replace(atom(2).target, slots=(1, None), asked=1)
        as_subject, as_object = model(Batch.of([atom(2), Plan((swapped,))]))
    assert (closed - opened).abs().max() > 1e-3
    assert (as_subject - as_object).abs().max() > 1e-3


@given(plans=batches)
@settings(max_examples=20)
def test_a_table_of_steps_is_as_good_as_its_plans(plans: list[Plan]) -> None:
    model = MODELS["product", "dual"]
    with torch.no_grad():
        of_plans, of_table = model(Batch.of(plans)), model(Batch.of(StepTable.of(plans)))
    assert torch.equal(of_plans, of_table)


@given(plans=batches)
@settings(max_examples=20)
def test_vectors_stay_between_0_and_1(plans: list[Plan]) -> None:
    batch = Batch.of(plans)
    for model in MODELS.values():
        with torch.no_grad():
            vectors = torch.cat([model.results(batch), model.entities(), model.relations()])
        assert vectors.min() >= 0
        assert vectors.max() <= 1


def test_a_batch_counts_its_queries_and_knows_its_largest_names() -> None:
    batch = Batch.of([atom(4, shift=3), atom(2, relation=4)])
    assert len(batch) == 2
    assert batch.largest == (6, 4)
    batch.check(entity_count=7, relation_count=5)


def test_names_outside_the_model_are_refused() -> None:
    batch = Batch.of([atom(4, shift=3), atom(2, relation=4)])
    with pytest.raises(NqeError, match="entity number 6 is not one of the model's 6; use queries"):
        batch.check(entity_count=6, relation_count=5)
    with pytest.raises(NqeError, match="relation number 4 is not one of the model's 4; use"):
        batch.check(entity_count=1_000, relation_count=4)


def test_a_runner_refuses_queries_of_a_larger_graph() -> None:
    graph = Graph.of([Fact(f"e{n}", "r", f"e{n + 1}") for n in range(20)])
    table = closed_queries(graph.facts)
    with pytest.raises(NqeError, match="entity number 20 is not one of the model's 12"):
        EmbeddingRunner(MODELS["product", "dual"]).run(table)
    scores = EmbeddingRunner(small_model()).run(table.take(np.arange(3)))
    assert scores.block(2, 7).shape == (3, 5)


def test_no_plans_give_no_vectors() -> None:
    batch = Batch.of([])
    batch.check(entity_count=0, relation_count=0)
    model = MODELS["product", "dual"]
    assert len(batch) == 0
    assert model(batch).shape == (0, 8)
    assert model.results(batch).shape == (0, 8)


def test_a_batch_moves_to_a_device_whole() -> None:
    batch = Batch.of(mixed())
    assert batch.to("cpu") is batch
    assert batch.to(torch.device("cpu")) is batch
    there = batch.to("meta")
    (projections, *_) = [level.projections for level in there.levels]
    assert projections is not None
    tensors = [there.anchors, there.steps, there.targets, projections.entities, projections.asked]
    tensors += [one.inputs for level in there.levels for one in level.connectives]
    for group in projections.groups:
        tensors += [group.tokens, group.kinds, group.asked]
        tensors += [] if group.padding is None else [group.padding]
    assert {one.device.type for one in tensors} == {"meta"}
    assert there.largest == batch.largest
    # What is elsewhere does not pass for being on the CPU.
    with pytest.raises(NotImplementedError, match="meta"):
        there.to("cpu")
