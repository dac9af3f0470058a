"""Query sets beyond trees on the command line: sampled, shown, counted, checked and evaluated."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from answering_commands import RunNqe, check_refused
from helpers import files, told, well

NAME = "beyond.queries"


@pytest.fixture(scope="module")
def sampled(runs: Path) -> Path:
    """A query set beyond trees beside the runs."""
    from nqe import demo_dataset
    from nqe.sampling import choose_preset, sample_rows, save_row_queries
    from nqe.settings import SamplingSettings

    shapes = ("triangle", "two-targets", "unequal")
    assert set(shapes) < set(choose_preset("beyond-trees").shapes)
    settings = SamplingSettings(shapes=shapes, match="any", valid=1, test=2, max_answers=20)
    save_row_queries(sample_rows(demo_dataset(), settings), runs / NAME, "atlas")
    return runs / NAME


def test_patterns_are_sampled_as_shapes_and_a_preset_names_them_all(
    run_nqe: RunNqe, tmp_path: Path
) -> None:
    place = str(tmp_path / "one")
    words = ("sample", "atlas", "-o", place, "--shape", "triangle", "--shape", "another")
    done = well(run_nqe(*words, "--valid", "1", "--test", "2", "--workers", "2"))
    assert done == f"{place}: valid 2, test 4 queries\n"
    place = str(tmp_path / "all")
    words = ("sample", "atlas", "-o", place, "--preset", "beyond-trees", "--valid", "0")
    assert well(run_nqe(*words, "--test", "1")) == f"{place}: test 8 queries\n"


@pytest.mark.usefixtures("sampled")
def test_queries_are_shown_with_their_rows(run_nqe: RunNqe) -> None:
    shown = well(run_nqe("queries", "show", NAME, "--shape", "two-targets", "--count", "1"))
    assert shown.count("pattern two-targets") == 1
    assert "?x, ?y: " in shown
    assert " · " in shown
    assert "hard (" in shown
    assert "missing links: " in shown


@pytest.mark.usefixtures("sampled")
def test_queries_are_counted(run_nqe: RunNqe) -> None:
    [valid, test] = json.loads(well(run_nqe("queries", "stats", NAME, "--json")))
    assert (valid["queries"], test["queries"]) == (3, 6)
    assert test["patterns"] == {"triangle": 2, "two-targets": 2, "unequal": 2}
    printed = well(run_nqe("queries", "stats", NAME))
    assert "pattern\tqueries\trows\thard\t1 missing" in printed
    assert "drawn and not taken" in printed


def test_the_folder_is_checked(run_nqe: RunNqe, sampled: Path, runs: Path) -> None:
    assert "a query set beyond trees; 3 file(s)" in well(run_nqe("check", NAME))
    shutil.copytree(sampled, runs / "damaged.queries")
    with (runs / "damaged.queries" / "test.jsonl").open("a") as file:
        file.write("{}\n")
    done = run_nqe("check", "damaged.queries")
    assert done.code == 2
    assert "damaged, or changed after nqe wrote it" in done.err


@pytest.mark.usefixtures("sampled")
def test_rows_are_ranked_by_hybrid_and_the_report_is_kept(run_nqe: RunNqe, runs: Path) -> None:
    shutil.copytree(runs / "atlas.run", runs / "rows.run")
    report = json.loads(well(run_nqe("evaluate", "rows.run", NAME, "--json")))
    assert (report["mode"], report["facts"]) == ("hybrid", "train,valid")
    assert report["all"]["queries"] == 6
    assert list(report["by_shape"]) == ["triangle", "two-targets", "unequal"]
    assert set(report["by_missing"]) <= {"1", "2", "3", "4"}
    assert "by_slot" not in report
    kept = [path.name for path in (runs / "rows.run" / "reports").iterdir()]
    assert kept == ["test-beyond.queries-hybrid.json"]
    compared = well(run_nqe("compare", "rows.run"))
    assert compared.splitlines()[2] == "run\ttriangle\ttwo-targets\tunequal"
    words = ("evaluate", "rows.run", NAME, "--shapes", "triangle", "--by", "missing")
    printed = well(run_nqe(*words, "--facts", "train", "--answers", "hard"))
    assert "By missing links on test" in printed


WRONG: dict[str, tuple[tuple[str, ...], str]] = {
    "embedding": (
        ("evaluate", "atlas.run", NAME, "--mode", "embedding"),
        f"{NAME}: its queries are no trees, which the mode embedding cannot answer; leave out",
    ),
    "another graph": (
        ("evaluate", "towns.run", NAME),
        f"{NAME}: belongs to another graph",
    ),
    "training": (
        ("train", "atlas", NAME, "-o", "new.run"),
        f"{NAME}: its queries are no trees, which only `nqe evaluate`",
    ),
    "export": (
        ("queries", "export", NAME, "-o", "new"),
        f"{NAME}: its queries are no trees, which only `nqe evaluate`",
    ),
    "plots": (
        ("queries", "stats", NAME, "--plot", "new.svg"),
        f"{NAME}: its queries are no trees, of which there are no plots",
    ),
    "patterns and trees": (
        ("sample", "atlas", "-o", "new", "--shape", "2p", "--shape", "triangle"),
        "triangle is no tree, and 2p is not the name of such a pattern (2-cycle, triangle",
    ),
    "training queries": (
        ("sample", "atlas", "-o", "new", "--preset", "beyond-trees", "--train", "3"),
        "no model is trained on queries that are no trees",
    ),
    "an option for trees": (
        ("sample", "atlas", "-o", "new", "--shape", "triangle", "--qualifiers", "1"),
        "--qualifiers has no meaning for triangle; leave it out",
    ),
    "an unknown pattern": (
        ("evaluate", "atlas.run", NAME, "--shapes", "square"),
        f"{NAME}: no queries of shapes square; the split has triangle, two-targets, unequal",
    ),
}


@pytest.mark.usefixtures("sampled")
@pytest.mark.parametrize(("words", "sentence"), WRONG.values(), ids=WRONG)
def test_an_impossible_command_fails_with_one_sentence_and_writes_nothing(
    words: tuple[str, ...], sentence: str, run_nqe: RunNqe, runs: Path
) -> None:
    check_refused(run_nqe, runs, words, sentence)


@pytest.mark.usefixtures("sampled")
def test_an_empty_selection_is_noted(run_nqe: RunNqe, runs: Path) -> None:
    before = files(runs)
    done = run_nqe("queries", "show", NAME, "--shape", "bow-tie")
    assert (done.code, done.err) == (0, "no test queries of pattern bow-tie\n")
    assert files(runs) == before
    assert "no train queries; the set has valid, test" in told(
        run_nqe("queries", "show", NAME, "--split", "train")
    )
