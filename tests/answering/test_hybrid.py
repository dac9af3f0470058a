"""The hybrid runner, compared with the exact runner, logical laws and plain Python."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
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
from hypothesis import given, settings
from hypothesis import strategies as st
from slow_hybrid import CONJOIN, SlowHybrid
from strategies import ENTITIES

from nqe.answering import HybridOptions, HybridRunner
from nqe.answering.fuzzy_set import Floats, FuzzySet
from nqe.answering.hybrid import JOINS
from nqe.answering.probability import MAX_PREDICTED
from nqe.errors import NqeError
from nqe.graph import Fact, Graph
from nqe.graph.entity_set import EntitySet
from nqe.graph.pattern import Pattern
from nqe.query import Plan, execute
from nqe.query.plan import Op, PlanBuilder
from nqe.query.shapes import POSITIVE
from nqe.query.step_table import StepTable

NORMS = ("product", "godel", "lukasiewicz")
every_logic = pytest.mark.parametrize("logic", NORMS)
every_join = pytest.mark.parametrize("join", JOINS)
# The number of joint bindings of three variables.
EVERYTHING = len(ENTITIES) ** 3


def row_of(graph: Graph, plan: Plan, logic: str = "product", **options: object) -> Floats:
    [row] = answerer_of(graph, logic, **options).run([plan]).targets
    return row.to_array(graph.entity_count)


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
@settings(max_examples=12)
def test_with_all_facts_exact_answers_of_positive_queries_are_certain_and_come_first(
    logic: str, join: str, facts: list[Fact], plan: Plan
) -> None:
    check_exact_answers_come_first(graph_of(facts), plan, logic, join)


@pytest.mark.parametrize("shape", POSITIVE)
@given(st.data())
@settings(max_examples=8)
def test_exact_answers_of_every_positive_shape_are_certain_and_come_first(
    shape: str, data: st.DataObject
) -> None:
    graph = graph_of(data.draw(fact_lists))
    logic, join = data.draw(st.sampled_from(NORMS)), data.draw(st.sampled_from(list(JOINS)))
    check_exact_answers_come_first(graph, data.draw(plans_of_shape(shape)), logic, join)


@given(fact_lists, positive_plans)
@settings(max_examples=40)
def test_the_beam_limits_predictions_and_never_the_exact_set(facts: list[Fact], plan: Plan) -> None:
    graph = graph_of(facts)
    row = row_of(graph, plan, beam=1)
    assert np.flatnonzero(row == 1).tolist() == execute(plan, graph).answers.tolist()
    assert bool((row <= row_of(graph, plan, beam=EVERYTHING) + 1e-5).all())


def find_certain(plan: Plan, graph: Graph) -> set[int]:
    """The exact answers if a negation holds nothing; two of them cancel each other."""
    sets: list[set[int]] = []
    for step in plan.steps:
        inputs = [sets[one] for one in step.inputs]
        match step.op:
            case Op.PROJECTION:
                slots = list(step.slots)
                slots_any = [plan.steps[one].op == Op.ANY for one in step.inputs]
                filled = zip(step.filled, inputs, slots_any, strict=True)
                for place, members, anything in filled:
                    slots[place] = None if anything else EntitySet.of(members)
                pattern = Pattern(
                    step.relation, tuple(slots), step.attributes, step.asked, step.closed
                )
                sets.append(set(graph.answers(pattern).members.tolist()))
            case Op.AND:
                sets.append(set.intersection(*inputs))
            case Op.OR:
                sets.append(set.union(*inputs))
            case Op.NOT:
                below = plan.steps[step.inputs[0]]
                sets.append(sets[below.inputs[0]] if below.op == Op.NOT else set())
            case Op.ANY:
                sets.append(set(range(graph.entity_count)))
    return sets[-1]


@given(fact_lists, plans())
@settings(max_examples=60)
def test_an_answer_that_depends_on_a_negation_is_never_certain(
    facts: list[Fact], plan: Plan
) -> None:
    graph = graph_of(facts)
    row = row_of(graph, plan)
    certain = find_certain(plan, graph)
    assert set(np.flatnonzero(row == 1).tolist()) == certain
    assert row[row < 1].max(initial=0.0) <= MAX_PREDICTED
    assert row.min() >= 0


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
    assert row[excluded].tolist() == [0] * len(excluded)
    exact = execute(plan, graph).answers
    assert bool((row[exact] < 1).all())
    if logic != "lukasiewicz":
        assert bool((row[exact] > 0).all())


@every_join
@pytest.mark.parametrize("logic", CONJOIN)
@given(fact_lists, st.one_of(plans(deepest=2), plans_of_shape("2cp"), plans_of_shape("inp")))
@settings(max_examples=15)
def test_rows_are_the_same_as_in_plain_python(
    logic: str, join: str, facts: list[Fact], plan: Plan
) -> None:
    graph = graph_of(facts)
    row = row_of(graph, plan, logic, join=join, beam=EVERYTHING)
    slow = SlowHybrid(plan, small_model(), graph, odd_calibration(), logic, join)
    np.testing.assert_allclose(row, slow.row(), atol=3e-5, rtol=0)


@pytest.mark.parametrize("beam", [1, 2, 3])
@given(fact_lists, st.one_of(plans_of_shape("2p"), plans_of_shape("2cp"), plans_of_shape("inp")))
@settings(max_examples=30)
def test_the_beam_keeps_the_likeliest_bindings(beam: int, facts: list[Fact], plan: Plan) -> None:
    graph = graph_of(facts)
    slow = SlowHybrid(plan, small_model(), graph, odd_calibration(), "product", "noisy-or", beam)
    row = row_of(graph, plan, beam=beam)
    np.testing.assert_allclose(row, slow.row(), atol=3e-5, rtol=0)


def test_the_mean_logic_is_refused_because_it_says_nothing_about_probabilities() -> None:
    with pytest.raises(NqeError, match="choose product, godel or lukasiewicz"):
        answerer_of(graph_of([]), "mean")


@given(fact_lists, st.lists(plans(), min_size=1, max_size=5))
@settings(max_examples=20)
def test_all_bindings_of_a_depth_go_through_the_encoder_together_and_so_do_reverse_questions(
    facts: list[Fact], batch: list[Plan]
) -> None:
    answerer, calls = answerer_of(graph_of(facts)), []
    hook = answerer.neural.predictor.model.encoder.register_forward_hook(lambda *_: calls.append(1))
    with hook:
        answerer.run(batch)
    depths = {step.depth for plan in batch for step in plan.steps if step.op == Op.PROJECTION}
    assert len(depths) <= len(calls) <= 3 * len(depths)


@pytest.mark.parametrize("wrong", [{"beam": 0}, {"beam": -1}, {"least": -0.1}, {"least": 2.0}])
def test_options_out_of_range_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(NqeError, match="give "):
        HybridOptions(**wrong)  # type: ignore[arg-type]


def check_same_rows(some: list[FuzzySet], others: list[FuzzySet]) -> None:
    for one, other in zip(some, others, strict=True):
        count = len(ENTITIES)
        np.testing.assert_allclose(one.to_array(count), other.to_array(count), atol=3e-5, rtol=0)


@given(fact_lists, st.lists(plans(), min_size=2, max_size=6), st.integers(1, 8))
@settings(max_examples=25)
def test_a_batch_of_plans_gives_the_rows_that_each_plan_has_alone(
    facts: list[Fact], batch: list[Plan], beam: int
) -> None:
    answerer = answerer_of(graph_of(facts), beam=beam)
    together = answerer.run(batch).targets
    alone = [answerer.run([plan]).targets[0] for plan in batch]
    check_same_rows(together, alone)


@given(fact_lists, st.lists(plans(), min_size=1, max_size=5))
@settings(max_examples=20)
def test_small_blocks_change_nothing(facts: list[Fact], batch: list[Plan]) -> None:
    answerer = answerer_of(graph_of(facts), beam=8)
    whole = list(answerer.compute_sets(batch))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("nqe.answering.hybrid.MAX_SCORES", 7)
        patch.setattr("nqe.answering.predictions.MAX_SCORES", 7)
        patch.setattr("nqe.answering.entity_scores.COLUMNS", 2)
        patch.setattr("nqe.answering.hybrid.MAX_STEPS", 3)
        parted = list(answerer.compute_sets(batch))
        by_runner = HybridRunner(answerer).run(StepTable.of(batch)).block(1, 4)
    check_same_rows(parted, whole)
    rows = np.stack([one.to_array(len(ENTITIES))[1:4] for one in whole])
    np.testing.assert_allclose(by_runner.numpy(), rows, atol=3e-5, rtol=0)


def test_an_unknown_join_is_refused_with_a_list_of_the_joins() -> None:
    with pytest.raises(NqeError, match="unknown join 'sum'; choose one of noisy-or, max"):
        answerer_of(graph_of([]), join="sum")


def test_an_unknown_operator_raises() -> None:
    builder = PlanBuilder()
    builder.add_projection("x", 1, (), (3, None), 1, False)
    answerer = answerer_of(graph_of([]))
    table = StepTable.of([builder.finish()])
    with pytest.raises(ValueError, match="unknown operator 99"):
        answerer.neural.run_table(replace(table, op=np.array([99])))


def test_an_unknown_mode_raises() -> None:
    answerer = answerer_of(graph_of([]))
    with pytest.raises(ValueError, match="unknown mode 'magic'"):
        next(answerer.neural.compute_sets([], "magic"))
