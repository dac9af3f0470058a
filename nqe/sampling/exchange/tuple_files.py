"""What a folder of nested-tuple queries holds, whoever wrote it: names, questions, answers."""

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
from nqe.sampling.exchange.tuple_structures import Misshapen, Nested, Numbers, Structure

REVERSE = "_reverse"
Answers = Sequence[Collection[int]]


@dataclass(frozen=True, eq=False)
class Task:
    """The queries of one structure and split; answers are None where no file tells them."""

    path: Path
    split: str
    structure: Structure
    queries: Sequence[Nested]
    easy: Answers | None
    hard: Answers | None


@dataclass(frozen=True, eq=False)
class NestedFolder:
    """The vocabulary, what the numbers mean in it, the tasks, and triples where there are any."""

    path: Path
    vocabulary: Vocabulary
    numbers: Numbers
    tasks: Sequence[Task]
    triples: Mapping[str, Path]


def structure(path: Path, form: Nested) -> Structure:
    """The structure a file names."""
    try:
        return Structure.of(form)
    except Misshapen as error:
        raise InputError(f"{path}: {error}; see BetaE's query structures") from error


def load_dict(path: Path) -> dict[Any, Any]:
    """The dict that a pickle holds."""
    content = safe_pickle.load(path)
    if not isinstance(content, dict):
        raise InputError(f"{path}: holds no dict; is it the file its name says?")
    return content


def answers_of(path: Path, queries: Iterable[Nested], answers: Mapping[Nested, Any]) -> Answers:
    """The answers of each query."""
    found = []
    for query in queries:
        one = answers.get(query)
        if not isinstance(one, set | frozenset | list | tuple):
            raise InputError(f"{path}: no answers to {query!r:.100}; download the files again")
        found.append(one)
    return found


def names_of(entities: Path, relations: Path) -> tuple[Vocabulary, Numbers]:
    """The vocabulary of two pickles {number: id}, and what their numbers mean in it.

    A relation `x_reverse`, or `-x` beside `+x`, is no relation of its own: it asks the subject
    of x.
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
    """The ids in the order of their numbers, which go from 0 without a gap."""
    names = load_dict(path)
    if set(names) != set(range(len(names))) or not all(isinstance(n, str) for n in names.values()):
        raise InputError(f"{path}: not a dict of {kind} ids by numbers from 0; number them anew")
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
