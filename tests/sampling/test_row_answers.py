"""Hard and easy rows and their missing links, against enumeration of all proofs."""

from __future__ import annotations

import numpy as np
import pytest
from brute_force import count_missing_links as enumerate_links
from brute_force import find_rows
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from query_cases import EVERY_NAME, FILMS, fact_lists, query_graphs

from nqe.errors import QueryError
from nqe.graph import Fact, Graph
from nqe.query import Query, QueryGraph, parse
from nqe.query.binder import resolve_graph
from nqe.sampling.hard_answers import SplitGraphs
from nqe.sampling.row_answers import (
    KNOWN,
    bind_rows,
    count_missing_links,
    count_missing_of_targets,
    find_row_numbers,
    split_rows,
)


def split_graph(facts: list[Fact], data: st.DataObject) -> SplitGraphs:
    """A graph of all facts, and one of a part of them over the same names."""
    full = Graph.of([*EVERY_NAME, *facts])
    kept = data.draw(st.sets(st.integers(0, len(full) - 1)))
    known = Graph(full.vocabulary, full.facts.take(np.array(sorted(kept), dtype=np.int64)))
    return SplitGraphs(known, full)


@given(query_graphs(with_literals=False), fact_lists, st.data())
@settings(max_examples=80)
def test_missing_links_are_those_of_the_best_proof(
    graph: QueryGraph, facts: list[Fact], data: st.DataObject
) -> None:
    assume(graph.counted is None)
    graphs = split_graph(facts, data)
    try:
        graph = resolve_graph(graph, graphs.full.vocabulary)
    except QueryError:
        assume(False)
    plan = bind_rows(Query(graph.targets, graph.formula), graphs.full.vocabulary)
    rows = find_row_numbers(plan, graphs.full)
    links = count_missing_links(plan, graphs, rows).tolist()
    names = graphs.full.vocabulary
    of_targets = [
        names.relations if one in graph.relation_variables else names.entities
        for one in graph.targets
    ]
    ids = [
        tuple(own.ids[number] for own, number in zip(of_targets, row, strict=True))
        for row in rows.tolist()
    ]
    expected = enumerate_links(graph, graphs.full, graphs.known)
    assert dict(zip(ids, links, strict=True)) == expected


@given(fact_lists, st.data())
@settings(max_examples=40)
def test_rows_are_hard_or_easy_as_the_known_facts_say(
    facts: list[Fact], data: st.DataObject
) -> None:
    graphs = split_graph(facts, data)
    query = parse("?x, ?y: r0(?x, ?z) and r1(?y, ?z) and not r2(?x, ?y) and ?x != ?y")
    plan = bind_rows(query, graphs.full.vocabulary)
    full, known = (find_row_numbers(plan, one) for one in (graphs.full, graphs.known))
    hard, easy = split_rows(full, known)
    ids = graphs.full.vocabulary.entities.ids
    found, expected, before = (
        {tuple(ids[number] for number in row) for row in rows}
        for rows in (hard.tolist(), full.tolist(), known.tolist())
    )
    assert expected == find_rows(query.graph, graphs.full)
    assert before == find_rows(query.graph, graphs.known)
    assert found == expected - before
    assert len(easy) == len(expected & before)
    assert full.tolist() == sorted(full.tolist())


@pytest.mark.parametrize(
    ("text", "missing", "of_targets"),
    [
        # Ann was born in Rome, which is not known; Cid was too, which is.
        ("?x, ?c: award(?x, Prize) and born(?x, ?c)", [1], [[1, 1]]),
        # With ?x fixed to Ann, her award says nothing of ?c, and with ?y fixed, nothing is asked.
        ("?x, ?y: born(?x, Rome) and award(?x, Prize; with: ?y)", [1, 1], [[1, KNOWN]] * 2),
        ("?x, ?y: born(?x, ?c) and born(?y, ?c) and ?x != ?y", [1, 1], [[1, 1]] * 2),
    ],
)
def test_what_says_nothing_about_a_target_needs_no_link_for_it(
    text: str, missing: list[int], of_targets: list[list[int]]
) -> None:
    full = Graph.of(FILMS)
    rows = [row for row in range(len(full)) if full.fact(row) != Fact("Ann", "born", "Rome")]
    graphs = SplitGraphs(Graph(full.vocabulary, full.facts.take(np.array(rows))), full)
    plan = bind_rows(parse(text), full.vocabulary)
    hard, _ = split_rows(*(find_row_numbers(plan, one) for one in (full, graphs.known)))
    assert count_missing_links(plan, graphs, hard).tolist() == missing
    assert count_missing_of_targets(parse(text), graphs, hard).tolist() == of_targets
