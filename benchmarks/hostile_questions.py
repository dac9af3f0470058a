"""Random questions that no person would ask, and all that can be done with a question."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

from nqe.errors import NqeError
from nqe.graph import Fact, Graph
from nqe.query import Query, bind, execute, execute_many, parse
from nqe.query.binder import read_query
from nqe.query.join_plan import JoinPlan
from nqe.query.plan_views import view_plan
from nqe.query.shapes import parse_shape
from nqe.query.sparql import write_sparql

PAIRS = (("q", "a"), ("q", "b"), ("q", "c"), ("q", "b"), ("r", "a"))
GRAPH = Graph.of([Fact("a", "p", "b", PAIRS), Fact("b", "p", "c"), Fact("c", "r", "a", PAIRS[:2])])

TOKENS = (
    *("p", "q", "r", "a", "b", "c", "?x", "?y", "?z", "?x:", "?x: p(?x, a)", "p(?x, ?y)"),
    *("p(?x, a; q: ?y)", "only", "and", "or", "not", "&", "|", "!", "(", ")", ",", ";", ":"),
    *('"', '""', '"a b"', "\\", '"\\', "?", "[", "]", "{", "}", "\n", "\t", " ", "\x00", "\x85"),
    *("\u2028", "\ufeff", "\u202e", "é", "e\u0301", "漢", "🙂", "\ud800", "\udcff", "?é", "?１"),
)
KEYS = ("target", "formula", "and", "or", "not", "relation", "subject", "object", "variable")
MORE_KEYS = (*KEYS, "qualifiers", "attribute", "value", "only", "", "é", "\ud800", "__class__")
SCALARS = ("x", "y", "a", "p", "q", "", "x y", "\ud800", "\x00", 0, -1, 1.5, 10**30, True, None)


def make_text(rng: random.Random) -> str:
    """A text of random tokens."""
    between = rng.choice(["", " "])
    return between.join(rng.choices(TOKENS, k=rng.randrange(1, 24)))


def make_formula(rng: random.Random, depth: int = 0) -> str:
    """A formula that the grammar allows, which need not have a meaning."""
    kind = rng.choice(["atom", "atom", "and", "or", "not"]) if depth < 4 else "atom"
    if kind == "not":
        return f"not ({make_formula(rng, depth + 1)})"
    if kind in ("and", "or"):
        parts = (make_formula(rng, depth + 1) for _ in range(rng.randrange(2, 4)))
        return "(" + f" {kind} ".join(parts) + ")"
    terms = rng.choices(["?x", "?x", "?y", "?z", "a", "b"], k=rng.randrange(2, 6))
    pairs = ", ".join(f"{rng.choice('qqr')}: {term}" for term in terms[2:])
    only = rng.choice(["", "", "only "])
    return f"{only}{rng.choice('pr')}({terms[0]}, {terms[1]}{'; ' + pairs if pairs else ''})"


def make_query(rng: random.Random) -> str:
    """A query that the grammar allows."""
    return f"?x: {make_formula(rng)}"


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
        keys = rng.choice([("target", "formula"), ("relation", "subject", "object"), MORE_KEYS])
        chosen = keys if keys is not MORE_KEYS else rng.choices(keys, k=rng.randrange(4))
        return {key: make_data(rng, depth + 1) for key in chosen}
    if kind == "list":
        return [make_data(rng, depth + 1) for _ in range(rng.randrange(4))]
    return rng.choice(SCALARS)


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
    assert execute_many([query], GRAPH)[0].ids == result.ids
    for answer in result:
        assert str(result.proof(answer))
        assert result.proof(answer).to_json()


def _normalize(query: Query) -> None:
    assert execute(query.dnf(), GRAPH).ids == execute(query, GRAPH).ids


def _translate(query: Query) -> None:
    for model in ("wikidata", "rdf12"):
        assert write_sparql(query.graph, GRAPH.vocabulary, model)


USES: tuple[Callable[[Query], None], ...] = (_read_again, _draw, _answer, _normalize, _translate)
