"""Reads folders of Query2Box: {split}_triples_{shape}.pkl with the queries, and their answers.

With K the known graph and F the full one, `{split}_ans_{shape}` contains A(F) and
`{split}_ans_{shape}_hard` contains A(F) \\ A(K). For validation K is train and F is train and
valid; for test K is train and valid and F is all three. For training queries `ans` contains
A(train). The exact engine finds the same for every query of FB15k-237 with one exception: if
train has no answer to a one-hop test query, its `ans` lacks the answers of valid (210 queries).
These are read without a correction.

A query in `triples` ends in a target (always 0) and a kind; without these two it is the key of
its answers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from nqe.errors import InputError
from nqe.graph.splits import SPLITS
from nqe.sampling.exchange import safe_pickle
from nqe.sampling.exchange.tuple_files import (
    Answers,
    StructureQueries,
    TupleFolder,
    load_dict,
    look_up_answers,
    parse_structure,
    read_names,
)
from nqe.sampling.exchange.tuple_structures import SIGNS, NestedTuple

ONE, TWO, THREE = ("e", ("r",)), ("e", ("r", "r")), ("e", ("r", "r", "r"))
UNION = (SIGNS["u"],)


def _only(key: NestedTuple) -> NestedTuple:
    (chain,) = key
    return chain


def _same(key: NestedTuple) -> NestedTuple:
    return key


def _union(key: NestedTuple) -> NestedTuple:
    return (*key, UNION)


def _conjunction_then(key: NestedTuple) -> NestedTuple:
    *parts, relation = key
    return tuple(parts), (relation,)


def _union_then(key: NestedTuple) -> NestedTuple:
    *parts, relation = key
    return (*parts, UNION), (relation,)


# By Query2Box's name of a shape: BetaE's structure, and how to convert a key to it.
SHAPES: dict[str, tuple[NestedTuple, Callable[[NestedTuple], NestedTuple]]] = {
    "1c": (ONE, _only),
    "2c": (TWO, _only),
    "3c": (THREE, _only),
    "2i": ((ONE, ONE), _same),
    "3i": ((ONE, ONE, ONE), _same),
    "ic": (((ONE, ONE), ("r",)), _conjunction_then),
    "ci": ((TWO, ONE), _same),
    "2u": ((ONE, ONE, ("u",)), _union),
    "uc": (((ONE, ONE, ("u",)), ("r",)), _union_then),
}


def read_query2box(folder: Path) -> TupleFolder:
    """Read a whole folder."""
    vocabulary, numbers = read_names(folder / "ind2ent.pkl", folder / "ind2rel.pkl")
    return TupleFolder(folder, vocabulary, numbers, list(_read_groups(folder)), {})


def _read_groups(folder: Path) -> Iterator[StructureQueries]:
    for split in SPLITS:
        for shape, (form, convert) in SHAPES.items():
            path = folder / f"{split}_triples_{shape}.pkl"
            if not path.is_file():
                continue
            keys = _read_keys(path)
            easy, hard = _read_answers(folder, split, shape, keys)
            yield StructureQueries(
                path,
                split,
                parse_structure(path, form),
                _convert_keys(path, keys, convert),
                easy,
                hard,
            )


def _read_keys(path: Path) -> list[NestedTuple]:
    """Read the queries of a file as the keys of their answers, each once."""
    content = safe_pickle.load(path)
    if not isinstance(content, list):
        raise InputError(f"{path}: contains no list of queries; is it the right file?")
    try:
        return list(dict.fromkeys(map(_key, content)))
    except (TypeError, ValueError, IndexError) as error:
        raise InputError(
            f"{path}: a query does not have Query2Box's form; download it again"
        ) from error


def _key(query: Any) -> NestedTuple:
    """Turn ((e, (r,), 0), '1-chain') into ((e, (r,)),), and (A, B, 0, '2-inter') into (A, B)."""
    if len(query) == 2:
        (anchor, relations, _), _ = query
        return ((anchor, relations),)
    return query[:-2]


def _convert_keys(
    path: Path, keys: list[NestedTuple], convert: Callable[[NestedTuple], NestedTuple]
) -> list[NestedTuple]:
    try:
        return [convert(key) for key in keys]
    except (TypeError, ValueError) as error:
        raise InputError(
            f"{path}: a query does not have the shape of its file; download it again"
        ) from error


def _read_answers(
    folder: Path, split: str, shape: str, keys: list[NestedTuple]
) -> tuple[Answers | None, Answers | None]:
    """Read the easy and the hard answers; None if a file is missing."""
    every, hard = (
        look_up_answers(path, keys, load_dict(path)) if path.is_file() else None
        for path in (folder / f"{split}_ans_{shape}{end}.pkl" for end in ("", "_hard"))
    )
    if split == "train":
        return every, [()] * len(keys)
    if every is None or hard is None:
        return None, hard
    return [set(a).difference(h) for a, h in zip(every, hard, strict=True)], hard
