"""`nqe split`, and what commands say about splits, as a person or a script runs them."""

from __future__ import annotations

import json
from pathlib import Path

from helpers import files, nqe, told, well

import nqe as package


def test_split_writes_what_python_gives(tmp_path: Path) -> None:
    options = ["--valid", "5%", "--test", "0.1", "--seed", "3"]
    run = nqe("split", "atlas", "-o", "s.graph", *options, cwd=tmp_path)
    expected = package.split(package.demo_dataset(), valid="5%", test=0.1, seed=3)
    assert well(run).startswith("s.graph: train 9,631, valid 567, test 1,133 facts; 3,335 entities")
    assert package.read(tmp_path / "s.graph") == expected


def test_split_warns_of_facts_that_are_not_new(tmp_path: Path) -> None:
    run = nqe("split", "atlas", "-o", "s.graph", "--valid", "5%", "--test", "5%", cwd=tmp_path)
    valid, test = run.err.splitlines()
    assert valid.startswith("nqe: note: 78 of 567 valid facts are not new to train: 50 differ in ")
    assert "new to train and valid: 39 differ in qualifiers alone, 26 follow by an inverse" in test


def test_split_by_time_says_how_many_facts_have_none(tmp_path: Path) -> None:
    options = ["--test", "9", "--by", "time", "--attribute", "start year"]
    run = nqe("split", "atlas", "-o", "s.graph", *options, cwd=tmp_path)
    well(run)
    assert "nqe: note: 9,794 facts of train have no time in 'start year'" in run.err


def test_split_by_time_says_how_many_facts_of_train_are_later_than_held_out_ones(
    tmp_path: Path,
) -> None:
    rows = [f"a,r,b,when,{year}\n" for year in range(1990, 2000)] + ["a,r,new,when,2000\n"]
    (tmp_path / "facts.csv").write_text("".join(rows))
    options = ["--valid", "1", "--test", "1", "--by", "time", "--attribute", "when"]
    well(nqe("import", "facts.csv", "-o", "g.graph", cwd=tmp_path))
    run = nqe("split", "g.graph", "-o", "s.graph", *options, cwd=tmp_path)
    well(run)
    assert "nqe: note: 1 facts of train are later than the first of valid and test" in run.err
    assert "--allow-unseen" in run.err
    run = nqe("split", "g.graph", "-o", "s.graph", *options, "--allow-unseen", cwd=tmp_path)
    well(run)
    assert "later" not in run.err


def test_a_split_that_is_refused_leaves_nothing(tmp_path: Path) -> None:
    for options, message in (
        ([], "nothing to hold out; give a share"),
        (["--test", "95%"], "--allow-unseen"),
        (["--test", "1", "--by", "time"], "name it with --attribute"),
    ):
        assert message in told(nqe("split", "atlas", "-o", "s.graph", *options, cwd=tmp_path))
    assert files(tmp_path) == []


def test_import_and_stats_count_facts_of_several_splits(tmp_path: Path) -> None:
    (tmp_path / "train.txt").write_text("a,r,b\nb,r,c\nc,r,d\n")
    (tmp_path / "test.txt").write_text("a,r,b\nb,r,c,q,x\nd,r,a\n")
    run = nqe("import", "train.txt", "test.txt", "-o", "g.graph", cwd=tmp_path)
    assert well(run).startswith("g.graph: train 3, test 3 facts")
    assert run.err == (
        "nqe: note: 2 of 3 test facts are not new to train: 1 stand there too, "
        "1 differ in qualifiers alone; see `nqe stats`\n"
    )
    out = well(nqe("stats", "g.graph", cwd=tmp_path))
    assert "# Held-out facts that are not new\nsplit\tfacts\trepeated\tother qualifiers\t" in out
    assert "\ntest\t3\t1\t1\t0\t0\n" in out
    [leakage] = json.loads(well(nqe("stats", "g.graph", "--json", cwd=tmp_path)))["leakage"]
    assert leakage["repeated"] == leakage["other_qualifiers"] == 1
