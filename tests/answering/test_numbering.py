"""Answers depend neither on how entities are numbered nor on the order in a batch."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from answering_cases import fact_lists, graph_of, odd_calibration, plans, small_model
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import ENTITIES

from nqe.answering import Answerer, Answers, HybridOptions
from nqe.graph import Fact, Graph
from nqe.graph.vocabulary import Names
from nqe.query import Plan, Query


def renumber(graph: Graph, order: list[int]) -> Graph:
    """The same graph with entities in another order."""
    names, facts = graph.vocabulary.entities, graph.facts
    place = np.argsort(order)
    moved = replace(
        facts,
        subject=place[facts.subject],
        object=place[facts.object],
        value=place[facts.value] if len(facts.value) else facts.value,
    )
    entities = Names.of("entity", [names.ids[number] for number in order])
    return Graph(replace(graph.vocabulary, entities=entities), moved.to_canonical())


def answer(graph: Graph, queries: list[Query], beam: int, context: int) -> list[Answers]:
    answerer = Answerer(
        graph,
        small_model(context),
        calibration=odd_calibration(),
        options=HybridOptions(beam=beam),
    )
    outcomes = answerer.answer_many(queries)
    assert all(isinstance(outcome, Answers) for outcome in outcomes)
    return outcomes  # type: ignore[return-value]


@pytest.mark.parametrize(("beam", "context"), [(1, 0), (2, 0), (64, 0), (64, 2)])
@given(
    fact_lists,
    st.lists(plans(), min_size=1, max_size=4),
    st.permutations(range(len(ENTITIES))),
    st.randoms(use_true_random=False),
)
@settings(max_examples=40)
def test_other_numbers_and_another_batch_give_the_same_answers_in_the_same_order(
    beam: int, context: int, facts: list[Fact], some: list[Plan], order: list[int], random: object
) -> None:
    graph = graph_of(facts)
    queries = [plan.query(graph.vocabulary) for plan in some]
    shuffled = list(range(len(queries)))
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    before = answer(graph, queries, beam, context)
    after = answer(renumber(graph, order), [queries[one] for one in shuffled], beam, context)
    for place, number in enumerate(shuffled):
        one, other = before[number], after[place]
        assert [a.known for a in one] == [a.known for a in other]
        chances = [[a.probability for a in answers] for answers in (one, other)]
        np.testing.assert_allclose(*chances, atol=1e-6, rtol=0)
        for a, b in zip(one, other, strict=True):
            # Only answers that are equal to the last digits may change places.
            assert a.id == b.id or abs(a.probability - b.probability) < 1e-6
