"""Reasons: the text and the JSON of what facts state, of predictions, and of both together."""

from __future__ import annotations

from dataclasses import replace

import pytest
from query_cases import FILMS

from nqe.graph import Graph
from nqe.graph.pattern import OBJECT, Pattern
from nqe.query.plan import Op
from nqe.query.reason import Reason, show_probability

GRAPH = Graph.of(FILMS)
NUMBER = GRAPH.vocabulary.entities.resolve
BORN = GRAPH.vocabulary.relations.resolve("born")


def stated(entity: str, place: str) -> Reason:
    pattern = Pattern(BORN, (NUMBER(entity), NUMBER(place)), asked=OBJECT)
    row = int(GRAPH.matches(pattern)[0])
    atom = f"born({entity}, {place})"
    return Reason(GRAPH, Op.PROJECTION, "x", NUMBER(entity), atom=atom, row=row)


def predicted(entity: str, place: str, probability: float) -> Reason:
    atom = f"born({entity}, {place})"
    return Reason(GRAPH, Op.PROJECTION, "x", NUMBER(entity), probability, probability, atom)


def combine(op: Op, probability: float, *parts: Reason) -> Reason:
    return Reason(GRAPH, op, "x", NUMBER("Ann"), probability, parts=parts)


def test_a_certain_reason_shows_no_probabilities() -> None:
    reason = combine(Op.OR, 1.0, stated("Ann", "Rome"))
    assert reason.certain
    assert str(reason).split("\n") == [
        "?x = Ann: one of the alternatives",
        "  stated (Ann, born, Rome)",
    ]
    assert reason.weakest() is None


def test_a_reason_with_a_prediction_shows_the_probability_of_every_part() -> None:
    both = combine(Op.AND, 0.25, stated("Ann", "Rome"), predicted("Ann", "Oslo", 0.25))
    reason = replace(combine(Op.OR, 0.375, both), ways=2, alone=0.25)
    assert not reason.certain
    assert str(reason).split("\n") == [
        "?x = Ann (0.375): the likeliest of 2 alternatives, 0.250 alone; all together 0.375",
        "  all of (0.250)",
        "    stated (Ann, born, Rome)",
        "    predicted born(Ann, Oslo) (0.250)",
    ]
    assert str(reason.weakest()) == "born(Ann, Oslo) (0.250)"
    data = reason.to_json()
    assert (data["ways"], data["alone"]) == (2, 0.25)


def test_equal_parts_are_shown_once() -> None:
    twice = combine(Op.AND, 1.0, stated("Ann", "Rome"), stated("Ann", "Rome"))
    assert str(twice).split("\n") == ["?x = Ann: all of", "  stated (Ann, born, Rome)"]


def test_a_predicted_atom_shows_its_own_probability_where_the_whole_has_another() -> None:
    below = Reason(GRAPH, Op.PROJECTION, "y", NUMBER("Bob"), 0.5, 0.5, "born(Bob, Oslo)")
    chain = Reason(
        GRAPH, Op.PROJECTION, "x", NUMBER("Ann"), 0.1, 0.2, "with(Ann, Bob)", parts=(below,)
    )
    assert str(chain).split("\n") == [
        "?x = Ann (0.100): predicted with(Ann, Bob) (0.200)",
        "  ?y = Bob (0.500): predicted born(Bob, Oslo)",
    ]
    several = replace(chain, probability=0.3, ways=1_200, alone=0.1)
    assert str(several).split("\n")[0] == (
        "?x = Ann (0.300): predicted with(Ann, Bob) (0.200); "
        "the likeliest of 1,200 ways, 0.100 alone; all together 0.300"
    )
    inside = combine(Op.AND, 0.1, chain, stated("Ann", "Rome"))
    assert str(inside).split("\n")[1] == (
        "  predicted with(Ann, Bob) (0.200) (0.100 with what follows)"
    )


@pytest.mark.parametrize(
    ("probability", "shown"),
    [(0, "0.000"), (1e-9, "below 0.001"), (0.0005, "0.001"), (0.9999, "over 0.999"), (1, "1.000")],
)
def test_only_what_is_certain_is_shown_as_0_or_1(probability: float, shown: str) -> None:
    assert show_probability(probability) == shown


def test_a_negation_shows_what_the_facts_lack_or_what_speaks_against_it() -> None:
    absent = Reason(GRAPH, Op.NOT, "x", NUMBER("Ann"), absent="born(Ann, Oslo)")
    assert str(absent) == "?x = Ann: no facts give born(Ann, Oslo)"
    against = combine(Op.NOT, 0.75, predicted("Ann", "Oslo", 0.25))
    assert str(against).split("\n") == [
        "?x = Ann (0.750): no facts give born(Ann, Oslo) (predicted 0.250)",
    ]
    stands = combine(Op.NOT, 0.0, stated("Ann", "Rome"))
    assert str(stands) == "?x = Ann (0.000): but a fact states (Ann, born, Rome)"
    both = combine(Op.AND, 0.25, predicted("Ann", "Oslo", 0.25), stated("Ann", "Rome"))
    assert str(combine(Op.NOT, 0.75, both)).split("\n") == [
        "?x = Ann (0.750): unless these hold",
        "  all of (0.250)",
        "    predicted born(Ann, Oslo) (0.250)",
        "    stated (Ann, born, Rome)",
    ]


def test_stated_and_predicted_reasons_have_one_json_form() -> None:
    absent = Reason(GRAPH, Op.NOT, "x", NUMBER("Ann"), absent="born(Ann, Oslo)")
    reason = combine(Op.AND, 0.5, stated("Ann", "Rome"), predicted("Ann", "Oslo", 0.5), absent)
    head = {"variable": "x", "entity": "Ann"}
    fact = {"subject": "Ann", "relation": "born", "object": "Rome", "qualifiers": []}
    assert reason.to_json() == {
        **head,
        "operator": "And",
        "probability": 0.5,
        "because": [
            {
                **head,
                "operator": "P",
                "probability": 1.0,
                "atom": "born(Ann, Rome)",
                "stated": True,
                "own": 1.0,
                "fact": fact,
            },
            {
                **head,
                "operator": "P",
                "probability": 0.5,
                "atom": "born(Ann, Oslo)",
                "stated": False,
                "own": 0.5,
                "rules": [],
                "more_rules": 0,
                "model": None,
            },
            {**head, "operator": "Not", "probability": 1.0, "absent": "born(Ann, Oslo)"},
        ],
    }
