"""Shared by commands that need a model: open a RUN, and warn about its calibration."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from nqe.cli import printing
from nqe.query.exact import execute

if TYPE_CHECKING:
    from nqe.answering import Answerer
    from nqe.graph.entity_set import EntitySet


def open_run(run: str, graph: str | None, facts: str, device: str) -> Answerer:
    """Open a RUN or checkpoint as an answerer; refuse a graph."""
    from nqe.answering import open as open_answerer
    from nqe.run_folders import checkpoint_of

    checkpoint_of(Path(run))
    return open_answerer(run, graph=graph, facts=facts, device=device)


def note_calibration(place: str, answerer: Answerer) -> None:
    """Warn the user if the probabilities are not calibrated."""
    if answerer.neural.is_blank:
        printing.note(
            "nqe: note: probabilities are the strength of rules, which is not calibrated, so they "
            "rank answers but mean little; a RUN that `nqe calibrate` was run on has better ones"
        )
    elif not answerer.neural.is_calibrated and answerer.neural.predictor.model.expresses_all:
        printing.note(
            f"nqe: note: {place} is not calibrated, so its probabilities rank answers but mean "
            f"little; run `nqe calibrate {place}`"
        )


def find_among(answerer: Answerer, query: str | None) -> EntitySet | None:
    """Find the exact answers of the query of --among; warn the user if there are none."""
    if query is None:
        return None
    found = execute(query, answerer.graph, max_bindings=answerer.max_bindings)
    printing.note_warnings(found.warnings)
    if not len(found) and answerer.has_model:
        printing.note("nqe: note: the query of --among has no answers in the known facts")
    return found.members
