"""`nqe.open`: open a graph or a RUN as an answerer."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from nqe.answering.answerer import Answerer
from nqe.answering.open_graph import open_dataset
from nqe.errors import NqeError
from nqe.graph.dataset import Dataset
from nqe.graph.graph import Graph
from nqe.query.exact import MAX_BINDINGS
from nqe.rules.rules import Rules
from nqe.run_folders import is_run

if TYPE_CHECKING:
    from nqe.answering.hybrid import HybridOptions


def open(
    place: str | Path,
    *,
    graph: str | Path | Graph | Dataset | None = None,
    facts: str = "all",
    logic: str | None = None,
    options: HybridOptions | None = None,
    device: str = "auto",
    max_bindings: int | None = MAX_BINDINGS,
    rules: Rules | str | Path | None = None,
) -> Answerer:
    """Open a graph folder, `atlas` or a RUN as an answerer.

    A graph gives exact answers and does not load PyTorch; a RUN also predicts. `graph` replaces
    the graph that a RUN was trained on, if it was moved or has new facts. `facts` names the known
    facts, `logic` and `options` set how the mode hybrid works, and `max_bindings` limits the
    facts that one step of a query may look at. With `rules`, from `nqe.mine_rules` or a folder
    that they were saved in, a graph predicts as well; a RUN has its own.
    """
    source = graph if isinstance(graph, Graph | Dataset) else None
    if not is_run(Path(place)):
        dataset = open_dataset(place if graph is None else str(graph)) if source is None else source
        given = Rules.load(rules) if isinstance(rules, str | Path) else rules
        return Answerer(dataset, facts=facts, max_bindings=max_bindings, rules=given)
    if rules is not None:
        raise NqeError(f"{place}: a RUN has rules of its own; open its graph to use others")
    from nqe.answering.open_run import OpenedRun

    run = OpenedRun.load(place, device)
    return Answerer(
        source or run.open_dataset(None if graph is None else str(graph)),
        run.model,
        facts=facts,
        rules=run.rules,
        calibration=run.calibration,
        logic=logic,
        options=options,
        max_bindings=max_bindings,
    )
