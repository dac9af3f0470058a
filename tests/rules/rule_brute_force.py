"""Rules counted and fired by plain loops over tiny graphs, to compare the fast code with."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
import pytest
from hypothesis import strategies as st

from nqe.graph import Fact, Graph, Pattern
from nqe.graph.pattern import FIRST_QUALIFIER
from nqe.rules import constant_rules, firing, mining, walks
from nqe.rules.rule_table import RuleTable
from nqe.rules.walks import split_entities

Kind = tuple[int, int, int]
"""A relation, and the roles of both ends."""
Key = tuple[Kind, tuple[Kind, ...], int, int]
"""A rule: its head, body, constant and answer."""

ENTITIES = [f"e{number}" for number in range(7)]
RELATIONS = ["p", "q", "r"]
_entities, _relations = st.sampled_from(ENTITIES), st.sampled_from(RELATIONS)
_pairs = st.lists(st.tuples(_relations, _entities), max_size=2).map(tuple)
tiny_facts = st.builds(Fact, _entities, _relations, _entities, _pairs)
tiny_graphs = st.lists(tiny_facts, min_size=1, max_size=10).map(Graph.of)


@contextmanager
def all_rules_kept(part: int | None = None) -> Iterator[None]:
    """A block in which no rule is too rare or redundant; parts have about so many walks."""
    with pytest.MonkeyPatch.context() as patch:
        for length in mining.LEAST_SUPPORT:
            patch.setitem(mining.LEAST_SUPPORT, length, 1)
        least = np.zeros_like(mining.LEAST_CONFIDENCE, dtype=np.float64)
        patch.setattr(mining, "LEAST_CONFIDENCE", least)
        patch.setattr(mining, "drop_redundant", lambda table: table)
        if part is not None:
            patch.setattr(mining, "split_entities", partial(split_entities, rows=part))
        with all_walks_followed():
            yield


@contextmanager
def all_walks_followed() -> Iterator[None]:
    """A block in which walks from all entities are looked at, however many there are."""
    with pytest.MonkeyPatch.context() as patch:
        most = dict.fromkeys(walks.MOST_TARGETS, 10**9)
        patch.setattr(mining, "WALKS_PER_FACT", most, raising=False)
        yield


@contextmanager
def few_targets(most: int) -> Iterator[None]:
    """A block in which only edges of which an entity has so few are followed."""
    with pytest.MonkeyPatch.context() as patch:
        for length in walks.MOST_TARGETS:
            patch.setitem(walks.MOST_TARGETS, length, most)
        patch.setattr(constant_rules, "MOST_TARGETS", most)
        patch.setattr(firing, "MOST_CONSTANTS", most)
        for module in (constant_rules, firing):
            patch.setattr(module, "MOST_EDGES", 4 * most)
        yield


@dataclass(frozen=True)
class Edge:
    source: int
    kind: Kind
    target: int
    fact: int


@dataclass(frozen=True, eq=False)
class BruteForce:
    """The edges of a graph, and what follows from them."""

    graph: Graph

    @cached_property
    def edges(self) -> list[Edge]:
        found = []
        for row in range(len(self.graph)):
            subject, relation, object_, pairs = self.graph.facts.row(row)
            slots = [(0, subject), (1, object_), *((FIRST_QUALIFIER + a, v) for a, v in pairs)]
            found += [
                Edge(int(one), (int(relation), int(left), int(right)), int(other), row)
                for i, (left, one) in enumerate(slots)
                for j, (right, other) in enumerate(slots)
                if i != j
            ]
        return found

    @cached_property
    def leaving(self) -> dict[int, list[Edge]]:
        """The edges by the entity that they leave."""
        found = defaultdict(list)
        for edge in self.edges:
            found[edge.source].append(edge)
        return found

    @cached_property
    def sizes(self) -> Counter[tuple[int, Kind]]:
        """The number of edges that leave an entity, by kind."""
        return Counter((edge.source, edge.kind) for edge in self.edges)

    def walk(self, start: int, length: int) -> Iterator[tuple[Edge, ...]]:
        """All walks from an entity that visit no entity twice."""
        most = walks.MOST_TARGETS[length]

        def go_on(path: tuple[Edge, ...], visited: tuple[int, ...]) -> Iterator[tuple[Edge, ...]]:
            if len(path) == length:
                yield path
                return
            for edge in self.leaving[visited[-1]]:
                few = self.sizes[edge.source, edge.kind] <= most
                if few and edge.target not in visited:
                    yield from go_on((*path, edge), (*visited, edge.target))

        return go_on((), (start,))

    def count_walks(self, length: int) -> dict[Key, tuple[int, int]]:
        """Support and predictions of the rules whose bodies are walks."""
        supports, predicted = set(), set()
        for start in list(self.leaving):
            for path in self.walk(start, length):
                body, end = tuple(edge.kind for edge in path), path[-1].target
                used = {edge.fact for edge in path}
                for edge in self.leaving[start]:
                    predicted.add((edge.kind, body, start, end))
                    if edge.target == end and edge.fact not in used:
                        supports.add((edge.kind, body, start, end))
        support = Counter((head, body) for head, body, _, _ in supports)
        predictions = Counter((head, body) for head, body, _, _ in predicted)
        return {
            (head, body, -1, -1): (count, predictions[head, body])
            for (head, body), count in support.items()
        }

    @cached_property
    def kept(self) -> dict[int, list[Edge]]:
        """The edges that count for rules with constants, by the entity that they leave."""
        found = {
            start: [
                edge
                for edge in edges
                if self.sizes[start, edge.kind] <= constant_rules.MOST_TARGETS
            ]
            for start, edges in self.leaving.items()
        }
        return {
            start: edges if len(edges) <= constant_rules.MOST_EDGES else []
            for start, edges in found.items()
        }

    def count_constants(self) -> dict[Key, tuple[int, int]]:
        """Support and predictions of the rules with constants."""
        supports, predicted = set(), set()
        for start, edges in self.kept.items():
            for one in edges:
                for other in edges:
                    if one.fact != other.fact:
                        body = one.kind, one.target
                        supports.add((other.kind, body, other.target, start))
                        predicted.add((other.kind, body, start))
        support = Counter((head, body, answer) for head, body, answer, _ in supports)
        predictions = Counter((head, body) for head, body, _ in predicted)
        return {
            (head, (kind,), constant, answer): (count, predictions[head, (kind, constant)])
            for (head, (kind, constant), answer), count in support.items()
        }

    def count_answers(self) -> dict[Key, tuple[int, int]]:
        """Support and predictions of the rules without a body."""
        support = Counter({(one.kind, one.target, one.source) for one in self.edges})
        counts = Counter((kind, target) for kind, target, _ in support)
        predictions = Counter(kind for _, kind in set(self.sizes))
        return {
            (kind, (), -1, target): (count, predictions[kind])
            for (kind, target), count in counts.items()
        }

    def count_all(self) -> dict[Key, tuple[int, int]]:
        """Support and predictions of all rules."""
        found = self.count_constants() | self.count_answers()
        for length in walks.MOST_TARGETS:
            found |= self.count_walks(length)
        return found

    def fire(
        self, rules: Collection[Key], pattern: Pattern, without: Collection[int]
    ) -> Counter[tuple[int, Key]]:
        """The entities that rules predict for a pattern: how many anchors predict each."""
        roles = [0, 1, *(FIRST_QUALIFIER + attribute for attribute in pattern.attributes)]
        found: Counter[tuple[int, Key]] = Counter()
        for place, entity in enumerate(pattern.slots):
            if not isinstance(entity, int) or place == pattern.asked:
                continue
            head = pattern.relation, roles[place], roles[pattern.asked]
            if head not in {edge.kind for edge in self.edges}:
                continue
            predicted = set()
            for rule in (rule for rule in rules if rule[0] == head):
                predicted |= {(one, rule) for one in self._predict(rule, entity, without)}
            found.update(predicted)
        return found

    def _predict(self, rule: Key, entity: int, without: Collection[int]) -> Iterator[int]:
        _, body, constant, answer = rule
        if answer < 0:
            for path in self.walk(entity, len(body)):
                if tuple(one.kind for one in path) == body and not _uses(path, without):
                    yield path[-1].target
        elif not body:
            yield answer
        else:
            for edge in self.kept.get(entity, ()):
                if (edge.kind, edge.target) == (body[0], constant) and not _uses((edge,), without):
                    yield answer


def _uses(path: tuple[Edge, ...], without: Collection[int]) -> bool:
    return any(edge.fact in without for edge in path)


def list_keys(table: RuleTable) -> list[Key]:
    """Each rule of a table as a value."""
    kinds = list(
        zip(
            *(getattr(table.kinds, name).tolist() for name in ("relation", "source", "target")),
            strict=True,
        )
    )
    return [
        (kinds[head], tuple(kinds[one] for one in body if one >= 0), constant, answer)
        for head, body, constant, answer in zip(
            table.head.tolist(),
            table.body.tolist(),
            table.constant.tolist(),
            table.answer.tolist(),
            strict=True,
        )
    ]


def list_counts(table: RuleTable) -> dict[Key, tuple[int, int]]:
    """The support and the predictions of each rule of a table."""
    counts = zip(table.support.tolist(), table.predictions.tolist(), strict=True)
    return dict(zip(list_keys(table), counts, strict=True))
