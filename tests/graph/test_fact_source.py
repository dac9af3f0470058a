"""What every fact source must do: each one in SOURCES passes all tests of this file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from slow_matching import match_by_brute_force
from strategies import patterns, small_facts

from nqe.errors import TooManyBindings
from nqe.graph import Fact, FactSource, Graph, Pattern
from nqe.graph.pattern import FIRST_QUALIFIER, Patterns

# A new kind of fact source adds a row: how to build one that holds a list of facts.
SOURCES: dict[str, Callable[[list[Fact]], FactSource]] = {"graph": Graph.of}

every_source = pytest.mark.parametrize("build", SOURCES.values(), ids=SOURCES.keys())
Build = Callable[[list[Fact]], FactSource]

several_facts = st.lists(small_facts, min_size=1, max_size=24)


def draw_patterns(source: FactSource, data: st.DataObject) -> list[Pattern]:
    one = patterns(source.entity_count, source.relation_count)
    return data.draw(st.lists(one, min_size=1, max_size=8))


@every_source
@given(facts=several_facts)
def test_each_fact_has_one_row(build: Build, facts: list[Fact]) -> None:
    source = build(facts)
    rows = [source.fact(row) for row in range(len(source))]
    assert len(rows) == len(set(facts))
    assert set(rows) == set(facts)


@every_source
@given(facts=several_facts)
def test_the_counts_are_those_of_the_vocabulary(build: Build, facts: list[Fact]) -> None:
    source = build(facts)
    assert source.entity_count == len(source.vocabulary.entities)
    assert source.relation_count == len(source.vocabulary.relations)


@every_source
@given(facts=several_facts, data=st.data())
def test_one_pattern_matches_what_brute_force_finds(
    build: Build, facts: list[Fact], data: st.DataObject
) -> None:
    source = build(facts)
    for pattern in draw_patterns(source, data):
        answers, rows = match_by_brute_force(source, pattern)
        found = source.match_one(pattern)
        assert not found.inverted
        assert found.members.tolist() == answers
        assert source.matches(pattern).tolist() == rows


@every_source
@given(facts=several_facts, data=st.data())
def test_many_patterns_match_what_brute_force_finds(
    build: Build, facts: list[Fact], data: st.DataObject
) -> None:
    source = build(facts)
    several = draw_patterns(source, data)
    found = source.match_many(Patterns.of(several))
    expected = [match_by_brute_force(source, pattern) for pattern in several]
    assert [one.members.tolist() for one in found.answers()] == [pair[0] for pair in expected]
    rows = [found.row[found.pattern == number].tolist() for number in range(len(several))]
    assert rows == [pair[1] for pair in expected]


def standing(source: FactSource, pattern: Pattern) -> Counter[str]:
    """How often each id stands in the asked slot of a fact of the pattern's relation."""
    ids, found = source.vocabulary.relations.ids, Counter[str]()
    for fact in map(source.fact, range(len(source))):
        if fact.relation != ids[pattern.relation]:
            continue
        if pattern.asked < FIRST_QUALIFIER:
            found[(fact.subject, fact.object)[pattern.asked]] += 1
        else:
            asked = ids[pattern.qualifier(pattern.asked)[0]]
            found.update(value for attribute, value in fact.qualifiers if attribute == asked)
    return found


def by_frequency(counts: Counter[str], most: int) -> list[str]:
    return sorted(counts, key=lambda name: (-counts[name], name))[:most]


@every_source
@given(facts=several_facts, most=st.integers(0, 4), data=st.data())
def test_what_commonly_stands_in_a_slot_is_what_most_facts_have_there(
    build: Build, facts: list[Fact], most: int, data: st.DataObject
) -> None:
    source = build(facts)
    for pattern in draw_patterns(source, data):
        counts = standing(source, pattern)
        found = [source.vocabulary.entities.ids[n] for n in source.find_common(pattern, most)]
        assert found == by_frequency(counts, most)
        assert source.has_slot(pattern) == bool(counts)


@every_source
@given(facts=several_facts, most=st.integers(0, 4))
def test_the_common_attributes_are_those_of_most_qualifiers(
    build: Build, facts: list[Fact], most: int
) -> None:
    source = build(facts)
    ids = source.vocabulary.relations.ids
    for number, relation in enumerate(ids):
        distinct = map(source.fact, range(len(source)))
        of_relation = (fact for fact in distinct if fact.relation == relation)
        counts = Counter(attribute for fact in of_relation for attribute, _ in fact.qualifiers)
        found = [ids[n] for n in source.find_common_attributes(number, most)]
        assert found == by_frequency(counts, most)


@every_source
@given(facts=several_facts)
def test_an_entity_is_mentioned_by_the_facts_that_hold_it(build: Build, facts: list[Fact]) -> None:
    source = build(facts)
    for number, name in enumerate(source.vocabulary.entities.ids):
        rows = [
            row
            for row, fact in ((row, source.fact(row)) for row in range(len(source)))
            if name in (fact.subject, fact.object, *(value for _, value in fact.qualifiers))
        ]
        assert source.mentions(number).tolist() == rows


@every_source
def test_a_match_that_would_look_at_more_facts_than_the_limit_is_refused(build: Build) -> None:
    source = build([Fact(f"s{number}", "r", "o") for number in range(10)])
    everything = Pattern(0, (None, None))
    assert len(source.match_one(everything, 10).members) == 1
    for ask in (source.match_one, source.matches):
        with pytest.raises(TooManyBindings, match="10 facts, more than the limit of 9"):
            ask(everything, 9)
    with pytest.raises(TooManyBindings):
        source.match_many(Patterns.of([everything]), 9)


@every_source
def test_no_patterns_have_no_matches(build: Build) -> None:
    found = build([Fact("a", "r", "b")]).match_many(Patterns.of([]))
    assert found.answers() == []
    assert found.row.tolist() == []
