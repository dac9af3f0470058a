"""`nqe explain`: reasons for the answers of a RUN."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from answering_commands import CHAIN, FRANCE, RunNqe, check_help_example, check_refused
from helpers import well


def test_the_example_in_the_help_works(run_nqe: RunNqe) -> None:
    check_help_example(run_nqe, "explain")


def test_an_explanation_distinguishes_stated_from_predicted(run_nqe: RunNqe) -> None:
    out = well(run_nqe("explain", "atlas.run", CHAIN, "Spain", "--top", "2"))
    assert re.search(r"Why Spain is number \d+, with probability 1.0000:", out)
    assert "?x = Spain: stated (Spain, borders, France)" in out
    assert "easy" not in out
    query = '?x: currency("Puerto Rico", ?x)'
    words = ("explain", "atlas.run", query, "US Dollar", "--facts", "train")
    assert ": predicted currency(Puerto Rico, US Dollar)\n" in well(run_nqe(*words))
    data = json.loads(well(run_nqe(*words, "--json")))
    assert data == json.loads(well(run_nqe(*words, "--format", "json")))
    assert (data["entity"], data["known"]) == ("currency_USD", False)
    assert "truth" not in data["steps"][0]["candidates"][0]
    assert "| variable | step | rank |" in well(run_nqe(*words, "--format", "markdown"))


def test_candidates_are_easy_hard_or_wrong_only_if_the_truth_is_asked_for(run_nqe: RunNqe) -> None:
    words = ("explain", "atlas.run", '?x: currency("Puerto Rico", ?x)', "--facts", "train")
    data = json.loads(well(run_nqe(*words, "--truth", "--json")))
    assert data["steps"][0]["candidates"][0]["truth"] in ("easy", "hard", "wrong")
    assert "| truth |" in well(run_nqe(*words, "--truth", "--format", "markdown"))
    assert "truth" not in well(run_nqe(*words, "--format", "markdown"))


def test_without_an_entity_the_best_answer_is_explained(run_nqe: RunNqe) -> None:
    best = json.loads(well(run_nqe("ask", "atlas.run", FRANCE, "--facts", "none", "--json")))
    data = json.loads(well(run_nqe("explain", "atlas.run", FRANCE, "--facts", "none", "--json")))
    assert (data["entity"], data["rank"]) == (best["answers"][0]["entity"], 1)


WRONG: dict[str, tuple[tuple[str, ...], str]] = {
    "a graph that changed": (
        ("explain", "changed.run", "?x: road(?x, town1)"),
        "more.graph: has changed since changed.run was trained on it (fingerprint",
    ),
    "no run": (("explain", "nowhere", FRANCE), "nowhere: not a run or checkpoint (no such folder)"),
    "a graph to explain": (
        ("explain", "towns.graph", FRANCE),
        "towns.graph/manifest.json: not a r",
    ),
    "the truth of what is known": (
        ("explain", "atlas.run", FRANCE, "--truth"),
        "--truth needs facts that are left out; name the known ones with --facts",
    ),
    "an unknown form": (
        ("explain", "atlas.run", FRANCE, "--format", "x"),
        "--format is 'x'; choose",
    ),
    "nothing to explain": (
        ("explain", "atlas.run", FRANCE, "Spian"),
        "no entity is called 'Spian'; did you mean 'Spain'?",
    ),
}


@pytest.mark.parametrize(("words", "sentence"), WRONG.values(), ids=WRONG)
def test_an_impossible_command_fails_with_one_sentence_and_writes_nothing(
    words: tuple[str, ...], sentence: str, run_nqe: RunNqe, runs: Path
) -> None:
    check_refused(run_nqe, runs, words, sentence)
