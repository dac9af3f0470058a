"""What facts show about relations: who stands in their slots, and which take one value."""

from __future__ import annotations

from collections import defaultdict

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import small_facts

from nqe.graph import Fact, Graph
from nqe.graph.pattern import OBJECT, SUBJECT
from nqe.graph.relation_profile import AKIN, SINGLE, RelationProfile

Places = dict[int, set[tuple[int, int]]]


def people(count: int, *more: Fact) -> Graph:
    """People with one gender each and two friends, who live in towns of one country."""
    facts = [*more]
    for number in range(count):
        name = f"person{number}"
        facts += [
            Fact(name, "gender", ("female", "male")[number % 2], (("source", "census"),)),
            Fact(name, "lives_in", f"town{number % 4}"),
            *(Fact(name, "friend", f"person{(number + step) % count}") for step in (1, 2)),
        ]
    return Graph.of([*facts, *(Fact(f"town{number}", "country", "land") for number in range(4))])


def takes_one(graph: Graph, relation: str, slot: int) -> bool:
    return graph.relation_profile.takes_one(graph.vocabulary.relations.resolve(relation), slot)


def fitting(graph: Graph, entity: str) -> set[tuple[str, int]]:
    """The places that an entity fits, by the id of the relation."""
    number = graph.vocabulary.entities.resolve(entity)
    fits = graph.relation_profile.find_fitting_places(number)
    ids = graph.vocabulary.relations.ids
    return {
        (ids[row], slot) for row, slot in zip(*(p.tolist() for p in fits.nonzero()), strict=True)
    }


def test_a_relation_takes_one_value_if_nearly_all_have_exactly_one() -> None:
    graph = people(40)
    assert takes_one(graph, "gender", OBJECT)
    assert not takes_one(graph, "gender", SUBJECT)
    assert not takes_one(graph, "friend", OBJECT)
    one_exception = people(40, Fact("person3", "gender", "female"))
    assert takes_one(one_exception, "gender", OBJECT)
    several = [Fact(f"person{number}", "gender", "other") for number in range(5)]
    assert not takes_one(people(40, *several), "gender", OBJECT)


def test_a_few_entities_do_not_show_that_a_relation_takes_one_value() -> None:
    assert not takes_one(people(17), "gender", OBJECT)
    assert takes_one(people(18), "gender", OBJECT)


def test_a_value_with_other_qualifiers_is_the_same_value() -> None:
    again = [Fact(f"person{number}", "gender", "female") for number in range(0, 40, 2)]
    assert takes_one(people(40, *again), "gender", OBJECT)


def test_an_attribute_is_no_main_relation() -> None:
    graph = people(20)
    profile, names = graph.relation_profile, graph.vocabulary.relations.ids
    main = {name for number, name in enumerate(names) if profile.is_main(number)}
    assert main == set(names) - {"source"}


def test_an_entity_fits_where_those_like_it_stand() -> None:
    newcomer = Fact("person0", "friend", "newcomer")
    graph = people(30, newcomer)
    person = {("gender", SUBJECT), ("lives_in", SUBJECT), ("friend", SUBJECT), ("friend", OBJECT)}
    assert fitting(graph, "newcomer") == person
    assert fitting(graph, "town1") == {("lives_in", OBJECT), ("country", SUBJECT)}
    assert fitting(graph, "female") == {("gender", OBJECT)}


def test_an_entity_without_a_place_fits_every_main_relation() -> None:
    graph = people(20)
    relations = set(graph.vocabulary.relations.ids) - {"source"}
    assert fitting(graph, "census") == {(name, slot) for name in relations for slot in (0, 1)}


def test_a_graph_without_facts_has_an_empty_profile() -> None:
    graph = people(5)
    profile = RelationProfile.of(Graph.of([]).facts, graph.entity_count, graph.relation_count)
    assert not profile.single.any()
    assert not profile.is_main(0)
    assert not profile.find_fitting_places(0).any()
    assert profile.find_fitting_entities(0, SUBJECT).members.tolist() == []


@given(st.lists(small_facts, min_size=1, max_size=16))
def test_the_profile_agrees_with_a_count_by_hand(facts: list[Fact]) -> None:
    graph = Graph.of(facts)
    profile = graph.relation_profile
    places = places_of(graph)
    for relation in range(graph.relation_count):
        for slot in (SUBJECT, OBJECT):
            assert profile.takes_one(relation, slot) == takes_one_by_hand(graph, relation, slot)
            expected = {
                entity for entity in places if fits_by_hand(places, entity, (relation, slot))
            }
            found = set(profile.find_fitting_entities(relation, slot).members.tolist())
            assert found == expected
            for entity in places:
                fits = profile.find_fitting_places(entity)[relation, slot]
                assert fits == (entity in expected)


def places_of(graph: Graph) -> Places:
    """The places of every entity that has one."""
    places: Places = defaultdict(set)
    for row in range(len(graph)):
        subject, relation, object_, _ = graph.facts.row(row)
        places[subject].add((relation, SUBJECT))
        places[object_].add((relation, OBJECT))
    return places


def takes_one_by_hand(graph: Graph, relation: int, slot: int) -> bool:
    values: dict[int, set[int]] = defaultdict(set)
    for row in range(len(graph)):
        ends = graph.facts.row(row)
        if ends[1] == relation:
            pair = (ends[0], ends[2])
            values[pair[1 - slot]].add(pair[slot])
    ones = sum(len(some) == 1 for some in values.values())
    return (ones + 1) / (len(values) + 2) >= SINGLE


def fits_by_hand(places: Places, entity: int, place: tuple[int, int]) -> bool:
    if place in places[entity]:
        return True
    there = [own for own in places.values() if place in own]
    if not there:
        return False
    shared = sum(len(own & places[entity]) for own in there) / len(there)
    others = sum(len(own) - 1 for own in there) / len(there)
    least = AKIN * min(len(places[entity]), others)
    return shared > 0 and (shared > least or shared == pytest.approx(least))
