"""Mine rules from a graph, from the known facts of a data set, or from a graph on disk."""

from __future__ import annotations

from pathlib import Path

from nqe.answering.open_graph import open_dataset
from nqe.graph.dataset import Dataset
from nqe.graph.graph import Graph
from nqe.progress import Progress
from nqe.rules.mining import mine_table
from nqe.rules.rules import MinedFrom, Rules


def mine_rules(
    source: Graph | Dataset | str | Path,
    facts: str = "train",
    *,
    workers: int | None = None,
    progress: Progress | None = None,
) -> Rules:
    """Mine rules from the facts of the given splits: train, or train,valid, or all.

    `source` is a data set, a graph folder, a RUN, or `atlas`. Of a `Graph`, which has no splits,
    all facts are taken. `workers` are threads, by default one per core; their number does not
    change the rules.
    """
    if isinstance(source, Graph):
        graph, mined_from = source, MinedFrom(None, "all", len(source))
    else:
        dataset = source if isinstance(source, Dataset) else open_dataset(source)
        graph = dataset.known(facts)
        mined_from = MinedFrom(dataset.fingerprint, facts.strip(), len(graph))
    table = mine_table(graph, workers=workers, progress=progress)
    return Rules.of(table, graph.vocabulary, mined_from)
