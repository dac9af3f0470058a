"""Builds a data set from facts given by id: numbers the ids and collects the facts in columns."""

from __future__ import annotations

from array import array
from unicodedata import category

import numpy as np

from nqe.errors import InputError
from nqe.graph.arrays import Integers
from nqe.graph.fact import Fact
from nqe.graph.fact_columns import Facts, concatenate
from nqe.graph.literals import MARK, parse_id
from nqe.graph.ragged import offsets
from nqe.graph.vocabulary import ENTITY, Names, Vocabulary

MERGED_AT = 4_000_000
"""The number of facts after which repeated ones are merged."""


class Numbering(dict[str, int]):
    """Numbers ids in the order they appear; at the end, in the order of the sorted ids."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        self._kind = kind

    def __missing__(self, name: str) -> int:
        """The number of a new id, which is checked first."""
        check_id(name, self._kind)
        self[name] = number = len(self)
        return number

    def truncate(self, count: int) -> None:
        """Keep only the first `count` ids."""
        while len(self) > count:
            self.popitem()

    def finish(self) -> tuple[Names, Integers]:
        """The names in the order of their ids, and the new number of each old number."""
        ids = sorted(self)
        new_numbers = np.empty(len(ids), dtype=np.int64)
        new_numbers[[self[name] for name in ids]] = np.arange(len(ids))
        return Names.of(self._kind, ids), new_numbers


def check_id(name: str, kind: str) -> None:
    """Refuse an id that a text format could not hold."""
    if not name:
        raise InputError(f"an empty {kind} id; give it a name or drop the statement")
    if name != name.strip() or not (name.isprintable() or _is_text(name)):
        raise InputError(
            f"{kind} id {name!r} has a line break, a control character or outer spaces; rename it"
        )
    if kind == ENTITY and MARK in name:
        parse_id(name)  # refuses what looks like a literal and is none


def _is_text(name: str) -> bool:
    """Whether it has no control character, line break, lone surrogate or byte-order mark."""
    # Other characters that Python calls unprintable are allowed: joiners in Persian, new emoji.
    return "\ufeff" not in name and not {"Cc", "Cs", "Zl", "Zp"} & set(map(category, name))


class FactCollector:
    """Collects the facts of one split."""

    def __init__(self, entity: Numbering, relation: Numbering) -> None:
        self._entity, self._relation = entity, relation
        # Arrays, as a list of so many numbers would take twice the memory.
        self._main, self._pairs, self._lengths = array("q"), array("q"), array("q")
        self._merged = Facts.empty()
        self._most = MERGED_AT

    def add(self, fact: Fact) -> None:
        """Add a fact; if one of its ids is refused, nothing is added."""
        entity, relation = self._entity, self._relation
        counts = len(entity), len(relation)
        try:
            main = (entity[fact.subject], relation[fact.relation], entity[fact.object])
            pairs = [number for a, v in fact.qualifiers for number in (relation[a], entity[v])]
        except InputError:
            entity.truncate(counts[0])
            relation.truncate(counts[1])
            raise
        self._main.extend(main)
        if pairs:
            self._pairs.extend(pairs)
        self._lengths.append(len(fact.qualifiers))
        if len(self._lengths) == self._most:
            self._merge()

    def to_columns(self) -> Facts:
        """The facts in any order, some perhaps twice, with the numbers that their ids had."""
        added = self._list_added()
        return concatenate([self._merged, added]) if len(self._merged) else added

    def _merge(self) -> None:
        """Keep facts that were added several times once, so that memory holds no more than them."""
        self._merged = self.to_columns().to_canonical()
        self._main, self._pairs, self._lengths = array("q"), array("q"), array("q")
        self._most = max(MERGED_AT, 2 * len(self._merged))

    def _list_added(self) -> Facts:
        """The facts that were added since the last merge, in that order."""
        main = np.asarray(self._main, dtype=np.int64).reshape(-1, 3)
        pairs = np.asarray(self._pairs, dtype=np.int64).reshape(-1, 2)
        offset = offsets(np.asarray(self._lengths, dtype=np.int64))
        once = np.ones(len(main), dtype=np.int64)
        return Facts(main[:, 0], main[:, 1], main[:, 2], offset, pairs[:, 0], pairs[:, 1], once)


class DatasetBuilder:
    """Collects the facts of several splits over one vocabulary."""

    def __init__(self) -> None:
        self._entity, self._relation = Numbering(ENTITY), Numbering("relation")
        self._splits: dict[str, FactCollector] = {}

    def split(self, name: str) -> FactCollector:
        """The collector of a split's facts."""
        if name not in self._splits:
            self._splits[name] = FactCollector(self._entity, self._relation)
        return self._splits[name]

    def is_named(self, name: str) -> bool:
        """Whether a fact has named this id."""
        return name in self._entity or name in self._relation

    def finish(self) -> tuple[Vocabulary, dict[str, Facts]]:
        """The vocabulary, and the canonical facts of each split; no more can be added then."""
        entities, entity_numbers = self._entity.finish()
        relations, relation_numbers = self._relation.finish()
        facts = {}
        for name in list(self._splits):
            # Taken out, so that what was collected is not in memory while it is sorted.
            columns = self._splits.pop(name).to_columns()
            columns = columns.renumber(entity_numbers, relation_numbers)
            facts[name] = columns.to_canonical()
        return Vocabulary(entities, relations), facts
