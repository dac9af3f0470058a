"""The commands `nqe reproduce`: their tables, what they say meanwhile, and what they refuse."""

from __future__ import annotations

import shutil
import signal
import time
from pathlib import Path

import pytest
from helpers import Run, files, nqe, start, told, well

FEW = ("--preset", "quick", "--shapes", "1p,2i", "--rows", "NQE")
NFOL = ("reproduce", "wd50k-nfol", "atlas", "-o", "out", *FEW)
RESULT = "out/results/wd50k-nfol-nqe-seed-0.json"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which one row was computed, with what that printed."""
    folder = tmp_path_factory.mktemp("reproduce")
    run = nqe(*NFOL, cwd=folder)
    (folder / "printed").write_text(well(run))
    (folder / "said").write_text(run.err)
    return folder


@pytest.fixture
def here(place: Path, tmp_path: Path) -> Path:
    """A copy of that folder that a test may change."""
    shutil.copytree(place / "out", tmp_path / "out")
    return tmp_path


def test_the_table_is_printed_and_the_files_are_named(place: Path) -> None:
    lines = (place / "printed").read_text().splitlines()
    assert lines[:2] == ["", "# wd50k-nfol: MRR of hard answers, %"]
    assert lines[2].split("\t") == ["row", "1p", "2i", "AVG_p"]
    assert any(line.startswith("NQE (paper)\t55.9\t53.1") for line in lines)
    written = (place / "said").read_text().splitlines()[-6:]
    assert [line.partition(": ")[0] for line in written] == [
        f"out/tables/wd50k-nfol{end}"
        for end in (".md", ".tex", ".csv", "-shapes.svg", "-missing.svg", "-curves.svg")
    ]


def test_without_a_terminal_a_line_says_which_row_of_how_many(place: Path) -> None:
    first, second, *_ = (place / "said").read_text().splitlines()
    assert first == "wd50k-nfol, 1 of 1: NQE, seed 0: training for 20 steps"
    assert second.startswith("wd50k-nfol, 1 of 1: NQE, seed 0: MRR ")
    assert "; 20 steps in " in second


def test_a_second_call_computes_nothing_and_prints_the_same(here: Path, place: Path) -> None:
    before = (here / RESULT).read_bytes()
    run = nqe(*NFOL, cwd=here)
    assert well(run) == (place / "printed").read_text()
    assert run.err.startswith("wd50k-nfol, 1 of 1: NQE, seed 0: done before\n")
    assert (here / RESULT).read_bytes() == before


def test_tables_are_built_from_results_alone(here: Path) -> None:
    shutil.rmtree(here / "out" / "runs")
    run = nqe("reproduce", "tables", "out/results", "-o", "again", cwd=here)
    assert well(run).splitlines()[0] == "again/wd50k-nfol.md: written"
    for name in files(here / "again"):
        own, other = (here / folder / name for folder in ("again", "out/tables"))
        assert own.read_bytes() == other.read_bytes()


def test_results_can_be_kept_elsewhere(here: Path, tmp_path: Path) -> None:
    shutil.move(here / "out" / "results", tmp_path / "kept")
    run = nqe(*NFOL, "--results", "kept", cwd=here)
    assert "done before" in run.err
    assert not (here / "out" / "results").exists()


def test_a_graph_that_the_preset_is_not_for_is_told(here: Path) -> None:
    folder = here / "small"
    folder.mkdir()
    for split in ("train", "valid", "test"):
        (folder / f"{split}.txt").write_text("a,r,b\n")
    run = nqe("reproduce", "wd50k-nfol", "small", "-o", "new", *FEW, cwd=here)
    assert run.code == 2
    assert run.err.startswith(
        "nqe: note: the preset quick is meant for atlas, whose train split has 9,065 facts; small "
        "is another graph\n"
    )


WRONG = {
    "no row of that name": ((*NFOL[:-1], "NQ"), "unknown row 'NQ'; choose some of NodeH-only,"),
    "a row that cannot express a shape": (
        ("reproduce", "wd50k-nfol", "atlas", "-o", "out", "--rows", "StarQE"),
        "StarQE cannot express 2u, up, 2cp, 3cp, 2in, 3in, inp, pin, pni, only 1p, 2p, 3p,",
    ),
    "no shape of the benchmark": (
        ("reproduce", "wd50k-qe", "atlas", "-o", "out", "--shapes", "2in"),
        "2in is no shape of wd50k-qe; choose some of 1p, 2p, 3p, 2i, 3i, pi, ip",
    ),
    "no preset of that name": (
        ("reproduce", "wd50k-nfol", "atlas", "-o", "out", "--preset", "desktop"),
        "--preset is 'desktop'; choose one of laptop, full, quick",
    ),
    "no time": ((*NFOL, "--time-budget", "soon"), "--time-budget soon: not a time; write one such"),
    "no answers": ((*NFOL, "--answers", "some"), "--answers is 'some'; choose one of hard, easy,"),
    "no setting": (
        (*NFOL, "--set", "model.with=3"),
        "--set model.with=3: unknown setting 'model.w",
    ),
    "no graph": (
        ("reproduce", "wd50k-nfol", "gone", "-o", "out", *FEW),
        "gone: not a graph folder",
    ),
    "other settings": (
        (*NFOL, "--set", "train.steps=30"),
        "out/results/wd50k-nfol-nqe-seed-0.json: computed with other settings (train.steps was 20",
    ),
    "other queries": ((*NFOL, "--queries", "out/runs"), "out/runs: not a query set (no manifest"),
    "no results": (("reproduce", "tables", "out/tables", "-o", "new"), "out/tables: no results"),
    "no folder of results": (
        ("reproduce", "tables", "out/queries", "-o", "new"),
        "out/queries/wd50k-nfol-quick/manifest.json: not a result of `nqe reproduce`; move it",
    ),
    "no row of links": (
        ("reproduce", "link-prediction", "atlas", "-o", "out", "--rows", "NQE"),
        "unknown row 'NQE'; choose some of NQE on train,",
    ),
    "no run": (
        ("reproduce", "link-prediction", "atlas", "-o", "out", "--run", "out"),
        "out: not a RUN; give folders made by",
    ),
    "no Query2Box files": (("reproduce", "query2box", "out", "-o", "new"), "out"),
}


@pytest.mark.parametrize(("words", "sentence"), WRONG.values(), ids=WRONG)
def test_what_cannot_be_computed_is_refused_in_one_sentence_and_changes_nothing(
    place: Path, words: tuple[str, ...], sentence: str
) -> None:
    before = {name: (place / name).stat().st_mtime_ns for name in files(place)}
    assert told(nqe(*words, cwd=place)).startswith(sentence)
    assert {name: (place / name).stat().st_mtime_ns for name in files(place)} == before


def test_ctrl_c_saves_the_run_and_says_how_to_go_on(here: Path) -> None:
    words = (*NFOL[:-2], "--rows", "Logic-blind,NQE", "--set", "train.save_steps=1")
    slow = (*words, "--set", "train.steps=100000")
    run = here / "out" / "runs" / "wd50k-nfol-logic-blind-seed-0"
    (here / RESULT).unlink()
    shutil.rmtree(here / "out" / "runs")
    with start(*slow, cwd=here) as process:
        try:
            end = time.monotonic() + 120
            while not (run / "last").exists():
                assert process.poll() is None, process.communicate()
                assert time.monotonic() < end
                time.sleep(0.01)
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=120)
        finally:
            process.kill()
    assert process.returncode == 130
    assert err.decode().splitlines()[-1] == (
        "nqe: out/runs/wd50k-nfol-logic-blind-seed-0: interrupted and saved; continue with the "
        "same command"
    )


def limited(kilobytes: int) -> tuple[str, ...]:
    """The words before a command that limit the size of the files it can write."""
    return ("bash", "-c", f'ulimit -f {kilobytes} && exec "$@"', "bash")


def test_a_full_disk_is_told_in_one_sentence_and_loses_no_result(here: Path) -> None:
    before = (here / RESULT).read_bytes()
    rows = (*NFOL[:-1], "NQE,NQE-1p")
    run = nqe(*rows, cwd=here, before=limited(40))
    assert run.code == 2
    *_, last = run.err.splitlines()
    assert "cannot be written" in last
    assert last.startswith("nqe: out/runs/wd50k-nfol-nqe-1p-seed-0")
    assert (here / RESULT).read_bytes() == before
    assert "2 of 2: NQE, seed 0: done before" in nqe(*rows, cwd=here).err


@pytest.mark.long
class TestTheQuickPreset:
    """What proves that all of it works, in about a minute."""

    @staticmethod
    def compute(tmp_path: Path, *words: str) -> Run:
        run = nqe("reproduce", *words, "-o", "out", "--preset", "quick", cwd=tmp_path)
        well(run)
        return run

    def test_all_rows_of_wd50k_nfol(self, tmp_path: Path) -> None:
        run = self.compute(tmp_path, "wd50k-nfol", "atlas")
        assert len(files(tmp_path / "out" / "results")) == 8
        assert "hybrid with rules on NQE\t" in run.out

    def test_rows_of_wd50k_qe(self, tmp_path: Path) -> None:
        run = self.compute(tmp_path, "wd50k-qe", "atlas", "--rows", "NQE,NQE-1p")
        assert len(files(tmp_path / "out" / "results")) == 2
        assert "StarQE (paper)\t30.98\t44.13" in run.out

    def test_link_prediction(self, tmp_path: Path) -> None:
        rows = "NQE with context on train,NQE with context and rules on train"
        run = self.compute(tmp_path, "link-prediction", "atlas", "--rows", rows)
        assert "NQE with context and rules on train\tours\ttrain\tloose" in run.out
