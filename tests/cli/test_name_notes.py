"""Notes about the names of a question, in every command that reads names."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from answering_commands import RunNqe, write_run

from nqe.answering import Answerer
from nqe.answering import open as open_answerer
from nqe.cli.shell import run_line
from nqe.graph import Dataset, Description, Fact

FACTS = [
    Fact("EGCC", "route", "EFHK", (("airline", "AY"),)),
    Fact("LIRF", "route", "EFHK", (("airline", "AZ"),)),
    Fact("LIRF", "route", "EGCC"),
    Fact("EFHK", "serves", "Q1757"),
    Fact("Q4", "country", "Q1008"),
]
DESCRIPTIONS = {
    "EGCC": Description("Manchester Airport", None, ("MAN",)),
    "EFHK": Description("Helsinki Airport", None, ("HEL",)),
    "LIRF": Description("Rome Airport"),
    "Q1757": Description("Helsinki"),
    "Q4": Description("Man", "city in Ivory Coast"),
}
READ = "nqe: note: 'MAN' is read as Manchester Airport (EGCC); in another case it may mean Man (Q4)"
NOWHERE = (
    "nqe: note: no known fact of route has Helsinki as subject, so no fact answers the question"
)
NOT_MAN = "?x: route(?x, HEL) and not route(?x, MAN)"
HELSINKI = "?x: route(Helsinki, ?x)"


@pytest.fixture(scope="module", autouse=True)
def airports(runs: Path) -> Iterator[Path]:
    """A graph and a RUN of airports and cities, beside the other runs."""
    dataset = Dataset.of({"train": FACTS}).describe(DESCRIPTIONS)
    dataset.save(runs / "air.graph")
    write_run(runs / "air.run", dataset, "air.graph")
    return runs


@pytest.mark.parametrize(
    "words",
    [
        ("ask", "air.graph", NOT_MAN),
        ("ask", "air.graph", "?x: route(?x, HEL)", "--among", "?x: route(?x, MAN)"),
        ("ask", "air.run", NOT_MAN),
        ("ask", "air.run", NOT_MAN, "--mode", "embedding"),
        ("explain", "air.run", NOT_MAN),
        ("explain", "air.run", "?x: route(?x, HEL)", "MAN"),
        ("plan", "air.graph", NOT_MAN),
        ("sparql", "air.graph", NOT_MAN),
        ("show", "air.graph", "MAN"),
        ("score", "air.run", "route(MAN, HEL)"),
        ("suggest", "air.run", "MAN", "--relation", "route"),
    ],
)
def test_the_reading_of_a_name_is_told_once(words: tuple[str, ...], run_nqe: RunNqe) -> None:
    done = run_nqe(*words)
    assert done.code == 0
    assert done.err.count("is read as") == done.err.count(READ) == 1
    assert READ not in done.out


@pytest.mark.parametrize(
    ("words", "effect"),
    [
        (("ask", "air.graph", HELSINKI), NOWHERE),
        (("ask", "air.run", HELSINKI), NOWHERE),
        (("explain", "air.run", HELSINKI, "HEL"), NOWHERE),
        (
            ("ask", "air.graph", "?x: route(?x, HEL) and not route(?x, Helsinki)"),
            "as object, so by the facts not route(?x, Helsinki) excludes nothing; its objects are "
            "Helsinki Airport, Manchester Airport\n",
        ),
        (
            ("ask", "air.graph", "?x: route(?x, HEL; airline: HEL)"),
            "of route has Helsinki Airport as value of airline, so no fact answers the question; "
            "its values of airline are AY, AZ\n",
        ),
        (("ask", "air.graph", "?x: route(?x, HEL)", "--among", HELSINKI), NOWHERE),
    ],
)
def test_a_name_that_never_stands_in_its_slot_is_told(
    words: tuple[str, ...], effect: str, run_nqe: RunNqe
) -> None:
    done = run_nqe(*words)
    assert done.code == 0
    assert done.err.count("no known fact") == done.err.count(effect) == 1


def test_json_and_tables_of_answers_hold_the_notes(run_nqe: RunNqe, tmp_path: Path) -> None:
    told = json.loads(run_nqe("ask", "air.graph", NOT_MAN, "--json").out)
    assert [f"nqe: note: {note}" for note in told["warnings"]] == [
        f"{READ}, city in Ivory Coast; use an id to be sure"
    ]
    told = json.loads(run_nqe("explain", "air.run", NOT_MAN, "--json").out)
    assert READ.endswith(told["warnings"][0].partition(",")[0])
    file, output = tmp_path / "queries.txt", tmp_path / "answers.csv"
    file.write_text(f"{NOT_MAN}\n{HELSINKI}\n?x: route(?x, HEL)\n")
    assert run_nqe("ask", "air.graph", "--file", str(file), "-o", str(output)).code == 0
    with output.open(encoding="utf-8", newline="") as stream:
        notes = {row["query"]: row["warnings"] for row in csv.DictReader(stream)}
    assert notes["1"].startswith("'MAN' is read as")
    assert notes["2"].startswith("no known fact of route has Helsinki as subject")
    assert notes["3"] == ""


@pytest.mark.parametrize("word", ["", "plan ", "why ", "steps ", "proof "])
def test_the_shell_tells_the_reading(
    word: str, airports: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(airports)
    run_line(word + NOT_MAN, open_answerer("air.run", device="cpu"))
    assert capsys.readouterr().err.count(READ) == 1


def test_answers_in_python_have_the_notes(airports: Path) -> None:
    answerer = Answerer(Dataset.load(airports / "air.graph"))
    assert answerer.answer(HELSINKI).warnings[0].startswith("no known fact of route has Helsinki")
    answers = answerer.answer("?x: route(?x, HEL)", among="?x: route(?x, MAN)")
    assert answers.ids == ["LIRF"]
    assert answers.warnings[0].startswith("'MAN' is read as Manchester Airport")
    assert answerer.answer("?x: route(?x, HEL)").warnings == ()
    assert answerer.answer(HELSINKI, facts="none").warnings == ()
