"""Leakage: held-out facts that earlier splits state too, or from which they follow at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nqe.graph.arrays import Booleans, Integers
from nqe.graph.dataset import Dataset
from nqe.graph.fact_columns import Facts
from nqe.graph.ragged import ranges

TWIN = 0.8
"""Two relations are twins if they share this part of the pairs of each of them."""
FEWEST = 5
"""Twins share at least this many pairs of entities."""
MOST_RELATIONS = 100
"""Pairs of entities with more relations than this are not compared; there are hardly any."""


@dataclass(frozen=True)
class Twins:
    """Two relations between nearly the same pairs of entities."""

    relation: str
    other: str
    inverse: bool
    """Whether subject and object change places; a relation may be its own inverse."""
    pairs: int


@dataclass(frozen=True)
class Leakage:
    """How many facts of a split are not new; each is counted once, for the first reason here."""

    split: str
    facts: int
    repeated: int
    """Facts that stand in an earlier split too."""
    other_qualifiers: int
    """Facts whose main triple an earlier split has with other qualifiers."""
    duplicate: int
    """Facts that an earlier split has with a twin of their relation."""
    inverse: int
    """Facts that an earlier split has the other way round, with an inverse of their relation."""

    @property
    def total(self) -> int:
        """All facts that are not new."""
        return self.repeated + self.other_qualifiers + self.duplicate + self.inverse


def measure_leakage(dataset: Dataset) -> tuple[Leakage, ...]:
    """What is not new in valid and test; the earlier splits of test are train and valid."""
    held_out = [
        name for name in dataset.splits if name not in dataset.known_splits(name).split(",")
    ]
    held_out = [name for name in held_out if dataset.known_splits(name) != "none"]
    if not held_out:
        return ()
    twins = _find_twins(dataset)
    codes = {inverse: np.array([code for code, _ in twins[inverse]]) for inverse in (False, True)}
    return tuple(_measure_split(dataset, name, codes) for name in held_out)


def find_twins(dataset: Dataset) -> tuple[Twins, ...]:
    """The duplicate and inverse relations of a data set, those with the most pairs first."""
    ids, count = dataset.vocabulary.relations.ids, len(dataset.vocabulary.relations)
    found = [
        Twins(ids[code // count], ids[code % count], inverse, pairs)
        for inverse, twins in _find_twins(dataset).items()
        for code, pairs in twins
        if code // count <= code % count  # the other direction says the same
    ]
    return tuple(sorted(found, key=lambda twins: -twins.pairs))


def _measure_split(dataset: Dataset, name: str, codes: dict[bool, Integers]) -> Leakage:
    size, known = len(dataset.splits[name]), dataset.known_for(name).facts
    new = dataset.held_out(name)
    counts = [size - len(new)]
    triples = _Triples.of([known], len(dataset.vocabulary.entities))
    relation_count = len(dataset.vocabulary.relations)
    same = np.arange(relation_count) * (relation_count + 1)
    for wanted, inverse in ((same, False), (codes[False], False), (codes[True], True)):
        follows = triples.imply(new, wanted, relation_count, inverse=inverse)
        counts.append(int(follows.sum()))
        new = new.take(np.flatnonzero(~follows))
    return Leakage(name, size, *counts)


@dataclass(frozen=True, eq=False)
class _Triples:
    """The distinct main triples of facts, sorted by the pair of their entities."""

    pair: Integers  # (triples,) subject * entity_count + object
    relation: Integers  # (triples,)
    entity_count: int

    @classmethod
    def of(cls, tables: Sequence[Facts], entity_count: int) -> _Triples:
        pair = np.concatenate([facts.subject * entity_count + facts.object for facts in tables])
        relation = np.concatenate([facts.relation for facts in tables])
        order = np.lexsort((relation, pair))
        pair, relation = pair[order], relation[order]
        new = np.ones(len(pair), dtype=bool)
        new[1:] = (np.diff(pair) != 0) | (np.diff(relation) != 0)
        return cls(pair[new], relation[new], entity_count)

    def join(self, pair: Integers) -> tuple[Integers, Integers]:
        """For each of the given pairs, the triples of that pair: two columns of numbers."""
        start = np.searchsorted(self.pair, pair, side="left")
        length = np.searchsorted(self.pair, pair, side="right") - start
        length[length > MOST_RELATIONS] = 0
        return np.repeat(np.arange(len(pair)), length), ranges(start, length)

    def turn(self, pair: Integers) -> Integers:
        """The pairs with subject and object changed; -1 where both are the same entity."""
        subject, object_ = pair // self.entity_count, pair % self.entity_count
        return np.where(subject == object_, -1, object_ * self.entity_count + subject)

    def imply(
        self, facts: Facts, codes: Integers, relation_count: int, *, inverse: bool
    ) -> Booleans:
        """Whether a triple has the entities of a fact, and a relation that is a twin of its own."""
        pair = facts.subject * self.entity_count + facts.object
        fact, triple = self.join(self.turn(pair) if inverse else pair)
        code = facts.relation[fact] * relation_count + self.relation[triple]
        follows = np.zeros(len(facts), dtype=bool)
        follows[fact[np.isin(code, codes)]] = True
        return follows


def _find_twins(dataset: Dataset) -> dict[bool, list[tuple[int, int]]]:
    """Duplicate relations under False, inverse ones under True, with the pairs that they share.

    Two relations are written as one number: relation * relation_count + other.
    """
    triples = _Triples.of(list(dataset.splits.values()), len(dataset.vocabulary.entities))
    count = len(dataset.vocabulary.relations)
    return {inverse: _count_twins(triples, count, inverse=inverse) for inverse in (False, True)}


def _count_twins(triples: _Triples, count: int, *, inverse: bool) -> list[tuple[int, int]]:
    left, right = triples.join(triples.turn(triples.pair) if inverse else triples.pair)
    one, other = triples.relation[left], triples.relation[right]
    chosen = slice(None) if inverse else one != other
    codes, shared = np.unique((one * count + other)[chosen], return_counts=True)
    sizes = np.bincount(triples.relation, minlength=count)
    enough = TWIN * np.maximum(sizes[codes // count], sizes[codes % count])
    twins = (shared >= enough) & (shared >= FEWEST)
    return list(zip(codes[twins].tolist(), shared[twins].tolist(), strict=True))
