"""Plans: back to a query, and steps that cannot be."""

from __future__ import annotations

import pytest
from hypothesis import given
from query_cases import fact_lists, graph_of, queries

from nqe.graph import Fact
from nqe.query import Query, bind
from nqe.query.plan import Op, PlanBuilder


@given(fact_lists, queries())
def test_a_plan_turned_into_a_query_binds_to_the_same_plan(facts: list[Fact], query: Query) -> None:
    vocabulary = graph_of(facts).vocabulary
    plan = bind(query, vocabulary)
    assert bind(plan.query(vocabulary), vocabulary) == plan


@pytest.mark.parametrize(("op", "count"), [(Op.AND, 0), (Op.OR, 0), (Op.NOT, 2), (Op.ANY, 1)])
def test_a_step_with_the_wrong_number_of_inputs_is_refused(op: Op, count: int) -> None:
    builder = PlanBuilder()
    anything = builder.add_connective(Op.ANY, "x", ())
    with pytest.raises(ValueError, match=f"a step {op.word} does not take {count} inputs"):
        builder.add_connective(op, "x", (anything,) * count)
