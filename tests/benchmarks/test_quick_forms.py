"""Every benchmark runs in its quick form, on the embedded graph, and writes no result."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.long, pytest.mark.xdist_group("benchmarks")]

LIBRARIES = {
    "answering_process.py",
    "cache.py",
    "compare_versions.py",
    "fact_walker.py",
    "folder_edits.py",
    "guarded_cases.py",
    "hostile_files.py",
    "hostile_questions.py",
    "hostile_writing.py",
    "join_patterns.py",
    "machine.py",
    "query2box_data.py",
    "saved_examples.py",
    "serving_process.py",
    "tampered_folders.py",
    "tampering.py",
    "trained.py",
    "training_process.py",
    "version_scenarios.py",
}
"""Files that other benchmarks import, and those that need a second checkout."""
COMMANDS = {
    "bench_answering.py": [],
    "bench_busy_training.py": ["--values", "0"],
    "bench_exact.py": [],
    "bench_graph.py": [],
    "bench_joins.py": [],
    "bench_rules.py": [],
    "bench_sampling.py": [],
    "bench_serving.py": [],
    "bench_size.py": [],
    "bench_training.py": [],
    "bench_wikidata.py": [],
    "beyond_trees.py": ["--triangles", "2", "--rows", "2"],
    "case_study.py": [],
    "compare_answering.py": [],
    "hostile.py": [],
    "hybrid_quality.py": ["--count", "2", "--questions", "2"],
    "hybrid_trials.py": ["--count", "2"],
    "many_entities.py": [],
    "one_hop_quality.py": ["main"],
    "predictor_quality.py": ["score"],
    "query2box.py": ["--count", "2"],
    "wide_conjunctions.py": ["--count", "20"],
}


def test_every_benchmark_is_tried_out(root: Path) -> None:
    scripts = {path.name for path in (root / "benchmarks").glob("*.py")}
    assert scripts == LIBRARIES | COMMANDS.keys()


@pytest.mark.parametrize(("script", "arguments"), COMMANDS.items(), ids=COMMANDS)
def test_the_quick_form_runs_and_writes_no_result(
    root: Path, script: str, arguments: list[str]
) -> None:
    results = root / "benchmarks" / "results"
    before = {path.name: path.stat().st_mtime_ns for path in results.iterdir()}
    done = subprocess.run(
        [sys.executable, str(root / "benchmarks" / script), *arguments, "--quick"],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONWARNINGS": "error::DeprecationWarning:nqe"},
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("# ") or "\n# " in done.stdout
    assert {path.name: path.stat().st_mtime_ns for path in results.iterdir()} == before
