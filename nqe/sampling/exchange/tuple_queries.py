"""The nested-tuple query files of the binary-graph field, read into a data set and query tables.

Query2Box's and BetaE's folders are told apart by their files. Where no file holds the graph it is
rebuilt from the one-hop queries: training ones have all of train as answers, and the hard answers
of validation and test ones are the facts of these splits. Answers that no file tells are computed
by the exact engine. Missing links are read as -1; `with_missing_links` finds them. Atoms are
open, which in a graph of triples is the same as closed.
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
from nqe.graph.dataset import SPLITS, Dataset
from nqe.graph.ragged import Ragged, offsets
from nqe.query.exact_batch import run_table
from nqe.sampling.exchange.betae import read_betae
from nqe.sampling.exchange.query2box import read_query2box
from nqe.sampling.exchange.tuple_files import Answers, NestedFolder, Task
from nqe.sampling.exchange.tuple_graph import from_answers, from_files
from nqe.sampling.exchange.tuple_structures import Misshapen
from nqe.sampling.hard_answers import (
    SplitGraphs,
    count_missing_links,
    extract_answers,
    split_answers,
)
from nqe.sampling.query_table import QueryTable, concatenate

# Queries are answered so many at a time.
BLOCK = 2_000


def read_nested(folder: str | Path) -> tuple[Dataset, dict[str, QueryTable]]:
    """The graph in splits, and the queries of each split with their answers."""
    with _without_collection():
        return _read(_content(Path(folder)))


@contextmanager
def _without_collection() -> Iterator[None]:
    """No search for cycles: among millions of tuples it takes a third of the time."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


def _read(content: NestedFolder) -> tuple[Dataset, dict[str, QueryTable]]:
    tables = [(task, _table(task, content)) for task in content.tasks]
    if not tables:
        raise InputError(f"{content.path}: there are no queries in it; is it the whole folder?")
    if content.triples:
        dataset = from_files(content)
    else:
        told = [(task.split, table) for task, table in tables if task.easy is not None]
        dataset = from_answers(content, told)
    tables = [(task, _completed(task, table, dataset)) for task, table in tables]
    by_split = {name: [one for task, one in tables if task.split == name] for name in SPLITS}
    return dataset, {name: concatenate(parts) for name, parts in by_split.items() if parts}


def with_missing_links(dataset: Dataset, tables: Mapping[str, QueryTable]) -> dict[str, QueryTable]:
    """The same queries, each hard answer with the number of facts it needs that are not known."""
    return {
        split: table if split == "train" else _with_links(table, _graphs_of(dataset, split))
        for split, table in tables.items()
    }


def _graphs_of(dataset: Dataset, split: str) -> SplitGraphs:
    return SplitGraphs(dataset.known_for(split), dataset.full_for(split))


def _content(folder: Path) -> NestedFolder:
    if (folder / "ind2ent.pkl").is_file():
        return read_query2box(folder)
    if (folder / "id2ent.pkl").is_file():
        return read_betae(folder)
    raise InputError(
        f"{folder}: neither ind2ent.pkl (Query2Box) nor id2ent.pkl (BetaE) is in it; "
        "give the folder that holds the pickles"
    )


def _table(task: Task, content: NestedFolder) -> QueryTable:
    """The queries of a task, with the answers that are told."""
    try:
        matrix = task.structure.matrix(task.queries, content.numbers)
    except Misshapen as error:
        raise InputError(f"{task.path}: {error}; download the files again") from error
    plans = task.structure.plans(matrix, content.numbers)
    nothing: Answers = [()] * len(matrix)
    easy = _answers(task, task.easy or nothing, content)
    hard = _answers(task, task.hard or nothing, content)
    name = task.structure.shape_name
    return QueryTable.of((name,) * len(matrix), plans, easy, hard)


def _answers(task: Task, answers: Answers, content: NestedFolder) -> Ragged:
    """Entities by the vocabulary's numbers, ascending in a row."""
    lengths = np.fromiter((len(one) for one in answers), np.int64, len(answers))
    told = list(chain.from_iterable(answers))
    entity = content.numbers.entity
    numbers = np.array(told if told else [], dtype=None if told else np.int64)
    if numbers.dtype != np.int64 or not np.all((numbers >= 0) & (numbers < len(entity))):
        raise InputError(
            f"{task.path}: an answer to one of its queries is no number of an entity; "
            "download the files again"
        )
    owner = np.repeat(np.arange(len(lengths)), lengths)
    values = entity[numbers]
    return Ragged(offsets(lengths), values[np.lexsort((values, owner))])


def _completed(task: Task, table: QueryTable, dataset: Dataset) -> QueryTable:
    """The queries with the answers that no file told, by the exact engine."""
    if task.easy is not None and task.hard is not None:
        return table
    graphs = _graphs_of(dataset, task.split)
    blocks = [_answered(block, task, graphs) for block in _blocks(table)]
    return concatenate(blocks) if blocks else table


def _answered(table: QueryTable, task: Task, graphs: SplitGraphs) -> QueryTable:
    """A block with all its answers; hard ones that a file told stay."""
    full, known = (
        extract_answers(run_table(table.plans, one)) for one in (graphs.full, graphs.known)
    )
    hard, easy = split_answers(full, known)
    return table.with_answers(Ragged.of(easy), Ragged.of(hard) if task.hard is None else table.hard)


def _blocks(table: QueryTable) -> list[QueryTable]:
    rows = np.arange(len(table))
    return [table.take(rows[start : start + BLOCK]) for start in range(0, len(table), BLOCK)]


def _with_links(table: QueryTable, graphs: SplitGraphs) -> QueryTable:
    links = [count_missing_links(one.plans, graphs, one.hard) for one in _blocks(table)]
    nothing = np.zeros(0, dtype=np.int64)
    return replace(table, missing=Ragged(table.hard.offset, np.concatenate([nothing, *links])))
