"""`nqe demo`, as a person runs it."""

from __future__ import annotations

from pathlib import Path

from helpers import nqe, well

import nqe as package
from nqe.cli.demo import ENTITY


def test_demo_builds_the_atlas_counts_it_and_shows_an_entity(tmp_path: Path) -> None:
    out = well(nqe("demo", "-o", "world.graph", "--seconds", "2", cwd=tmp_path))
    assert package.read(tmp_path / "world.graph") == package.demo_dataset()
    assert "# Splits" in out
    assert f"# {ENTITY} (" in out
    assert "# As subject" in out
    assert "# Link prediction" in out or "MRR" in out
    answers = out[out.index("A model that predicts what the graph lacks") :]
    assert "\tpredicted\t" in answers
    assert "# How it came to " in answers
    assert "Why " in answers[answers.index("# How it came to ") :]
