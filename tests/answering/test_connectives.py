"""And, Or and Not where few or all of their inputs list what they hold."""

from __future__ import annotations

import numpy as np
import pytest

from nqe.answering.calibration import MAX_PREDICTED
from nqe.answering.connectives import run_connectives
from nqe.answering.faint_members import FaintMembers
from nqe.answering.fuzzy_set import FuzzySet, FuzzySets
from nqe.answering.hybrid import join_max
from nqe.model.fuzzy_logic import LOGICS
from nqe.query.plan import Op, PlanBuilder
from nqe.query.step_table import StepTable

COUNT = 5
every_logic = pytest.mark.parametrize("logic", ["product", "godel", "lukasiewicz"])
Tree = tuple[object, ...] | list[float] | Op
"""A connective with its inputs, the probabilities in a leaf, or Any."""
A, B = [1.0, 0.5, 0.0, 0.0, 0.2], [1.0, 0.0, 1.0, 0.0, 0.8]


def run(tree: Tree, logic: str = "product") -> FuzzySet:
    """Compute a tree whose leaves list the entities with a chance."""
    builder, leaves = PlanBuilder(), dict[int, list[float]]()
    _add(builder, tree, leaves)
    table = StepTable.of([builder.finish()])
    sets = FuzzySets(table.step_count, COUNT)
    for step, row in leaves.items():
        entities = np.flatnonzero(row)
        owner = np.zeros(len(entities), dtype=np.int64)
        sets.store(np.array([step]), owner, entities, np.array(row)[entities])
    faint = FaintMembers(table, LOGICS[logic], join_max)
    for depth in range(table.depth_count):
        steps = np.flatnonzero((table.depth == depth) & (table.op != Op.PROJECTION))
        run_connectives(table, steps, sets, LOGICS[logic], faint)
    return sets[table.step_count - 1]


def _add(builder: PlanBuilder, tree: Tree, leaves: dict[int, list[float]]) -> int:
    if isinstance(tree, list):
        number = builder.add_projection("x", 0, (), (0, None), 1, closed=False)
        leaves[number] = tree
        return number
    if isinstance(tree, Op):
        return builder.add_connective(tree, "x", ())
    op, *inputs = tree
    return builder.add_connective(op, "x", tuple(_add(builder, one, leaves) for one in inputs))


def row_of(tree: Tree, logic: str = "product") -> list[float]:
    return run(tree, logic).to_array(COUNT).tolist()


@every_logic
def test_two_negations_cancel_each_other_and_keep_what_is_certain(logic: str) -> None:
    assert row_of((Op.NOT, (Op.NOT, A)), logic) == A
    once = row_of((Op.NOT, A), logic)
    assert row_of((Op.NOT, (Op.NOT, (Op.NOT, A))), logic) == once
    assert row_of((Op.AND, A, (Op.NOT, (Op.NOT, B))), logic)[0] == 1


@every_logic
def test_a_negation_is_never_certain_and_lists_only_what_its_input_lists(logic: str) -> None:
    found = run((Op.NOT, A), logic)
    assert found.entities.tolist() == [0, 1, 4]
    assert found.rest == MAX_PREDICTED
    assert found.to_array(COUNT) == pytest.approx([0, 0.5, MAX_PREDICTED, MAX_PREDICTED, 0.8])


def test_a_conjunction_of_negations_alone_leaves_the_rest_implicit() -> None:
    found = run((Op.AND, (Op.NOT, A), (Op.NOT, B)))
    assert found.entities.tolist() == [0, 1, 2, 4]
    high = MAX_PREDICTED
    assert found.to_array(COUNT) == pytest.approx([0, 0.5 * high, 0, high**2, 0.8 * 0.2])
    assert found.rest == pytest.approx(high**2)


@every_logic
def test_a_conjunction_lists_nothing_that_one_input_lacks(logic: str) -> None:
    found = run((Op.AND, A, (Op.NOT, B)), logic)
    assert (found.rest, found[0], found[2]) == (0, 0, 0)
    assert set(found.entities.tolist()) <= {1, 4}
    assert run((Op.AND, A, B), logic)[0] == 1


def test_a_disjunction_with_a_negation_holds_nearly_everything() -> None:
    found = run((Op.OR, A, (Op.NOT, B)))
    assert found.rest == pytest.approx(MAX_PREDICTED)
    assert found.to_array(COUNT) == pytest.approx(
        [1, MAX_PREDICTED, 0, MAX_PREDICTED, 1 - 0.8 * 0.8]
    )


@every_logic
def test_any_holds_every_entity_for_certain(logic: str) -> None:
    assert row_of(Op.ANY, logic) == [1.0] * COUNT
    assert row_of((Op.AND, A, Op.ANY), logic) == pytest.approx(A)
    assert row_of((Op.OR, A, Op.ANY), logic) == [1.0] * COUNT
    assert row_of((Op.NOT, Op.ANY), logic) == [0.0] * COUNT
    assert row_of((Op.NOT, (Op.NOT, Op.ANY)), logic) == [1.0] * COUNT


def test_only_certain_inputs_make_a_result_certain() -> None:
    nearly = [MAX_PREDICTED] * COUNT
    assert row_of((Op.OR, nearly, nearly)) == [MAX_PREDICTED] * COUNT
    assert row_of((Op.AND, A, (Op.OR, A, B)))[0] == 1


def test_small_probabilities_stay_however_small_their_product() -> None:
    small = [0.003] * COUNT
    assert row_of((Op.AND, small, small)) == pytest.approx([0.003**2] * COUNT)
    nearly_all = (Op.OR, A, (Op.NOT, B))
    nearly_none = (Op.NOT, nearly_all)
    assert run(nearly_none).rest == pytest.approx(1 - MAX_PREDICTED)
    assert run((Op.AND, nearly_none, nearly_none)).rest == pytest.approx((1 - MAX_PREDICTED) ** 2)


def test_inputs_that_hold_nothing_give_nothing() -> None:
    nothing = [0.0] * COUNT
    assert row_of((Op.AND, nothing, A)) == nothing
    assert row_of((Op.OR, nothing, nothing)) == nothing
    assert row_of((Op.NOT, nothing)) == [MAX_PREDICTED] * COUNT
