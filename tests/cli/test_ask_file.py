"""`nqe ask --file`: many questions, printed or written to a file."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any

import pytest
from answering_commands import CHAIN, FRANCE, NOT_GERMAN, RunNqe
from helpers import files, nqe, well
from pyarrow import parquet

from nqe import cli
from nqe.cli import print_answers
from nqe.cli.ask_file import WRITERS
from nqe.cli.print_answers import AnswerPrinter

NUMBER = re.compile(r"(?<=\"probability\": )[0-9.e-]+")
COLUMNS = ["query", "text", "rank", "variable", "entity", "label", "count", "probability", "score"]
COLUMNS += [
    "known",
    "seen",
    "elsewhere",
    "mode",
    "listed",
    "stated_count",
    "likely_count",
    "warnings",
    "error",
]
NOTHING = "?x: borders(?x, Europe)"


def test_a_query_in_error_does_not_stop_the_batch(tmp_path: Path, run_nqe: RunNqe) -> None:
    file = tmp_path / "queries.txt"
    file.write_text(f"{NOT_GERMAN}\n\n?x: borders(?x, Frnace)\n?x: capital(France, ?x)\n")
    done = run_nqe("ask", "atlas", "--file", str(file), "--json")
    assert done.code == 1
    told = [json.loads(line) for line in done.out.splitlines()]
    assert [("error" in one) for one in told] == [False, True, False]
    assert "did you mean 'France'" in told[1]["error"]
    assert told[2]["answers"][0]["label"] == "Paris"
    assert f"{file}:3:" in done.err


def test_queries_come_from_standard_input_too(tmp_path: Path) -> None:
    given = b"?x: capital(Japan, ?x)\n"
    out = well(nqe("ask", "atlas", "--file", "-", "--json", cwd=tmp_path, given=given))
    assert json.loads(out)["answers"][0]["label"] == "Tokyo"


def test_a_file_of_queries_becomes_json_lines(run_nqe: RunNqe, tmp_path: Path) -> None:
    output = tmp_path / "new" / "answers.jsonl"
    words = ("ask", "atlas.run", "--file", "queries.txt", "--top", "2", "-o", str(output))
    run = run_nqe(*words)
    assert (run.code, run.out) == (1, "")
    assert "nqe: queries.txt:3: query not understood" in run.err
    assert run.err.endswith("written, 2 of 3 queries answered\n")
    rows = [json.loads(line) for line in output.read_text().splitlines()]
    assert [row["query"] for row in rows] == [FRANCE, "?x: p(?x", CHAIN]
    counts = {"listed", "stated_count", "likely_count"}
    assert set(rows[0]) == {"query", "mode", "answers", *counts}
    assert set(rows[1]) == {"query", "error", "listed"}
    assert [row["listed"] for row in rows] == [2, 0, 2]
    assert rows[0]["stated_count"] == 8
    assert [len(row["answers"]) for row in (rows[0], rows[2])] == [2, 2]
    assert files(tmp_path) == ["new", "new/answers.jsonl"]


@pytest.mark.parametrize("asked", ["atlas.run", "atlas"])
def test_a_file_of_queries_becomes_parquet(asked: str, run_nqe: RunNqe, tmp_path: Path) -> None:
    output = tmp_path / "answers.parquet"
    words = ("ask", asked, "--file", "queries.txt", "--top", "3", "-o", str(output))
    assert run_nqe(*words).code == 1
    rows: list[dict[str, Any]] = parquet.read_table(output).to_pylist()
    [failed] = [row for row in rows if row["error"]]
    assert (failed["query"], failed["rank"]) == (3, None)
    assert failed["error"].startswith("query not understood")
    rows.remove(failed)
    assert [(row["query"], row["rank"]) for row in rows] == [
        (line, rank) for line in (2, 5) for rank in (1, 2, 3)
    ]
    assert {row["mode"] for row in rows} == {"hybrid" if asked == "atlas.run" else "exact"}
    assert [row["text"] for row in rows[2:4]] == [FRANCE, CHAIN]
    assert list(rows[0]) == COLUMNS
    assert {(row["probability"], row["score"]) for row in rows} == {(1.0, None)}
    assert {row["known"] for row in rows} == {True}


@pytest.mark.parametrize("ending", WRITERS)
def test_every_question_is_in_the_output_with_the_number_of_its_answers(
    ending: str, run_nqe: RunNqe, tmp_path: Path
) -> None:
    file, output = tmp_path / "queries.txt", tmp_path / f"answers{ending}"
    file.write_text(f"{NOTHING}\n?x: p(?x\n{FRANCE}\n")
    assert run_nqe("ask", "atlas", "--file", str(file), "--top", "2", "-o", str(output)).code == 1
    rows = read_rows(output)
    if ending == ".jsonl":
        assert [row["query"] for row in rows] == [NOTHING, "?x: p(?x", FRANCE]
    else:
        assert [int(row["query"]) for row in rows] == [1, 2, 3, 3]
        assert [row["rank"] or None for row in rows[:2]] == [None, None]
        assert [row["entity"] or None for row in rows][:3] == [None, None, "country_AD"]
    counts = [(int(row["listed"]), row.get("stated_count") or None) for row in rows[:3]]
    assert [(listed, stated and int(stated)) for listed, stated in counts][1:] == [
        (0, None),
        (2, 8),
    ]
    assert int(rows[0]["stated_count"]) == 0
    assert [bool(row.get("error")) for row in rows[:3]] == [False, True, False]


def read_rows(path: Path) -> list[dict[str, Any]]:
    """The objects or rows of a file of answers."""
    if path.suffix == ".parquet":
        rows: list[dict[str, Any]] = parquet.read_table(path).to_pylist()
        return rows
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream) if path.suffix == ".csv" else map(json.loads, stream))


def test_a_csv_file_has_the_columns_and_values_of_parquet(run_nqe: RunNqe, tmp_path: Path) -> None:
    tables = []
    for ending in (".csv", ".parquet"):
        output = tmp_path / f"answers{ending}"
        words = ("ask", "atlas.run", "--file", "queries.txt", "--top", "12", "-o", str(output))
        assert run_nqe(*words).code == 1
        tables.append(read_rows(output))
    assert list(tables[0][0]) == COLUMNS
    spelled = {None: "", True: "true", False: "false"}
    for row, same in zip(*tables, strict=True):
        known = {
            name: spelled.get(value, value)
            if not isinstance(value, int | float) or isinstance(value, bool)
            else str(value)
            for name, value in same.items()
        }
        assert row == known


def test_a_batch_gives_what_queries_give_one_by_one(
    run_nqe: RunNqe, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ("ask", "atlas.run", "--file", "queries.txt", "--json")
    together = run_nqe(*words)
    monkeypatch.setattr(print_answers, "BATCH", 1)
    # Probabilities may differ in the last digits.
    both = [NUMBER.sub("#", one) for one in (run_nqe(*words).out, together.out)]
    assert both[0] == both[1]
    chances = [list(map(float, NUMBER.findall(one))) for one in (run_nqe(*words).out, together.out)]
    assert chances[0] == pytest.approx(chances[1], abs=1e-6)
    assert together.out.count("\n") == 3


def test_a_query_that_fails_only_when_answered_does_not_stop_the_batch(
    run_nqe: RunNqe, tmp_path: Path
) -> None:
    file = tmp_path / "queries.txt"
    file.write_text("?x: road(town0, ?x)\n?x: road(?x, newtown)\n")
    words = ("--file", str(file), "--graph", "more.graph", "--mode", "embedding", "--json")
    run = run_nqe("ask", "towns.run", *words)
    first, second = [json.loads(line) for line in run.out.splitlines()]
    assert run.code == 1
    assert first["answers"]
    assert "added to the graph after the model was trained" in second["error"]


@pytest.mark.parametrize("ending", WRITERS)
def test_an_interrupted_batch_leaves_nothing(
    ending: str, run_nqe: RunNqe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(AnswerPrinter, "to_json", stop)
    monkeypatch.setattr(cli, "_drop_output", lambda: None)
    run = run_nqe(
        "ask", "atlas.run", "--file", "queries.txt", "-o", str(tmp_path / f"new/a{ending}")
    )
    assert run.code == 130
    assert files(tmp_path) == []
