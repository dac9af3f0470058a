"""ask, plan, sparql, shapes and shell, as typed."""

from __future__ import annotations

import json
import os
import pty
import select
import subprocess
import sys
import time
from pathlib import Path
from xml.etree import ElementTree

import pytest
from helpers import quick_command

EASY = "?x: borders(?x, France) and not speaks(?x, German)"


def nqe(*arguments: str, **more: object) -> subprocess.CompletedProcess[str]:
    command = [*quick_command(), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, **more)  # type: ignore[call-overload]


def test_answers_are_tab_separated_lines_in_a_pipe() -> None:
    done = nqe("ask", "atlas", EASY)
    assert done.returncode == 0
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    assert rows[0] == ["id", "label", "description"]
    assert [row[1] for row in rows[1:]] == ["Andorra", "Spain", "Monaco"]
    assert "3 answer(s)" in done.stderr


def test_json_is_one_object_on_one_line() -> None:
    done = nqe("ask", "atlas", EASY, "--json", "--top", "2", "--steps", "--proof")
    (line,) = done.stdout.splitlines()
    told = json.loads(line)
    assert told["count"] == 3
    assert [answer["entity"] for answer in told["answers"]] == ["country_AD", "country_ES"]
    assert told["answers"][0]["label"] == "Andorra"
    assert told["answers"][0]["known"] is True
    assert told["answers"][0]["proof"]["because"][0]["fact"]["relation"] == "borders"
    assert [step["operator"] for step in told["steps"]] == ["P", "P", "Not", "And"]
    assert told["steps"][0]["count"] == 8


def test_the_known_facts_can_be_chosen() -> None:
    counts = [
        json.loads(nqe("ask", "atlas", "?x: borders(?x, ?y)", "--json", "--facts", facts).stdout)
        for facts in ("all", "train", "none")
    ]
    assert counts[0]["count"] >= counts[1]["count"] > counts[2]["count"] == 0


def test_among_keeps_the_answers_of_a_second_query() -> None:
    done = nqe("ask", "atlas", "?x: borders(?x, Russia)", "--among", "?x: continent(?x, Asia)")
    labels = {line.split("\t")[1] for line in done.stdout.splitlines()[1:]}
    assert "Mongolia" in labels
    assert "Norway" not in labels


def test_a_query_in_error_does_not_stop_the_batch(tmp_path: Path) -> None:
    file = tmp_path / "queries.txt"
    file.write_text(f"{EASY}\n\n?x: borders(?x, Frnace)\n?x: capital(France, ?x)\n")
    done = nqe("ask", "atlas", "--file", str(file), "--json")
    assert done.returncode == 1
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert [("error" in one) for one in told] == [False, True, False]
    assert "did you mean 'France'" in told[1]["error"]
    assert told[2]["answers"][0]["label"] == "Paris"
    assert f"{file}:3:" in done.stderr


def test_queries_come_from_standard_input_too() -> None:
    done = nqe("ask", "atlas", "--file", "-", "--json", input="?x: capital(Japan, ?x)\n")
    assert done.returncode == 0
    assert json.loads(done.stdout)["answers"][0]["label"] == "Tokyo"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("ask", "atlas", "?x: borders(?x"), "column 15"),
        (("ask", "atlas", "?x: borders(?x, Frnace)"), "did you mean 'France'"),
        (("ask", "atlas", "?x: p(?x, ?y) and q(?x, ?y)"), "closes a cycle"),
        (("ask", "atlas"), "needs a query, or --file"),
        (("ask", "atlas", "?x: borders(?x, ?y)", "--max-bindings", "10"), "limit of 10"),
        (("ask", "atlas", EASY, "--facts", "tests"), "there is no tests split"),
        (("sparql", "atlas", EASY, "--model", "owl"), "choose one of wikidata, rdf12"),
        (("plan", "nowhere", EASY), "not a graph folder"),
    ],
)
def test_a_wrong_question_is_told_so_and_exits_with_2(
    arguments: tuple[str, ...], message: str
) -> None:
    done = nqe(*arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_an_ambiguous_label_lists_the_candidates_with_ids_and_descriptions(tmp_path: Path) -> None:
    (tmp_path / "train.txt").write_text("Q1,P1,Q2\nQ3,P1,Q2\n")
    (tmp_path / "labels.tsv").write_text("Q1\tParis\tcity in France\nQ3\tParis\tson of Priam\n")
    assert nqe("import", str(tmp_path), "-o", str(tmp_path / "g.graph")).returncode == 0
    done = nqe("ask", str(tmp_path / "g.graph"), "?x: P1(Paris, ?x)")
    assert done.returncode == 2
    assert "'Paris' names 2 entities" in done.stderr
    assert "Paris (Q1), city in France; Paris (Q3), son of Priam" in done.stderr


def test_a_complement_is_answered_with_a_note() -> None:
    done = nqe("ask", "atlas", "?x: not speaks(?x, German)", "--top", "1")
    assert done.returncode == 0
    assert "only what they are not" in done.stderr


def test_a_plan_is_shown_as_a_tree_as_mermaid_and_as_svg(tmp_path: Path) -> None:
    tree = nqe("plan", "atlas", EASY)
    assert tree.stdout.splitlines()[:2] == ["shape 2in", "4. ?x = And"]
    assert nqe("plan", "atlas", EASY, "--mermaid").stdout.startswith("flowchart LR")
    picture = tmp_path / "plan.svg"
    assert nqe("plan", "atlas", EASY, "--svg", str(picture)).returncode == 0
    assert ElementTree.parse(picture).getroot().tag.endswith("svg")


def test_sparql_and_shapes_print() -> None:
    assert "SELECT DISTINCT ?x WHERE {" in nqe("sparql", "atlas", EASY).stdout
    assert "<<( " in nqe("sparql", "atlas", EASY, "--model", "rdf12").stdout
    assert "pni\tAnd(Not(P(P())), P())\tnegation" in nqe("shapes").stdout
    assert len(json.loads(nqe("shapes", "--json").stdout)) == 16


def test_the_shell_answers_completes_and_remembers(tmp_path: Path) -> None:
    master, slave = pty.openpty()
    environment = {**os.environ, "NQE_HOME": str(tmp_path), "TERM": "xterm", "COLUMNS": "120"}
    shell = subprocess.Popen(
        [sys.executable, "-m", "nqe", "shell", "atlas"],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        env=environment,
    )
    os.close(slave)
    try:
        _read_until(master, b"Ctrl-D to leave")
        os.write(master, b"?x: capital(Jap\t")
        _read_until(master, b"country or territory in Asia")
        os.write(master, b"\t, ?x)\r")
        _read_until(master, b"Tokyo")
        os.write(master, b"?x: capital(\r")
        _read_until(master, b"not understood")
        os.write(master, b"quit\r")
        assert shell.wait(timeout=30) == 0
    finally:
        shell.kill()
        shell.wait()
        os.close(master)
    assert "?x: capital(Japan, ?x)" in (tmp_path / "shell_history").read_text()


def _read_until(terminal: int, text: bytes, seconds: float = 20) -> bytes:
    seen, end = b"", time.monotonic() + seconds
    while text not in seen:
        ready, _, _ = select.select([terminal], [], [], max(0.0, end - time.monotonic()))
        assert ready, f"never saw {text!r} in {seen!r}"
        seen += os.read(terminal, 4096)
    return seen
