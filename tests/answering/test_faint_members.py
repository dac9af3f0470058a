"""Conjunctions whose inputs do not list an entity because it is too unlikely."""

from __future__ import annotations

import numpy as np
import pytest
from answering_cases import (
    answerer_of,
    fact_lists,
    graph_of,
    odd_calibration,
    plans,
    plans_of_shape,
    small_model,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from slow_hybrid import CONJOIN, SlowHybrid
from strategies import ENTITIES

from nqe.answering.fuzzy_set import FuzzySet
from nqe.answering.hybrid import JOINS
from nqe.graph import Fact
from nqe.query import Plan
from nqe.query.plan import Op, PlanBuilder

LEAST = 0.3
"""So high that few entities are listed, and none of those that are looked up."""
conjunctions = st.one_of(
    *(plans_of_shape(name) for name in ("2i", "3i", "pi", "3in")), plans(deepest=2)
)


def sets_of(plan: Plan, facts: list[Fact], **options: object) -> list[FuzzySet]:
    run = answerer_of(graph_of(facts), **options).run([plan])
    return [run.sets[step] for step in range(len(plan.steps))]


@pytest.mark.parametrize("join", JOINS)
@pytest.mark.parametrize("logic", CONJOIN)
@given(fact_lists, conjunctions)
@settings(max_examples=30)
def test_rows_are_the_same_as_in_plain_python(
    logic: str, join: str, facts: list[Fact], plan: Plan
) -> None:
    graph = graph_of(facts)
    [row] = answerer_of(graph, logic, join=join, beam=99, least=LEAST).run([plan]).targets
    slow = SlowHybrid(plan, small_model(), graph, odd_calibration(), logic, join, least=LEAST)
    np.testing.assert_allclose(row.to_array(len(ENTITIES)), slow.row(), atol=3e-5, rtol=0)


@given(fact_lists, plans_of_shape("2i"))
@settings(max_examples=30)
def test_what_one_input_finds_likely_has_the_probability_that_it_has_without_a_least(
    facts: list[Fact], plan: Plan
) -> None:
    cut, whole = (sets_of(plan, facts, least=least) for least in (LEAST, 1e-9))
    for entity in range(len(ENTITIES)):
        parts = sorted(one[entity] for one in cut[:2])
        if parts[1] >= LEAST:
            assert cut[2][entity] == pytest.approx(whole[2][entity], abs=1e-6)


def conjunction() -> Plan:
    """A conjunction of which one input holds several entities for certain."""
    builder = PlanBuilder()
    one = builder.add_projection("x", 0, (), (None, 0), 0, False)
    other = builder.add_projection("x", 1, (), (None, 1), 0, False)
    builder.add_connective(Op.AND, "x", (one, other))
    return builder.finish()


def test_the_inputs_list_what_was_looked_up_so_that_it_can_be_explained() -> None:
    first, second, both = sets_of(conjunction(), [], least=0.9)
    found = np.flatnonzero(first.to_array(len(ENTITIES)) == 1)
    assert len(found) > 1
    assert 0 < min(second.look_up(found)) < 0.9
    np.testing.assert_allclose(both.look_up(found), second.look_up(found))


def test_nothing_is_looked_up_where_many_entities_compete() -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("nqe.answering.faint_members.MANY", 1)
        _, second, _ = sets_of(conjunction(), [], least=0.9)
    assert bool((second.values >= 0.9).all())
