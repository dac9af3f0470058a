"""`nqe calibrate`, and the calibration at the end of `nqe train`."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from answering_commands import RunNqe, check_help_example, check_refused
from helpers import well

from nqe.answering.calibration_storage import CALIBRATION_FILE, FORMAT, load_calibration

ROAD = "?x: road(town0, ?x)"


@pytest.mark.long
def test_the_example_in_the_help_works(run_nqe: RunNqe) -> None:
    check_help_example(run_nqe, "calibrate")


def test_a_calibration_is_printed_saved_and_drawn(
    run_nqe: RunNqe, runs: Path, tmp_path: Path
) -> None:
    shutil.copytree(runs / "towns.run", runs / "new.run")
    picture = tmp_path / "reliability.svg"
    run = run_nqe("calibrate", "new.run", "--plot", str(picture))
    out = well(run)
    assert "shape\tpredictions\terror before\tafter\tBrier before\tafter\tbase rate\n" in out
    assert "\nall\t" in out
    assert out.count("predicted probability\tshare right\tpredictions") == 1
    assert run.err == f"new.run/best: calibrated\n{picture}: written\n"
    assert picture.read_text().startswith("<?xml")
    assert load_calibration(runs / "new.run" / "best") is not None


def test_a_training_ends_with_a_calibration(run_nqe: RunNqe, runs: Path) -> None:
    small = [f"model.{name}" for name in ("width=8", "layers=1", "heads=2", "feed_forward=8")]
    small += ["train.steps=2", "train.valid_queries=10", "train.batch=32"]
    words = [word for one in small for word in ("--set", one)]
    command = ("train", "towns.graph", "-o", "trained.run", "--shapes", "1p")
    run = run_nqe(*command, *words)
    assert well(run)
    calibrated, model = run.err.splitlines()
    assert calibrated.startswith("calibrated on valid: expected calibration error 0.")
    assert calibrated.endswith(" on test")
    assert model.startswith("the model is in trained.run/")
    # A complete training has nothing to calibrate again, unless that is lacking.
    assert "calibrated" not in run_nqe(*command, "--resume").err
    [kept] = (runs / "trained.run").glob(f"*/{CALIBRATION_FILE}")
    kept.unlink()
    assert "calibrated on valid" in run_nqe(*command, "--resume").err
    both = (*command[:3], "both.run", *command[4:], *words, "--set", "train.facts=train,valid")
    run = run_nqe(*both)
    assert well(run)
    assert "not calibrated: the model has learnt from the validation split" in run.err


def test_a_calibration_that_cannot_be_read_is_replaced_and_told_as_json(
    run_nqe: RunNqe, runs: Path
) -> None:
    shutil.copytree(runs / "towns.run", runs / "newer.run")
    path = runs / "newer.run" / "best" / CALIBRATION_FILE
    path.write_text(json.dumps({"format": FORMAT, "kind": "isotonic", "version": 99}))
    refused = run_nqe("ask", "newer.run", ROAD)
    assert refused.code == 2
    assert "format version 99" in refused.err
    assert refused.err.endswith("with `nqe calibrate newer.run/best`\n")
    data = json.loads(well(run_nqe("calibrate", "newer.run/best", "--json")))
    assert data["split"] == "test"
    assert set(data["after"]["all"]) == {"error", "brier", "base_brier", "bins"}
    assert well(run_nqe("ask", "newer.run", ROAD))


WRONG: dict[str, tuple[tuple[str, ...], str]] = {
    "learnt from valid": (
        ("calibrate", "learnt.run"),
        "learnt.run: learnt from the validation spl",
    ),
    "another graph to calibrate on": (
        ("calibrate", "towns.run", "--graph", "more.graph"),
        "more.graph: belongs to another graph (fingerprint",
    ),
    "a plot of no form": (
        ("calibrate", "plain.run", "--plot", "a.txt"),
        "a.txt: not a known format of a plot",
    ),
}


@pytest.mark.parametrize(("words", "sentence"), WRONG.values(), ids=WRONG)
def test_an_impossible_command_fails_with_one_sentence_and_writes_nothing(
    words: tuple[str, ...], sentence: str, run_nqe: RunNqe, runs: Path
) -> None:
    check_refused(run_nqe, runs, words, sentence)
