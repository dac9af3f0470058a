"""Held-out facts that are not new, against plain counting."""

from __future__ import annotations

from collections import defaultdict

from hypothesis import given
from hypothesis import strategies as st
from strategies import RELATIONS, entity_ids, small_facts

from nqe.graph import Dataset, Fact
from nqe.graph.leakage import FEWEST, TWIN, Leakage, Twins, find_twins, measure_leakage

Pairs = dict[str, set[tuple[str, str]]]
SPLITS = ("train", "valid", "test")


@st.composite
def related_facts(draw: st.DrawFn) -> dict[str, list[Fact]]:
    """Splits of facts in which a relation has a duplicate and an inverse, and of other facts."""
    pairs = draw(st.sets(st.tuples(entity_ids, entity_ids), min_size=6, max_size=12))
    facts = [
        Fact(*((two, relation, one) if relation == "r2" else (one, relation, two)))
        for relation in RELATIONS
        for one, two in sorted(pairs)[draw(st.integers(0, 2)) :]
    ]
    facts += draw(st.lists(small_facts, max_size=4))
    splits: dict[str, list[Fact]] = {name: [] for name in SPLITS}
    for fact in facts:
        splits[draw(st.sampled_from(SPLITS))].append(fact)
    splits["test"] += draw(st.lists(st.sampled_from(facts), max_size=2))
    return splits


def pairs_of(facts: set[Fact]) -> Pairs:
    pairs: Pairs = defaultdict(set)
    for fact in facts:
        pairs[fact.relation].add((fact.subject, fact.object))
    return pairs


def turned(pairs: set[tuple[str, str]]) -> set[tuple[str, str]]:
    return {(two, one) for one, two in pairs if one != two}


def are_twins(one: set[tuple[str, str]], other: set[tuple[str, str]], *, inverse: bool) -> bool:
    common = len(one & (turned(other) if inverse else other))
    return common >= FEWEST and common >= TWIN * max(len(one), len(other))


def reason(fact: Fact, known: set[Fact], everything: Pairs) -> str | None:
    pair, before = (fact.subject, fact.object), pairs_of(known)
    if fact in known:
        return "repeated"
    if pair in before[fact.relation]:
        return "other_qualifiers"
    mine = everything[fact.relation]
    for other, pairs in list(before.items()):
        is_other = other != fact.relation and pair in pairs
        if is_other and are_twins(mine, everything[other], inverse=False):
            return "duplicate"
    for other, pairs in list(before.items()):
        if pair in turned(pairs) and are_twins(mine, everything[other], inverse=True):
            return "inverse"
    return None


@given(related_facts())
def test_each_fact_that_is_not_new_is_counted_once_for_its_first_reason(
    splits: dict[str, list[Fact]],
) -> None:
    dataset = Dataset.of(splits)
    train, valid, test = (splits[name] for name in SPLITS)
    everything = pairs_of({*train, *valid, *test})
    for split, known in zip(measure_leakage(dataset), ({*train}, {*train, *valid}), strict=True):
        facts = set(dataset.split(split.split))
        reasons = [reason(fact, known, everything) for fact in facts]
        expected = [reasons.count(name) for name in list(vars(split))[2:]]
        assert split == Leakage(split.split, len(facts), *expected)
        assert split.total == len(facts) - reasons.count(None)


def line(relation: str, count: int, *, back: bool = False) -> list[Fact]:
    pairs = [(f"a{number}", f"b{number}") for number in range(count)]
    return [Fact(*((two, relation, one) if back else (one, relation, two))) for one, two in pairs]


def test_twins_are_relations_between_nearly_the_same_pairs() -> None:
    facts = [*line("owns", 10), *line("has", 9), *line("owned by", 8, back=True)]
    found = find_twins(Dataset.of({"train": [*facts, *line("likes", 5)]}))
    assert found == (
        Twins("has", "owns", inverse=False, pairs=9),
        Twins("has", "owned by", inverse=True, pairs=8),
        Twins("owned by", "owns", inverse=True, pairs=8),
    )


def test_a_relation_that_holds_both_ways_is_its_own_inverse() -> None:
    facts = [*line("borders", 5), *line("borders", 5, back=True)]
    dataset = Dataset.of({"train": facts[1:], "test": facts[:1]})
    assert find_twins(dataset) == (Twins("borders", "borders", inverse=True, pairs=10),)
    [leakage] = measure_leakage(dataset)
    assert (leakage.inverse, leakage.total) == (1, 1)


def test_one_split_alone_has_nothing_to_leak() -> None:
    for name in ("train", "test"):
        assert measure_leakage(Dataset.of({name: line("r", 9)})) == ()
