"""Reads folders of BetaE: {split}-queries.pkl by structure, and {split}-easy/hard-answers.pkl.

These are the files that its authors published: `id2ent.pkl` and `id2rel.pkl` name the numbers,
`train-queries.pkl` is {structure: set of queries} and `train-answers.pkl` is {query: set of
entities}; validation and test have `easy` answers, A(F) ∩ A(K), and `hard` ones, A(F) \\ A(K).
`train.txt`, `valid.txt` and `test.txt`, if they exist, contain the graph as numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nqe.errors import InputError
from nqe.graph.splits import SPLITS
from nqe.sampling.exchange.tuple_files import (
    StructureQueries,
    TupleFolder,
    load_dict,
    look_up_answers,
    parse_structure,
    read_names,
)
from nqe.sampling.exchange.tuple_structures import NestedTuple


def read_betae(folder: Path) -> TupleFolder:
    """Read a whole folder."""
    vocabulary, numbers = read_names(folder / "id2ent.pkl", folder / "id2rel.pkl")
    groups = [group for split in SPLITS for group in _read_split(folder, split)]
    triples = {split: path for split in SPLITS if (path := folder / f"{split}.txt").is_file()}
    return TupleFolder(folder, vocabulary, numbers, groups, triples)


def _read_split(folder: Path, split: str) -> Iterator[StructureQueries]:
    path = folder / f"{split}-queries.pkl"
    if not path.is_file():
        return
    easy = folder / ("train-answers.pkl" if split == "train" else f"{split}-easy-answers.pkl")
    hard = None if split == "train" else folder / f"{split}-hard-answers.pkl"
    known = load_dict(easy)
    new = load_dict(hard) if hard else {}
    for form, queries in load_dict(path).items():
        ordered = _sort_queries(path, queries)
        yield StructureQueries(
            path,
            split,
            parse_structure(path, form),
            ordered,
            look_up_answers(easy, ordered, known),
            look_up_answers(hard, ordered, new) if hard else [()] * len(ordered),
        )


def _sort_queries(path: Path, queries: Any) -> list[NestedTuple]:
    """Return the queries in a fixed order, which a set does not have."""
    if not isinstance(queries, set | frozenset | list | tuple):
        raise InputError(f"{path}: the queries of a structure are not a set; download it again")
    try:
        return sorted(set(queries))
    except TypeError as error:
        raise InputError(f"{path}: queries of one structure differ in form; fix them") from error
