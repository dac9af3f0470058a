"""Reasons: the text and the JSON of what facts state, of predictions, and of both together."""

from __future__ import annotations

from query_cases import FILMS

from nqe.graph import Graph
from nqe.graph.pattern import OBJECT, Pattern
from nqe.query.plan import Op
from nqe.query.reason import Reason

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
        "?x = Ann: one of the branches",
        "  ?x = Ann: stated (Ann, born, Rome)",
    ]
    assert reason.weakest() is None


def test_a_reason_with_a_prediction_shows_the_probability_of_every_part() -> None:
    both = combine(Op.AND, 0.25, stated("Ann", "Rome"), predicted("Ann", "Oslo", 0.25))
    reason = combine(Op.OR, 0.25, both)
    assert not reason.certain
    assert str(reason).split("\n") == [
        "?x = Ann (0.250): the best of the branches",
        "  ?x = Ann (0.250): all of",
        "    ?x = Ann (1.000): stated (Ann, born, Rome)",
        "    ?x = Ann (0.250): predicted born(Ann, Oslo) (0.250)",
    ]
    assert str(reason.weakest()) == "born(Ann, Oslo) with ?x = Ann, which has 0.2500"


def test_a_negation_shows_what_the_facts_lack_or_what_speaks_against_it() -> None:
    absent = Reason(GRAPH, Op.NOT, "x", NUMBER("Ann"), absent="born(Ann, Oslo)")
    assert str(absent) == "?x = Ann: no facts give born(Ann, Oslo)"
    against = combine(Op.NOT, 0.75, predicted("Ann", "Oslo", 0.25))
    assert str(against).split("\n") == [
        "?x = Ann (0.750): unless",
        "  ?x = Ann (0.250): predicted born(Ann, Oslo) (0.250)",
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
            },
            {**head, "operator": "Not", "probability": 1.0, "absent": "born(Ann, Oslo)"},
        ],
    }
