"""Opens the graph of an experiment: a graph folder, or a published data set as it was published."""

from __future__ import annotations

from pathlib import Path

from nqe.answering.open_graph import open_dataset
from nqe.demo import NAME
from nqe.graph.dataset import Dataset
from nqe.graph.storage import is_saved
from nqe.progress import Progress
from nqe.readers import read
from nqe.reproduction.results import UsedGraph
from nqe.run_folders import is_run

FORMATS = {"jf17k": "nary"}
"""The format to read of data sets whose folders hold more than one."""


def open_graph(place: str, progress: Progress | None = None) -> Dataset:
    """Open a graph folder or `atlas`, or read the files of a folder that is not imported yet."""
    path = Path(place)
    is_ours = place == NAME or is_saved(path) or is_run(path)
    if is_ours or not path.is_dir():
        return open_dataset(place)
    return read(place, format=FORMATS.get(path.resolve().name.lower()), progress=progress)


def describe_graph(dataset: Dataset, place: str) -> UsedGraph:
    """What a result says about its graph."""
    facts = {name: len(facts) for name, facts in dataset.splits.items()}
    return UsedGraph(Path(place).resolve().name, dataset.fingerprint, facts)
