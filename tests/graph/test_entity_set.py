"""Sets of entities against Python's own sets."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from nqe.graph import EntitySet

COUNT = 9
ALL = frozenset(range(COUNT))
members = st.frozensets(st.integers(0, COUNT - 1))
entity_sets = st.builds(
    lambda listed, inverted: EntitySet(EntitySet.of(listed).members, inverted),
    members,
    st.booleans(),
)


def as_python(entities: EntitySet) -> frozenset[int]:
    listed = frozenset(entities.members.tolist())
    return ALL - listed if entities.inverted else listed


@given(entity_sets, entity_sets)
def test_conjunction_and_disjunction_are_those_of_sets(one: EntitySet, other: EntitySet) -> None:
    assert as_python(one & other) == as_python(one) & as_python(other)
    assert as_python(one | other) == as_python(one) | as_python(other)


@given(entity_sets, entity_sets)
def test_a_negated_union_is_the_intersection_of_the_complements(
    one: EntitySet, other: EntitySet
) -> None:
    assert (one | other).complement() == one.complement() & other.complement()
    assert (one & other).complement() == one.complement() | other.complement()


@given(entity_sets)
def test_a_set_and_its_complement_share_nothing_and_make_everything(one: EntitySet) -> None:
    assert as_python(one.complement()) == ALL - as_python(one)
    assert (one & one.complement()).count_members(COUNT) == 0
    assert (one | one.complement()).count_members(COUNT) == COUNT
    assert one.complement().complement() == one


@given(entity_sets)
def test_count_array_and_membership_agree(one: EntitySet) -> None:
    expected = as_python(one)
    assert one.count_members(COUNT) == len(expected)
    assert one.to_array(COUNT).tolist() == sorted(expected)
    assert {entity for entity in ALL if entity in one} == expected
    assert one.contains(np.arange(COUNT)).tolist() == [entity in expected for entity in ALL]


@given(st.lists(st.integers(0, COUNT - 1)))
def test_a_set_of_numbers_is_sorted_and_each_is_in_it_once(numbers: list[int]) -> None:
    assert EntitySet.of(numbers).members.tolist() == sorted(set(numbers))


def test_everything_holds_every_entity() -> None:
    assert EntitySet.everything().to_array(COUNT).tolist() == sorted(ALL)
    assert EntitySet.everything().complement().count_members(COUNT) == 0


def test_a_set_is_not_equal_to_something_else() -> None:
    assert EntitySet.of([1]) != [1]
    assert EntitySet.of([1]) != EntitySet.of([2])
