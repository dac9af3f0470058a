"""An index of entity vectors finds what a look at all entities finds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from answering_cases import answerer_of, fact_lists, graph_of, plans
from hypothesis import given
from strategies import ENTITIES, RELATIONS

from nqe.answering import HybridOptions, entity_index
from nqe.answering.entity_index import EntityIndex, Look
from nqe.errors import NqeError
from nqe.graph import Fact
from nqe.model.model import EntityBlock
from nqe.query import Plan

CHAIN = f"?x: {RELATIONS[1]}(?y, ?x) and {RELATIONS[0]}({ENTITIES[0]}, ?y)"


def random_block(count: int, width: int = 6) -> EntityBlock:
    generator = torch.Generator().manual_seed(1)
    return EntityBlock(
        torch.randn(count, width, generator=generator), torch.randn(count, generator=generator)
    )


def random_queries(count: int, width: int = 6) -> torch.Tensor:
    return torch.randn(count, width, generator=torch.Generator().manual_seed(2))


@given(facts=fact_lists, plan=plans())
def test_with_an_index_that_looks_at_all_blocks_answers_are_the_exact_ones(
    facts: list[Fact], plan: Plan
) -> None:
    graph = graph_of(facts)
    count = graph.entity_count
    [exact] = answerer_of(graph, search="exact").run([plan]).targets
    [found] = answerer_of(graph, search="index").run([plan]).targets
    assert found.to_array(count) == pytest.approx(exact.to_array(count), abs=1e-5)


def test_explanations_with_an_index_give_the_probability_of_the_list() -> None:
    answerer = answerer_of(graph_of([]), search="index")
    for answer in answerer.answer(CHAIN, predicted_only=True, top=3):
        explanation = answerer.explain(CHAIN, answer.entity)
        assert explanation.probability == pytest.approx(answer.probability, abs=1e-6)
        assert str(explanation)


def test_a_small_graph_has_no_index_unless_asked_for() -> None:
    answerer = answerer_of(graph_of([]))
    answerer.answer(CHAIN)
    assert "index" not in vars(answerer.neural.predictor.entities)


def test_other_facts_share_the_index() -> None:
    answerer = answerer_of(graph_of([]), search="index")
    answerer.answer(CHAIN)
    other = answerer.with_facts("none")
    assert other.neural.predictor.entities is answerer.neural.predictor.entities


@pytest.mark.parametrize("count", [1, 5, 64, 65, 1000])
def test_every_entity_is_in_one_block_and_unscored_ones_in_none(count: int) -> None:
    block = random_block(count + 1)
    block.bias[0] = -torch.inf
    index = EntityIndex.build(block, random_queries(20))
    listed = index.entities[index.bias.isfinite()]
    assert sorted(listed.tolist()) == list(range(1, count + 1))
    assert index.places[0] == -1


def look(index: EntityIndex, queries: torch.Tensor) -> Look:
    memory = torch.empty(len(queries) * len(index))
    return index.look(queries, torch.ones(len(queries)), 1.0, memory)


def test_what_is_not_looked_at_is_estimated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entity_index, "LOOK", 60)
    block, queries = random_block(4000), random_queries(8)
    index = EntityIndex.build(block, random_queries(50))
    found = look(index, queries)
    assert len(found.blocks) == 60 < len(index)
    exact = torch.addmm(block.bias, queries, block.vectors.T)
    some = found.read(slice(0, len(found)))
    seen = torch.addmm(some.bias, queries, some.vectors.T).logsumexp(1)
    error = torch.logaddexp(seen, found.rest) - exact.logsumexp(1)
    assert float(error.abs().max()) < 0.3
    best = exact.argmax(1).numpy()
    assert (found.to_columns(best) >= 0).sum() >= 6


def test_columns_are_those_of_the_entities_that_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entity_index, "LOOK", 7)
    block = random_block(1000)
    found = look(EntityIndex.build(block, random_queries(50)), random_queries(3))
    columns = found.to_columns(np.arange(1000))
    inside = np.flatnonzero(columns >= 0)
    assert len(inside) == len(found) - int(found.read(slice(0, len(found))).bias.isinf().sum())
    assert found.to_entities(columns[inside]).tolist() == inside.tolist()
    read = found.read(slice(0, len(found))).vectors[columns[inside]]
    assert torch.equal(read, block.vectors[inside])


def test_a_look_at_all_blocks_leaves_no_rest() -> None:
    index = EntityIndex.build(random_block(100), random_queries(50))
    assert look(index, random_queries(3)).rest.tolist() == [-np.inf] * 3


@pytest.mark.parametrize("wrong", [{"search": "quick"}])
def test_an_unknown_search_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(NqeError, match="auto, exact, index"):
        HybridOptions(**wrong)
