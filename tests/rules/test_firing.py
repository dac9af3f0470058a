"""Firing rules: what is predicted agrees with plain loops, and the examples are real walks."""

from __future__ import annotations

from collections import Counter
from contextlib import nullcontext

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rule_brute_force import BruteForce, all_rules_kept, few_targets, list_keys, tiny_graphs

from nqe.graph import Fact, Graph, Pattern
from nqe.graph.arrays import Integers
from nqe.graph.pattern import Patterns
from nqe.rules import firing
from nqe.rules.edges import Edges
from nqe.rules.firing import Anchors, Fired, RuleBook
from nqe.rules.mining import mine_table

FEW = settings(max_examples=25)


def make_book(graph: Graph) -> RuleBook:
    """All rules of a graph, however rare, over its own facts."""
    with all_rules_kept():
        table = mine_table(graph, workers=1)
    return RuleBook(table, Edges.of(graph.facts, graph.entity_count, graph.relation_count))


@st.composite
def plain_patterns(draw: st.DrawFn, entity_count: int, relation_count: int) -> Pattern:
    """A pattern whose slots hold an entity or are free."""
    relations, entities = st.integers(0, relation_count - 1), st.integers(0, entity_count - 1)
    attributes = draw(st.lists(relations, max_size=2))
    slots = [draw(st.none() | entities) for _ in range(2 + len(attributes))]
    asked = draw(st.integers(0, len(slots) - 1))
    return Pattern(draw(relations), tuple(slots), tuple(attributes), asked)


@FEW
@given(st.data(), tiny_graphs, st.sampled_from([None, 1, 2]))
def test_what_fires_agrees_with_brute_force(
    data: st.DataObject, graph: Graph, most: int | None
) -> None:
    plain = plain_patterns(graph.entity_count, graph.relation_count)
    patterns = data.draw(st.lists(plain, max_size=4))
    without = data.draw(st.lists(st.integers(0, len(graph) - 1), max_size=3))
    with few_targets(most) if most else nullcontext():
        book = make_book(graph)
        fired = book.fire(Patterns.of(patterns), without=to_array(without) if without else None)
        keys = list_keys(book.rules)
        for number, pattern in enumerate(patterns):
            mine = fired.pattern == number
            found = zip(fired.entity[mine].tolist(), fired.rule[mine].tolist(), strict=True)
            expected = BruteForce(graph).fire(keys, pattern, without)
            assert Counter((entity, keys[rule]) for entity, rule in found) == expected
        check_examples(book, fired, Patterns.of(patterns), without)


def to_array(rows: list[int]) -> Integers:
    return np.array(rows, dtype=np.int64)


def check_examples(book: RuleBook, fired: Fired, patterns: Patterns, without: list[int]) -> None:
    """The edges of each rule that fired lead from an anchor to what is predicted."""
    edges, table = book.edges, book.rules
    anchors = Anchors.of(patterns, edges.kinds)
    known = set(zip(anchors.pattern.tolist(), anchors.entity.tolist(), strict=True))
    for row in range(len(fired)):
        rule, used = fired.rule[row], [one for one in fired.edges[row].tolist() if one >= 0]
        assert edges.kind[used].tolist() == [one for one in table.body[rule].tolist() if one >= 0]
        assert not set(edges.fact[used].tolist()) & set(without)
        if used:
            assert (int(fired.pattern[row]), int(edges.source[used[0]])) in known
            assert edges.target[used[:-1]].tolist() == edges.source[used[1:]].tolist()
            last = table.constant[rule] if table.answer[rule] >= 0 else fired.entity[row]
            assert edges.target[used[-1]] == last


def test_many_anchors_give_the_same_as_few(monkeypatch: pytest.MonkeyPatch) -> None:
    facts = [Fact(f"e{n % 9}", f"r{n % 2}", f"e{n * 5 % 11}", (("q", "e1"),)) for n in range(40)]
    graph = Graph.of(facts)
    book = make_book(graph)
    pattern = [Pattern(n % 2, (n % 9, None)) for n in range(20)]
    whole = book.fire(Patterns.of(pattern))
    alone = [book.fire(Patterns.of([one])) for one in pattern]
    monkeypatch.setattr(firing, "ANCHORS", 3)
    parts = book.fire(Patterns.of(pattern))
    for fired in (whole, parts):
        for number, one in enumerate(alone):
            mine = fired.pattern == number
            assert list_fired(fired.take(mine.nonzero()[0])) == list_fired(one)


def list_fired(fired: Fired) -> list[tuple[int, int]]:
    return sorted(zip(fired.entity.tolist(), fired.rule.tolist(), strict=True))


def test_a_relation_without_facts_fires_nothing() -> None:
    graph = Graph.of([Fact("a", "p", "b", (("q", "c"),)), Fact("b", "p", "a", (("q", "c"),))])
    book = make_book(graph)
    q = graph.vocabulary.relations.to_number("q")
    assert len(book.fire(Patterns.of([Pattern(q, (0, None))]))) == 0
    assert len(book.fire(Patterns.of([]))) == 0


def test_rules_of_other_facts_fire_only_over_the_edges_there_are() -> None:
    """A kind of edges that the graph lacks leaves out the rules that need it."""
    facts = [Fact(f"x{n}", "p", f"y{n}") for n in range(4)]
    more = [Fact(f"x{n}", "s", f"y{n}", (("q", "z"),)) for n in range(4)]
    graph = Graph.of([*facts, *more])
    with all_rules_kept():
        table = mine_table(graph, workers=1)
    rows = [row for row in range(len(graph)) if graph.fact(row).relation == "p"]
    part = Graph(graph.vocabulary, graph.facts.take(to_array(rows)))
    book = RuleBook(table, Edges.of(part.facts, part.entity_count, part.relation_count))
    assert 0 < len(book.rules) < len(table)
    assert {kind[0] for key in list_keys(book.rules) for kind in (key[0], *key[1])} == {0}
