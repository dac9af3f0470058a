"""Random walks: the query has the wanted shape and kind of atoms, and answers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import small_graphs

import nqe
from nqe.graph import Graph
from nqe.query import SHAPES, execute
from nqe.query.plan import Op
from nqe.query.shapes import POSITIVE, Shape, parse_shape
from nqe.sampling import Walker


@pytest.fixture(scope="module")
def atlas() -> Graph:
    return nqe.demo_dataset().graph


@pytest.mark.parametrize("match", ["open", "closed"])
@pytest.mark.parametrize("name", SHAPES)
def test_a_query_has_the_wanted_shape_and_kind_of_atoms(
    name: str, match: str, atlas: Graph
) -> None:
    walker = Walker(atlas, match)
    for seed in range(10):
        plan = walker.draw(parse_shape(name), np.random.default_rng(seed))
        assert plan is not None
        assert plan.shape_name == name
        atoms = [step for step in plan.steps if step.op == Op.PROJECTION]
        assert {step.closed for step in atoms} == {match == "closed"}


@given(
    small_graphs,
    st.sampled_from(POSITIVE),
    st.sampled_from(["open", "closed", "any"]),
    st.integers(0, 99),
)
def test_a_positive_query_has_an_answer(graph: Graph, name: str, match: str, seed: int) -> None:
    plan = Walker(graph, match).draw(parse_shape(name), np.random.default_rng(seed))
    if plan is not None:
        assert len(execute(plan, graph)) > 0


def test_the_same_seed_draws_the_same_query(atlas: Graph) -> None:
    walker = Walker(atlas)
    plans = [walker.draw(parse_shape("pi"), np.random.default_rng(5)) for _ in range(2)]
    assert plans[0] == plans[1]


def test_only_allowed_slots_are_asked_for(atlas: Graph) -> None:
    walker = Walker(atlas, asked_slots=frozenset({"object"}))
    plan = walker.draw(parse_shape("3p"), np.random.default_rng(1))
    assert plan is not None
    assert {step.asked for step in plan.steps} == {1}


def test_a_shape_that_no_fact_can_fill_is_not_drawn() -> None:
    graph = Graph.of([nqe.Fact("a", "r", "b")])
    assert Walker(graph).draw(parse_shape("3cp"), np.random.default_rng(0)) is None


def test_a_shape_with_an_unknown_operator_is_an_error(atlas: Graph) -> None:
    with pytest.raises(ValueError, match="unknown operator 'Xor'"):
        Walker(atlas).draw(Shape("And", (Shape("P"), Shape("Xor"))), np.random.default_rng(0))
