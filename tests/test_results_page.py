"""The page of results is the one that the checked-in results give."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest
from small_experiments import result_of

from nqe.reproduction.presets import PRESETS
from nqe.reproduction.results import Result, load_results, save_result


@pytest.fixture(scope="module")
def script(root: Path) -> dict[str, Any]:
    return runpy.run_path(str(root / "scripts" / "results_page.py"))


def test_the_page_of_results_is_up_to_date(root: Path, script: dict[str, Any]) -> None:
    results = load_results(root / "benchmarks" / "results" / "reproduction")
    written = (root / "docs" / "results.md").read_text(encoding="utf-8")
    assert written == script["render"](results), "run `python scripts/results_page.py`"


def test_every_checked_in_result_belongs_to_a_section(root: Path, script: dict[str, Any]) -> None:
    for one in load_results(root / "benchmarks" / "results" / "reproduction"):
        assert any(section.choose([one]) for section in script["SECTIONS"]), one.name


def test_without_results_every_table_says_that_it_was_not_run(script: dict[str, Any]) -> None:
    page = script["render"]([])
    assert page.count("Not run yet. The command: `nqe reproduce ") == len(script["SECTIONS"])
    assert "|" not in page


def test_results_are_shown_with_what_is_said_about_them(
    tmp_path: Path, script: dict[str, Any]
) -> None:
    made: list[Result] = [
        result_of("NQE", {"1p": 0.5}, seed, preset="laptop", queries="q") for seed in (0, 1)
    ]
    for one in made:
        save_result(tmp_path, one)
    (tmp_path / "laptop-wd50k-nfol.md").write_text("Parallel batches help.\n")
    page = script["render"](load_results(tmp_path), tmp_path)
    assert "Parallel batches help." in page
    assert "| NQE | 50.00 ± 0.00 |" in page
    assert "![laptop-wd50k-nfol-shapes](figures/laptop-wd50k-nfol-shapes.svg)" in page
    assert page.count("Not run yet") == len(script["SECTIONS"]) - 1


def test_the_presets_of_the_page_are_presets_of_the_command(script: dict[str, Any]) -> None:
    assert {section.preset for section in script["SECTIONS"]} <= set(PRESETS)
