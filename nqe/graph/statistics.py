"""Statistics of a data set: counts of facts, arities, qualifiers, relations and degrees."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nqe.graph.arrays import Integers
from nqe.graph.dataset import Dataset
from nqe.graph.fact_columns import Facts
from nqe.graph.leakage import Leakage, Twins, find_twins, measure_leakage
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
    """How many statements of the source repeat an earlier one."""


@dataclass(frozen=True)
class Frequency:
    """How often a name is used."""

    id: str
    label: str | None
    count: int


@dataclass(frozen=True)
class Degrees:
    """How many slots of facts an entity is in."""

    mean: float
    median: float
    most: tuple[Frequency, ...]


@dataclass(frozen=True)
class Statistics:
    """Everything that `nqe stats` shows; a fact in several splits counts once in the totals."""

    fingerprint: str
    facts: int
    entities: int
    relations: int
    labelled_entities: int
    labelled_relations: int
    literals: dict[str, int]
    """How many entities are times, numbers and texts; empty if none is."""
    with_qualifiers: int
    qualifiers: int
    splits: tuple[SplitStatistics, ...]
    arities: dict[int, int]
    main_relations: tuple[Frequency, ...]
    attributes: tuple[Frequency, ...]
    degrees: Degrees
    leakage: tuple[Leakage, ...]
    twins: tuple[Twins, ...]


def compute_statistics(dataset: Dataset, top: int = 10) -> Statistics:
    """The statistics of a data set, with the `top` most frequent names in each list."""
    facts, names = dataset.graph.facts, dataset.vocabulary
    arities, counts = np.unique(facts.qualifier_count + 2, return_counts=True)
    return Statistics(
        fingerprint=dataset.fingerprint,
        facts=len(facts),
        entities=len(names.entities),
        relations=len(names.relations),
        labelled_entities=sum(label is not None for label in names.entities.labels),
        labelled_relations=sum(label is not None for label in names.relations.labels),
        literals=names.entities.literals.count() if names.entities.literals else {},
        with_qualifiers=int((facts.qualifier_count > 0).sum()),
        qualifiers=len(facts.value),
        splits=tuple(_count_split(name, columns) for name, columns in dataset.splits.items()),
        arities=dict(zip(arities.tolist(), counts.tolist(), strict=True)),
        main_relations=_find_most_frequent(facts.relation, names.relations, top),
        attributes=_find_most_frequent(facts.attribute, names.relations, top),
        degrees=_compute_degrees(facts, names.entities, top),
        leakage=measure_leakage(dataset),
        twins=find_twins(dataset)[:top],
    )


def _count_split(name: str, facts: Facts) -> SplitStatistics:
    return SplitStatistics(
        split=name,
        facts=len(facts),
        with_qualifiers=int((facts.qualifier_count > 0).sum()),
        qualifiers=len(facts.value),
        entities=len(np.unique(_list_entities(facts))),
        relations=len(np.unique(np.concatenate([facts.relation, facts.attribute]))),
        stated_again=int(facts.count.sum()) - len(facts),
    )


def _compute_degrees(facts: Facts, entities: Names, top: int) -> Degrees:
    degrees = np.bincount(_list_entities(facts), minlength=len(entities))
    averages = (float(degrees.mean()), float(np.median(degrees))) if len(degrees) else (0.0, 0.0)
    return Degrees(*averages, _find_most_frequent(_list_entities(facts), entities, top))


def _list_entities(facts: Facts) -> Integers:
    return np.concatenate([facts.subject, facts.object, facts.value])


def _find_most_frequent(numbers: Integers, names: Names, top: int) -> tuple[Frequency, ...]:
    counts = np.bincount(numbers, minlength=len(names))
    order = np.argsort(-counts, kind="stable")[:top].tolist()
    return tuple(
        Frequency(names.ids[n], names.labels[n], int(counts[n])) for n in order if counts[n]
    )
