"""Commands about a graph also take a RUN, and then use the graph it was trained on."""

from __future__ import annotations

import pytest
from answering_commands import NOT_GERMAN, RunNqe
from helpers import well


@pytest.mark.parametrize(
    "words",
    [
        ("plan", NOT_GERMAN),
        ("plan", NOT_GERMAN, "--mermaid"),
        ("sparql", NOT_GERMAN),
        ("sparql", NOT_GERMAN, "--model", "rdf12"),
        ("stats",),
        ("stats", "--json"),
        ("show", "France", "--limit", "3"),
        ("find", "Franc"),
    ],
    ids=" ".join,
)
def test_a_run_prints_the_same_as_its_graph(words: tuple[str, ...], run_nqe: RunNqe) -> None:
    command, *options = words
    from_run, from_graph = (run_nqe(command, place, *options) for place in ("atlas.run", "atlas"))
    assert well(from_run) == well(from_graph) != ""
