"""One-hop queries about every slot of facts, made by array operations."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nqe.graph.arrays import Booleans, Integers
from nqe.graph.fact_columns import Facts, concatenate
from nqe.graph.graph import Graph
from nqe.graph.pattern import FIRST_QUALIFIER, Patterns
from nqe.graph.ragged import Ragged, offsets, ranges
from nqe.query.step_table import StepTable
from nqe.sampling.query_table import QueryTable
from nqe.sampling.query_table import concatenate as concatenate_tables

NAME = "1p"
MAX_ANY_ANSWERS = 1_000
"""The most answers of a training query with Any."""


def make_closed_queries(facts: Facts) -> QueryTable:
    """Return all closed one-hop queries that the facts answer, each once with all its answers."""
    return _closed(facts, np.zeros(len(facts), dtype=bool))


def make_link_queries(facts: Facts, graph: Graph) -> QueryTable:
    """Return the closed one-hop queries about some facts: link prediction as in the literature.

    The hard answers are the entities that the facts have in the asked slot. The easy answers are
    the other entities that complete the query to a fact of the graph.
    """
    both = concatenate([facts, graph.facts])
    table = _closed(both, np.arange(len(both)) < len(facts))
    return table.take(np.flatnonzero(table.hard.lengths))


def add_loose_answers(queries: QueryTable, graph: Graph) -> QueryTable:
    """Return the queries of `make_link_queries` with more easy answers, for the loose filter.

    They are the entities that complete the main triple to that of a fact, whatever qualifiers the
    fact has. If a qualifier's value is asked for, the fact has one of that attribute.
    """
    plans = queries.plans
    lengths = np.maximum(plans.asked + 1, FIRST_QUALIFIER)  # an asked value is the first one
    slots = ranges(plans.slot_start[:-1], lengths)
    attribute, filler = plans.attribute[slots], plans.filler[slots]
    start = offsets(lengths)
    last = start[1:] - 1
    key = [plans.relation, plans.asked, filler[start[:-1]], filler[start[:-1] + 1], attribute[last]]
    _, first, group = np.unique(key, axis=1, return_index=True, return_inverse=True)
    few = Ragged(start, np.arange(len(slots))).take(first)
    patterns = Patterns.without_sets(
        relation=plans.relation[first],
        closed=np.zeros(len(first), dtype=np.int64),
        asked=plans.asked[first],
        first_slot=few.offset,
        attribute=attribute[few.values],
        filler=filler[few.values],
    )
    found = graph.match_many(patterns)
    answers = Ragged.group(found.answer, found.answer_pattern, len(first)).take(group.ravel())
    return queries.with_easy(answers)


def draw_closed_queries(
    graph: Graph, count: int, rng: np.random.Generator
) -> tuple[QueryTable, Integers]:
    """Draw closed one-hop queries from random facts, with a random slot.

    Returns each query once with all its answers, and how often it was drawn. A query is drawn from
    each fact that answers it, so those with more answers are drawn more often.
    """
    facts = graph.facts.take(rng.integers(len(graph), size=count))
    asked = rng.integers(facts.qualifier_count + FIRST_QUALIFIER)
    rows, times = _Rows.of(facts, np.arange(count), asked).merge(graph.entity_count)
    found = graph.match_many(rows.patterns(closed=True))
    answers = np.bincount(found.answer_pattern, minlength=len(rows))
    return rows.table(Ragged(offsets(answers), found.answer), None, closed=True), times


def draw_open_queries(graph: Graph, count: int, rng: np.random.Generator) -> QueryTable:
    """Draw open one-hop queries from random facts, with a random slot and random qualifiers."""
    if not len(graph) or not count:
        return _closed(graph.facts.take(np.zeros(0, dtype=np.int64)), np.zeros(0, dtype=bool))
    facts = _drop_qualifiers(graph.facts.take(rng.integers(len(graph), size=count)), rng)
    arity = facts.qualifier_count + FIRST_QUALIFIER
    asked = rng.integers(arity)
    rows = _Rows.of(facts, np.arange(count), asked)
    found = graph.match_many(rows.patterns(closed=False))
    answers = np.bincount(found.answer_pattern, minlength=count)
    return rows.table(Ragged(offsets(answers), found.answer), None, closed=False)


def replace_by_any(table: QueryTable, graph: Graph, rng: np.random.Generator) -> QueryTable:
    """Return one-hop queries with Any in place of one random entity, and with all its answers.

    A query that would have more than `MAX_ANY_ANSWERS` answers stays as it is.
    """
    first, group = _group_without_qualifiers(table.plans)
    patterns = _free_one_slot(table.plans.take(first), rng)
    found = graph.match_many(patterns)
    answers = Ragged.group(found.answer, found.answer_pattern, len(first))
    few = answers.lengths[group] <= MAX_ANY_ANSWERS
    names = (NAME,) * len(first)
    changed = QueryTable.of(names, StepTable.of_patterns(patterns), answers, missing=1)
    return concatenate_tables([changed.take(group[few]), table.take(np.flatnonzero(~few))])


def _group_without_qualifiers(plans: StepTable) -> tuple[Integers, Integers]:
    """Return the first one-hop plan of each group, and the group of each plan.

    Without qualifiers, plans that differ in their entity alone are equal when Any replaces it.
    Such a query looks at all facts of a relation, so it should be matched only once.
    """
    bare = np.diff(plans.slot_start) == FIRST_QUALIFIER
    same = (plans.relation * 2 + plans.closed) * 2 + plans.asked
    key = np.where(bare, same, -1 - np.arange(len(plans)))
    _, first, group = np.unique(key, return_index=True, return_inverse=True)
    return first, group


def _free_one_slot(plans: StepTable, rng: np.random.Generator) -> Patterns:
    """Return the patterns of one-hop plans, each with one more free slot than the asked one."""
    place = rng.integers(np.diff(plans.slot_start) - 1)
    place += place >= plans.asked
    filler = plans.filler.copy()
    filler[plans.slot_start[:-1] + place] = -1
    return Patterns.without_sets(
        plans.relation, plans.closed, plans.asked, plans.slot_start, plans.attribute, filler
    )


def _drop_qualifiers(facts: Facts, rng: np.random.Generator) -> Facts:
    """Return the facts without some of their qualifiers, each dropped with probability 1/2."""
    keep = rng.random(len(facts.value)) < 0.5
    kept = np.bincount(facts.qualifier_fact[keep], minlength=len(facts))
    return Facts(
        facts.subject,
        facts.relation,
        facts.object,
        offsets(kept),
        facts.attribute[keep],
        facts.value[keep],
        facts.count,
    )


def _closed(facts: Facts, marked: Booleans) -> QueryTable:
    """Return the distinct closed queries of facts; answers from marked facts are hard."""
    arity = facts.qualifier_count + FIRST_QUALIFIER
    return concatenate_tables(
        _closed_of_slot(facts, np.flatnonzero(arity == size), marked, size, slot)
        for size in np.unique(arity).tolist()
        for slot in range(min(size, FIRST_QUALIFIER + 1))
    )


def _closed_of_slot(
    facts: Facts, chosen: Integers, marked: Booleans, size: int, slot: int
) -> QueryTable:
    """Return the queries of facts of one arity that ask for one kind of slot.

    A query is a fact without the entity in the asked slot. All facts that give the same query
    match it, and their entities in that slot are its answers.
    """
    values = range(slot, size) if slot == FIRST_QUALIFIER else (slot,)
    fact = np.tile(chosen, len(values))
    asked = np.repeat(np.array(values), len(chosen))
    rows = _Rows.of(facts, fact, asked)
    order = np.lexsort((rows.answer, *rows.key(size)))
    rows, mark = rows.take(order), marked[fact[order]]
    key = np.stack(rows.key(size))
    new_query = np.append(True, (np.diff(key, axis=1) != 0).any(0))
    new_answer = new_query | np.append(True, np.diff(rows.answer) != 0)
    query = np.cumsum(new_query) - 1
    first = np.flatnonzero(new_answer)
    hard = np.logical_or.reduceat(mark, first)
    answer, owner = rows.answer[first], query[first]
    count = int(query[-1]) + 1
    return rows.take(np.flatnonzero(new_query)).table(
        Ragged.group(answer[~hard], owner[~hard], count),
        Ragged.group(answer[hard], owner[hard], count),
        closed=True,
    )


@dataclass(frozen=True, eq=False)
class _Rows:
    """One fact per row, each with an asked slot; an asked value is the first of the qualifiers."""

    relation: Integers  # (rows,)
    asked: Integers  # (rows,) 0 subject, 1 object, 2 the first value
    answer: Integers  # (rows,) the entity in the asked slot
    filler: Ragged  # (slots,) -1 where asked
    attribute: Ragged  # (slots,) -1 for subject and object

    @classmethod
    def of(cls, facts: Facts, fact: Integers, asked: Integers) -> _Rows:
        """Build the rows of some facts, each with its asked slot."""
        lengths = facts.qualifier_count[fact] + FIRST_QUALIFIER
        start = offsets(lengths)
        place = ranges(np.zeros_like(lengths), lengths)
        # The asked qualifier moves to the front; those before it keep their order.
        moved = np.repeat(asked, lengths)
        source = np.where(
            (place > FIRST_QUALIFIER) & (place <= moved),
            place - 1,
            np.where((place == FIRST_QUALIFIER) & (moved > FIRST_QUALIFIER), moved, place),
        )
        owner = np.repeat(fact, lengths)
        pair = facts.offset[owner] + source - FIRST_QUALIFIER
        inside = np.where(source >= FIRST_QUALIFIER, pair, 0)
        # One element more, so that the look-up works without any qualifiers.
        value, kind = np.append(facts.value, -1)[inside], np.append(facts.attribute, -1)[inside]
        entity = np.select(
            [source == 0, source == 1], [facts.subject[owner], facts.object[owner]], value
        )
        attribute = np.where(source >= FIRST_QUALIFIER, kind, -1)
        asked = np.minimum(asked, FIRST_QUALIFIER)
        at = start[:-1] + asked
        answer = entity[at]
        entity[at] = -1
        return cls(
            facts.relation[fact], asked, answer, Ragged(start, entity), Ragged(start, attribute)
        )

    def __len__(self) -> int:
        return len(self.relation)

    def take(self, rows: Integers) -> _Rows:
        """Return the given rows."""
        return _Rows(
            self.relation[rows],
            self.asked[rows],
            self.answer[rows],
            self.filler.take(rows),
            self.attribute.take(rows),
        )

    def merge(self, entity_count: int) -> tuple[_Rows, Integers]:
        """Return the rows of different queries, and how many there are of each.

        Rows with qualifiers are left as they are: few of them give the same query.
        """
        bare = self.filler.lengths == FIRST_QUALIFIER
        entity = np.add.reduceat(self.filler.values, self.filler.offset[:-1]) + 1  # besides the -1
        query = (FIRST_QUALIFIER * self.relation + self.asked) * entity_count + entity
        key = np.where(bare, query, -1 - np.arange(len(self)))
        _, first, times = np.unique(key, return_index=True, return_counts=True)
        return self.take(first), times

    def key(self, size: int) -> list[Integers]:
        """Return columns that differ for different queries; all rows have `size` slots."""
        filler = self.filler.values.reshape(-1, size)
        attribute = self.attribute.values.reshape(-1, size)[:, FIRST_QUALIFIER:]
        return [self.relation, *filler.T, *attribute.T]

    def patterns(self, *, closed: bool) -> Patterns:
        """Return the rows as patterns."""
        return Patterns.without_sets(
            relation=self.relation,
            closed=np.full(len(self), closed, dtype=np.int64),
            asked=self.asked,
            first_slot=self.filler.offset,
            attribute=self.attribute.values,
            filler=self.filler.values,
        )

    def table(self, easy: Ragged, hard: Ragged | None, *, closed: bool) -> QueryTable:
        """Return the rows as queries with the given answers."""
        plans = StepTable.of_patterns(self.patterns(closed=closed))
        return QueryTable.of((NAME,) * len(self), plans, easy, hard, missing=1)
