"""`nqe plan`, `nqe sparql` and `nqe shapes`."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

from answering_commands import NOT_GERMAN, RunNqe


def test_a_plan_is_shown_as_a_tree_as_mermaid_and_as_svg(tmp_path: Path, run_nqe: RunNqe) -> None:
    tree = run_nqe("plan", "atlas", NOT_GERMAN)
    assert tree.out.splitlines()[:2] == ["shape 2in", "4. ?x = And"]
    assert run_nqe("plan", "atlas", NOT_GERMAN, "--mermaid").out.startswith("flowchart LR")
    picture = tmp_path / "plan.svg"
    assert run_nqe("plan", "atlas", NOT_GERMAN, "--svg", str(picture)).code == 0
    assert ElementTree.parse(picture).getroot().tag.endswith("svg")


def test_sparql_and_shapes_print(run_nqe: RunNqe) -> None:
    assert "SELECT DISTINCT ?x WHERE {" in run_nqe("sparql", "atlas", NOT_GERMAN).out
    assert "<<( " in run_nqe("sparql", "atlas", NOT_GERMAN, "--model", "rdf12").out
    assert "pni\tAnd(Not(P(P())), P())\tnegation" in run_nqe("shapes").out
    assert len(json.loads(run_nqe("shapes", "--json").out)) == 16
