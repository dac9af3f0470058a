"""The graph of StarQE: nodes, edges and qualifiers of several plans."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from random_plans import atom, chain, conjunction

from nqe.model.graph_batch import GraphBatch, Groups
from nqe.query.plan import Op, Plan, PlanBuilder
from nqe.query.step_table import StepTable


def batch_of(*plans: Plan) -> GraphBatch:
    return GraphBatch.of(StepTable.of(plans))


def test_nodes_are_targets_then_other_variables_then_entities() -> None:
    batch = batch_of(chain(3, first=7), atom(2, 1, shift=4))
    assert (batch.query_count, batch.variable_count) == (2, 2)
    assert batch.entities.tolist() == [7, 4]
    # 7 → first variable → second variable → target 0, and 4 → target 1.
    pairs = zip(batch.edges.subject.tolist(), batch.edges.object.tolist(), strict=True)
    assert sorted(pairs) == [(2, 3), (3, 0), (4, 2), (5, 1)]


def test_an_edge_goes_from_the_subject_to_the_object_whichever_is_asked_for() -> None:
    batch = batch_of(atom(2, 0), atom(2, 1))
    assert batch.edges.subject.tolist() == [0, 3]
    assert batch.edges.object.tolist() == [2, 1]


def test_an_entity_is_one_node_of_its_query_and_another_one_of_the_next() -> None:
    twice = conjunction([atom(2, 1), atom(2, 1, relation=3)])
    batch = batch_of(twice, twice)
    assert batch.entities.tolist() == [0, 0]
    assert batch.edges.subject.tolist() == [2, 2, 3, 3]
    assert batch.edges.object.tolist() == [0, 0, 1, 1]
    assert batch.relations[batch.edges.relation].tolist() == [0, 3, 0, 3]
    # Two edges leave the entity and two enter the target.
    torch.testing.assert_close(batch.edges.weight, torch.full((4, 1), 0.5))


def test_the_inputs_of_nested_conjunctions_share_one_variable() -> None:
    builder = PlanBuilder()
    facts = [
        builder.add_projection("y", relation, (), (relation, None), 1, False)
        for relation in range(3)
    ]
    inner = builder.add_connective(Op.AND, "y", tuple(facts[:2]))
    outer = builder.add_connective(Op.AND, "y", (inner, facts[2]))
    builder.add_projection("x", 4, (), (None, None), 1, False, ((0, outer),))
    batch = batch_of(builder.finish())
    assert (batch.query_count, batch.variable_count, len(batch.entities)) == (1, 1, 3)
    assert batch.edges.object.tolist() == [1, 1, 1, 0]


def test_qualifiers_know_their_edge_and_their_values_are_nodes() -> None:
    batch = batch_of(atom(2, 1), atom(4, 1, relation=3))
    assert batch.relations[batch.qualifiers.attribute].tolist() == [0, 1]
    assert batch.entities[batch.qualifiers.value - 2].tolist() == [2, 3]
    assert batch.edges.qualified.flatten().tolist() == [False, True]
    sums = batch.qualifiers.of_edge.add_up(torch.tensor([[1.0], [10.0]]))
    assert sums.flatten().tolist() == [0, 11]


def test_rows_are_added_up_by_group_and_a_group_may_be_empty() -> None:
    groups = Groups.of(np.array([2, 0, 2]), 4)
    rows = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    assert groups.add_up(rows).tolist() == [[3, 4], [0, 0], [6, 8], [0, 0]]
    assert Groups.of(np.zeros(0, dtype=np.int64), 2).add_up(rows[:0]).tolist() == [[0, 0]] * 2


def test_an_operator_that_a_graph_does_not_have_is_no_silent_omission() -> None:
    builder = PlanBuilder()
    below = builder.add_projection("x", 0, (), (0, None), 1, False)
    builder.add_connective(Op.NOT, "x", (below,))
    with pytest.raises(ValueError, match="unknown operator 3"):
        batch_of(builder.finish())


def test_no_plans_make_an_empty_graph() -> None:
    batch = batch_of()
    assert (batch.query_count, batch.variable_count, len(batch.entities)) == (0, 0, 0)
    assert len(batch.edges.subject) == len(batch.qualifiers.value) == 0
