"""Exact answers of many plans together, against one plan at a time."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from query_cases import FILMS, fact_lists, graph_of, queries
from strategies import ENTITIES

from nqe.graph import Fact, Graph
from nqe.query import Query, bind, execute, execute_many
from nqe.query.exact_batch import run_table
from nqe.query.step_table import StepTable


@given(fact_lists, st.lists(queries(), max_size=6))
def test_every_step_has_the_same_set_in_a_batch_as_alone(
    facts: list[Fact], batch: list[Query]
) -> None:
    graph = graph_of(facts)
    results = execute_many(batch, graph)
    for query, result in zip(batch, results, strict=True):
        alone = execute(query, graph)
        for one, other in zip(alone.sets, result.sets, strict=True):
            assert np.array_equal(one.to_array(len(ENTITIES)), other.to_array(len(ENTITIES)))


def test_no_queries_have_no_results() -> None:
    assert execute_many([], Graph.of(FILMS)) == []


def test_an_unknown_operator_is_refused() -> None:
    graph = Graph.of(FILMS)
    table = StepTable.of([bind("?x: born(?x, Rome)", graph)])
    with pytest.raises(ValueError, match="unknown operator 9"):
        run_table(replace(table, op=np.array([9])), graph)
