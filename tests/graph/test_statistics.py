"""Counts of a data set, and the portrait of an entity, against plain counting."""

from __future__ import annotations

from collections import Counter
from statistics import mean, median

from hypothesis import given
from hypothesis import strategies as st
from strategies import small_facts

from nqe.graph import Dataset, Description, Fact, Graph
from nqe.graph.entity_facts import Words, found_names, portrait
from nqe.graph.statistics import statistics


def entities_of(fact: Fact) -> list[str]:
    return [fact.subject, fact.object, *(value for _, value in fact.qualifiers)]


@given(st.lists(small_facts, min_size=1, max_size=20), st.lists(small_facts, max_size=8))
def test_statistics_are_what_plain_counting_gives(train: list[Fact], test: list[Fact]) -> None:
    numbers = statistics(Dataset.of({"train": train, "test": test}), top=99)
    facts = set(train) | set(test)
    places = Counter(entity for fact in facts for entity in entities_of(fact))
    assert numbers.facts == len(facts)
    assert numbers.entities == len(places)
    assert numbers.with_qualifiers == sum(bool(fact.qualifiers) for fact in facts)
    assert numbers.qualifiers == sum(len(fact.qualifiers) for fact in facts)
    assert numbers.arities == Counter(fact.arity for fact in facts)
    used = {row.id: row.count for row in numbers.main_relations}
    assert used == Counter(fact.relation for fact in facts)
    attributes = {row.id: row.count for row in numbers.attributes}
    assert attributes == Counter(name for fact in facts for name, _ in fact.qualifiers)
    assert {row.id: row.count for row in numbers.degrees.most} == places
    assert numbers.degrees.mean == mean(places.values())
    assert numbers.degrees.median == median(places.values())


@given(st.lists(small_facts, min_size=1, max_size=20))
def test_a_split_is_counted_by_itself(train: list[Fact]) -> None:
    [split] = statistics(Dataset.of({"train": train})).splits
    facts = set(train)
    assert split.split == "train"
    assert split.facts == len(facts)
    assert split.stated_again == len(train) - len(facts)
    assert split.entities == len({entity for fact in facts for entity in entities_of(fact)})
    names = {fact.relation for fact in facts} | {n for fact in facts for n, _ in fact.qualifiers}
    assert split.relations == len(names)


@given(st.lists(small_facts, min_size=1, max_size=20))
def test_the_most_frequent_come_first_and_no_more_than_asked_for(train: list[Fact]) -> None:
    numbers = statistics(Dataset.of({"train": train}), top=2)
    counts = [row.count for row in numbers.degrees.most]
    assert counts == sorted(counts, reverse=True)
    assert len(counts) <= 2
    assert counts[0] == max(Counter(e for f in set(train) for e in entities_of(f)).values())


@given(st.lists(small_facts, min_size=1, max_size=20))
def test_a_portrait_has_every_fact_of_the_entity_from_every_slot(facts: list[Fact]) -> None:
    graph = Graph.of(facts)
    for number, name in enumerate(graph.vocabulary.entities.ids):
        shown = portrait(graph, number)
        assert {fact.ids for fact in shown.as_subject} == {f for f in facts if f.subject == name}
        assert {fact.ids for fact in shown.as_object} == {f for f in facts if f.object == name}
        in_value = {f for f in facts if name in [value for _, value in f.qualifiers]}
        assert {fact.ids for fact in shown.as_value} == in_value


def test_a_portrait_speaks_in_labels() -> None:
    graph = Graph.of([Fact("a", "r", "b", (("q", "c"),))]).describe(
        {"a": Description("Alpha", "first", ("A",)), "r": Description("rel"), "c": Description("C")}
    )
    shown = portrait(graph, graph.vocabulary.entities.resolve("a"))
    assert (shown.label, shown.description, shown.aliases) == ("Alpha", "first", ("A",))
    assert shown.as_subject[0].labels == Words("Alpha", "rel", "b", (("q", "C"),))


def test_found_names_are_of_both_kinds_with_how_they_were_found() -> None:
    graph = Graph.of([Fact("river", "rivers", "b")])
    found = [(name.kind, name.id, name.how) for name in found_names(graph.vocabulary, "river", 5)]
    assert found == [("relation", "rivers", "prefix"), ("entity", "river", "id")]
