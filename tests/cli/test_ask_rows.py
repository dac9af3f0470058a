"""`nqe ask`: rows, counts and other questions that are no trees."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from answering_commands import FRANCE, RunNqe, read_table
from helpers import told, well
from pyarrow import parquet

SWISS = 'currency(?x, "Swiss Franc")'
PAIRS = f"?x, ?y: borders(?x, ?y) and {SWISS}"
CYCLE = f"?x: borders(?x, ?y) and borders(?y, ?z) and borders(?z, ?x) and {SWISS}"
COUNT = "?y, count ?x: borders(?x, ?y) and continent(?y, Africa)"
ALONE = "count ?x: borders(?x, France)"


def test_rows_have_one_column_per_target(run_nqe: RunNqe) -> None:
    done = run_nqe("ask", "atlas", PAIRS, "--top", "2")
    assert read_table(well(done)) == [
        ["?x", "?y"],
        ["Switzerland", "Austria"],
        ["Switzerland", "Germany"],
    ]
    assert done.err == "… and 5 more (--top)\n7 row(s)\n"


def test_counts_are_sorted_and_cut_as_asked_for(run_nqe: RunNqe) -> None:
    words = ("--order-by", "count desc, ?y desc", "--limit", "2")
    head, *rows = read_table(well(run_nqe("ask", "atlas", COUNT, *words)))
    assert head == ["?y", "count"]
    every = read_table(well(run_nqe("ask", "atlas", COUNT, "--top", "100")))[1:]
    assert len(every) > 50 / 2
    assert rows == sorted(every, key=lambda row: (int(row[1]), row[0]), reverse=True)[:2]


def test_a_count_alone_is_a_single_number(run_nqe: RunNqe) -> None:
    done = run_nqe("ask", "atlas", ALONE)
    assert (well(done), done.err) == ("count\n8\n", "")


def test_a_cycle_is_answered_with_the_table_of_a_tree(run_nqe: RunNqe) -> None:
    done = run_nqe("ask", "atlas", CYCLE, "--order-by", "?x")
    head, *rows = read_table(well(done))
    assert head == ["id", "label", "description"]
    assert [row[1] for row in rows] == ["Liechtenstein", "Switzerland"]
    assert done.err == "2 answer(s)\n"


def test_what_comparisons_skip_is_told(run_nqe: RunNqe) -> None:
    done = run_nqe("ask", "atlas", "?x: borders(?x, France) and capital(?x, ?c) and ?c < 1955")
    assert done.code == 0
    assert "note: ?c < 1955 skipped 8 values: this graph has no times, numbers" in done.err


def test_a_proof_follows_for_each_row(run_nqe: RunNqe) -> None:
    out = well(run_nqe("ask", "atlas", PAIRS, "--top", "1", "--proof"))
    assert "?x = Switzerland: all of" in out
    assert "stated (Switzerland, borders, Austria" in out
    assert told(run_nqe("ask", "atlas", ALONE, "--proof", "--json")).startswith("a count has no")


def test_json_has_the_targets_and_the_rows(run_nqe: RunNqe) -> None:
    data = json.loads(well(run_nqe("ask", "atlas", PAIRS, "--json", "--top", "1", "--proof")))
    assert (data["query"], data["targets"]) == (PAIRS, ["x", "y"])
    assert (data["mode"], data["count"], data["listed"]) == ("exact", 7, 1)
    [row] = data["rows"]
    assert [cell["label"] for cell in row["row"]] == ["Switzerland", "Austria"]
    assert row["proof"]["because"]


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".jsonl"])
def test_a_file_may_mix_all_kinds_of_questions(
    ending: str, run_nqe: RunNqe, tmp_path: Path
) -> None:
    file, output = tmp_path / "queries.txt", tmp_path / f"answers{ending}"
    file.write_text("\n".join([FRANCE, PAIRS, COUNT, ALONE, CYCLE, "?x, ?y: borders(?x, No)"]))
    words = ("ask", "atlas", "--file", str(file), "--top", "1", "-o", str(output))
    assert run_nqe(*words).code == 1
    if ending == ".jsonl":
        kinds = [set(json.loads(line)) for line in output.read_text().splitlines()]
        assert ["rows" in kind for kind in kinds] == [False, True, True, True, False, False]
        return
    rows = read_csv(output) if ending == ".csv" else parquet.read_table(output).to_pylist()
    shown = [
        tuple(str(row[name] or "") for name in ("query", "rank", "variable", "label", "count"))
        for row in rows
    ]
    assert shown == [
        ("1", "1", "", "Andorra", ""),
        ("2", "1", "x", "Switzerland", ""),
        ("2", "1", "y", "Austria", ""),
        ("3", "1", "y", "Angola", "4"),
        ("4", "1", "", "", "8"),
        ("5", "1", "", "Switzerland", ""),
        ("6", "", "", "", ""),
    ]
    assert [row["mode"] or "" for row in rows] == ["exact"] * 6 + [""]


def read_csv(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_a_file_is_printed_question_by_question(run_nqe: RunNqe, tmp_path: Path) -> None:
    file = tmp_path / "queries.txt"
    file.write_text(f"{FRANCE}\n{PAIRS}\n{ALONE}\n")
    out = well(run_nqe("ask", "atlas", "--file", str(file), "--top", "1"))
    assert f"# {PAIRS}\n?x\t?y\nSwitzerland\tAustria\n" in out
    assert out.endswith(f"# {ALONE}\ncount\n8\n")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("ask", "atlas.run", ALONE), "the question count ?x: borders(?x, country_FR) is no tree"),
        (("ask", "atlas.run", PAIRS, "--mode", "embedding"), "the question ?x, ?y: borders(?x"),
        (("ask", "atlas", PAIRS, "--steps"), "the question ?x, ?y: borders(?x, ?y) and currency"),
        (("ask", "atlas", PAIRS, "--among", FRANCE), "the answers are rows (x, y), not entities"),
        (("ask", "atlas", FRANCE, "--among", PAIRS), "the answers are not single entities but"),
        (("ask", "atlas", PAIRS, "--order-by", "?z"), "the answers have no column ?z to sort by"),
        (("ask", "atlas.run", FRANCE, "--order-by", "?x"), "answers with probabilities are sort"),
        (("ask", "atlas", "?x, ?y: not borders(?x, ?y)", "--max-bindings", "99"), "a step would"),
        (("explain", "atlas.run", PAIRS, "Spain"), "an answer has 2 parts (?x, ?y), not 1"),
        (("explain", "atlas.run", FRANCE, "Spain", "Italy"), "the question asks for one entity,"),
        (("explain", "atlas.run", ALONE), "the question count ?x: borders(?x, country_FR) is no"),
    ],
)
def test_what_rows_do_not_have_is_refused_in_one_sentence(
    words: tuple[str, ...], sentence: str, run_nqe: RunNqe
) -> None:
    assert told(run_nqe(*words)).startswith(sentence)


def test_a_run_answers_rows_in_mode_exact(run_nqe: RunNqe) -> None:
    out = well(run_nqe("ask", "atlas.run", PAIRS, "--mode", "exact", "--top", "1"))
    assert read_table(out) == [["?x", "?y"], ["Switzerland", "Austria"]]


def test_a_run_also_predicts_rows(run_nqe: RunNqe) -> None:
    done = run_nqe("ask", "atlas.run", PAIRS, "--top", "9")
    head, *rows = read_table(well(done))
    assert head == ["?x", "?y", "probability", "known by"]
    assert [row[3] for row in rows] == ["stated"] * 7 + ["predicted"] * 2
    assert [row[2] for row in rows[:7]] == ["1.0000"] * 7
    assert done.err.startswith("7 stated, ")
    data = json.loads(well(run_nqe("ask", "atlas.run", PAIRS, "--json", "--predicted")))
    assert [row["known"] for row in data["rows"]] == [False] * 10
    assert (data["mode"], data["stated_count"], "count" in data) == ("hybrid", 7, False)


def test_a_run_also_predicts_answers_of_a_cycle(run_nqe: RunNqe) -> None:
    head, *rows = read_table(well(run_nqe("ask", "atlas.run", CYCLE)))
    assert head == ["id", "label", "probability", "known by"]
    assert {row[1] for row in rows if row[3] == "stated"} == {"Switzerland", "Liechtenstein"}


def test_a_row_is_explained(run_nqe: RunNqe) -> None:
    stated = well(run_nqe("explain", "atlas.run", PAIRS, "Switzerland", "Austria"))
    assert "with probability 1.0000:\n  ?x = Switzerland: all of\n    stated (Switz" in stated
    data = json.loads(well(run_nqe("ask", "atlas.run", PAIRS, "--json", "--predicted")))
    row, probability = data["rows"][0]["row"], data["rows"][0]["probability"]
    names = [cell["entity"] for cell in row]
    told = json.loads(well(run_nqe("explain", "atlas.run", PAIRS, *names, "--json")))
    assert (told["row"], told["known"], told["targets"]) == (names, False, ["x", "y"])
    assert told["probability"] == pytest.approx(probability)
    assert told["rank"] == 8
    assert told["reason"]["because"]
    assert 0 < told["weakest"]["support"] < 1


def test_what_is_no_answer_is_explained_as_such(run_nqe: RunNqe) -> None:
    out = well(run_nqe("explain", "atlas.run", PAIRS, "Japan", "Japanese"))
    assert out.startswith("Why Japan, Japanese is no answer")
