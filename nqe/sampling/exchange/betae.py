"""Folders of BetaE: {split}-queries.pkl by structure, and {split}-easy/hard-answers.pkl.

The files as published by its authors: `id2ent.pkl` and `id2rel.pkl` name the numbers,
`train-queries.pkl` is {structure: set of queries} and `train-answers.pkl` {query: set of
entities}; validation and test have `easy` answers, A(F) ∩ A(K), and `hard` ones, A(F) \\ A(K).
`train.txt`, `valid.txt` and `test.txt`, where they are, hold the graph as numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nqe.errors import InputError
from nqe.graph.dataset import SPLITS
from nqe.sampling.exchange.tuple_files import (
    NestedFolder,
    Task,
    answers_of,
    load_dict,
    names_of,
    structure,
)
from nqe.sampling.exchange.tuple_structures import Nested


def read_betae(folder: Path) -> NestedFolder:
    """Everything in the folder."""
    vocabulary, numbers = names_of(folder / "id2ent.pkl", folder / "id2rel.pkl")
    tasks = [task for split in SPLITS for task in _tasks(folder, split)]
    triples = {split: path for split in SPLITS if (path := folder / f"{split}.txt").is_file()}
    return NestedFolder(folder, vocabulary, numbers, tasks, triples)


def _tasks(folder: Path, split: str) -> Iterator[Task]:
    path = folder / f"{split}-queries.pkl"
    if not path.is_file():
        return
    easy = folder / ("train-answers.pkl" if split == "train" else f"{split}-easy-answers.pkl")
    hard = None if split == "train" else folder / f"{split}-hard-answers.pkl"
    known = load_dict(easy)
    new = load_dict(hard) if hard else {}
    for form, queries in load_dict(path).items():
        listed = _listed(path, queries)
        yield Task(
            path,
            split,
            structure(path, form),
            listed,
            answers_of(easy, listed, known),
            answers_of(hard, listed, new) if hard else [()] * len(listed),
        )


def _listed(path: Path, queries: Any) -> list[Nested]:
    """The queries in a fixed order, as a set has none to rely on."""
    if not isinstance(queries, set | frozenset | list | tuple):
        raise InputError(f"{path}: the queries of a structure are no set; download it again")
    try:
        return sorted(set(queries))
    except TypeError as error:
        raise InputError(f"{path}: queries of one structure differ in form; fix them") from error
