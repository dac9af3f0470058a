"""Fuzzy logics: their laws, for any values and any number of inputs."""

from __future__ import annotations

from random import Random

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from random_plans import atom, negated
from slow_model import CONJOIN, DISJOIN, inclusion_exclusion
from small_models import small_model
from torch import Tensor

from nqe.model import LOGICS, Logic
from nqe.model.fuzzy_logic import connect
from nqe.query.plan import Op
from nqe.query.step_table import StepTable

T_NORMS = ("product", "godel", "lukasiewicz")
by_logic = pytest.mark.parametrize("logic", [LOGICS[name] for name in T_NORMS], ids=T_NORMS)
by_any_logic = pytest.mark.parametrize("logic", LOGICS.values(), ids=LOGICS)
WIDTH = 3
# 0, 1 and their neighbours are drawn often.
truth = st.one_of(st.sampled_from([0.0, 1.0, 0.5, 1e-7, 1 - 1e-7]), st.floats(0, 1, width=32))


def inputs(least: int = 1, most: int = 5) -> st.SearchStrategy[Tensor]:
    """The inputs of a step, (1, inputs, width)."""
    vector = st.lists(truth, min_size=WIDTH, max_size=WIDTH)
    vectors = st.lists(vector, min_size=least, max_size=most)
    return vectors.map(lambda rows: torch.tensor([rows], dtype=torch.float64))


def with_constant(values: Tensor, constant: float) -> Tensor:
    """The inputs and one more, a constant."""
    return torch.cat([values, torch.full_like(values[:, :1], constant)], 1)


@by_any_logic
@given(values=inputs(), order=st.randoms())
def test_the_order_of_inputs_makes_no_difference(
    logic: Logic, values: Tensor, order: Random
) -> None:
    places = list(range(values.shape[1]))
    order.shuffle(places)
    torch.testing.assert_close(logic.conjoin(values[:, places]), logic.conjoin(values))
    torch.testing.assert_close(logic.disjoin(values[:, places]), logic.disjoin(values))


@by_logic
@given(values=inputs(3, 6), cut=st.integers(1, 2))
def test_the_grouping_of_inputs_makes_no_difference(logic: Logic, values: Tensor, cut: int) -> None:
    for join in (logic.conjoin, logic.disjoin):
        first, last = join(values[:, :cut]), join(values[:, cut:])
        torch.testing.assert_close(join(torch.stack([first, last], 1)), join(values))


@by_logic
@given(values=inputs(1, 5), higher=inputs(5, 5))
def test_connectives_are_monotonic_and_negation_is_antitonic(
    logic: Logic, values: Tensor, higher: Tensor
) -> None:
    raised = torch.maximum(values, higher[:, : values.shape[1]])
    assert bool((logic.conjoin(raised) >= logic.conjoin(values) - 1e-12).all())
    assert bool((logic.disjoin(raised) >= logic.disjoin(values) - 1e-12).all())
    assert bool((logic.negate(raised[:, 0]) <= logic.negate(values[:, 0])).all())


@by_logic
@given(values=inputs())
def test_de_morgans_laws_hold(logic: Logic, values: Tensor) -> None:
    opposite = logic.negate(values)
    torch.testing.assert_close(logic.negate(logic.conjoin(values)), logic.disjoin(opposite))
    torch.testing.assert_close(logic.negate(logic.disjoin(values)), logic.conjoin(opposite))
    torch.testing.assert_close(logic.negate(opposite), values)


@by_logic
@given(values=inputs())
def test_1_is_neutral_in_a_conjunction_and_0_in_a_disjunction(logic: Logic, values: Tensor) -> None:
    torch.testing.assert_close(logic.conjoin(with_constant(values, 1)), logic.conjoin(values))
    torch.testing.assert_close(logic.disjoin(with_constant(values, 0)), logic.disjoin(values))
    torch.testing.assert_close(logic.conjoin(values[:, :1]), values[:, 0])
    torch.testing.assert_close(logic.disjoin(values[:, :1]), values[:, 0])


@by_logic
@given(values=inputs())
def test_0_makes_a_conjunction_0_and_1_makes_a_disjunction_1(logic: Logic, values: Tensor) -> None:
    assert bool((logic.conjoin(with_constant(values, 0)) == 0).all())
    assert bool((logic.disjoin(with_constant(values, 1)) == 1).all())


@by_logic
def test_on_0_and_1_a_logic_agrees_with_classical_logic(logic: Logic) -> None:
    rows = torch.cartesian_prod(*[torch.tensor([0.0, 1.0])] * 4)[..., None]  # (16, 4, 1)
    torch.testing.assert_close(logic.conjoin(rows), rows.amin(1))
    torch.testing.assert_close(logic.disjoin(rows), rows.amax(1))
    torch.testing.assert_close(logic.negate(rows[:, 0]), 1 - rows[:, 0])


@by_logic
@given(values=inputs(1, 6))
def test_a_conjunction_is_at_most_and_a_disjunction_at_least_each_input(
    logic: Logic, values: Tensor
) -> None:
    assert bool((logic.conjoin(values) <= values.amin(1) + 1e-12).all())
    assert bool((logic.disjoin(values) >= values.amax(1) - 1e-12).all())


@by_any_logic
@given(values=inputs(1, 8))
def test_results_stay_between_0_and_1(logic: Logic, values: Tensor) -> None:
    single = values.float()
    for result in (logic.conjoin(single), logic.disjoin(single), logic.negate(single[:, 0])):
        assert result.shape == (1, WIDTH)
        assert result.dtype == torch.float32
        assert bool(((result >= 0) & (result <= 1)).all())


@by_any_logic
@given(values=inputs(1, 5))
def test_gradients_are_finite_even_at_0_and_1(logic: Logic, values: Tensor) -> None:
    for join in (logic.conjoin, logic.disjoin, lambda inputs: logic.negate(inputs[:, 0])):
        inputs = values.clone().requires_grad_()
        join(inputs).sum().backward()
        assert inputs.grad is not None
        assert bool(inputs.grad.isfinite().all())


@given(values=inputs(1, 5))
def test_the_disjunction_of_the_product_logic_equals_the_papers_sum(values: Tensor) -> None:
    expected = inclusion_exclusion(list(values[0]))
    torch.testing.assert_close(LOGICS["product"].disjoin(values)[0], expected)


@pytest.mark.parametrize("name", LOGICS)
@given(values=inputs(2, 5))
@settings(max_examples=30)
def test_a_connective_of_many_inputs_equals_connectives_of_two(name: str, values: Tensor) -> None:
    logic = LOGICS[name]
    torch.testing.assert_close(logic.conjoin(values)[0], CONJOIN[name](list(values[0])))
    torch.testing.assert_close(logic.disjoin(values)[0], DISJOIN[name](list(values[0])))


@given(values=inputs())
def test_the_mean_does_not_distinguish_connectives(values: Tensor) -> None:
    mean = LOGICS["mean"]
    torch.testing.assert_close(mean.conjoin(values), values.mean(1))
    torch.testing.assert_close(mean.disjoin(values), values.mean(1))
    assert torch.equal(mean.negate(values), values)


def test_a_logic_blind_model_treats_and_like_or_and_ignores_not() -> None:
    model = small_model(logic="mean")
    plans = [negated(op, [atom(2), atom(3, 1)]) for op in (Op.AND, Op.OR)]
    with torch.no_grad():
        results = model.encode_steps(StepTable.of(plans))
    results = results.view(2, 4, -1)  # of each plan two atoms, their connective and its negation
    torch.testing.assert_close(results[0], results[1])
    torch.testing.assert_close(results[0, 3], results[0, 2])
    torch.testing.assert_close(results[0, 2], results[0, :2].mean(0))


@by_any_logic
@given(values=inputs(1, 4))
@settings(max_examples=20)
def test_a_connective_is_computed_by_its_own_operation(logic: Logic, values: Tensor) -> None:
    assert torch.equal(connect(logic, Op.AND, values), logic.conjoin(values))
    assert torch.equal(connect(logic, Op.OR, values), logic.disjoin(values))
    assert torch.equal(connect(logic, Op.NOT, values), logic.negate(values[:, 0]))


@pytest.mark.parametrize("op", [Op.PROJECTION, Op.ANY])
def test_what_is_not_a_connective_is_refused(op: Op) -> None:
    with pytest.raises(ValueError, match=f"{op.word} is not a connective; use And, Or or Not"):
        connect(LOGICS["product"], op, torch.zeros(1, 1, WIDTH))


def test_an_unknown_operator_is_not_taken_for_a_negation() -> None:
    with pytest.raises(AssertionError, match="99"):
        connect(LOGICS["product"], 99, torch.zeros(1, 1, WIDTH))  # type: ignore[arg-type]
