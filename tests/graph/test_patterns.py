"""Patterns over a graph: large ones against brute force, limits, and what is refused."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from slow_matching import match_by_brute_force
from strategies import ENTITIES, RELATIONS, small_graphs

from nqe.errors import NqeError, TooManyBindings
from nqe.graph import EntitySet, Fact, Graph, Pattern, match_many, match_one, match_qualifiers
from nqe.graph.pattern import Restriction


def random_graph_with_patterns(seed: int) -> tuple[Graph, list[Pattern]]:
    """A graph with so many facts per relation that the index has to choose where to start."""
    rng = random.Random(seed)
    entities, relations = [f"e{i:02}" for i in range(14)], RELATIONS[:2]

    def pairs() -> tuple[tuple[str, str], ...]:
        count = rng.choice([0, 1, 2, 3])
        return tuple((rng.choice(relations), rng.choice(entities)) for _ in range(count))

    graph = Graph.of(
        Fact(rng.choice(entities), rng.choice(relations), rng.choice(entities), pairs())
        for _ in range(160)
    )

    def restriction() -> Restriction:
        number = graph.entity_count
        members = EntitySet.of(rng.sample(range(number), rng.randrange(number + 1))).members
        few = EntitySet.of(rng.sample(range(number), 2))
        sets = [EntitySet(members), EntitySet(members, inverted=True), few]
        return rng.choice([None, None, rng.randrange(number), *sets])

    def pattern() -> Pattern:
        attributes = tuple(rng.choices(range(graph.relation_count), k=rng.choice([0, 0, 1, 1, 2])))
        slots = tuple(restriction() for _ in range(len(attributes) + 2))
        asked = rng.randrange(len(slots))
        return Pattern(rng.randrange(2), slots, attributes, asked, rng.random() < 0.3)

    return graph, [pattern() for _ in range(40)]


@pytest.mark.parametrize("seed", range(8))
def test_patterns_over_many_facts_of_a_relation_match_what_brute_force_finds(
    seed: int,
) -> None:
    graph, several = random_graph_with_patterns(seed)
    batch = graph.answers_many(several)
    for pattern, together in zip(several, batch, strict=True):
        answers, rows = match_by_brute_force(graph, pattern)
        assert graph.answers(pattern).members.tolist() == answers
        assert graph.matches(pattern).tolist() == rows
        assert together.members.tolist() == answers


def test_a_batch_worked_on_in_small_blocks_has_the_same_answers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    graph, several = random_graph_with_patterns(seed=1)
    whole = graph.answers_many(several)
    monkeypatch.setattr(match_many, "BLOCK", 3)
    assert graph.answers_many(several) == whole


def graph_of(*facts: Fact) -> Graph:
    return Graph.of(facts)


def test_two_qualifiers_of_a_pattern_need_two_pairs_of_the_fact() -> None:
    graph = graph_of(Fact("a", "r", "b", (("q", "c"),)), Fact("a", "r", "d", (("q", "c"),) * 2))
    a, c, d = (graph.vocabulary.entities.resolve(name) for name in "acd")
    r, q = (graph.vocabulary.relations.resolve(name) for name in "rq")
    twice = Pattern(r, (a, None, c, c), (q, q), asked=1)
    assert graph.answers(twice).members.tolist() == [d]
    assert graph.answers_many([twice])[0].members.tolist() == [d]


def test_an_open_pattern_lets_a_fact_have_more_qualifiers_and_a_closed_one_does_not() -> None:
    graph = graph_of(Fact("a", "r", "b"), Fact("a", "r", "c", (("q", "d"),)))
    a, b, c = (graph.vocabulary.entities.resolve(name) for name in "abc")
    r = graph.vocabulary.relations.resolve("r")
    assert graph.answers(Pattern(r, (a, None))).members.tolist() == [b, c]
    assert graph.answers(Pattern(r, (a, None), closed=True)).members.tolist() == [b]


@given(small_graphs, st.sampled_from(ENTITIES))
def test_numpy_integers_restrict_a_slot_like_plain_ones(graph: Graph, name: str) -> None:
    entity = graph.vocabulary.entities.number(name)
    if entity is None:
        return
    for relation in range(graph.relation_count):
        for asked in (0, 1):
            slots: list[Restriction] = [None, None]
            slots[1 - asked] = entity
            plain = Pattern(relation, tuple(slots), asked=asked)
            slots[1 - asked] = np.int64(entity)  # type: ignore[call-overload]
            numpy = Pattern(relation, tuple(slots), asked=asked)
            assert graph.answers(numpy) == graph.answers(plain)


def test_a_pattern_that_would_look_at_too_many_facts_is_refused() -> None:
    graph = graph_of(*(Fact(f"s{i}", "r", "o") for i in range(10)))
    everything = Pattern(0, (None, None))
    assert len(graph.answers(everything, max_bindings=10).members) == 1
    with pytest.raises(TooManyBindings, match="look at 10 facts, more than the limit of 9"):
        graph.answers(everything, max_bindings=9)
    with pytest.raises(TooManyBindings, match="--max-bindings"):
        graph.answers_many([everything], max_bindings=9)


def test_no_patterns_have_no_answers_and_an_empty_graph_answers_nothing() -> None:
    graph = graph_of(Fact("a", "r", "b"))
    assert graph.answers_many([]) == []
    nothing = Graph(graph.vocabulary, Graph.of([]).facts)
    for pattern in (Pattern(0, (0, None)), Pattern(0, (None, None, None), (0,), asked=2)):
        assert nothing.answers(pattern).members.tolist() == []
        assert nothing.answers_many([pattern])[0].members.tolist() == []
        assert nothing.matches(pattern).tolist() == []


@pytest.mark.parametrize(("slots", "asked"), [((None,), 0), ((None, None, None), 0)])
def test_a_pattern_with_a_slot_too_few_or_too_many_is_refused(
    slots: tuple[None, ...], asked: int
) -> None:
    with pytest.raises(ValueError, match="two slots and one more per attribute"):
        Pattern(0, slots, (), asked)


def test_a_pattern_that_asks_for_a_slot_it_lacks_is_refused() -> None:
    with pytest.raises(ValueError, match="asked slot 2 is not one of 2"):
        Pattern(0, (None, None), (), asked=2)


def test_numbers_that_are_not_in_the_vocabulary_are_refused() -> None:
    graph = Graph.of([Fact("a", "r", "b")])
    for pattern in (Pattern(0, (2, None)), Pattern(1, (None, None)), Pattern(0, (None, -1))):
        with pytest.raises(NqeError, match="has a number that <Graph of 1 facts"):
            graph.answers(pattern)
        with pytest.raises(NqeError, match="has a number that"):
            graph.answers_many([pattern])


def crowded_graph_with_patterns(seed: int) -> tuple[Graph, list[Pattern]]:
    """Facts with several qualifiers of one attribute, and patterns with several of them as well."""
    rng = random.Random(seed)
    entities = [f"e{i}" for i in range(6)]

    def pairs(most: int) -> tuple[tuple[str, str], ...]:
        attributes = rng.choices("qqqr", k=rng.randrange(most))
        return tuple((attribute, rng.choice(entities)) for attribute in attributes)

    graph = Graph.of(Fact("s", "r", rng.choice(entities), pairs(6)) for _ in range(12))
    number, q = graph.entity_count, graph.vocabulary.relations.resolve("q")

    def restriction() -> Restriction:
        few = EntitySet.of(rng.sample(range(number), rng.randrange(1, 4)))
        return rng.choice([None, rng.randrange(number), few, EntitySet(few.members, inverted=True)])

    def pattern() -> Pattern:
        attributes = tuple(rng.choices([q, q, q, 1 - q], k=rng.choice([2, 3, 4])))
        slots = (None, None, *(restriction() for _ in attributes))
        relation = graph.vocabulary.relations.resolve("r")
        return Pattern(relation, slots, attributes, rng.randrange(len(slots)), rng.random() < 0.3)

    return graph, [pattern() for _ in range(25)]


@pytest.mark.parametrize("many_ways", [1, 5, 10**9])
@pytest.mark.parametrize("seed", range(6))
def test_facts_with_many_ways_to_match_give_what_brute_force_finds(
    monkeypatch: pytest.MonkeyPatch, seed: int, many_ways: int
) -> None:
    monkeypatch.setattr(match_qualifiers, "MANY_WAYS", many_ways)
    monkeypatch.setattr(match_qualifiers, "WAYS_BLOCK", 7)
    graph, several = crowded_graph_with_patterns(seed)
    together = graph.answers_many(several)
    for pattern, batch in zip(several, together, strict=True):
        answers, rows = match_by_brute_force(graph, pattern)
        assert batch.members.tolist() == answers
        assert graph.matches(pattern).tolist() == rows


def test_many_candidates_are_looked_at_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    graph, several = random_graph_with_patterns(seed=2)
    whole = [(graph.answers(one), graph.matches(one).tolist()) for one in several]
    monkeypatch.setattr(match_one, "BLOCK", 5)
    assert [(graph.answers(one), graph.matches(one).tolist()) for one in several] == whole


def test_a_fact_with_very_many_ways_to_match_is_answered_without_trying_them_all() -> None:
    values = [f"v{i:02}" for i in range(84)]
    graph = Graph.of([Fact("s", "r", "o", tuple(("a", value) for value in values))])
    number = graph.vocabulary.entities.resolve
    a, r = map(graph.vocabulary.relations.resolve, "ar")
    for asked in range(12):
        found = graph.answers(Pattern(r, (None,) * 12, (a,) * 10, asked)).members
        assert len(found) == (1 if asked < 2 else 84)
    # Nine slots share eight values, so that one of them has none.
    few = EntitySet.of(map(number, values[:8]))
    assert not len(graph.matches(Pattern(r, (None, None, *(few,) * 9), (a,) * 9)))
    # With eight such slots, a ninth has one of the other values.
    asked_last = Pattern(r, (None, None, *(few,) * 8, None), (a,) * 9, asked=10)
    assert graph.answers(asked_last).members.tolist() == sorted(map(number, values[8:]))


def test_too_many_ways_to_map_the_qualifiers_of_many_facts_are_refused() -> None:
    pairs = tuple(("a", f"v{i}") for i in range(60))
    graph = Graph.of([Fact(f"s{i}", "r", "o", pairs) for i in range(20)])
    a, r = map(graph.vocabulary.relations.resolve, "ar")
    for count in (2, 5):
        pattern = Pattern(r, (None,) * (count + 2), (a,) * count, 2)
        assert len(graph.answers(pattern, max_bindings=100_000).members) == 60
        with pytest.raises(TooManyBindings, match="more than the limit of 5,000"):
            graph.answers(pattern, max_bindings=5_000)
