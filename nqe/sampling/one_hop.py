"""One-hop queries of every slot, made from facts by array operations."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nqe.graph.arrays import Booleans, Integers
from nqe.graph.fact_columns import Facts, concatenate
from nqe.graph.graph import Graph
from nqe.graph.match_many import match
from nqe.graph.pattern import FIRST_QUALIFIER, Patterns
from nqe.graph.ragged import Ragged, offsets, ranges
from nqe.query.step_table import StepTable
from nqe.sampling.query_table import QueryTable
from nqe.sampling.query_table import concatenate as concatenate_tables

NAME = "1p"


def closed_queries(facts: Facts) -> QueryTable:
    """The distinct closed queries whose answers the facts give, each with all its answers."""
    return _closed(facts, np.zeros(len(facts), dtype=bool))


def link_queries(facts: Facts, graph: Graph) -> QueryTable:
    """The closed queries of some facts: link prediction as the field does it.

    Hard answers are the entities that the facts have in the slot asked for; easy are the others
    that complete the query to a fact of the graph.
    """
    both = concatenate([facts, graph.facts])
    table = _closed(both, np.arange(len(both)) < len(facts))
    return table.take(np.flatnonzero(table.hard.lengths))


def open_queries(graph: Graph, count: int, rng: np.random.Generator) -> QueryTable:
    """Open queries from facts drawn evenly: any slot asked for, qualifiers left out at random."""
    if not len(graph) or not count:
        return _closed(graph.facts.take(np.zeros(0, dtype=np.int64)), np.zeros(0, dtype=bool))
    facts = _thinned(graph.facts.take(rng.integers(len(graph), size=count)), rng)
    arity = facts.qualifier_count + FIRST_QUALIFIER
    asked = rng.integers(arity)
    rows = _Rows.of(facts, np.arange(count), asked)
    found = match(graph.index, rows.patterns(closed=False), None)
    answers = np.bincount(found.answer_pattern, minlength=count)
    return rows.table(Ragged(offsets(answers), found.answer), None, closed=False)


def _thinned(facts: Facts, rng: np.random.Generator) -> Facts:
    """Each fact with each of its qualifiers kept or left out by chance."""
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
    """The distinct closed queries of facts; answers from marked facts are hard."""
    arity = facts.qualifier_count + FIRST_QUALIFIER
    return concatenate_tables(
        _closed_of_slot(facts, np.flatnonzero(arity == size), marked, size, slot)
        for size in np.unique(arity).tolist()
        for slot in range(min(size, FIRST_QUALIFIER + 1))
    )


def _closed_of_slot(
    facts: Facts, chosen: Integers, marked: Booleans, size: int, slot: int
) -> QueryTable:
    """The queries of facts of one arity that ask for one kind of slot.

    A query is what is left of a fact without the asked entity; facts that leave the same are its
    matches, so their entities there are all its answers.
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
    """Facts with a slot asked for, a row each; an asked value comes first of the qualifiers."""

    relation: Integers  # (rows,)
    asked: Integers  # (rows,) 0 subject, 1 object, 2 the first value
    answer: Integers  # (rows,) what the fact has there
    filler: Ragged  # (slots,) -1 where asked
    attribute: Ragged  # (slots,) -1 for subject and object

    @classmethod
    def of(cls, facts: Facts, fact: Integers, asked: Integers) -> _Rows:
        """Rows of these facts, each with a slot asked for."""
        lengths = facts.qualifier_count[fact] + FIRST_QUALIFIER
        start = offsets(lengths)
        place = ranges(np.zeros_like(lengths), lengths)
        # The asked qualifier changes places with those before it, which keep their order.
        moved = np.repeat(asked, lengths)
        source = np.where(
            (place > FIRST_QUALIFIER) & (place <= moved),
            place - 1,
            np.where((place == FIRST_QUALIFIER) & (moved > FIRST_QUALIFIER), moved, place),
        )
        owner = np.repeat(fact, lengths)
        pair = facts.offset[owner] + source - FIRST_QUALIFIER
        inside = np.where(source >= FIRST_QUALIFIER, pair, 0)
        # One more at the end, so that there is something to look up without any qualifiers.
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
        """These rows."""
        return _Rows(
            self.relation[rows],
            self.asked[rows],
            self.answer[rows],
            self.filler.take(rows),
            self.attribute.take(rows),
        )

    def key(self, size: int) -> list[Integers]:
        """What tells queries apart, as columns; all rows have so many slots."""
        filler = self.filler.values.reshape(-1, size)
        attribute = self.attribute.values.reshape(-1, size)[:, FIRST_QUALIFIER:]
        return [self.relation, *filler.T, *attribute.T]

    def patterns(self, *, closed: bool) -> Patterns:
        """The rows as patterns."""
        return Patterns.without_sets(
            relation=self.relation,
            closed=np.full(len(self), closed, dtype=np.int64),
            asked=self.asked,
            first_slot=self.filler.offset,
            attribute=self.attribute.values,
            filler=self.filler.values,
        )

    def table(self, easy: Ragged, hard: Ragged | None, *, closed: bool) -> QueryTable:
        """The rows as queries with the given answers."""
        plans = StepTable.of_patterns(self.patterns(closed=closed))
        return QueryTable.of((NAME,) * len(self), plans, easy, hard, missing=1)
