"""Numbers about a data set: how much there is of what."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nqe.graph.arrays import Integers
from nqe.graph.dataset import Dataset
from nqe.graph.fact_columns import Facts
from nqe.graph.vocabulary import Names


@dataclass(frozen=True)
class SplitStatistics:
    """Counts of one split."""

    split: str
    facts: int
    with_qualifiers: int
    qualifiers: int
    entities: int
    relations: int
    stated_again: int
    """How many more times its facts are stated in the source than once."""


@dataclass(frozen=True)
class Frequency:
    """How often a name is used."""

    id: str
    label: str | None
    count: int


@dataclass(frozen=True)
class Degrees:
    """In how many places of facts an entity stands."""

    mean: float
    median: float
    most: tuple[Frequency, ...]


@dataclass(frozen=True)
class Statistics:
    """Everything `nqe stats` shows; facts in several splits count once in the totals."""

    fingerprint: str
    facts: int
    entities: int
    relations: int
    labelled_entities: int
    labelled_relations: int
    with_qualifiers: int
    qualifiers: int
    splits: tuple[SplitStatistics, ...]
    arities: dict[int, int]
    main_relations: tuple[Frequency, ...]
    attributes: tuple[Frequency, ...]
    degrees: Degrees


def statistics(dataset: Dataset, top: int = 10) -> Statistics:
    """Count; `top` is the length of the lists of most frequent names."""
    facts, names = dataset.graph.facts, dataset.vocabulary
    arities, counts = np.unique(facts.qualifier_count + 2, return_counts=True)
    return Statistics(
        fingerprint=dataset.fingerprint,
        facts=len(facts),
        entities=len(names.entities),
        relations=len(names.relations),
        labelled_entities=sum(label is not None for label in names.entities.labels),
        labelled_relations=sum(label is not None for label in names.relations.labels),
        with_qualifiers=int((facts.qualifier_count > 0).sum()),
        qualifiers=len(facts.value),
        splits=tuple(_split(name, columns) for name, columns in dataset.splits.items()),
        arities=dict(zip(arities.tolist(), counts.tolist(), strict=True)),
        main_relations=_most(facts.relation, names.relations, top),
        attributes=_most(facts.attribute, names.relations, top),
        degrees=_degrees(facts, names.entities, top),
    )


def _split(name: str, facts: Facts) -> SplitStatistics:
    return SplitStatistics(
        split=name,
        facts=len(facts),
        with_qualifiers=int((facts.qualifier_count > 0).sum()),
        qualifiers=len(facts.value),
        entities=len(np.unique(_entities(facts))),
        relations=len(np.unique(np.concatenate([facts.relation, facts.attribute]))),
        stated_again=int(facts.count.sum()) - len(facts),
    )


def _degrees(facts: Facts, entities: Names, top: int) -> Degrees:
    degrees = np.bincount(_entities(facts), minlength=len(entities))
    middle = (float(degrees.mean()), float(np.median(degrees))) if len(degrees) else (0.0, 0.0)
    return Degrees(*middle, _most(_entities(facts), entities, top))


def _entities(facts: Facts) -> Integers:
    return np.concatenate([facts.subject, facts.object, facts.value])


def _most(numbers: Integers, names: Names, top: int) -> tuple[Frequency, ...]:
    counts = np.bincount(numbers, minlength=len(names))
    order = np.argsort(-counts, kind="stable")[:top].tolist()
    return tuple(
        Frequency(names.ids[n], names.labels[n], int(counts[n])) for n in order if counts[n]
    )
