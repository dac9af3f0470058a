"""Wide conjunctions of one-hop queries, compared with the exact engine."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import small_graphs

from nqe.graph import Fact, Graph
from nqe.query.exact import execute
from nqe.query.plan import Op
from nqe.sampling.one_hop import make_closed_queries
from nqe.sampling.wide_conjunctions import WideConjunctions, draw_distinct

FACTS = [Fact(f"a{n}", f"r{n % 3}", f"b{n // 5}", (("q", "c"),) * (n % 2)) for n in range(40)]
GRAPH = Graph.of(FACTS)


@settings(max_examples=40)
@given(graph=small_graphs, seed=st.integers(0, 9), least=st.integers(2, 4))
def test_the_answers_are_those_of_the_exact_engine(graph: Graph, seed: int, least: int) -> None:
    wide = WideConjunctions(make_closed_queries(graph.facts), least)
    table = wide.draw(8, np.random.default_rng(seed))
    assert len(table) == (8 if wide.can_draw else 0)
    for row in range(len(table)):
        answers = execute(table.plans.plan(row), graph).answers
        assert answers.tolist() == table.easy[row].tolist()
        assert len(answers)


def test_a_conjunction_has_4_to_16_distinct_closed_parts_and_is_named_by_its_tree() -> None:
    table = WideConjunctions(make_closed_queries(GRAPH.facts)).draw(200, np.random.default_rng(1))
    for row in range(len(table)):
        plan = table.plans.plan(row)
        *parts, target = plan.steps
        assert target.op == Op.AND
        assert target.inputs == tuple(range(len(parts)))
        assert len({(one.relation, one.attributes, one.slots, one.asked) for one in parts}) in (
            range(4, 17)
        )
        assert all(one.closed for one in parts)
        assert table.shape[row] == f"And({', '.join(['P()'] * len(parts))})"
        assert plan.shape.name == table.shape[row]


def test_the_same_seed_draws_the_same_conjunctions() -> None:
    wide = WideConjunctions(make_closed_queries(GRAPH.facts))
    first, second, other = (wide.draw(9, np.random.default_rng(seed)) for seed in (5, 5, 6))
    assert first.plans == second.plans
    assert first.plans != other.plans


def test_entities_that_answer_too_few_queries_give_no_conjunction() -> None:
    closed = make_closed_queries(Graph.of(FACTS[:2]).facts)
    table = WideConjunctions(closed).draw(5, np.random.default_rng(0))
    assert len(table) == 0
    assert not WideConjunctions(closed).can_draw


@pytest.mark.parametrize("seed", range(3))
def test_distinct_numbers_are_distinct_and_equally_frequent(seed: int) -> None:
    available = np.repeat([4, 7, 30], 1_000)
    size = np.repeat([4, 3, 16], 1_000)
    drawn = draw_distinct(available, size, np.random.default_rng(seed))
    runs = np.split(drawn, np.cumsum(size)[:-1])
    assert all(len(set(run.tolist())) == len(run) for run in runs)
    for first, below, share in ((0, 4, 1), (1_000, 7, 3 / 7), (2_000, 30, 16 / 30)):
        counts = np.bincount(np.concatenate(runs[first : first + 1_000]), minlength=below)
        assert len(counts) == below
        assert counts / 1_000 == pytest.approx(share, abs=0.09)
