"""The contents of a folder of nested-tuple queries, in the form that all its readers produce."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from nqe.errors import InputError
from nqe.graph.builder import check_id
from nqe.graph.vocabulary import Names, Vocabulary
from nqe.sampling.exchange import safe_pickle
from nqe.sampling.exchange.tuple_structures import (
    MalformedTuple,
    NestedTuple,
    Numbers,
    Structure,
    show,
)

REVERSE = "_reverse"
Answers = Sequence[Collection[int]]


@dataclass(frozen=True, eq=False)
class StructureQueries:
    """The queries of one structure and split; answers are None if no file has them."""

    path: Path
    split: str
    structure: Structure
    queries: Sequence[NestedTuple]
    easy: Answers | None
    hard: Answers | None


@dataclass(frozen=True, eq=False)
class TupleFolder:
    """Everything that was read from a folder."""

    path: Path
    vocabulary: Vocabulary
    numbers: Numbers
    """What the numbers of the files mean in the vocabulary."""
    groups: Sequence[StructureQueries]
    triples: Mapping[str, Path]
    """Files with the triples of the graph, by split; empty if there are none."""


def parse_structure(path: Path, form: NestedTuple) -> Structure:
    """Parse a structure that a file names."""
    try:
        return Structure.of(form)
    except MalformedTuple as error:
        raise InputError(f"{path}: {error}; see BetaE's query structures") from error


def load_dict(path: Path) -> dict[Any, Any]:
    """Load a pickle that contains a dict."""
    content = safe_pickle.load(path)
    if not isinstance(content, dict):
        raise InputError(f"{path}: contains no dict; is it the right file?")
    return content


def look_up_answers(
    path: Path, queries: Iterable[NestedTuple], answers: Mapping[NestedTuple, Any]
) -> Answers:
    """Look up the answers of each query."""
    found = []
    for query in queries:
        entities = answers.get(query)
        if not isinstance(entities, set | frozenset | list | tuple):
            raise InputError(f"{path}: no answers to {show(query)}; download the files again")
        found.append(entities)
    return found


def read_names(entities: Path, relations: Path) -> tuple[Vocabulary, Numbers]:
    """Read two pickles {number: id} as a vocabulary, and what their numbers mean in it.

    `x_reverse`, or `-x` besides `+x`, is not a relation of its own: it asks for the subject of x.
    """
    entity_ids = _ids(entities, "entity")
    relation_ids = _ids(relations, "relation")
    signed = all(name[0] in "+-" for name in relation_ids)
    reverse = [name[0] == "-" if signed else name.endswith(REVERSE) for name in relation_ids]
    bases = [name[1:] if signed else name.removesuffix(REVERSE) for name in relation_ids]
    for name in bases:
        _check(relations, name, "relation")
    vocabulary = Vocabulary(
        Names.of("entity", sorted(entity_ids)), Names.of("relation", sorted(set(bases)))
    )
    numbers = Numbers(
        np.array([vocabulary.entities.number(name) for name in entity_ids], dtype=np.int64),
        np.array([vocabulary.relations.number(name) for name in bases], dtype=np.int64),
        np.array(reverse, dtype=bool),
    )
    return vocabulary, numbers


def _ids(path: Path, kind: str) -> list[str]:
    """Return the ids in the order of their numbers, which must be 0, 1, 2 and so on."""
    names = load_dict(path)
    if set(names) != set(range(len(names))) or not all(isinstance(n, str) for n in names.values()):
        raise InputError(f"{path}: not a dict of {kind} ids by numbers from 0; renumber them")
    ids = [names[number] for number in range(len(names))]
    for name in ids:
        _check(path, name, kind)
    if len(set(ids)) < len(ids):
        raise InputError(f"{path}: two numbers have the same {kind} id; give each its own")
    return ids


def _check(path: Path, name: str, kind: str) -> None:
    try:
        check_id(name, kind)
    except InputError as error:
        raise InputError(f"{path}: {error}") from error
