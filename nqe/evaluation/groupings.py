"""Groupings of ranked answers: by shape, slot, arity, missing links, or part of the fact."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from nqe.errors import choose
from nqe.evaluation.evaluator import UNKNOWN, Ranking
from nqe.graph.arrays import Integers
from nqe.sampling.patterns import rank_kind
from nqe.settings import SLOTS

Grouping = Callable[[Ranking], Iterator[tuple[str, Integers]]]
"""Gives the label of each group and the positions in the ranking of the answers in it."""

PARTS = {"subject_object": ("subject", "object"), "value": ("value",)}
"""The parts of a fact that link prediction is reported by, and the slots of each part."""
RELATION_PARTS = ("relation", "main_relation", "attribute")
"""The parts that ask for relations: both kinds together, main relations, and attributes."""


def _by_shape(ranking: Ranking) -> Iterator[tuple[str, Integers]]:
    names = sorted(set(ranking.shape), key=rank_kind)
    number = {name: place for place, name in enumerate(names)}
    of_query = np.array([number[name] for name in ranking.shape], dtype=np.int64)
    for place, rows in _by_number(of_query[ranking.query]):
        yield names[place], rows


def _by_slot(ranking: Ranking) -> Iterator[tuple[str, Integers]]:
    for value, rows in _by_number(ranking.slot[ranking.query]):
        yield SLOTS[value], rows


def _by_arity(ranking: Ranking) -> Iterator[tuple[str, Integers]]:
    for value, rows in _by_number(ranking.arity[ranking.query]):
        yield str(value), rows


def _by_missing(ranking: Ranking) -> Iterator[tuple[str, Integers]]:
    for value, rows in _by_number(ranking.missing):
        yield str(value), rows


def _by_part(ranking: Ranking) -> Iterator[tuple[str, Integers]]:
    slot = ranking.slot[ranking.query]
    for part, slots in PARTS.items():
        rows = np.flatnonzero(np.isin(slot, [SLOTS.index(name) for name in slots]))
        if len(rows):
            yield part, rows


def _by_number(column: Integers) -> Iterator[tuple[int, Integers]]:
    for value in np.unique(column[column != UNKNOWN]).tolist():
        yield value, np.flatnonzero(column == value)


GROUPINGS: dict[str, Grouping] = {
    "shape": _by_shape,
    "slot": _by_slot,
    "arity": _by_arity,
    "missing": _by_missing,
    "part": _by_part,
}
"""All groupings by name. A group without answers is left out.

- shape: the shape of the query, such as 2p or 2in.
- slot: what the query asks for: subject, object, or a qualifier's value.
- arity: the number of entities in the query's largest atom.
- missing: the number of facts the answer needs that are not known, where that was counted.
- part: subject and object together, or a qualifier's value; for link prediction.
"""

OF_QUERIES = ("shape", "slot", "arity", "missing")
"""The groupings in the report of a query set."""
OF_ROWS = ("shape", "arity", "missing")
"""The groupings in the report of a query set beyond trees; the shapes are patterns."""
OF_LINKS = ("part",)
"""The groupings in the report of link prediction."""


def group_answers(ranking: Ranking, by: str) -> Iterator[tuple[str, Integers]]:
    """The groups of a grouping: the label of each, and the positions of its answers."""
    return choose(GROUPINGS, by, "grouping")(ranking)
