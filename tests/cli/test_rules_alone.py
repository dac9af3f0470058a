"""Graphs that predict with rules alone: `ask`, `explain` and `shell` without a model."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest
from answering_commands import RunNqe
from helpers import told, well
from toy_dataset import towns

import nqe

QUERY = "?x: speaks(person0, ?x)"
NOT_CALIBRATED = "probabilities are the strength of rules, which is not calibrated"


@pytest.fixture(scope="module", autouse=True)
def saved(runs: Path) -> None:
    """The toy graph and its rules, in the folder of runs."""
    towns().save(runs / "toy.graph")
    nqe.mine_rules(towns()).save(runs / "toy.rules")


def test_a_graph_is_asked_with_rules_that_are_mined_first(run_nqe: RunNqe) -> None:
    words = ("toy.graph", QUERY, "--mode", "rules", "--facts", "train")
    run = run_nqe("ask", *words, "--json")
    data = json.loads(well(run))
    assert data["mode"] == "rules"
    assert data["answers"][0]["entity"] == "language0"
    assert 0.5 < data["answers"][0]["probability"] < 1
    assert NOT_CALIBRATED in run.err
    assert "rules were mined for this command alone; keep them with" in run.err
    assert "`nqe rules toy.graph --facts train -o toy.rules`, and give --rules toy.rules" in run.err
    assert "predicted" in well(run_nqe("ask", *words, "--threshold", "0.5"))


@pytest.mark.parametrize("mode", [(), ("--mode", "rules"), ("--mode", "hybrid")])
def test_saved_rules_are_not_mined_again(mode: tuple[str, ...], run_nqe: RunNqe) -> None:
    words = ("toy.graph", QUERY, "--rules", "toy.rules", "--facts", "train", "--json")
    run = run_nqe("ask", *words, *mode)
    assert json.loads(well(run))["answers"][0]["entity"] == "language0"
    assert "were mined" not in run.err
    assert NOT_CALIBRATED in run.err


def test_a_graph_explains_predictions_of_rules(run_nqe: RunNqe) -> None:
    words = ("toy.graph", QUERY, "--rules", "toy.rules", "--facts", "train")
    run = run_nqe("explain", *words)
    out = well(run)
    assert "\n    30 of 30 pairs with lives_in(?x, ?a; with: ?z)" in out
    assert "\n      here (person0, lives_in, town0" in out
    assert "the model alone" not in out
    assert NOT_CALIBRATED in run.err
    data = json.loads(well(run_nqe("explain", *words, "--mode", "rules", "--json")))
    assert data["reason"]["model"] is None
    assert len(data["reason"]["rules"]) == 3


def test_the_shell_predicts_with_saved_rules(
    run_nqe: RunNqe, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"predicted {QUERY}\nwhy {QUERY}\n"))
    run = run_nqe("shell", "toy.graph", "--rules", "toy.rules", "--facts", "train")
    assert "language0" in well(run)
    assert "30 of 30 pairs" in run.out


WRONG: dict[str, tuple[tuple[str, ...], str]] = {
    "a run without rules": (
        ("ask", "towns.run", "?x: road(?x, town1)", "--mode", "rules"),
        "there are no rules to answer with; mine them with `nqe rules`",
    ),
    "rules of a run": (
        ("ask", "towns.run", "?x: road(?x, town1)", "--rules", "toy.rules"),
        "--rules has no meaning with a RUN, which has its own; leave it out",
    ),
    "an explanation with rules of a run": (
        ("explain", "towns.run", "?x: road(?x, town1)", "--rules", "toy.rules"),
        "--rules has no meaning with a RUN, which has its own",
    ),
    "an explanation in another mode": (
        ("explain", "toy.graph", QUERY, "--mode", "embedding"),
        "--mode is 'embedding'; choose one of hybrid, rules",
    ),
    "a model's mode": (
        ("ask", "toy.graph", QUERY, "--mode", "embedding", "--rules", "toy.rules"),
        "toy.graph: a graph, but --mode embedding needs a model; give a RUN, or --mode rules",
    ),
    "exact answers": (
        ("ask", "toy.graph", QUERY, "--mode", "exact", "--rules", "toy.rules"),
        "--rules has no meaning with --mode exact",
    ),
    "a proof of a prediction": (
        ("ask", "toy.graph", QUERY, "--mode", "rules", "--proof"),
        "--proof needs --mode exact",
    ),
    "no rules there": (
        ("ask", "toy.graph", QUERY, "--rules", "towns.graph"),
        "towns.graph/manifest.json: not a rules folder",
    ),
}


@pytest.mark.parametrize(("words", "sentence"), WRONG.values(), ids=WRONG)
def test_an_impossible_command_fails_with_one_sentence(
    words: tuple[str, ...], sentence: str, run_nqe: RunNqe
) -> None:
    assert told(run_nqe(*words)).startswith(sentence)
