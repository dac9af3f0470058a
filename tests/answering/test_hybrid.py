"""The hybrid runner, compared with the exact runner, logical laws and plain Python."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from answering_cases import (
    answerer_of,
    entities,
    fact_lists,
    graph_of,
    odd_calibration,
    plans,
    plans_of_shape,
    positive_plans,
    relations,
    small_model,
)
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from slow_hybrid import CONJOIN, SlowHybrid
from strategies import ENTITIES

from nqe.answering import HybridOptions, HybridRunner
from nqe.answering.calibration import MAX_PREDICTED
from nqe.answering.hybrid import JOINS
from nqe.errors import NqeError
from nqe.graph import Fact, Graph
from nqe.model.fuzzy_logic import LOGICS
from nqe.query import Plan, execute
from nqe.query.exact_batch import run_table
from nqe.query.plan import Op, PlanBuilder
from nqe.query.shapes import POSITIVE
from nqe.query.step_table import StepTable

every_logic = pytest.mark.parametrize("logic", LOGICS)
every_join = pytest.mark.parametrize("join", JOINS)
# The number of joint bindings of three variables.
EVERYTHING = len(ENTITIES) ** 3


def row_of(graph: Graph, plan: Plan, logic: str = "product", **options: object) -> torch.Tensor:
    return answerer_of(graph, logic, **options).run([plan]).target_rows[0]


def check_exact_answers_come_first(graph: Graph, plan: Plan, logic: str, join: str) -> None:
    answerer = answerer_of(graph, logic, join=join)
    exact = set(execute(plan, graph).answers.tolist())
    answers = answerer.answer(plan, top=len(ENTITIES))
    assert {one.entity for one in answers.answers[: len(exact)]} == exact
    assert all(one.known == (one.entity in exact) for one in answers)
    assert all(one.probability == 1 if one.known else one.probability < 1 for one in answers)
    certain = answerer.answer(plan, threshold=1)
    assert {one.entity for one in certain} == exact


@every_join
@every_logic
@given(fact_lists, positive_plans)
@settings(max_examples=30)
def test_with_all_facts_exact_answers_of_positive_queries_are_certain_and_come_first(
    logic: str, join: str, facts: list[Fact], plan: Plan
) -> None:
    check_exact_answers_come_first(graph_of(facts), plan, logic, join)


@pytest.mark.parametrize("shape", POSITIVE)
@given(st.data())
@settings(max_examples=15)
def test_exact_answers_of_every_positive_shape_are_certain_and_come_first(
    shape: str, data: st.DataObject
) -> None:
    graph = graph_of(data.draw(fact_lists))
    logic, join = data.draw(st.sampled_from(list(LOGICS))), data.draw(st.sampled_from(list(JOINS)))
    check_exact_answers_come_first(graph, data.draw(plans_of_shape(shape)), logic, join)


@given(fact_lists, positive_plans)
@settings(max_examples=40)
def test_the_beam_limits_predictions_and_never_the_exact_set(facts: list[Fact], plan: Plan) -> None:
    graph = graph_of(facts)
    row = row_of(graph, plan, beam=1)
    assert np.flatnonzero(row == 1).tolist() == execute(plan, graph).answers.tolist()
    assert bool((row <= row_of(graph, plan, beam=EVERYTHING, least=0.0) + 1e-5).all())


@given(fact_lists, plans())
@settings(max_examples=60)
def test_an_answer_that_depends_on_a_negation_is_never_certain(
    facts: list[Fact], plan: Plan
) -> None:
    graph = graph_of(facts)
    row = row_of(graph, plan)
    slow = SlowHybrid(plan, small_model(), graph, odd_calibration(), "product", "noisy-or")
    certain = slow.certain()
    assert set(np.flatnonzero(row == 1).tolist()) == certain
    assert float(row[row < 1].max() if len(certain) < len(row) else 0) <= np.float32(MAX_PREDICTED)
    assert float(row.min()) >= 0


def negations(draw: st.DrawFn, op: Op, negated_relation: int) -> tuple[Plan, int]:
    """A one-hop query combined with a negated one; also returns the number of the negated step."""
    builder = PlanBuilder()
    other = builder.add_projection("x", draw(relations), (), (draw(entities), None), 1, False)
    inner = builder.add_projection("x", negated_relation, (), (draw(entities), None), 1, False)
    negated = builder.add_connective(Op.NOT, "x", (inner,))
    builder.add_connective(op, "x", (other, negated))
    return builder.finish(), inner


@given(fact_lists, st.data())
@settings(max_examples=40)
def test_only_the_branch_of_an_or_without_negation_makes_it_certain(
    facts: list[Fact], data: st.DataObject
) -> None:
    graph = graph_of(facts)
    plan, _ = negations(data.draw, Op.OR, data.draw(relations))
    row = row_of(graph, plan)
    positive = execute(plan, graph).sets[0].members.tolist()
    assert np.flatnonzero(row == 1).tolist() == positive


@pytest.mark.parametrize("logic", ["product", "godel", "lukasiewicz"])
@given(fact_lists, st.data())
@settings(max_examples=40)
def test_an_entity_that_facts_exclude_has_probability_0(
    logic: str, facts: list[Fact], data: st.DataObject
) -> None:
    graph = graph_of(facts)
    plan, inner = negations(data.draw, Op.AND, data.draw(relations))
    row = row_of(graph, plan, logic)
    excluded = execute(plan, graph).sets[inner].members
    assert row[torch.from_numpy(excluded)].tolist() == [0] * len(excluded)
    exact = execute(plan, graph).answers
    assert bool((row[torch.from_numpy(exact)] < 1).all())
    if logic != "lukasiewicz":
        assert bool((row[torch.from_numpy(exact)] > 0).all())


@every_join
@pytest.mark.parametrize("logic", CONJOIN)
@given(fact_lists, st.one_of(plans(deepest=2), plans_of_shape("2cp"), plans_of_shape("inp")))
@settings(max_examples=30)
def test_rows_are_the_same_as_in_plain_python(
    logic: str, join: str, facts: list[Fact], plan: Plan
) -> None:
    graph = graph_of(facts)
    row = row_of(graph, plan, logic, join=join, beam=EVERYTHING, least=0.0)
    slow = SlowHybrid(plan, small_model(), graph, odd_calibration(), logic, join)
    np.testing.assert_allclose(row.numpy(), slow.row(), atol=1e-5, rtol=0)


@pytest.mark.parametrize("beam", [1, 2, 3])
@given(fact_lists, st.one_of(plans_of_shape("2p"), plans_of_shape("2cp"), plans_of_shape("inp")))
@settings(max_examples=30)
def test_the_beam_keeps_the_likeliest_bindings(beam: int, facts: list[Fact], plan: Plan) -> None:
    graph = graph_of(facts)
    slow = SlowHybrid(plan, small_model(), graph, odd_calibration(), "product", "noisy-or", beam)
    expected = slow.row()
    assume(not slow.tied)
    row = row_of(graph, plan, beam=beam, least=0.0)
    np.testing.assert_allclose(row.numpy(), expected, atol=1e-5, rtol=0)


@given(fact_lists, plans_of_shape("2p"))
@settings(max_examples=20)
def test_the_mean_logic_weighs_bindings_by_the_product(facts: list[Fact], plan: Plan) -> None:
    graph = graph_of(facts)
    torch.testing.assert_close(row_of(graph, plan, "mean"), row_of(graph, plan, "product"))


@given(fact_lists, st.lists(plans(), min_size=1, max_size=5))
@settings(max_examples=20)
def test_all_bindings_of_a_depth_go_through_the_encoder_together(
    facts: list[Fact], batch: list[Plan]
) -> None:
    answerer, calls = answerer_of(graph_of(facts)), []
    hook = answerer.neural.predictor.model.encoder.register_forward_hook(lambda *_: calls.append(1))
    with hook:
        answerer.run(batch)
    depths = {step.depth for plan in batch for step in plan.steps if step.op == Op.PROJECTION}
    assert len(calls) == len(depths)


@pytest.mark.parametrize("wrong", [{"beam": 0}, {"beam": -1}, {"least": -0.1}, {"least": 2.0}])
def test_options_out_of_range_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(NqeError, match="give "):
        HybridOptions(**wrong)  # type: ignore[arg-type]


@given(fact_lists, st.lists(plans(), min_size=2, max_size=6), st.integers(1, 8))
@settings(max_examples=25)
def test_a_batch_of_plans_gives_the_rows_that_each_plan_has_alone(
    facts: list[Fact], batch: list[Plan], beam: int
) -> None:
    answerer = answerer_of(graph_of(facts), beam=beam)
    together = answerer.run(batch).target_rows
    alone = torch.cat([answerer.run([plan]).target_rows for plan in batch])
    torch.testing.assert_close(together, alone, atol=1e-5, rtol=0)


@given(fact_lists, st.lists(plans(), min_size=1, max_size=5))
@settings(max_examples=20)
def test_small_blocks_change_nothing(facts: list[Fact], batch: list[Plan]) -> None:
    answerer = answerer_of(graph_of(facts), beam=8)
    whole = list(answerer.compute_rows(batch))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("nqe.answering.hybrid.MAX_SCORES", 7)
        patch.setattr("nqe.answering.hybrid.MIN_BINDINGS", 2)
        patch.setattr("nqe.answering.hybrid.MAX_PROBABILITIES", 3 * len(ENTITIES))
        parted = list(answerer.compute_rows(batch))
        by_runner = HybridRunner(answerer).run(StepTable.of(batch)).block(1, 4)
    torch.testing.assert_close(torch.stack(parted), torch.stack(whole), atol=1e-5, rtol=0)
    torch.testing.assert_close(by_runner, torch.stack(whole)[:, 1:4], atol=1e-5, rtol=0)


def test_the_best_binding_is_used_even_if_its_probability_is_too_low() -> None:
    builder = PlanBuilder()
    below = builder.add_projection("y", 1, (), (3, None), 1, False)
    builder.add_projection("x", 2, (), (None, None), 1, False, ((0, below),))
    row = row_of(graph_of([]), builder.finish(), least=1.0)
    assert float(row.max()) > 0


def test_an_unknown_join_is_refused_with_a_list_of_the_joins() -> None:
    with pytest.raises(NqeError, match="unknown join 'sum'; choose one of noisy-or, max"):
        answerer_of(graph_of([]), join="sum")


def test_an_unknown_operator_raises() -> None:
    builder = PlanBuilder()
    builder.add_projection("x", 1, (), (3, None), 1, False)
    answerer = answerer_of(graph_of([]))
    table = StepTable.of([builder.finish()])
    exact = run_table(table, answerer.graph)
    with pytest.raises(ValueError, match="99 is not a valid Op"):
        answerer.neural.run_sets(replace(exact, table=replace(table, op=np.array([99]))))


def test_an_unknown_mode_raises() -> None:
    answerer = answerer_of(graph_of([]))
    with pytest.raises(ValueError, match="unknown mode 'magic'"):
        next(answerer.neural.compute_rows([], "magic"))
