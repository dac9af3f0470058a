"""Rules with the names that they speak of, for any graph that has these names."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from nqe.errors import NqeError
from nqe.graph.arrays import Integers
from nqe.graph.graph import Graph
from nqe.graph.pattern import FIRST_QUALIFIER
from nqe.graph.vocabulary import Names, Vocabulary
from nqe.rules import storage
from nqe.rules.edges import EdgeKinds, Edges, to_keys
from nqe.rules.firing import RuleBook
from nqe.rules.rule_table import COLUMNS, RuleTable
from nqe.rules.rule_text import RuleText, describe_rule


@dataclass(frozen=True)
class MinedFrom:
    """The facts that rules were mined from."""

    fingerprint: str | None
    """The fingerprint of their data set; None if a graph was given alone."""
    facts: str
    """The splits: train, or train,valid, or all."""
    fact_count: int


@dataclass(frozen=True, eq=False)
class Rules:
    """Rules in the numbers of a vocabulary of their own, which holds only names that they use.

    `nqe.mine_rules` finds them, `save` and `load` keep them in a folder.
    """

    table: RuleTable
    vocabulary: Vocabulary
    mined_from: MinedFrom

    @classmethod
    def of(cls, table: RuleTable, vocabulary: Vocabulary, mined_from: MinedFrom) -> Rules:
        """Rules in the numbers of a graph's vocabulary, of which the names that occur are kept."""
        entities = np.concatenate([table.constant, table.answer])
        roles = np.concatenate([table.kinds.source, table.kinds.target]) - FIRST_QUALIFIER
        relations = np.concatenate([table.kinds.relation, roles])
        entity_names, entity = _keep_used(vocabulary.entities, entities)
        relation_names, relation = _keep_used(vocabulary.relations, relations)
        moved = _renumber(table, relation, len(relation_names), entity)
        return cls(moved.sort(), Vocabulary(entity_names, relation_names), mined_from)

    def __len__(self) -> int:
        return len(self.table)

    def __repr__(self) -> str:
        mined = self.mined_from
        return f"<Rules: {len(self):,}, mined from {mined.fact_count:,} facts ({mined.facts})>"

    def __eq__(self, other: object) -> bool:
        """Whether both are the same rules with the same counts, wherever they were mined."""
        if not isinstance(other, Rules):
            return NotImplemented
        return self.digest == other.digest

    __hash__ = None  # type: ignore[assignment]

    @cached_property
    def digest(self) -> str:
        """A hash that is equal exactly for equal rules with equal counts; labels do not count."""
        digest = sha256()
        for names in (self.vocabulary.entities, self.vocabulary.relations):
            digest.update(f"{names.kind} {len(names)}\n".encode())
            digest.update("\n".join(names.ids).encode())
        kinds = self.table.kinds
        columns = (kinds.keys, *(getattr(self.table, name) for name in COLUMNS))
        for column in columns:
            digest.update(f"\n{column.shape}\n".encode())
            digest.update(np.ascontiguousarray(column, dtype="<i8").data)
        return digest.hexdigest()[:32]

    def find(
        self,
        relation: int | str | None = None,
        *,
        least_support: int = 0,
        least_confidence: float = 0.0,
    ) -> Integers:
        """The rows of the rules that predict facts of a relation, the likeliest first.

        `relation` is a number of the rules' own vocabulary, an id or a label; None means all.
        """
        table = self.table
        chosen = (table.support >= least_support) & (table.confidence >= least_confidence)
        if relation is not None:
            number = self.vocabulary.relations.to_number(relation)
            chosen &= table.kinds.relation[table.head] == number
        rows = np.flatnonzero(chosen)
        order = np.lexsort((rows, -table.support[rows], -table.confidence[rows]))
        found: Integers = rows[order]
        return found

    def describe(self, row: int) -> RuleText:
        """One of the rules as text, in labels."""
        return describe_rule(self.table, row, self.vocabulary)

    def to_table(self, vocabulary: Vocabulary) -> RuleTable:
        """The rules in the numbers of another vocabulary, in the same order.

        Rules with entities that it lacks are left out. One that lacks a relation is an error.
        """
        own = self.vocabulary
        relation = _find_numbers(own.relations, vocabulary.relations)
        if (relation < 0).any():
            lacking = int((relation < 0).argmax())
            raise NqeError(
                f"the graph lacks {int((relation < 0).sum()):,} of the {len(relation):,} relations "
                f"of the rules, such as '{own.relations.ids[lacking]}'; give the graph that the "
                "rules were mined from, or one with more facts, or mine rules from this one"
            )
        entity = np.append(_find_numbers(own.entities, vocabulary.entities), -1)
        table = self.table
        missing = [
            (column >= 0) & (entity[column] < 0) for column in (table.constant, table.answer)
        ]
        kept = np.flatnonzero(~(missing[0] | missing[1]))
        return _renumber(table.take(kept), relation, len(vocabulary.relations), entity)

    def to_book(self, graph: Graph) -> RuleBook:
        """The rules over the facts of a graph, which may have other facts and more names."""
        edges = Edges.of(graph.facts, graph.entity_count, graph.relation_count)
        return RuleBook(self.to_table(graph.vocabulary), edges)

    def save(self, folder: str | Path) -> None:
        """Write a folder of Parquet files; an older one stays until the new one is complete."""
        storage.save(Path(folder), self.table, self.vocabulary, vars(self.mined_from))

    @classmethod
    def load(cls, folder: str | Path) -> Rules:
        """Read a folder that `save` wrote."""
        table, vocabulary, mined_from = storage.load(Path(folder))
        return cls(table, vocabulary, MinedFrom(**mined_from))


def load_rules(folder: str | Path) -> Rules:
    """Read rules that `Rules.save` or `nqe rules -o` wrote."""
    return Rules.load(folder)


def _keep_used(names: Names, numbers: Integers) -> tuple[Names, Integers]:
    """The names that occur, in the order of their ids; and the new number of each name, or -1."""
    used = np.unique(numbers[numbers >= 0])
    used = used[np.argsort(names.id_order[used])]
    number = np.full(len(names) + 1, -1)  # one more, so that -1 stays -1
    number[used] = np.arange(len(used))
    ids, labels = ([column[one] for one in used.tolist()] for column in (names.ids, names.labels))
    return storage.make_names(names.kind, ids, labels), number


def _find_numbers(names: Names, others: Names) -> Integers:
    """The number of each name among others, or -1."""
    found = (others.number(name) for name in names.ids)
    return np.fromiter((-1 if one is None else one for one in found), np.int64, len(names))


def _renumber(
    table: RuleTable, relation: Integers, relation_count: int, entity: Integers
) -> RuleTable:
    """The same rules with relation r renamed to relation[r], and entities likewise."""
    kinds, role_count = table.kinds, relation_count + FIRST_QUALIFIER

    def rename(role: Integers) -> Integers:
        attribute = np.maximum(role - FIRST_QUALIFIER, 0)
        return np.where(role < FIRST_QUALIFIER, role, relation[attribute] + FIRST_QUALIFIER)

    source, target = rename(kinds.source), rename(kinds.target)
    keys = to_keys(relation[kinds.relation], source, target, role_count)
    order = np.argsort(keys)
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    renamed: dict[str, Any] = {
        name: entity[getattr(table, name)] for name in ("constant", "answer")
    }
    moved = table.with_kinds(EdgeKinds.of_keys(keys[order], role_count), place)
    return replace(moved, **renamed)
