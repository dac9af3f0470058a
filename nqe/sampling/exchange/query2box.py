"""Folders of Query2Box: {split}_triples_{shape}.pkl and its answers, read as nested queries.

What the answer files mean, as the exact engine finds over every query of FB15k-237: with K the
known graph and F the full one, `{split}_ans_{shape}` is A(F) and `{split}_ans_{shape}_hard` is
A(F) \\ A(K). For validation K is train and F is train and valid, for test K is train and valid
and F is all three; of training queries `ans` is A(train). One exception: where train has no
answer to a one-hop test query, its `ans` leaves out those in valid (210 queries). They are read
as they stand.

Queries are listed in `triples`, with a target (always 0) and a kind at the end; without these
they are the keys of the answers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from nqe.errors import InputError
from nqe.graph.dataset import SPLITS
from nqe.sampling.exchange import safe_pickle
from nqe.sampling.exchange.tuple_files import (
    Answers,
    NestedFolder,
    Task,
    answers_of,
    load_dict,
    names_of,
    structure,
)
from nqe.sampling.exchange.tuple_structures import SIGNS, Nested

ONE, TWO, THREE = ("e", ("r",)), ("e", ("r", "r")), ("e", ("r", "r", "r"))
UNION = (SIGNS["u"],)


def _only(key: Nested) -> Nested:
    (chain,) = key
    return chain


def _same(key: Nested) -> Nested:
    return key


def _union(key: Nested) -> Nested:
    return (*key, UNION)


def _conjunction_then(key: Nested) -> Nested:
    *parts, relation = key
    return tuple(parts), (relation,)


def _union_then(key: Nested) -> Nested:
    *parts, relation = key
    return (*parts, UNION), (relation,)


# Their names of shapes: BetaE's structure, and how a key of theirs is written in it.
SHAPES: dict[str, tuple[Nested, Callable[[Nested], Nested]]] = {
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


def read_query2box(folder: Path) -> NestedFolder:
    """Everything in the folder."""
    vocabulary, numbers = names_of(folder / "ind2ent.pkl", folder / "ind2rel.pkl")
    return NestedFolder(folder, vocabulary, numbers, list(_tasks(folder)), {})


def _tasks(folder: Path) -> Iterator[Task]:
    for split in SPLITS:
        for shape, (form, convert) in SHAPES.items():
            path = folder / f"{split}_triples_{shape}.pkl"
            if not path.is_file():
                continue
            keys = _keys(path)
            easy, hard = _answers(folder, split, shape, keys)
            yield Task(
                path, split, structure(path, form), _converted(path, keys, convert), easy, hard
            )


def _keys(path: Path) -> list[Nested]:
    """The queries of a file as the answers name them, each once."""
    content = safe_pickle.load(path)
    if not isinstance(content, list):
        raise InputError(f"{path}: holds no list of queries; is it the file its name says?")
    try:
        return list(dict.fromkeys(map(_key, content)))
    except (TypeError, ValueError, IndexError) as error:
        raise InputError(
            f"{path}: a query is not of Query2Box's form; download it again"
        ) from error


def _key(query: Any) -> Nested:
    """((e, (r,), 0), '1-chain') is ((e, (r,)),); (A, B, 0, '2-inter') is (A, B)."""
    if len(query) == 2:
        (anchor, relations, _), _ = query
        return ((anchor, relations),)
    return query[:-2]


def _converted(path: Path, keys: list[Nested], convert: Callable[[Nested], Nested]) -> list[Nested]:
    try:
        return [convert(key) for key in keys]
    except (TypeError, ValueError) as error:
        raise InputError(
            f"{path}: a query is not of its file's shape; download it again"
        ) from error


def _answers(
    folder: Path, split: str, shape: str, keys: list[Nested]
) -> tuple[Answers | None, Answers | None]:
    """The easy and the hard answers, None where a file is absent."""
    every, hard = (
        answers_of(path, keys, load_dict(path)) if path.is_file() else None
        for path in (folder / f"{split}_ans_{shape}{end}.pkl" for end in ("", "_hard"))
    )
    if split == "train":
        return every, [()] * len(keys)
    if every is None or hard is None:
        return None, hard
    return [set(a).difference(h) for a, h in zip(every, hard, strict=True)], hard
