"""Notes about names that never stand where a query has them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from query_cases import FILMS, graph_of, queries
from strategies import small_facts

from nqe.graph import Fact, Graph
from nqe.graph.fact_columns import Facts
from nqe.query import Atom, Query, Variable, execute, execute_many

GRAPH = Graph.of(FILMS)
NO_ANSWER = "so no fact answers the question"


def notes(query: str) -> list[str]:
    return list(execute(query, GRAPH).warnings)


@pytest.mark.parametrize(
    ("query", "problem", "instead"),
    [
        ("?x: born(Rome, ?x)", "fact of born has Rome as subject", "subjects are Ann, Bob, Cid"),
        ("?x: born(?x, Ann)", "fact of born has Ann as object", "objects are Rome, Oslo"),
        ("?x: only born(Rome, ?x)", "has Rome as subject", "subjects are Ann, Bob, Cid"),
        (
            "?x: award(?x, Prize; with: Rome)",
            "of award has Rome as value of with",
            "values of with are Ann, Bob, Cid",
        ),
        (
            "?x: only award(?x, ?y; with: ?z, year: Bob)",
            "of award has Bob as value of year",
            "values of year are 1999",
        ),
        ("?x: award(Ann, Prize; year: Oslo, with: ?x)", "Oslo as value of year", "are 1999"),
        ("?x: born(?x, ?y) and award(?y, ?z)", "", ""),
    ],
)
def test_a_name_that_never_stands_in_its_slot_has_a_note_with_what_does(
    query: str, problem: str, instead: str
) -> None:
    found = notes(query)
    assert len(execute(query, GRAPH)) == 0
    if not problem:
        assert found == []
        return
    [note] = found
    assert note.startswith("no known ")
    assert f"{problem}, {NO_ANSWER}; its " in note
    assert note.endswith(instead)


def test_what_stands_there_most_often_comes_first() -> None:
    graph = Graph.of([Fact(f"s{n}", "r", f"o{min(n, 4)}") for n in range(9)])
    [note] = execute("?x: r(?x, s1)", graph).warnings
    assert note.endswith("its objects are o4, o0, o1, …")


def test_a_relation_that_is_only_an_attribute_has_a_note() -> None:
    assert notes("?x: year(?x, ?y)") == [
        f"no known fact has year as its main relation, {NO_ANSWER}"
    ]


def test_an_attribute_that_a_relation_never_has_has_a_note() -> None:
    [note] = notes("?x: award(?x, ?y; born: ?z)")
    assert note == (
        f"no known fact of award has the attribute born, {NO_ANSWER}; its attributes are with, year"
    )
    [note] = notes("?x: born(?x, ?y; year: 1999)")
    assert note.endswith(f"{NO_ANSWER}; its facts have no attributes")


@pytest.mark.parametrize(
    ("query", "effect"),
    [
        ("?x: award(?x, Prize) and born(?x, Ann)", "no fact answers the question"),
        ("?x: award(?x, Prize) and award(?y, ?x; with: Rome)", "no fact answers the question"),
        (
            "?x: award(?x, Prize) and not born(?x, Ann)",
            "by the facts not born(?x, Ann) excludes nothing",
        ),
        (
            "?x: award(?x, Prize) and not (born(?x, Ann) and award(?x, Prize))",
            "by the facts not (born(?x, Ann) and award(?x, Prize)) excludes nothing",
        ),
        (
            "?x: award(?x, Prize) and not (born(?x, ?y) and award(?y, Oslo))",
            "by the facts not (born(?x, ?y) and award(?y, Oslo)) excludes nothing",
        ),
        (
            "?x: award(?x, Prize) and not (born(?x, Ann) or born(?x, Rome))",
            "by the facts born(?x, Ann) adds nothing",
        ),
        ("?x: born(?x, Ann) or born(?x, Rome)", "by the facts born(?x, Ann) adds nothing"),
        (
            "?x: award(?x, Prize) and not only award(?x, Prize; with: 1999)",
            "by the facts not only award(?x, Prize; with: 1999) excludes nothing",
        ),
    ],
)
def test_the_note_says_what_follows_for_the_query(query: str, effect: str) -> None:
    [note] = notes(query)
    assert f", so {effect}; " in note


def test_all_branches_in_vain_leave_no_answer() -> None:
    found = notes("?x: born(?x, Ann) or born(?x, Bob)")
    assert len(found) == 2
    assert all(NO_ANSWER in note for note in found)


def test_a_query_without_answers_whose_names_stand_where_they_should_has_no_note() -> None:
    assert notes("?x: award(?x, Prize) and born(?x, Oslo) and born(?x, Rome)") == []
    assert notes("?x: only award(Ann, ?x)") == []


def test_without_facts_nothing_is_known_about_slots() -> None:
    graph = Graph(GRAPH.vocabulary, Facts.empty())
    assert execute("?x: born(Rome, ?x)", graph).warnings == ()


def list_atoms(query: Query) -> Iterator[Atom]:
    yield from query.graph.scope.list_atoms()


def is_misplaced(atom: Atom, facts: list[Fact]) -> bool:
    """Whether a name of an atom stands in no fact where the atom has it, by a look at all facts."""
    own = [fact for fact in facts if fact.relation == atom.relation]
    pairs = [pair for fact in own for pair in fact.qualifiers]
    standing = [
        {fact.subject for fact in own},
        {fact.object for fact in own},
        *({value for name, value in pairs if name == wanted} for wanted in atom.attributes),
    ]
    return any(
        not there or not (isinstance(term, Variable) or term in there)
        for term, there in zip(atom.terms, standing, strict=True)
    )


@given(queries(), st.lists(small_facts, max_size=16))
def test_a_query_has_a_note_exactly_if_a_name_is_misplaced(query: Query, facts: list[Fact]) -> None:
    graph = graph_of(facts)
    [result] = execute_many([query], graph)
    found = [note for note in result.warnings if note.startswith("no known fact")]
    assert bool(found) == any(is_misplaced(atom, list(graph)) for atom in list_atoms(query))
    if any(NO_ANSWER in note for note in found):
        assert len(result) == 0
    assert len(set(found)) == len(found)


@given(st.lists(small_facts, max_size=16), small_facts)
def test_a_negation_that_excludes_nothing_can_be_left_out(facts: list[Fact], other: Fact) -> None:
    graph, asked = graph_of(facts), f"?x: {other.relation}({other.subject}, ?x)"
    negation = f"not {other.relation}(?x, {other.object})"
    result = execute(f"{asked} and {negation}", graph)
    if any(f"{negation} excludes nothing" in note for note in result.warnings):
        assert result.ids == execute(asked, graph).ids
