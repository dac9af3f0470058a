"""The NQE model: its vectors are those of the paper's equations, in any batch."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from random_plans import atom, batches, mixed, plans
from slow_model import slow_results
from small_models import HETEROGENEITIES, LOGIC_NAMES, small_model

from nqe.model import NQEModel
from nqe.model.batch import ANY
from nqe.query.plan import Op, Plan, PlanBuilder, Step
from nqe.query.step_table import StepTable

MODELS = {
    (logic, kind): small_model(logic=logic, heterogeneity=kind)
    for logic in LOGIC_NAMES
    for kind in HETEROGENEITIES
}
# Plans are up to six steps deep, and each step rounds to single precision.
NEAR = {"atol": 5e-5, "rtol": 0.0}
by_model = pytest.mark.parametrize("model", MODELS.values(), ids=map("-".join, MODELS))
by_heterogeneity = pytest.mark.parametrize("kind", HETEROGENEITIES)


@by_model
@given(plans=batches)
@settings(max_examples=8)
def test_every_step_has_the_same_vector_in_a_batch_as_alone(
    model: NQEModel, plans: list[Plan]
) -> None:
    with torch.no_grad():
        together = model.encode_steps(StepTable.of(plans))
        alone = torch.cat([model.encode_steps(StepTable.of([plan])) for plan in plans])
    torch.testing.assert_close(together, alone, **NEAR)


@by_model
@given(plans=batches)
@settings(max_examples=4)
def test_every_step_has_the_vector_that_the_equations_give(
    model: NQEModel, plans: list[Plan]
) -> None:
    table = StepTable.of(plans)
    with torch.no_grad():
        expected = [slow_results(model, plan) for plan in plans]
        steps, vectors = model.encode_steps(table), model.encode(table)
    torch.testing.assert_close(steps, torch.cat(expected), **NEAR)
    torch.testing.assert_close(vectors, torch.stack([one[-1] for one in expected]), **NEAR)


@by_heterogeneity
def test_facts_of_all_lengths_can_share_a_batch(kind: str) -> None:
    model, plans = MODELS["product", kind], mixed()
    with torch.no_grad():
        together = model.encode(StepTable.of(plans))
        alone = torch.cat([model.encode(StepTable.of([plan])) for plan in plans])
    torch.testing.assert_close(together, alone, **NEAR)


def with_any() -> Plan:
    """An atom with Any in the slot that is not asked for."""
    builder = PlanBuilder()
    anything = builder.add_connective(Op.ANY, "y", ())
    builder.add_projection("x", 0, (), (None, None), 0, True, ((1, anything),))
    return builder.finish()


@by_heterogeneity
def test_any_is_a_vector_of_its_own_that_is_trained(kind: str) -> None:
    model = small_model(heterogeneity=kind)
    vectors = model.encode_steps(StepTable.of([with_any()]))
    # The LayerNorm of the inputs removes a constant, so all ones would be all zeros.
    assert float(vectors[0].detach().std()) > 0.01
    vectors[1].square().sum().backward()
    gradient = model.masks.weights.grad
    assert gradient is not None
    assert float(gradient[ANY].abs().sum()) > 0


@st.composite
def plans_and_shuffled(draw: st.DrawFn) -> tuple[Plan, Plan]:
    """A plan, and the same plan with the qualifiers of each atom in another order."""
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


@by_heterogeneity
@given(both=plans_and_shuffled())
@settings(max_examples=30)
def test_the_order_of_qualifiers_makes_no_difference(kind: str, both: tuple[Plan, Plan]) -> None:
    with torch.no_grad():
        first, second = MODELS["product", kind].encode_steps(StepTable.of(both)).chunk(2)
    torch.testing.assert_close(first, second, **NEAR)


def test_subject_differs_from_object_and_an_open_atom_from_a_closed_one() -> None:
    swapped = replace(atom(2).target, slots=(1, None), asked=1)
    table = StepTable.of([atom(3), atom(3, closed=False), atom(2), Plan((swapped,))])
    with torch.no_grad():
        closed, opened, as_subject, as_object = MODELS["product", "dual"].encode(table)
    assert (closed - opened).abs().max() > 1e-3
    assert (as_subject - as_object).abs().max() > 1e-3


@given(plans=batches)
@settings(max_examples=20)
def test_vectors_stay_between_0_and_1(plans: list[Plan]) -> None:
    table = StepTable.of(plans)
    for model in MODELS.values():
        with torch.no_grad():
            vectors = torch.cat([model.encode_steps(table), model.entities(), model.relations()])
        assert vectors.min() >= 0
        assert vectors.max() <= 1


def test_no_plans_give_no_vectors() -> None:
    model, nothing = MODELS["product", "dual"], StepTable.of([])
    assert model.encode(nothing).shape == (0, 8)
    assert model.encode_steps(nothing).shape == (0, 8)
