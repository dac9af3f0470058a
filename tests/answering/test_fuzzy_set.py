"""Fuzzy sets: whatever is listed, a set means the probabilities of all entities."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from nqe.answering.fuzzy_set import Floats, FuzzySet, FuzzySets, concatenate
from nqe.graph import EntitySet

COUNT = 7
chances = st.sampled_from([0.0, 1e-4, 0.25, 0.5, 0.9999, 1.0])
rests = st.sampled_from([0.0, 0.9999, 1.0])
entity_lists = st.lists(st.integers(0, COUNT - 1), max_size=12).map(
    lambda some: np.array(some, int)
)
entity_sets = st.builds(
    lambda members, inverted: EntitySet(EntitySet.of(members).members, inverted),
    st.sets(st.integers(0, COUNT - 1)),
    st.booleans(),
)


@st.composite
def fuzzy_sets(draw: st.DrawFn) -> FuzzySet:
    """A fuzzy set of a few entities."""
    listed = draw(st.dictionaries(st.integers(0, COUNT - 1), chances))
    pairs = sorted(listed.items())
    entities = np.array([entity for entity, _ in pairs], dtype=np.int64)
    return FuzzySet(entities, np.array([value for _, value in pairs]), draw(rests))


def to_rows(sets: FuzzySets) -> list[list[float]]:
    return [sets[step].to_array(COUNT).tolist() for step in range(len(sets))]


def fill(parts: list[FuzzySet]) -> FuzzySets:
    """Store sets as those of the steps of a table, all at once."""
    sets, steps = FuzzySets(len(parts), COUNT), np.arange(len(parts))
    owner = np.repeat(steps, [len(one.entities) for one in parts])
    entities = np.concatenate([np.zeros(0, np.int64), *(one.entities for one in parts)])
    sets.store(steps, owner, entities, concatenate([one.values for one in parts]))
    sets.rest[steps] = [one.rest for one in parts]
    return sets


@given(fuzzy_sets(), entity_lists)
def test_looking_entities_up_agrees_with_the_probabilities_of_all(
    one: FuzzySet, wanted: Floats
) -> None:
    row = one.to_array(COUNT)
    assert one.look_up(wanted).tolist() == row[wanted].tolist()
    assert [one[entity] for entity in range(COUNT)] == row.tolist()


@given(fuzzy_sets(), entity_sets)
def test_outside_of_another_set_everything_has_the_probability_0(
    one: FuzzySet, among: EntitySet
) -> None:
    inside = among.contains(np.arange(COUNT))
    expected = np.where(inside, one.to_array(COUNT), 0)
    found = one.restrict(among, COUNT)
    assert found.to_array(COUNT).tolist() == expected.tolist()
    assert found.rest == 0
    assert one.restrict(None, COUNT) is one


@given(fuzzy_sets())
def test_listing_all_entities_changes_no_probability(one: FuzzySet) -> None:
    every = one.list_all(COUNT)
    assert every.rest == 0
    assert every.to_array(COUNT).tolist() == one.to_array(COUNT).tolist()
    assert FuzzySet.of_all(one.to_array(COUNT)).to_array(COUNT).tolist() == (
        one.to_array(COUNT).tolist()
    )


@given(fuzzy_sets())
def test_what_is_not_kept_has_the_probability_0(one: FuzzySet) -> None:
    likely = one.keep(one.values >= 0.5)
    listed = np.isin(np.arange(COUNT), one.entities)
    row = one.to_array(COUNT)
    assert likely.to_array(COUNT).tolist() == np.where(listed & (row >= 0.5), row, 0).tolist()


@given(st.lists(fuzzy_sets(), max_size=5))
def test_steps_have_the_sets_that_were_stored(parts: list[FuzzySet]) -> None:
    assert to_rows(fill(parts)) == [one.to_array(COUNT).tolist() for one in parts]


@given(st.lists(fuzzy_sets(), min_size=1, max_size=5), st.data())
def test_sets_stored_in_several_calls_and_any_order_are_those_of_one_call(
    parts: list[FuzzySet], data: st.DataObject
) -> None:
    sets = FuzzySets(len(parts), COUNT)
    for step in data.draw(st.permutations(range(len(parts)))):
        one = parts[step]
        owner = np.zeros(len(one.entities), dtype=np.int64)
        sets.store(np.array([step]), owner, one.entities, one.values)
        sets.rest[step] = one.rest
    assert to_rows(sets) == to_rows(fill(parts))


@given(st.lists(fuzzy_sets(), min_size=1, max_size=4), st.data())
def test_a_copy_is_the_set_of_its_source(parts: list[FuzzySet], data: st.DataObject) -> None:
    steps = st.integers(0, len(parts) - 1)
    sets, source, target = fill(parts), data.draw(steps), data.draw(steps)
    sets.copy(np.array([target]), np.array([source]))
    expected = list(parts)
    expected[target] = parts[source]
    assert to_rows(sets) == [one.to_array(COUNT).tolist() for one in expected]


@given(st.lists(fuzzy_sets(), min_size=1, max_size=4), entity_lists, st.data())
def test_entities_are_looked_up_in_the_set_of_the_step_beside_them(
    parts: list[FuzzySet], wanted: Floats, data: st.DataObject
) -> None:
    step = st.integers(0, len(parts) - 1)
    size = len(wanted)
    steps = np.array(data.draw(st.lists(step, min_size=size, max_size=size)), dtype=np.int64)
    found = fill(parts).look_up(steps, wanted)
    assert found.tolist() == [parts[a][b] for a, b in zip(steps.tolist(), wanted, strict=True)]


def test_steps_that_were_not_filled_hold_nothing() -> None:
    sets = FuzzySets(2, COUNT)
    assert to_rows(sets) == [[0.0] * COUNT] * 2
    assert len(sets) == 2
    assert sets.look_up(np.array([0, 1]), np.array([3, 3])).tolist() == [0, 0]
