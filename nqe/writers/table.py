"""Writes a graph as a table (CSV, TSV, Parquet): the main triple and one column per attribute."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import IO, Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from nqe.graph.fact import Fact
from nqe.graph.graph import Graph
from nqe.text_format import MAIN_COLUMNS, join_table_cells
from nqe.writers.statements import repeat_facts


def list_lines(graph: Graph, separator: str) -> Iterator[str]:
    """The header and one line per statement.

    An attribute has as many columns as one fact has values of it.
    """
    header = [name for name, count in _count_values(graph).items() for _ in range(count)]
    first = {name: header.index(name) for name in header}
    yield join_table_cells([*MAIN_COLUMNS, *header], separator) + "\n"
    for fact in repeat_facts(graph):
        cells = [""] * len(header)
        place = dict(first) if fact.qualifiers else first
        for attribute, value in fact.qualifiers:
            cells[place[attribute]] = value
            place[attribute] += 1
        main = (fact.subject, fact.relation, fact.object)
        yield join_table_cells([*main, *cells], separator) + "\n"


def write_parquet(graph: Graph, stream: IO[bytes]) -> None:
    """One row per statement; an attribute of which a fact has several values holds lists."""
    facts = list(repeat_facts(graph))
    columns = [
        (name, pa.array([getattr(fact, name) for fact in facts], pa.string()))
        for name in MAIN_COLUMNS
    ]
    columns += [
        (name, _attribute_column(facts, name, several=count > 1))
        for name, count in _count_values(graph).items()
    ]
    names = [name for name, _ in columns]
    table = pa.Table.from_arrays([column for _, column in columns], names=names)
    parquet.write_table(table, stream)


def _count_values(graph: Graph) -> dict[str, int]:
    """Each attribute in use, with the largest number of values that one fact has of it."""
    facts = graph.facts
    keys = facts.qualifier_fact * graph.relation_count + facts.attribute
    unique, counts = np.unique(keys, return_counts=True)
    attributes = unique % max(graph.relation_count, 1)
    most = np.zeros(graph.relation_count, dtype=np.int64)
    np.maximum.at(most, attributes, counts)
    names = graph.vocabulary.relations.ids
    return {names[attribute]: int(most[attribute]) for attribute in np.flatnonzero(most).tolist()}


def _attribute_column(facts: Sequence[Fact], name: str, *, several: bool) -> Any:
    values = [[value for a, value in fact.qualifiers if a == name] or None for fact in facts]
    if several:
        return pa.array(values, pa.list_(pa.string()))
    return pa.array([cell and cell[0] for cell in values], pa.string())
