"""`--skip-bad`: go on, count, show the first few, keep them in a file."""

from __future__ import annotations

import json
from pathlib import Path

from helpers import nqe, told, well

GOOD = "a,r,b\nc,r,d,q,e\n"


def test_bad_lines_are_counted_shown_and_kept_beside_the_graph(tmp_path: Path) -> None:
    bad = "".join(f"x{i},r,y,q\n" for i in range(7))
    (tmp_path / "f").write_text(GOOD + bad)
    run = nqe("import", "f", "-o", "g.graph", "--skip-bad", cwd=tmp_path)
    assert well(run).startswith("g.graph: train 2 facts; 5 entities, 2 relations; fingerprint")
    notes = run.err.splitlines()
    assert notes[:-1] == [
        f"f:{line}: qualifier 'q' has no value; add one or drop the pair" for line in range(3, 8)
    ]
    assert notes[-1] == "7 bad line(s) skipped; see g.graph/bad_lines.tsv"
    rows = (tmp_path / "g.graph" / "bad_lines.tsv").read_text().splitlines()
    assert rows[0] == "where\twhat\tline"
    assert len(rows) == 8
    assert rows[7] == "f:9\tqualifier 'q' has no value; add one or drop the pair\tx6,r,y,q"
    assert json.loads(well(nqe("stats", "g.graph", "--json", cwd=tmp_path)))["facts"] == 2


def test_lines_in_another_encoding_are_passed_over_too(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(GOOD.encode() + b"Z\xfcrich,r,b\n")
    run = nqe("import", "f", "-o", "g.graph", "--skip-bad", cwd=tmp_path)
    assert well(run).startswith("g.graph: train 2 facts")
    kept = (tmp_path / "g.graph" / "bad_lines.tsv").read_text()
    assert "f:3\tnot UTF-8 text (byte 0xfc)" in kept


def test_bad_labels_are_passed_over_too(tmp_path: Path) -> None:
    (tmp_path / "f").write_text(GOOD)
    (tmp_path / "labels.tsv").write_text("a\tAlpha\nb\n")
    arguments = ["import", "f", "-o", "g.graph", "--labels", "labels.tsv"]
    assert told(nqe(*arguments, cwd=tmp_path)).startswith("labels.tsv:2: no tab between")
    run = nqe(*arguments, "--skip-bad", cwd=tmp_path)
    well(run)
    assert "1 bad line(s) skipped" in run.err


def test_without_bad_lines_there_is_no_file_of_them(tmp_path: Path) -> None:
    (tmp_path / "f").write_text(GOOD)
    run = nqe("import", "f", "-o", "g.graph", "--skip-bad", cwd=tmp_path)
    well(run)
    assert run.err == ""
    assert not (tmp_path / "g.graph" / "bad_lines.tsv").exists()


def test_only_bad_lines_are_refused_and_nothing_is_left(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("a,r,b,q\n")
    sentence = told(nqe("import", "f", "-o", "g.graph", "--skip-bad", cwd=tmp_path))
    assert sentence == "f: only bad lines; run without --skip-bad to see the first of them"
    assert not (tmp_path / "g.graph").exists()


def test_more_bad_lines_than_are_kept_are_said_to_be_more(tmp_path: Path) -> None:
    (tmp_path / "f").write_text(GOOD + "a,r,b,q\n" * 10_001)
    run = nqe("import", "f", "-o", "g.graph", "--skip-bad", cwd=tmp_path)
    well(run)
    last = run.err.splitlines()[-1]
    expected = "10,001 bad line(s) skipped; see g.graph/bad_lines.tsv for the first 10,000"
    assert last == expected


def test_a_truncated_archive_is_no_bad_line(tmp_path: Path) -> None:
    import gzip

    (tmp_path / "f").write_bytes(gzip.compress(GOOD.encode() * 500)[:-9])
    sentence = told(nqe("import", "f", "-o", "g.graph", "--skip-bad", cwd=tmp_path))
    assert sentence.startswith("f: the archive is cut short or damaged")
    assert not (tmp_path / "g.graph").exists()
