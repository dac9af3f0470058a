"""Matching given facts with given patterns, judged by brute force."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from slow_matching import match_by_brute_force
from strategies import patterns, small_graphs

from nqe.graph import Graph
from nqe.graph.match_pairs import match_pairs
from nqe.graph.pattern import Patterns


@given(graph=small_graphs, data=st.data())
def test_every_pair_of_a_fact_and_a_pattern_is_judged_as_brute_force_does(
    graph: Graph, data: st.DataObject
) -> None:
    one = patterns(graph.entity_count, graph.relation_count)
    asked = data.draw(st.lists(one, min_size=1, max_size=5))
    row = np.tile(np.arange(len(graph)), len(asked))
    pattern = np.repeat(np.arange(len(asked)), len(graph))
    found = match_pairs(graph.facts, graph.entity_count, Patterns.of(asked), pattern, row)
    for number, expected in enumerate(asked):
        rows = row[found & (pattern == number)].tolist()
        assert rows == match_by_brute_force(graph, expected)[1]
