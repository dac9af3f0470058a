"""Descriptions of a plan's steps."""

from __future__ import annotations

from hypothesis import given
from query_cases import fact_lists, graph_of, queries

from nqe.graph import Fact
from nqe.query import Query, execute
from nqe.query.step_text import describe_part


@given(fact_lists, queries())
def test_a_part_is_described_by_a_query_with_the_same_answers(
    facts: list[Fact], query: Query
) -> None:
    graph = graph_of(facts)
    result = execute(query, graph)
    text = describe_part(result.plan, len(result.plan.steps) - 1, graph.vocabulary)
    again = execute(f"?{result.plan.target.variable}: {text}", graph)
    assert again.ids == result.ids
