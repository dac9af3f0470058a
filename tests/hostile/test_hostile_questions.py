"""Hostile questions: each is answered or refused with an error of its own, and alone."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from helpers import nqe
from hostile_questions import GRAPH, make_question, try_everything

from nqe.answering import Answerer, Answers
from nqe.errors import NqeError, QueryError
from nqe.graph import Dataset, Fact, Graph
from nqe.query import Query, execute
from nqe.query.binder import read_query

DATASET = Dataset.of({"train": [GRAPH.fact(row) for row in range(len(GRAPH))]})
GOOD = "?x: p(?x, b)"
ATOM = '{"relation": "p", "subject": {"variable": "x"}, "object": "a"}'
DEEP = '{"target": "x", "formula": ' + '{"not": ' * 2000 + "{}" + "}" * 2001


@pytest.mark.parametrize("block", range(6))
def test_random_questions_are_used_or_refused_with_an_error_of_ours(block: int) -> None:
    used = 0
    for seed in range(500 * block, 500 * (block + 1)):
        used += try_everything(make_question(random.Random(seed))) is not None
    assert used > 50


@pytest.mark.parametrize(
    "text",
    [
        "?x:" + "(" * 90_000,
        "?x:" + "(" * 40_000 + "p(?x,a)" + ")" * 40_000,
        "?x:" + "!" * 90_000 + "p(?x,a)",
        "?x:p(?x,a" + ",a" * 40_000 + ")",
        '?x:p(?x,"' + "a" * 90_000,
        '?x:p(?x,"' + "\\" * 90_001 + '")',
        "?x:" + "p(?x,a)&" * 10_000,
        "?" + "1" * 40_000 + "_:p(?" + "1" * 40_000 + "_,a)",
        "?" + "1" * 5000 + ":p(?" + "1" * 5000 + ",a)",
        "\n" * 99_000 + "?x",
        "x" * 200_000,
        "{" * 1_000_000,
        '{"a":' * 200_000,
        "[" * 99_000,
        '{"target":"x","formula":{"and":[' + "0," * 90_000 + "0]}}",
        '{"target":' + "9" * 1_000_000 + "}",
        DEEP,
    ],
    ids=lambda text: ascii(text[:12]),
)
def test_long_and_deep_questions_are_used_or_refused(text: str) -> None:
    try_everything(text)


def test_a_hostile_question_in_a_batch_fails_alone() -> None:
    deep: Any = {}
    for _ in range(2000):
        deep = {"not": deep}
    loop: dict[str, Any] = {"target": "x"}
    loop["formula"] = {"and": [loop, loop]}
    hostile: list[Any] = [DEEP, {"target": "x", "formula": deep}, loop, {}, b"", [[]], None]
    hostile += ["?x: " + "!" * 500 + "p(?x, a)", "?x: p(?x, \ud800)"]
    first, *others, last = Answerer(GRAPH).answer_many([GOOD, *hostile, GOOD])
    assert isinstance(first, Answers)
    assert isinstance(last, Answers)
    assert all(isinstance(one, NqeError) for one in others)


def test_a_hostile_line_of_a_file_fails_alone(tmp_path: Path) -> None:
    DATASET.save(tmp_path / "graph")
    half = json.dumps({"target": "x", "formula": "\ud800"})
    lines = [GOOD, DEEP, half, "?x: " + " or ".join(["p(?x, a)"] * 2000), GOOD]
    (tmp_path / "queries.txt").write_text("\n".join(lines), encoding="utf-8")
    run = nqe("ask", "graph", "--file", "queries.txt", "--json", cwd=tmp_path)
    assert run.code == 1
    rows = [json.loads(line) for line in run.out.splitlines()]
    assert [("error" in row) for row in rows] == [False, True, True, True, False]


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_a_question_in_another_encoding_is_refused(tmp_path: Path, form: tuple[str, ...]) -> None:
    DATASET.save(tmp_path / "graph")
    for question in ("?x: p(?x, \udcff)", "{\udcff", "\udcff"):
        run = nqe("ask", "graph", question, *form, cwd=tmp_path)
        assert run.code == 2
        assert "Traceback" not in run.err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"target": "x", "target": "y"}', "the key 'target' twice"),
        ('{"target": "x", "formula": {"not": {"a": {"b": 1, "b": 1}}}}', "the key 'b' twice"),
        ('{"target": NaN}', "NaN is not JSON"),
        ('{"target": -Infinity}', "-Infinity is not JSON"),
        ('{"target": ' + "9" * 5000 + "}", "target: input should be a valid string"),
        ('{"target": "\\ud800", "formula": ' + ATOM + "}", "cannot be a variable's name"),
    ],
)
def test_json_is_read_strictly(text: str, message: str) -> None:
    with pytest.raises(QueryError, match=message):
        read_query(text)


def test_a_name_with_half_a_character_is_refused_in_every_form() -> None:
    atom = {"relation": "\ud800", "subject": {"variable": "x"}, "object": "a"}
    data = {"target": "x", "formula": atom}
    for question in (data, json.dumps(data), "?x: \ud800(?x, a)", '?x: p(?x, "\ud800")'):
        with pytest.raises(QueryError) as caught:
            read_query(question)
        assert str(caught.value).encode()


def test_a_fact_with_many_qualifiers_of_one_attribute_is_answered_and_proved() -> None:
    wide = Fact("s", "p", "o", tuple(("q", f"v{i:02}") for i in range(84)))
    graph = Graph.of([wide, *(Fact(f"v{i:02}", "r", "t") for i in range(7))])
    wide_row = [graph.fact(row) for row in range(len(graph))].index(wide)
    free = ", ".join(f"q: ?y{i}" for i in range(40))
    result = execute(f"?x: p(?z, ?u; q: ?x, {free})", graph)
    assert len(result) == 84
    assert result.proof("v83").rows == [wide_row]
    # Seven values are allowed in seven slots, so that none of them is left for the eighth.
    slots = ", ".join(f"q: ?y{i}" for i in range(7))
    few = " and ".join(f"r(?y{i}, t)" for i in range(7))
    answers = execute(f"?x: p(?z, ?u; q: ?x, {slots}) and {few}", graph)
    assert answers.ids == [f"v{i:02}" for i in range(7, 84)]
    proof = answers.proof("v83")
    assert sorted(part.entity for part in proof.parts if part.variable.startswith("y")) == sorted(
        graph.vocabulary.entities.resolve(f"v{i:02}") for i in range(7)
    )


def test_a_query_keeps_its_meaning_through_all_forms() -> None:
    query = read_query(GOOD)
    assert Query.from_json(json.dumps(query.to_json())) == query
