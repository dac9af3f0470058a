"""`nqe score` and `nqe suggest`: probabilities of statements."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from answering_commands import ATLAS, RunNqe, check_help_example, check_refused, read_table
from helpers import well


@pytest.mark.parametrize("command", ["score", "suggest"])
def test_the_example_in_the_help_works(command: str, run_nqe: RunNqe) -> None:
    check_help_example(run_nqe, command)


def test_without_candidates_there_is_no_suggestion(run_nqe: RunNqe) -> None:
    run = run_nqe("suggest", "atlas.run", "France", "--among", "?x: borders(?x, Europe)")
    assert well(run) == ""
    assert "no statement that is not stated is possible among the answers of --among" in run.err


def test_a_statement_is_scored_with_the_alternatives_of_its_slots(run_nqe: RunNqe) -> None:
    statement = "currency(France, Euro; start_year: 1999)"
    head, columns, *rows = read_table(well(run_nqe("score", "atlas.run", statement, "--top", "2")))
    assert head[0].startswith(statement)
    assert re.search(r"\)  stated; if it were missing, it would have [\d.e-]+$", head[0])
    assert columns == ["slot", "", "id", "label", "probability", "known by"]
    slots = [row for row in rows if len(row) > 1]
    assert [row[0] for row in slots[::3]] == ["subject", "object", "start year"]
    assert rows[len(slots)][0].startswith("the strongest rule: ")
    assert [row[1] for row in rows[1:3]] == ["instead", "instead"]
    data = json.loads(well(run_nqe("score", "atlas.run", statement, "--facts", "none", "--json")))
    assert data["stated"] is False
    out = well(run_nqe("score", "atlas.run", statement, "--facts", "none"))
    assert re.search(r"\)  not stated; it has [\d.e-]+\n", out)
    assert 0 < data["probability"] < 1


def test_suggestions_are_not_stated_and_have_the_given_relation_and_class(run_nqe: RunNqe) -> None:
    words = ("--relation", "borders", "--among", "?x: continent(?x, Europe)", "--top", "4")
    data = json.loads(well(run_nqe("suggest", "atlas.run", "France", *words, "--json")))
    assert data["entity"] == "country_FR"
    assert len(data["suggestions"]) == 4
    for one in data["suggestions"]:
        assert one["relation"] == "borders"
        assert "country_FR" in (one["subject"], one["object"])
        row = f"{one['subject']},{one['relation']},{one['object']}"
        assert row not in {f"{f.subject},{f.relation},{f.object}" for f in ATLAS.graph}
    rows = read_table(well(run_nqe("suggest", "atlas.run", "France", *words)))
    assert rows[0] == ["subject", "relation", "object", "probability"]
    assert len(rows) == 5


WRONG: dict[str, tuple[tuple[str, ...], str]] = {
    "a variable in a statement": (
        ("score", "atlas.run", "borders(France, ?x)"),
        "a statement has no variables; put a name in place of ?x",
    ),
    "an unknown relation": (
        ("suggest", "atlas.run", "France", "--relation", "bordrs"),
        "no relation is called 'bordrs'; did you mean 'borders'",
    ),
}


@pytest.mark.parametrize(("words", "sentence"), WRONG.values(), ids=WRONG)
def test_an_impossible_command_fails_with_one_sentence_and_writes_nothing(
    words: tuple[str, ...], sentence: str, run_nqe: RunNqe, runs: Path
) -> None:
    check_refused(run_nqe, runs, words, sentence)
