"""`nqe import` of Wikidata's JSON: options, the report, and Ctrl-C."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
import wikidata_dump as wd
from helpers import files, nqe, start, told, well

ENTITY = wd.dump(wd.CURIE).splitlines()[1].encode() + b"\n"


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    path = tmp_path / "dump.json"
    path.write_text(wd.SMALL, encoding="utf-8")
    return path


def test_the_report_says_what_was_left_out(dump: Path, tmp_path: Path) -> None:
    run = nqe("import", dump, "-o", "g.graph", cwd=tmp_path)
    assert well(run).startswith("g.graph: train 7 facts; 13 entities, 8 relations;")
    assert run.err.splitlines() == [
        "Wikidata: 5 entities read; left out: 2 statements (1 with an external id, 1 deprecated)",
        "literals kept: 2 numbers, 1 text, 3 times",
    ]


def test_the_options_choose_statements_and_the_language(dump: Path, tmp_path: Path) -> None:
    chosen = ["--language", "de", "--keep-classes", "Q5, Q6", "--keep-relations", "P166,P103"]
    run = nqe("import", dump, "-o", "g.graph", *chosen, "--deprecated", cwd=tmp_path)
    assert well(run).startswith("g.graph: train 2 facts;")
    asked = nqe("ask", "g.graph", '?x: "award received"(?x, "Nobelpreis für Physik")', cwd=tmp_path)
    assert well(asked).splitlines()[1:] == ["Q7186\tMarie Curie\tphysicist and chemist"]


@pytest.mark.parametrize(
    ("language", "is_found"), [("de", True), ("de-at", True), ("mul", True), ("english", False)]
)
def test_a_language_without_a_label_is_told(
    dump: Path, tmp_path: Path, language: str, is_found: bool
) -> None:
    run = nqe("import", dump, "-o", "g.graph", "--language", language, cwd=tmp_path)
    well(run)
    note = f"; no label in the language '{language}', so labels are in en or for all languages"
    assert (note in run.err) != is_found


def test_a_label_in_the_language_may_be_in_any_file(dump: Path, tmp_path: Path) -> None:
    entity = b'{"type":"item","id":"Q1","labels":{"en":{"language":"en","value":"x"}}}\n'
    (tmp_path / "last.json").write_bytes(entity)
    run = nqe("import", dump, "last.json", "-o", "g.graph", "--language", "de", cwd=tmp_path)
    well(run)
    assert "no label" not in run.err


def test_an_option_of_wikidata_is_refused_for_a_table(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("subject,relation,object\na,r,b\n")
    run = nqe("import", "t.csv", "-o", "g.graph", "--language", "de", cwd=tmp_path)
    assert told(run).startswith("t.csv: languages can be chosen only in wikidata, turtle, ")
    assert files(tmp_path) == ["t.csv"]


def test_a_bad_line_is_named_and_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "d.json").write_bytes(ENTITY + b"{nonsense\n" + ENTITY)
    run = nqe("import", "d.json", "-o", "g.graph", cwd=tmp_path)
    assert told(run).startswith("d.json:2: no entity of Wikidata (")
    assert files(tmp_path) == ["d.json"]
    again = nqe("import", "d.json", "-o", "g.graph", "--skip-bad", cwd=tmp_path)
    assert well(again).startswith("g.graph: train 3 facts;")
    assert "1 bad line(s) skipped; see g.graph/bad_lines.tsv" in again.err


def test_ctrl_c_leaves_nothing(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with start("import", "pipe", "-o", "g.graph", cwd=tmp_path) as process:
        try:
            with (tmp_path / "pipe").open("wb", buffering=0) as pipe:
                # The pipe holds 64 kB: when all is written, most of it is read.
                pipe.write(ENTITY * 100)
                process.send_signal(signal.SIGINT)
                assert process.wait(timeout=60) == 130
            assert process.stderr is not None
            assert process.stderr.read() == b"nqe: interrupted; nothing is left half-written\n"
        finally:
            process.kill()
    assert files(tmp_path) == ["pipe"]
