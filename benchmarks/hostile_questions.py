"""Random questions that no person would ask, and all that can be done with a question."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from functools import cache
from itertools import islice
from typing import Any

from nqe.answering import Answerer
from nqe.errors import NqeError
from nqe.graph import Fact, Graph
from nqe.query import Query, bind, execute, execute_many, parse
from nqe.query.binder import read_query
from nqe.query.formula import OPERATORS
from nqe.query.join_plan import JoinPlan
from nqe.query.plan_views import view_plan
from nqe.query.rows import Rows
from nqe.query.shapes import parse_shape
from nqe.query.sparql import write_sparql

PAIRS = (("q", "a"), ("q", "b"), ("q", "c"), ("q", "b"), ("r", "a"))
FACTS = [Fact("a", "p", "b", PAIRS), Fact("b", "p", "c"), Fact("c", "r", "a", PAIRS[:2])]
VALUED_FACTS = [
    Fact("a", "p", "1999-05-01^^time", (("q", "5 kg^^number"),)),
    Fact("b", "p", "1999^^time", (("q", "7 kg^^number"), ("r", "199X^^time"))),
    Fact("c", "r", "-12.5^^number", (("q", "5..10^^number"),)),
    Fact("a", "r", "a text^^text", (("q", "another^^text@en"),)),
]
GRAPH = Graph.of([*FACTS, *VALUED_FACTS])

TOKENS = (
    *("p", "q", "r", "a", "b", "c", "?x", "?y", "?z", "?x:", "?x: p(?x, a)", "p(?x, ?y)"),
    *("p(?x, a; q: ?y)", "only", "and", "or", "not", "&", "|", "!", "(", ")", ",", ";", ":"),
    *('"', '""', '"a b"', "\\", '"\\', "?", "[", "]", "{", "}", "\n", "\t", " ", "\x00", "\x85"),
    *("\u2028", "\ufeff", "\u202e", "é", "e\u0301", "漢", "🙂", "\ud800", "\udcff", "?é", "?１"),
    *("count", "count ?x", "count ?x:", "?x, ?y:", "?y, count ?x:", "?x,", "?r(?x, ?y)", "?r"),
    *(*OPERATORS, "==", "<>", "≥", "?x != ?y", "?y >= 1999", "1999", "1999-05", "-12.5", "5 kg"),
    *("1999^^time", '"5 kg^^number"', "abc^^text", "^^", "^^time", "^^number", "9" * 400, "1e999"),
)
VALUES = (
    *("1999", "1999-05", '"1999-05-01"', '"44 BCE"', "199X", "1999-13", "5", '"5 kg"', "-12.5"),
    *("1e999", "1e-999", "0", "5..10", '"5 kg^^number"', "1999^^time", "5^^time", '"a text"'),
    *('"another^^text@en"', "a", "b", "p", "nobody", "?x", "?y", "?z", "?r", '""', "é", "9" * 40),
)
ASKED = ("?x", "?x", "?x, ?y", "?x, ?y, ?z", "?r", "count ?x", "?y, count ?x", "?x, ?r")
# What people write by habit from SPARQL, in an order that need not be right.
HABITS = (
    *("SELECT", "DISTINCT", "?x", "?y", "*", "WHERE", "{", "}", "?x p ?y .", "?x wdt:P31 wd:Q5 ."),
    *("FILTER(?y > 5)", "FILTER NOT EXISTS { ?x p ?y }", "OPTIONAL { ?x r ?y }", "UNION", "MINUS"),
    *("(COUNT(?x) AS ?n)", "COUNT(DISTINCT ?x)", "GROUP BY ?y", "HAVING(COUNT(?x) > 1)", "ASK"),
    *("ORDER BY DESC(?y)", "LIMIT 10", "OFFSET 5", "PREFIX wd: <http://a/>", "VALUES ?x { a b }"),
    *("BIND(?y AS ?z)", "YEAR(?y) = 1999", "?x IN (a, b)", "&&", "||", "==", "<>", "=<", "=>"),
    *("≠", "≤", "≥", "?y + 1 > 5", "p/r", "p|r", "^p", "p+", '"a"@en', '"5"^^xsd:integer', "AND"),
    *("?x:", "count", "p(?x, ?y)", "and", "or", "NOT", ",", ";", "a", "b", "[]", "_:b", "#"),
)
PROVED = 3
"""The answers of each question that are proved; several targets can have thousands."""
EVERY_VARIABLE = "?r(?x, ?y; q: ?z)"
KEYS = ("target", "formula", "and", "or", "not", "relation", "subject", "object", "variable")
COMPARED_KEYS = ("left", "operator", "right")
ASKED_KEYS = ("targets", "count", "formula")
MORE_KEYS = (
    *KEYS,
    *COMPARED_KEYS,
    *ASKED_KEYS,
    "qualifiers",
    "attribute",
    "value",
    "only",
    "",
    "é",
    "\ud800",
    "__class__",
)
SCALARS = ("x", "y", "a", "p", "q", "", "x y", "\ud800", "\x00", 0, -1, 1.5, 10**30, True, None)
MORE_SCALARS = (*SCALARS, *OPERATORS, "1999", "5 kg", "1999^^time", float("nan"), float("inf"))


def make_text(rng: random.Random) -> str:
    """A text of random tokens."""
    between = rng.choice(["", " "])
    return between.join(rng.choices(TOKENS, k=rng.randrange(1, 24)))


def make_formula(rng: random.Random, depth: int = 0) -> str:
    """A formula that the grammar allows, which need not have a meaning."""
    kind = rng.choice(["atom", "atom", "and", "or", "not", "comparison"]) if depth < 4 else "atom"
    if kind == "comparison":
        return make_comparison(rng)
    if kind == "not":
        return f"not ({make_formula(rng, depth + 1)})"
    if kind in ("and", "or"):
        parts = (make_formula(rng, depth + 1) for _ in range(rng.randrange(2, 4)))
        return "(" + f" {kind} ".join(parts) + ")"
    terms = rng.choices(["?x", "?x", "?y", "?z", "a", "b"], k=rng.randrange(2, 6))
    pairs = ", ".join(f"{rng.choice('qqr')}: {term}" for term in terms[2:])
    only = rng.choice(["", "", "only "])
    relation = rng.choice(["p", "r", "p", "r", "p", "r", "?r", "?s"])
    return f"{only}{relation}({terms[0]}, {terms[1]}{'; ' + pairs if pairs else ''})"


def make_comparison(rng: random.Random) -> str:
    """A comparison of two terms, of which most are variables or literals."""
    left = rng.choice(["?x", "?y", "?z", "?r", rng.choice(VALUES)])
    return f"{left} {rng.choice(OPERATORS)} {rng.choice(VALUES)}"


def make_query(rng: random.Random) -> str:
    """A query that the grammar allows."""
    asked = rng.choice(ASKED)
    formula = make_formula(rng)
    # With an atom for every variable, more formulas have a meaning.
    return f"{asked}: {rng.choice(['', '', f'{EVERY_VARIABLE} and '])}{formula}"


def make_habit(rng: random.Random) -> str:
    """What people write by habit from SPARQL, alone or within a query, damaged or not."""
    habit = " ".join(rng.choices(HABITS, k=rng.randrange(1, 12)))
    text = rng.choice(["{}", "?x: {}", "?x: p(?x, ?y) and {}", "{}: p(?x, ?y)"]).format(habit)
    return damage(text, rng) if rng.random() < 0.3 else text


def make_damaged_query(rng: random.Random) -> str:
    """A query with some characters removed, replaced or repeated."""
    return damage(make_query(rng), rng)


def make_bytes(rng: random.Random) -> str:
    """Random bytes, as a command line gives them to a program."""
    return rng.randbytes(rng.randrange(1, 40)).decode("utf-8", "surrogateescape")


def make_data(rng: random.Random, depth: int = 0) -> Any:
    """Random JSON data, often with the keys of a query."""
    kind = rng.choice(["object", "object", "list", "scalar"]) if depth < 5 else "scalar"
    if kind == "object":
        atom = ("relation", "subject", "object")
        keys = rng.choice([("target", "formula"), atom, COMPARED_KEYS, ASKED_KEYS, MORE_KEYS])
        chosen = keys if keys is not MORE_KEYS else rng.choices(keys, k=rng.randrange(4))
        return {key: make_data(rng, depth + 1) for key in chosen}
    if kind == "list":
        return [make_data(rng, depth + 1) for _ in range(rng.randrange(4))]
    return rng.choice(MORE_SCALARS)


def make_query_data(rng: random.Random) -> Any:
    """The JSON data of a query, or of one with a value replaced by random data."""
    data: Any = None
    while data is None:
        try:
            data = parse(make_query(rng)).to_json()
        except NqeError:
            continue
    place = data
    while isinstance(place, dict | list) and place:
        key: Any = rng.choice([*place]) if isinstance(place, dict) else rng.randrange(len(place))
        if rng.random() < 0.3:
            place[key] = make_data(rng, 3)
            break
        place = place[key]
    return data


def make_json(rng: random.Random) -> str:
    """JSON text, damaged or not, with what Python's reader takes and JSON does not allow."""
    text = json.dumps(rng.choice([make_data, make_query_data])(rng))
    if rng.random() < 0.3:
        text = damage(text, rng)
    for old, new in (("null", "NaN"), ("true", "-Infinity"), ("-1", "9" * 5000)):
        text = text.replace(old, new) if rng.random() < 0.2 else text
    return "{" + text if rng.random() < 0.02 else text


def damage(text: str, rng: random.Random) -> str:
    """The text with some characters removed, replaced or repeated."""
    for _ in range(rng.randrange(1, 4)):
        place = rng.randrange(len(text) + 1)
        end = place + rng.randrange(3)
        text = text[:place] + rng.choice([*TOKENS, text[place:end] * 2, ""]) + text[end:]
    return text


MAKERS: tuple[Callable[[random.Random], Any], ...] = (
    make_text,
    make_query,
    make_damaged_query,
    make_habit,
    make_bytes,
    make_data,
    make_query_data,
    make_json,
)


def make_question(rng: random.Random) -> Any:
    """A random question of a random kind."""
    return rng.choice(MAKERS)(rng)


def try_everything(question: Any) -> Query | None:
    """Do all that can be done with a question; None if it is refused with an error of its own."""
    try:
        query = read_query(question)
    except NqeError as error:
        _check_message(error)
        return None
    for use in USES:
        try:
            use(query)
        except NqeError as error:
            _check_message(error)
    return query


def _check_message(error: NqeError) -> None:
    message = str(error)
    message.encode()
    assert message, "an error says something"
    assert len(message) < 300_000, message[:200]


def _read_again(query: Query) -> None:
    assert parse(str(query)) == query
    assert hash(parse(str(query))) == hash(query)
    assert Query.from_json(query.to_json()) == query
    assert repr(query)


def _draw(query: Query) -> None:
    view = view_plan(query, GRAPH.vocabulary)
    assert view.text
    assert view.mermaid
    assert view.svg
    plan = bind(query, GRAPH)
    if isinstance(plan, JoinPlan):
        return
    assert parse_shape(query.shape)
    again = bind(plan.query(GRAPH.vocabulary), GRAPH)
    assert hash(again) == hash(bind(str(again.query(GRAPH.vocabulary)), GRAPH))


def _answer(query: Query) -> None:
    result = execute(query, GRAPH)
    assert list(execute_many([query], GRAPH)[0]) == list(result)
    assert repr(result)
    assert all(result.warnings)
    if isinstance(result, Rows) and result.plan.counted is not None:
        assert len(result.label_rows) == len(result)
        return
    for answer in islice(result, PROVED):
        proof = result.proof(answer)
        assert str(proof)
        assert proof.to_json()


def _list(query: Query) -> None:
    answers = _open().answer(query, "exact")
    assert json.dumps(answers.to_json())
    assert answers._repr_html_()


@cache
def _open() -> Answerer:
    return Answerer(GRAPH)


def _normalize(query: Query) -> None:
    assert execute(query.dnf(), GRAPH).ids == execute(query, GRAPH).ids


def _translate(query: Query) -> None:
    for model in ("wikidata", "rdf12"):
        assert write_sparql(query.graph, GRAPH.vocabulary, model)


USES: tuple[Callable[[Query], None], ...] = (
    _read_again,
    _draw,
    _answer,
    _list,
    _normalize,
    _translate,
)
