"""Fire rules: from the known entities of patterns to the entities that rules predict."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from nqe.graph.arrays import Integers
from nqe.graph.pattern import FIRST_QUALIFIER, Kind, Patterns
from nqe.graph.ragged import ranges
from nqe.rules.constant_rules import MOST_EDGES
from nqe.rules.constant_rules import MOST_TARGETS as MOST_CONSTANTS
from nqe.rules.edges import EdgeKinds, Edges, find_sorted
from nqe.rules.rule_table import RuleTable
from nqe.rules.walks import LONGEST, MOST_TARGETS, Walks, extend

ANCHORS = 512
"""Rules are fired for this many known entities at once."""


@dataclass(frozen=True, eq=False)
class Anchors:
    """The known entities of patterns, with the kind of edge that leads to the asked slot."""

    pattern: Integers  # (anchors,)
    entity: Integers  # (anchors,)
    head: Integers  # (anchors,) a kind of edges

    @classmethod
    def of(cls, patterns: Patterns, kinds: EdgeKinds) -> Anchors:
        """The known slots of which facts have such an edge."""
        owner = np.repeat(np.arange(len(patterns)), np.diff(patterns.first_slot))
        place = np.arange(len(owner)) - patterns.first_slot[owner]
        role = np.where(place < FIRST_QUALIFIER, place, patterns.attribute + FIRST_QUALIFIER)
        asked = role[patterns.first_slot[:-1] + patterns.asked]
        head = kinds.find(patterns.relation[owner], role, asked[owner])
        is_known = (patterns.kind == Kind.KNOWN) & (place != patterns.asked[owner])
        rows = np.flatnonzero(is_known & (head >= 0))
        return cls(owner[rows], patterns.filler[rows], head[rows])

    def __len__(self) -> int:
        return len(self.pattern)

    def split(self) -> Iterator[Anchors]:
        """The anchors in parts."""
        for first in range(0, len(self), ANCHORS):
            part = slice(first, first + ANCHORS)
            yield Anchors(self.pattern[part], self.entity[part], self.head[part])


@dataclass(frozen=True, eq=False)
class Fired:
    """Rules that predict entities for patterns, each once per anchor, with one walk as example."""

    pattern: Integers  # (fired,)
    entity: Integers  # (fired,) the predicted entity
    rule: Integers  # (fired,) a row of the rule table
    edges: Integers  # (fired, 3) the edges of the body, -1 after the last

    def __len__(self) -> int:
        return len(self.rule)

    def take(self, rows: Integers) -> Fired:
        """Some of them."""
        return Fired(self.pattern[rows], self.entity[rows], self.rule[rows], self.edges[rows])


class RuleBook:
    """Rules over the edges of a graph, arranged so that those that fire are found quickly."""

    def __init__(self, rules: RuleTable, edges: Edges) -> None:
        kinds = edges.kinds
        place = kinds.find(rules.kinds.relation, rules.kinds.source, rules.kinds.target)
        moved = rules.with_kinds(kinds, place)
        # A rule with a kind of edge that the graph lacks cannot fire.
        can_fire = (moved.head >= 0) & ((moved.body >= 0) == (rules.body >= 0)).all(1)
        self.rows = np.flatnonzero(can_fire)
        self.rules, self.edges = moved.take(self.rows), edges
        self._tries = [_Trie(self.rules, length, len(kinds)) for length in range(1, LONGEST + 1)]

    def fire(self, patterns: Patterns, without: Integers | None = None) -> Fired:
        """Fire all rules for patterns whose slots hold entities or are free.

        Facts whose rows are in `without` are not used.
        """
        anchors = Anchors.of(patterns, self.edges.kinds)
        parts = [self._fire(part, without) for part in anchors.split()]
        return _concatenate([_EMPTY, *parts])

    def _fire(self, anchors: Anchors, without: Integers | None) -> Fired:
        walked = [self._walk(anchors, trie, without) for trie in self._tries]
        found = _concatenate([*walked, self._fire_constants(anchors, without)])
        single = self._fire_answers(anchors)
        return _concatenate([found, single])

    def _walk(self, anchors: Anchors, trie: _Trie, without: Integers | None) -> Fired:
        """Follow the bodies of one length from all anchors together."""
        edges, walks = self.edges, Walks.begin(anchors.entity)
        state = anchors.head
        for level in range(trie.length):
            now = state

            def choose(
                owner: Integers, group: Integers
            ) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
                return trie.step(level, now[owner], edges.group_kind[group]) >= 0  # noqa: B023

            walks = extend(edges, walks, MOST_TARGETS[trie.length], choose)
            if without is not None and len(without):
                walks = walks.take(~np.isin(edges.fact[walks.edges[:, -1]], without))
            state = anchors.head[walks.start]
            for before in range(level + 1):
                state = trie.step(before, state, edges.kind[walks.edges[:, before]])
        return self._keep_distinct(anchors, walks.start, walks.end, trie.rule[state], walks.edges)

    def _keep_distinct(
        self, anchors: Anchors, start: Integers, end: Integers, rule: Integers, edges: Integers
    ) -> Fired:
        """Each rule once per anchor and predicted entity."""
        key = (start * max(len(self.rules), 1) + rule) * self.edges.entity_count + end
        _, first = np.unique(key, return_index=True)
        padded = np.pad(edges[first], ((0, 0), (0, LONGEST - edges.shape[1])), constant_values=-1)
        return Fired(anchors.pattern[start[first]], end[first], rule[first], padded)

    def _fire_constants(self, anchors: Anchors, without: Integers | None) -> Fired:
        edges, (keys, rules) = self.edges, self._constants
        first, last = (edges.first_group[anchors.entity + more] for more in (0, 1))
        group, owner = ranges(first, last - first), np.repeat(np.arange(len(first)), last - first)
        few = edges.group_size[group] <= MOST_CONSTANTS
        group, owner = group[few], owner[few]
        degree = np.bincount(owner, edges.group_size[group], minlength=len(anchors))
        light = degree[owner] <= MOST_EDGES
        group, owner = group[light], owner[light]
        size = edges.group_size[group]
        edge, owner = ranges(edges.group_start[group], size), np.repeat(owner, size)
        if without is not None and len(without):
            kept = ~np.isin(edges.fact[edge], without)
            edge, owner = edge[kept], owner[kept]
        wanted = self._constant_key(anchors.head[owner], edges.kind[edge], edges.target[edge])
        start = np.searchsorted(keys, wanted)
        count = np.searchsorted(keys, wanted, side="right") - start
        rule, row = rules[ranges(start, count)], np.repeat(np.arange(len(edge)), count)
        return self._keep_distinct(
            anchors, owner[row], self.rules.answer[rule], rule, edge[row][:, None]
        )

    def _fire_answers(self, anchors: Anchors) -> Fired:
        """Fire the rules without a body."""
        keys, rules = self._alone
        start = np.searchsorted(keys, anchors.head)
        count = np.searchsorted(keys, anchors.head, side="right") - start
        rule, row = rules[ranges(start, count)], np.repeat(np.arange(len(anchors)), count)
        none = np.zeros((len(rule), 0), dtype=np.int64)
        return self._keep_distinct(anchors, row, self.rules.answer[rule], rule, none)

    @cached_property
    def _constants(self) -> tuple[Integers, Integers]:
        """The rules with constants, ordered by head, kind and constant."""
        rules = self.rules
        rows = np.flatnonzero(rules.constant >= 0)
        keys = self._constant_key(rules.head[rows], rules.body[rows, 0], rules.constant[rows])
        order = np.argsort(keys, kind="stable")
        return keys[order], rows[order]

    @cached_property
    def _alone(self) -> tuple[Integers, Integers]:
        """The rules without a body, ordered by head."""
        rows = np.flatnonzero((self.rules.answer >= 0) & (self.rules.constant < 0))
        order = np.argsort(self.rules.head[rows], kind="stable")
        return self.rules.head[rows[order]], rows[order]

    def _constant_key(self, head: Integers, kind: Integers, constant: Integers) -> Integers:
        key: Integers = (head * len(self.edges.kinds) + kind) * self.edges.entity_count + constant
        return key


class _Trie:
    """The bodies of all walks of one length, as steps from one state to the next.

    The first states are the heads; the last ones have one rule each.
    """

    def __init__(self, rules: RuleTable, length: int, kind_count: int) -> None:
        self.length, self._kind_count = length, max(kind_count, 1)
        rows = np.flatnonzero(rules.is_walk & (rules.length == length))
        state, self._levels = rules.head[rows], []
        for column in rules.body[rows, :length].T:
            keys, state = np.unique(state * self._kind_count + column, return_inverse=True)
            self._levels.append(keys)
        self.rule = np.full(int(state.max(initial=-1)) + 1, -1)
        self.rule[state] = rows

    def step(self, level: int, state: Integers, kind: Integers) -> Integers:
        """The state after one more edge, or -1 if no body goes on like this."""
        return find_sorted(self._levels[level], state * self._kind_count + kind)


_NONE = np.zeros(0, dtype=np.int64)
_EMPTY = Fired(_NONE, _NONE, _NONE, np.zeros((0, LONGEST), dtype=np.int64))


def _concatenate(parts: list[Fired]) -> Fired:
    columns = ("pattern", "entity", "rule", "edges")
    return Fired(*(np.concatenate([getattr(part, name) for part in parts]) for name in columns))
