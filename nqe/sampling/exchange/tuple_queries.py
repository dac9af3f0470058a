"""Reads nested-tuple queries (Query2Box, BetaE) as a data set and query tables.

The two formats are distinguished by the names of their files. If no file contains the graph, it
is rebuilt from the one-hop queries: the answers to training queries are the facts of train, and
the hard answers to validation and test queries are the facts of those splits. Answers that no
file contains are computed by the exact engine. Missing links are not counted and read as -1;
`add_missing_links` counts them. Atoms are open, which in a graph of triples means the same as
closed.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain
from pathlib import Path

import numpy as np

from nqe.errors import InputError
from nqe.graph.dataset import Dataset
from nqe.graph.ragged import Ragged, offsets
from nqe.graph.splits import SPLITS
from nqe.query.exact_batch import run_table
from nqe.sampling.exchange.betae import read_betae
from nqe.sampling.exchange.query2box import read_query2box
from nqe.sampling.exchange.tuple_files import Answers, StructureQueries, TupleFolder
from nqe.sampling.exchange.tuple_graph import read_graph, rebuild_graph
from nqe.sampling.exchange.tuple_structures import MalformedTuple
from nqe.sampling.hard_answers import (
    SplitGraphs,
    count_missing_links,
    extract_answers,
    split_answers,
)
from nqe.sampling.query_checks import check_imported
from nqe.sampling.query_table import QueryTable, concatenate

BLOCK = 2_000
"""The number of queries that are answered at once."""


def read_tuple_queries(folder: str | Path) -> tuple[Dataset, dict[str, QueryTable]]:
    """Read the graph in its splits, and the queries of each split with their answers."""
    with _garbage_collection_off():
        return _read(_read_folder(Path(folder)))


@contextmanager
def _garbage_collection_off() -> Iterator[None]:
    """Switch off garbage collection, which takes a third of the time with millions of tuples."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


def _read(content: TupleFolder) -> tuple[Dataset, dict[str, QueryTable]]:
    tables = [(group, _build_table(group, content)) for group in content.groups]
    if not tables:
        raise InputError(f"{content.path}: contains no queries; is it the whole folder?")
    if content.triples:
        dataset = read_graph(content)
    else:
        answered = [(group.split, table) for group, table in tables if group.easy is not None]
        dataset = rebuild_graph(content, answered)
    tables = [(group, _add_answers(group, table, dataset)) for group, table in tables]
    by_split = {name: [table for group, table in tables if group.split == name] for name in SPLITS}
    joined = {name: concatenate(parts) for name, parts in by_split.items() if parts}
    check_imported(content.path, joined, dataset.vocabulary)
    return dataset, joined


def add_missing_links(dataset: Dataset, tables: Mapping[str, QueryTable]) -> dict[str, QueryTable]:
    """Return the queries with, for each hard answer, the number of unknown facts it needs."""
    return {
        split: table if split == "train" else _count_links(table, _graphs_of(dataset, split))
        for split, table in tables.items()
    }


def _graphs_of(dataset: Dataset, split: str) -> SplitGraphs:
    return SplitGraphs(dataset.known_for(split), dataset.full_for(split))


def _read_folder(folder: Path) -> TupleFolder:
    if (folder / "ind2ent.pkl").is_file():
        return read_query2box(folder)
    if (folder / "id2ent.pkl").is_file():
        return read_betae(folder)
    raise InputError(
        f"{folder}: contains neither ind2ent.pkl (Query2Box) nor id2ent.pkl (BetaE); "
        "give the folder with the pickles"
    )


def _build_table(group: StructureQueries, content: TupleFolder) -> QueryTable:
    """Build the queries of a group, with the answers that the files contain."""
    try:
        matrix = group.structure.read_matrix(group.queries, content.numbers)
    except MalformedTuple as error:
        raise InputError(f"{group.path}: {error}; download the files again") from error
    plans = group.structure.build_plans(matrix, content.numbers)
    nothing: Answers = [()] * len(matrix)
    easy = _convert_answers(group, group.easy or nothing, content)
    hard = _convert_answers(group, group.hard or nothing, content)
    name = group.structure.shape_name
    return QueryTable.of((name,) * len(matrix), plans, easy, hard)


def _convert_answers(group: StructureQueries, answers: Answers, content: TupleFolder) -> Ragged:
    """Return the answers by the vocabulary's numbers, ascending in each row."""
    lengths = np.fromiter((len(one) for one in answers), np.int64, len(answers))
    entities = list(chain.from_iterable(answers))
    entity = content.numbers.entity
    try:
        numbers = np.array(entities, dtype=None if entities else np.int64)
    except (ValueError, TypeError, OverflowError):
        numbers = np.array(["not numbers"])
    if numbers.dtype != np.int64 or not np.all((numbers >= 0) & (numbers < len(entity))):
        raise InputError(
            f"{group.path}: an answer to one of its queries is not the number of an entity; "
            "download the files again"
        )
    owner = np.repeat(np.arange(len(lengths)), lengths)
    values = entity[numbers]
    return Ragged(offsets(lengths), values[np.lexsort((values, owner))])


def _add_answers(group: StructureQueries, table: QueryTable, dataset: Dataset) -> QueryTable:
    """Add the answers that no file contains, computed by the exact engine."""
    if group.easy is not None and group.hard is not None:
        return table
    graphs = _graphs_of(dataset, group.split)
    blocks = [_answer_block(block, group, graphs) for block in _cut(table)]
    return concatenate(blocks) if blocks else table


def _answer_block(table: QueryTable, group: StructureQueries, graphs: SplitGraphs) -> QueryTable:
    """Answer a block of queries; hard answers from a file are kept."""
    full, known = (
        extract_answers(run_table(table.plans, one)) for one in (graphs.full, graphs.known)
    )
    hard, easy = split_answers(full, known)
    if group.hard is None:
        return table.with_answers(Ragged.of(easy), Ragged.of(hard))
    rest = [np.setdiff1d(one, table.hard[row]) for row, one in enumerate(easy)]
    return table.with_answers(Ragged.of(rest), table.hard)


def _cut(table: QueryTable) -> list[QueryTable]:
    rows = np.arange(len(table))
    return [table.take(rows[start : start + BLOCK]) for start in range(0, len(table), BLOCK)]


def _count_links(table: QueryTable, graphs: SplitGraphs) -> QueryTable:
    links = [count_missing_links(one.plans, graphs, one.hard) for one in _cut(table)]
    nothing = np.zeros(0, dtype=np.int64)
    return replace(table, missing=Ragged(table.hard.offset, np.concatenate([nothing, *links])))
