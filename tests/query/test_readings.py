"""Notes about names that would mean something else in another case."""

from __future__ import annotations

import pytest

from nqe.graph import Description, Fact, Graph
from nqe.query import bind, execute, parse
from nqe.query.readings import describe_reading, describe_readings

FACTS = [
    Fact("Q1", "P1", "Q2", (("P2", "Q3"),)),
    Fact("Q3", "P1", "Q2", (("p2", "Q4"), ("P4", "Q4"))),
    Fact("Q4", "P3", "Q1"),
]
DESCRIPTIONS = {
    "Q1": Description("Manchester Airport", "airport", ("MAN",)),
    "Q2": Description("Helsinki Airport", None, ("HEL",)),
    "Q3": Description("Finnair"),
    "Q4": Description("Man", "city in Ivory Coast"),
    "P1": Description("route"),
    "P3": Description("Route"),
}
GRAPH = Graph.of(FACTS).describe(DESCRIPTIONS)
NOTE = (
    "'MAN' is read as Manchester Airport (Q1), airport; in another case it may mean "
    "Man (Q4), city in Ivory Coast; use an id to be sure"
)


@pytest.mark.parametrize(
    "query",
    [
        "?x: P1(MAN, ?x)",
        "?x: P1(?x, MAN)",
        "?x: P1(?x, HEL) and not P1(?x, MAN)",
        "?x: P1(?x, HEL) or P1(?x, ?y) and not P3(?y, MAN)",
        "?x: only P1(?x, HEL; P4: MAN)",
        "?x: P1(MAN, ?x) and not P1(MAN, ?x)",
    ],
)
def test_a_name_that_means_something_else_in_another_case_has_one_note(query: str) -> None:
    assert execute(query, GRAPH).warnings[0] == NOTE
    assert sum("is read as" in note for note in execute(query, GRAPH).warnings) == 1
    assert bind(query, GRAPH.vocabulary).warnings == (NOTE,)


def test_the_note_says_which_one_is_meant_in_either_case() -> None:
    [note] = bind("?x: P3(Man, ?x)", GRAPH).warnings
    assert note.startswith("'Man' is read as Man (Q4), city in Ivory Coast; ")
    assert "may mean Manchester Airport (Q1), airport" in note


def test_relations_and_attributes_have_notes_too() -> None:
    [note] = bind("?x: route(?x, HEL)", GRAPH).warnings
    assert note.startswith("'route' is read as route (P1); in another case it may mean Route (P3)")
    [note] = bind("?x: P1(?x, HEL; p2: ?y)", GRAPH).warnings
    assert note == "'p2' is read as p2; in another case it may mean P2"


def test_a_name_that_means_one_thing_in_every_case_has_no_note() -> None:
    for name in ("HEL", "hel", "Q1", "finnair", "Helsinki_Airport"):
        assert bind(f"?x: P1(?x, {name})", GRAPH).warnings == ()


def test_a_query_that_is_no_tree_has_the_notes_of_its_names() -> None:
    graph = parse("?x: P1(?x, ?y) and P1(?y, ?x) and not P1(?x, MAN)").graph
    assert describe_readings(graph, GRAPH.vocabulary) == (NOTE,)


def test_a_note_lists_few_of_many() -> None:
    ids = [f"Q{number}" for number in range(6)]
    graph = Graph.of(Fact(name, "r", "Q0") for name in ids)
    names = graph.describe(
        {name: Description("Man" if number else "MAN") for number, name in enumerate(ids)}
    ).vocabulary.entities
    [note] = describe_reading(names, "MAN")
    assert "Man (Q1), or Man (Q2), or Man (Q3), or 2 more" in note
