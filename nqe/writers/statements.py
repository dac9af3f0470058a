"""Writes a graph as statements: subject, relation, object, attribute, value, …"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, islice

from nqe.graph.fact import Fact
from nqe.graph.graph import Graph
from nqe.readers.header import COMPARED, looks_like_header
from nqe.text_format import join_cells


def list_lines(graph: Graph) -> Iterator[str]:
    """One line per statement; the first one does not look like a header, if that can be had."""
    lines = _list_lines(graph)
    first = list(islice(lines, COMPARED + 1))
    for _ in first:
        if not looks_like_header(first, ","):
            break
        first.append(first.pop(0))
    yield from chain(first, lines)


def _list_lines(graph: Graph) -> Iterator[str]:
    for fact in repeat_facts(graph):
        pairs = (text for pair in fact.qualifiers for text in pair)
        yield join_cells([fact.subject, fact.relation, fact.object, *pairs], ",") + "\n"


def repeat_facts(graph: Graph) -> Iterator[Fact]:
    """Every fact as often as the source states it."""
    for row, count in enumerate(graph.facts.count.tolist()):
        fact = graph.fact(row)
        for _ in range(count):
            yield fact
