"""What commands that need a model share: opening a RUN, and notes on what it can tell."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from nqe.cli import printing
from nqe.query.exact import execute

if TYPE_CHECKING:
    from nqe.answering import Answerer
    from nqe.graph.entity_set import EntitySet


def open_run(run: str, graph: str | None, facts: str, device: str) -> Answerer:
    """The answerer of a RUN or checkpoint; refuses a graph."""
    from nqe.answering import open as open_answerer
    from nqe.run_folders import checkpoint_of

    checkpoint_of(Path(run))
    return open_answerer(run, graph=graph, facts=facts, device=device)


def note_calibration(place: str, answerer: Answerer) -> None:
    """Warn the user of probabilities that mean little."""
    if not answerer.neural.is_calibrated:
        printing.note(
            f"nqe: note: {place} is not calibrated, so its probabilities rank but mean little; "
            f"run `nqe calibrate {place}`"
        )


def find_among(answerer: Answerer, query: str | None) -> EntitySet | None:
    """The exact answers of the query of --among; tells the user if there are none."""
    if query is None:
        return None
    found = execute(query, answerer.graph, max_bindings=answerer.max_bindings)
    if not len(found) and answerer.has_model:
        printing.note("nqe: note: by the known facts, nothing answers the query of --among")
    return found.sets[-1]
