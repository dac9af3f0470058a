"""Facts added to a data set after it was saved: as a split of their own, or folded into train."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from nqe.graph.arrays import Integers
from nqe.graph.dataset import Dataset
from nqe.graph.fact import Fact
from nqe.graph.fact_columns import Facts, concatenate
from nqe.graph.literal_columns import LiteralColumns
from nqe.graph.ragged import offsets
from nqe.graph.splits import ADDED
from nqe.graph.vocabulary import Names, Vocabulary


def add_facts(dataset: Dataset, facts: Sequence[Fact]) -> Dataset:
    """The data set with more facts, in a split that is always known; new names come last."""
    names = dataset.vocabulary
    vocabulary = Vocabulary(
        _extend(names.entities, (name for fact in facts for name in _list_entities(fact))),
        _extend(names.relations, (name for fact in facts for name in _list_relations(fact))),
    )
    return Dataset(vocabulary, {**dataset.splits, ADDED: _to_columns(facts, vocabulary)})


def fold_added(dataset: Dataset) -> Dataset:
    """The data set with the added facts in its train split, and all names in order again."""
    entities, entity_numbers = _sort(dataset.vocabulary.entities)
    relations, relation_numbers = _sort(dataset.vocabulary.relations)
    tables = dict(dataset.splits)
    added = tables.pop(ADDED, Facts.empty())
    tables["train"] = concatenate([tables.get("train", Facts.empty()), added])
    folded = {
        name: facts.renumber(entity_numbers, relation_numbers).to_canonical()
        for name, facts in tables.items()
    }
    return Dataset(Vocabulary(entities, relations), folded)


def _list_entities(fact: Fact) -> tuple[str, ...]:
    return (fact.subject, fact.object, *(value for _, value in fact.qualifiers))


def _list_relations(fact: Fact) -> tuple[str, ...]:
    return (fact.relation, *(attribute for attribute, _ in fact.qualifiers))


def _extend(names: Names, wanted: Iterable[str]) -> Names:
    """The names with those that are new after the others."""
    new = list(dict.fromkeys(name for name in wanted if names.number(name) is None))
    if not new:
        return names
    more = Names.of(names.kind, new)
    literals = names.literals
    if literals is not None or more.literals is not None:
        literals = _join_literals(names, more)
    return replace(
        names,
        ids=[*names.ids, *new],
        labels=[*names.labels, *more.labels],
        descriptions=[*names.descriptions, *more.descriptions],
        literals=literals,
    )


def _join_literals(names: Names, more: Names) -> LiteralColumns:
    both = [one.literals or LiteralColumns.empty(len(one)) for one in (names, more)]
    return LiteralColumns(
        *(
            np.concatenate([getattr(one, column) for one in both])
            for column in ("kind", "value", "until")
        )
    )


def _to_columns(facts: Sequence[Fact], vocabulary: Vocabulary) -> Facts:
    entity = {name: _number(vocabulary.entities, name) for f in facts for name in _list_entities(f)}
    relation = {
        name: _number(vocabulary.relations, name) for f in facts for name in _list_relations(f)
    }
    pairs = [(relation[a], entity[value]) for fact in facts for a, value in fact.qualifiers]
    columns = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return Facts(
        np.array([entity[fact.subject] for fact in facts], dtype=np.int64),
        np.array([relation[fact.relation] for fact in facts], dtype=np.int64),
        np.array([entity[fact.object] for fact in facts], dtype=np.int64),
        offsets(np.array([len(fact.qualifiers) for fact in facts], dtype=np.int64)),
        columns[:, 0],
        columns[:, 1],
        np.ones(len(facts), dtype=np.int64),
    ).to_canonical()


def _number(names: Names, name: str) -> int:
    number = names.number(name)
    assert number is not None, "the names were extended by those of the facts"
    return number


def _sort(names: Names) -> tuple[Names, Integers]:
    """The names in the order of their ids, and the new number of each old number."""
    order = sorted(range(len(names)), key=names.ids.__getitem__)
    new_numbers = np.empty(len(order), dtype=np.int64)
    new_numbers[order] = np.arange(len(order))
    aliases = {int(new_numbers[old]): texts for old, texts in names.aliases.items()}
    literals = names.literals
    if literals is not None:
        literals = LiteralColumns(
            literals.kind[order], literals.value[order], literals.until[order]
        )
    sorted_names = Names(
        names.kind,
        [names.ids[old] for old in order],
        [names.labels[old] for old in order],
        [names.descriptions[old] for old in order],
        dict(sorted(aliases.items())),
        literals,
    )
    return sorted_names, new_numbers
