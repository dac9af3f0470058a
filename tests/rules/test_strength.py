"""The strength of evidence: how rules that predict the same entity count together."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from toy_dataset import towns

import nqe
from nqe.graph import Pattern
from nqe.graph.pattern import Patterns
from nqe.rules.firing import Fired, RuleBook
from nqe.rules.strength import ALONE, CONSTANT, LONG_WALK, STRONGEST, combine, weigh

FEW = settings(max_examples=50)


def list_strengths(fired: Fired, book: RuleBook) -> dict[tuple[int, int], float]:
    found = combine(fired, book)
    pairs = zip(found.pattern.tolist(), found.entity.tolist(), strict=True)
    return dict(zip(pairs, found.value.tolist(), strict=True))


@pytest.fixture(scope="module")
def book() -> RuleBook:
    graph = towns().known("train")
    return nqe.mine_rules(graph).to_book(graph)


@pytest.fixture(scope="module")
def fired(book: RuleBook) -> Fired:
    """What fires for the languages and friends of two people."""
    graph = towns().known("train")
    entities, relations = graph.vocabulary.entities, graph.vocabulary.relations
    people = [entities.to_number(name) for name in ("person0", "person7")]
    patterns = [
        Pattern(relations.to_number(name), (person, None))
        for name in ("speaks", "knows")
        for person in people
    ]
    found = book.fire(Patterns.of(patterns))
    assert len(found) > 100
    return found


rows = st.lists(st.integers(0, 99), unique=True)


@FEW
@given(some=rows, more=rows)
def test_further_rules_never_lower_a_strength(
    some: list[int], more: list[int], fired: Fired, book: RuleBook
) -> None:
    few = list_strengths(fired.take(np.array(some, dtype=np.int64)), book)
    both = sorted({*some, *more})
    all_of_them = list_strengths(fired.take(np.array(both, dtype=np.int64)), book)
    assert few.keys() <= all_of_them.keys()
    assert all(value <= all_of_them[pair] + 1e-12 for pair, value in few.items())
    assert all(0 < value <= STRONGEST for value in all_of_them.values())


@FEW
@given(order=st.permutations(range(60)))
def test_the_order_of_rules_does_not_matter(order: list[int], fired: Fired, book: RuleBook) -> None:
    one = list_strengths(fired.take(np.array(order)), book)
    other = list_strengths(fired.take(np.arange(60)), book)
    assert one == pytest.approx(other, abs=1e-12)


def test_a_single_rule_is_as_strong_as_it_weighs(fired: Fired, book: RuleBook) -> None:
    for row in range(0, 100, 7):
        [value] = list_strengths(fired.take(np.array([row])), book).values()
        assert value == min(weigh(book.rules)[fired.rule[row]], STRONGEST)


def test_many_strong_rules_are_never_certain(fired: Fired, book: RuleBook) -> None:
    strongest = int(np.argmax(weigh(book.rules)[fired.rule]))
    again = fired.take(np.full(50, strongest))
    [value] = list_strengths(again, book).values()
    assert value <= STRONGEST < 1


def test_nothing_that_fired_has_no_strengths(fired: Fired, book: RuleBook) -> None:
    assert list_strengths(fired.take(np.arange(0)), book) == {}


def test_weak_forms_of_rules_weigh_less(book: RuleBook) -> None:
    rules, weight = book.rules, weigh(book.rules)
    for chosen, factor in (
        (rules.is_walk & (rules.length < 3), 1.0),
        (rules.is_walk & (rules.length == 3), LONG_WALK),
        (rules.constant >= 0, CONSTANT),
        (~rules.is_walk & (rules.length == 0), ALONE),
    ):
        assert chosen.any()
        assert np.allclose(weight[chosen], factor * rules.confidence[chosen])
