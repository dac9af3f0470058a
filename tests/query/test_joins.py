"""Exact answers of queries that are no trees, against enumeration and the tree engine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

import numpy as np
import pytest
from brute_force import count_rows
from hypothesis import given, reject, settings
from hypothesis import strategies as st
from query_cases import (
    EVERY_NAME,
    FILMS,
    fact_lists,
    graph_of,
    literal_facts,
    queries,
    query_graphs,
)

from nqe.errors import QueryError, TooManyBindings
from nqe.graph import Dataset, Fact, Graph, join_atom
from nqe.graph.added_facts import add_facts
from nqe.graph.fact_source import FactSource
from nqe.graph.graph_without import GraphWithout
from nqe.query import (
    And,
    Query,
    QueryGraph,
    atom,
    execute,
    execute_many,
    join_chooser,
    join_runner,
    join_tables,
    variables,
)
from nqe.query.binder import resolve_graph
from nqe.query.join_binder import bind_joins
from nqe.query.rows import Row, Rows, find_rows


def graph_for(query: QueryGraph, facts: list[Fact]) -> Graph:
    """A graph of some facts whose vocabulary has every name of a query."""
    names = (term for one in query.scope.list_atoms() for term in one.terms)
    more = [Fact("e0", "r0", name) for name in names if isinstance(name, str)]
    return Graph.of([*EVERY_NAME, *facts, *more])


def find(query: QueryGraph, graph: FactSource) -> Rows:
    """The rows by joins, also of a tree; a query without a meaning is rejected."""
    try:
        resolved = resolve_graph(query, graph.vocabulary)
    except QueryError:
        reject()
    return find_rows(bind_joins(resolved, graph.vocabulary, "a test"), graph)


def to_counts(rows: Rows) -> dict[Row, int]:
    """How often each row of targets counts, as the judge tells it."""
    if rows.counts is None:
        return dict.fromkeys(rows.rows, 1)
    return {tuple(row): int(count) for *row, count in rows.rows}


@contextmanager
def small_blocks() -> Iterator[None]:
    """Everything is split into blocks, and put aside whenever it can be."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (join_atom, join_tables):
            patch.setattr(module, "BLOCK", 3)
        patch.setattr(join_runner, "_MERGED", 5)
        patch.setattr(join_runner, "SHORT", 1)
        patch.setattr(join_chooser, "_MANY", 0)
        patch.setattr(join_chooser, "_MUCH_CHEAPER", 0)
        patch.setattr(join_chooser, "_COMPARED", 1)
        yield


@given(query_graphs(), fact_lists, literal_facts)
@settings(max_examples=100)
def test_rows_are_those_that_enumeration_finds(
    query: QueryGraph, facts: list[Fact], more: list[Fact]
) -> None:
    graph = graph_for(query, [*facts, *more])
    found = find(query, graph)
    expected = count_rows(query, graph)
    assert to_counts(found) == expected
    assert found.rows == sorted(found.rows)
    with small_blocks():
        assert find(query, graph).rows == found.rows


@given(fact_lists, queries())
def test_a_tree_has_the_same_answers_by_joins(facts: list[Fact], query: Query) -> None:
    graph = graph_of(facts)
    assert find(query.graph, graph).ids == execute(query, graph).ids


@given(query_graphs(), fact_lists, literal_facts)
@settings(max_examples=60)
def test_rows_do_not_depend_on_how_entities_are_numbered(
    query: QueryGraph, facts: list[Fact], more: list[Fact]
) -> None:
    graph = graph_for(query, [*facts, *more])
    statements = list(graph)
    # Names that are added later come last, whatever their ids are.
    later = add_facts(Dataset.of({"train": statements[-1:]}), statements[:-1]).graph
    first, second = find(query, graph), find(query, later)
    assert first.rows == second.rows
    assert first.warnings == second.warnings


@given(query_graphs(), fact_lists, st.data())
@settings(max_examples=60)
def test_facts_that_are_left_out_are_as_if_they_were_never_stated(
    query: QueryGraph, facts: list[Fact], data: st.DataObject
) -> None:
    graph = graph_for(query, facts)
    rows = sorted(data.draw(st.sets(st.integers(0, len(graph) - 1))))
    kept = np.setdiff1d(np.arange(len(graph)), rows)
    rest = Graph(graph.vocabulary, graph.facts.take(kept))
    without = GraphWithout.leave_out(graph, np.array(rows, dtype=np.int64))
    assert find(query, without).rows == find(query, rest).rows


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("?x, ?y: award(?x, Prize; with: ?y)", "Ann Bob, Ann Cid, Bob Ann"),
        ("?x, ?y: award(?x, Prize; with: ?y) and award(?y, Prize; with: ?x)", "Ann Bob, Bob Ann"),
        ("?x, ?y: born(?x, ?c) and born(?y, ?c) and ?x != ?y", "Ann Cid, Cid Ann"),
        ("?a, ?b: award(Ann, Prize; with: ?a, with: ?b)", "Bob Cid, Cid Bob"),
        ("?a, ?b: only award(Ann, Prize; with: ?a, with: ?b)", ""),
        ("?a: award(?a, Prize; with: ?b, with: ?b)", ""),
        ("?c, count ?x: born(?x, ?c)", "Oslo 1, Rome 2"),
        ("count ?x: born(?x, ?c)", "3"),
        ("count ?x: born(?x, Prize)", "0"),
        ("?c, count ?x: born(?x, ?c) and award(?x, Prize; year: ?y)", "Oslo 1, Rome 1"),
        ("?x, ?c: born(?x, ?c) and not award(?y, Prize; with: ?x)", ""),
        ("?x, ?y: born(?x, Rome) and born(?y, Oslo) and not award(?x, Prize; with: ?y)", "Cid Bob"),
        ("?r: ?r(Cid, ?x)", "award, born"),
        ("?x, ?r: ?r(?x, Rome) and ?r != award", "Ann born, Cid born"),
    ],
)
def test_rows_mean_what_the_query_says(query: str, expected: str) -> None:
    rows = execute(query, Graph.of(FILMS))
    assert isinstance(rows, Rows)
    assert ", ".join(" ".join(map(str, row)) for row in rows.rows) == expected


def test_a_target_of_only_one_branch_is_any_entity_in_the_other() -> None:
    graph = Graph.of(FILMS)
    rows = execute("?x, ?y: born(?x, Oslo) or born(?x, Rome) and award(?x, Prize; with: ?y)", graph)
    entities = graph.vocabulary.entities.ids
    assert rows.rows == [("Ann", "Bob"), ("Ann", "Cid"), *(("Bob", name) for name in entities)]


def test_a_variable_for_a_relation_that_nothing_restricts_is_any_relation() -> None:
    rows = execute("?x, ?r: born(?x, Oslo) and not ?r(?x, Prize)", Graph.of(FILMS))
    assert rows.rows == [("Bob", name) for name in ("born", "with", "year")]


class OnlyFacts:
    """A fact source that has only what joins and their proofs need."""

    def __init__(self, graph: Graph) -> None:
        for name in ("vocabulary", "entity_count", "relation_count", "prepare", "matches", "fact"):
            setattr(self, name, getattr(graph, name))


def test_joins_and_proofs_need_only_a_fact_source() -> None:
    query = "?x, ?y: award(?x, Prize; with: ?y) and born(?y, Oslo) and not born(?x, Oslo)"
    graph = Graph.of(FILMS)
    source: FactSource = OnlyFacts(graph)  # type: ignore[assignment]
    rows = execute(query, source)
    assert rows.rows == [("Ann", "Bob")]
    assert str(rows.proof(("Ann", "Bob"))) == str(execute(query, graph).proof(("Ann", "Bob")))


def test_trees_and_other_queries_are_answered_in_one_call() -> None:
    asked = ["?x: born(?x, Rome)", "?x, ?y: born(?x, ?y)", "?x: born(?x, Oslo)"]
    results = execute_many(asked, Graph.of(FILMS))
    assert [len(one) for one in results] == [2, 3, 1]
    assert results[1].rows == [("Ann", "Rome"), ("Bob", "Oslo"), ("Cid", "Rome")]


def test_hundreds_of_atoms_are_joined() -> None:
    graph = Graph.of([*(Fact(f"n{i}", "next", f"n{i + 1}") for i in range(400)), *FILMS])
    names = [f"v{number}" for number in range(301)]
    x, *rest = variables(" ".join(names))
    chain = tuple(atom("next", one, other) for one, other in zip([x, *rest], rest, strict=False))
    last = rest[-1]
    rows = execute(Query((x, last), And((*chain, atom("next", x, rest[0])))), graph)
    assert len(rows) == 101
    assert rows.rows[0] == ("n0", "n300")


# Limits


def stars(leaves: int) -> Graph:
    """Two hubs with many leaves each."""
    return Graph.of([Fact(hub, "has", f"{hub}{leaf:03}") for hub in "ab" for leaf in range(leaves)])


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ("?x, ?y: has(?h, ?x) and has(?h, ?y)", 1_800),
        ("?x, ?y: has(a, ?x) and has(b, ?y) and ?x != ?y", 900),
        ("?x, ?y: has(a, ?x) and not has(?x, ?y)", 30 * 62),
        ("?x, ?y: has(a, ?x) or has(b, ?y)", 2 * 30 * 62 - 30 * 30),
    ],
)
@pytest.mark.parametrize("blocks", [nullcontext, small_blocks])
def test_rows_beyond_the_limit_are_refused(
    blocks: Callable[[], AbstractContextManager[None]], query: str, count: int
) -> None:
    graph = stars(30)
    assert len(execute(query, graph, max_bindings=2 * 30 * 62)) == count
    for limit in (100, 800):
        with blocks(), pytest.raises(TooManyBindings, match=f"the limit of {limit}; .*--max-bin"):
            execute(query, graph, max_bindings=limit)


def test_what_nobody_asks_for_is_not_listed() -> None:
    assert execute("count ?x: has(?x, ?y)", stars(30), max_bindings=60).rows == [(2,)]


def test_what_is_cheap_to_begin_with_comes_first_wherever_it_stands() -> None:
    facts = [Fact("hub", "has", f"x{leaf}") for leaf in range(200)]
    facts += [Fact(f"x{leaf}", "likes", f"y{leaf % 7}") for leaf in range(200)]
    facts += [Fact("x5", "knows", "z"), Fact("z", "likes", "y5")]
    graph = Graph.of(facts)
    query = "?x, ?y: has(hub, ?x) and likes(?x, ?y) and knows(?x, ?z) and likes(?z, ?y)"
    assert execute(query, graph, max_bindings=10).rows == [("x5", "y5")]
