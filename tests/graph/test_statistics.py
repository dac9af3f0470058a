"""Statistics of a data set against plain counting."""

from __future__ import annotations

from collections import Counter
from statistics import mean, median

from hypothesis import given
from hypothesis import strategies as st
from strategies import small_facts

from nqe.graph import Dataset, Fact
from nqe.graph.statistics import compute_statistics


def entities_of(fact: Fact) -> list[str]:
    return [fact.subject, fact.object, *(value for _, value in fact.qualifiers)]


@given(st.lists(small_facts, min_size=1, max_size=20), st.lists(small_facts, max_size=8))
def test_statistics_are_what_plain_counting_gives(train: list[Fact], test: list[Fact]) -> None:
    numbers = compute_statistics(Dataset.of({"train": train, "test": test}), top=99)
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
    [split] = compute_statistics(Dataset.of({"train": train})).splits
    facts = set(train)
    assert split.split == "train"
    assert split.facts == len(facts)
    assert split.stated_again == len(train) - len(facts)
    assert split.entities == len({entity for fact in facts for entity in entities_of(fact)})
    names = {fact.relation for fact in facts} | {n for fact in facts for n, _ in fact.qualifiers}
    assert split.relations == len(names)


@given(st.lists(small_facts, min_size=1, max_size=20))
def test_the_most_frequent_come_first_and_no_more_than_asked_for(train: list[Fact]) -> None:
    numbers = compute_statistics(Dataset.of({"train": train}), top=2)
    counts = [row.count for row in numbers.degrees.most]
    assert counts == sorted(counts, reverse=True)
    assert len(counts) <= 2
    assert counts[0] == max(Counter(e for f in set(train) for e in entities_of(f)).values())
