"""Shared by commands that predict with rules alone: open a graph with saved or new rules."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from nqe.cli import printing
from nqe.cli.open_run import note_calibration

if TYPE_CHECKING:
    from nqe.answering import Answerer
    from nqe.graph import Dataset
    from nqe.rules import Rules

NONE, TRAIN = "none", "train"


def open_with_rules(
    place: str, rules: str | None, facts: str, max_bindings: int | None = None
) -> Answerer:
    """Open a graph with rules: those of a folder, or those that are mined from it now."""
    from nqe.answering import open as open_answerer
    from nqe.answering.open_graph import open_dataset
    from nqe.query.exact import MAX_BINDINGS
    from nqe.rules import load_rules

    dataset = open_dataset(place)
    found = _mine(place, dataset, facts) if rules is None else load_rules(rules)
    limit = max_bindings or MAX_BINDINGS
    answerer = open_answerer(place, graph=dataset, facts=facts, rules=found, max_bindings=limit)
    note_calibration(place, answerer)
    return answerer


def _mine(place: str, dataset: Dataset, facts: str) -> Rules:
    """Mine rules from the known facts, and say how to keep them."""
    from nqe.answering import mine_rules
    from nqe.cli.progress import ProgressBar

    mined = TRAIN if facts.strip() == NONE else facts.strip()
    with ProgressBar("parts") as progress:
        found = mine_rules(dataset, mined, progress=progress)
    folder = f"{Path(place).stem}.rules"
    printing.note(
        f"nqe: note: {len(found):,} rules were mined for this command alone; keep them with "
        f"`nqe rules {place} --facts {mined} -o {folder}`, and give --rules {folder}"
    )
    return found
