"""Reads the graph of nested-tuple queries from triples, or rebuilds it from one-hop answers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np

from nqe.errors import InputError
from nqe.graph.arrays import Integers
from nqe.graph.dataset import Dataset
from nqe.graph.fact_columns import Facts
from nqe.graph.pattern import SUBJECT
from nqe.graph.ragged import Ragged
from nqe.readers.source import Source
from nqe.sampling.exchange.tuple_files import TupleFolder
from nqe.sampling.exchange.tuple_structures import LARGEST, Numbers
from nqe.sampling.query_table import QueryTable

# Which answers to one-hop queries are facts of a split. An easy answer to a test query may be a
# fact of train, so a later split keeps only the facts that earlier ones do not have.
SOURCES = {
    "train": (("train", "easy"), ("valid", "easy")),
    "valid": (("valid", "hard"), ("test", "easy")),
    "test": (("test", "hard"),),
}


def read_graph(content: TupleFolder) -> Dataset:
    """Read the graph from the folder's files of triples."""
    splits = {
        split: _facts(*_forward(_read(path, content.numbers), content.numbers))
        for split, path in content.triples.items()
    }
    return Dataset(content.vocabulary, splits)


def rebuild_graph(content: TupleFolder, tables: Iterable[tuple[str, QueryTable]]) -> Dataset:
    """Rebuild the graph from the answers to one-hop queries."""
    one_hop = {split: table for split, table in tables if set(table.shape) == {"1p"}}
    if "train" not in one_hop:
        raise InputError(
            f"{content.path}: no one-hop training queries with answers, "
            "so the graph cannot be rebuilt; add train's one-hop files or train.txt"
        )
    splits: dict[str, Facts] = {}
    before = np.zeros(0, dtype=np.int64)
    for split, sources in SOURCES.items():
        if split not in one_hop:
            continue
        keys = [_keys(one_hop[name], kind, content) for name, kind in sources if name in one_hop]
        new = np.setdiff1d(np.concatenate(keys), before)
        before = np.concatenate([before, new])
        splits[split] = _facts(*_from_keys(new, content))
    return Dataset(content.vocabulary, splits)


def _keys(table: QueryTable, kind: str, content: TupleFolder) -> Integers:
    """Return one number for each fact that follows from answers to one-hop queries."""
    answers: Ragged = getattr(table, kind)
    relation, asked = table.plans.relation, table.plans.asked
    # A one-hop query has two slots: that of the anchor, and the asked one, whose filler is -1.
    anchor = table.plans.filler.reshape(-1, 2).max(axis=1)
    owner = answers.owner
    asks_subject = asked[owner] == SUBJECT
    subject = np.where(asks_subject, answers.values, anchor[owner])
    object_ = np.where(asks_subject, anchor[owner], answers.values)
    entities, relations = len(content.vocabulary.entities), len(content.vocabulary.relations)
    keys: Integers = (subject * relations + relation[owner]) * entities + object_
    return np.unique(keys)


def _from_keys(keys: Integers, content: TupleFolder) -> tuple[Integers, Integers, Integers]:
    pair, object_ = np.divmod(keys, max(len(content.vocabulary.entities), 1))
    subject, relation = np.divmod(pair, max(len(content.vocabulary.relations), 1))
    return subject, relation, object_


def _facts(subject: Integers, relation: Integers, object_: Integers) -> Facts:
    """Return the triples as facts, each once."""
    nothing = np.zeros(0, dtype=np.int64)
    starts = np.zeros(len(subject) + 1, dtype=np.int64)
    once = np.ones(len(subject), dtype=np.int64)
    facts = Facts(subject, relation, object_, starts, nothing, nothing, once).to_canonical()
    return replace(facts, count=np.ones_like(facts.count))


def _forward(triples: Integers, numbers: Numbers) -> tuple[Integers, Integers, Integers]:
    """Return subjects, relations and objects by the vocabulary's numbers, all forward."""
    head, relation, tail = triples.T
    reverse = numbers.reverse[relation]
    first, second = numbers.entity[head], numbers.entity[tail]
    return (
        np.where(reverse, second, first),
        numbers.relation[relation],
        np.where(reverse, first, second),
    )


def _read(path: Path, numbers: Numbers) -> Integers:
    """Read lines of three numbers: head, relation, tail."""
    limits = (len(numbers.entity), len(numbers.relation), len(numbers.entity))
    rows = []
    with Source(str(path)) as source:
        for number, line in source.lines():
            cells = line.split()
            if len(cells) != 3 or not all(map(str.isdecimal, cells)):
                raise InputError(f"{path}:{number}: not three numbers; write head, relation, tail")
            rows.append(list(map(_parse_number, cells)))
            if not all(cell < limit for cell, limit in zip(rows[-1], limits, strict=True)):
                raise InputError(f"{path}:{number}: a number has no name; add it to the id files")
    return np.array(rows, dtype=np.int64).reshape(-1, 3)


def _parse_number(cell: str) -> int:
    """The number of a cell; a large one for any that Python has too many digits to convert."""
    return int(cell) if len(cell) < len(str(LARGEST)) else LARGEST
