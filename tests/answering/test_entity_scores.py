"""Scores of half the precision that say which entities to score in full."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
import torch
from answering_cases import answerer_of, fact_lists, graph_of, plans
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import ENTITIES

from nqe.answering import Answerer
from nqe.answering.entity_vectors import EntityVectors
from nqe.answering.fuzzy_set import Floats
from nqe.answering.rough_scores import RoughColumns
from nqe.graph import Fact
from nqe.model.model import Comparison, EntityBlock
from nqe.query import Plan

seeds = st.integers(0, 99)


class StandIn:
    """As much of a predictor as rough scores need."""

    def __init__(self, vectors: torch.Tensor) -> None:
        self.entities, self.rough = self, vectors.bfloat16()

    def lend_memory(self, size: int) -> torch.Tensor:
        return torch.empty(size)


@pytest.fixture(scope="module", autouse=True)
def small_blocks() -> Iterator[None]:
    """So few entities at once that a graph has several blocks of them."""
    with pytest.MonkeyPatch.context() as patch:
        for module in ("entity_scores", "rough_scores"):
            patch.setattr(f"nqe.answering.{module}.COLUMNS", 3)
        yield


def choose(seed: int) -> tuple[RoughColumns, torch.Tensor]:
    """Choose entities with at least a tenth of the mean chance, and score all of them."""
    generator = torch.Generator().manual_seed(seed)
    queries, vectors = (torch.randn(n, 16, generator=generator) for n in (4, 200))
    comparison = Comparison(queries, vectors, torch.randn(200, generator=generator))
    chosen = RoughColumns.choose(comparison, StandIn(vectors), find_limit)  # type: ignore[arg-type]
    return chosen, comparison.scores()


def find_limit(total: torch.Tensor) -> torch.Tensor:
    return total.double() + np.log(0.1 / 200)


@given(seeds)
@settings(max_examples=20)
def test_rough_scores_miss_no_entity_that_reaches_the_limit(seed: int) -> None:
    chosen, scores = choose(seed)
    needed = (scores >= find_limit(scores.logsumexp(1))[:, None]).any(0).nonzero()[:, 0]
    assert set(needed.tolist()) <= set(chosen.entities.tolist())
    assert len(chosen) < 200


@given(seeds)
@settings(max_examples=20)
def test_rough_scores_say_what_all_others_add_up_to(seed: int) -> None:
    chosen, scores = choose(seed)
    scores[:, chosen.entities] = -torch.inf
    torch.testing.assert_close(chosen.rest, scores.logsumexp(1), atol=0.05, rtol=0)


def test_columns_are_the_chosen_entities() -> None:
    chosen, _ = choose(1)
    entities = chosen.entities.numpy()
    assert chosen.to_columns(entities).tolist() == list(range(len(chosen)))
    assert chosen.to_entities(np.array([2, 0])).tolist() == entities[[2, 0]].tolist()
    others = np.setdiff1d(np.arange(200), entities)
    assert set(chosen.to_columns(others).tolist()) == {-1}
    part: EntityBlock = chosen.read(slice(1, 3))
    assert part.vectors.equal(chosen.comparison.entities[entities[1:3]])


def rows_of(answerer: Answerer, batch: list[Plan], *, rough: bool) -> list[Floats]:
    """The probabilities of all entities for each plan, by scores in full or rough ones first."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(EntityVectors, "are_rough_quick", rough)
        targets = answerer.run(batch).targets
    return [one.to_array(len(ENTITIES)) for one in targets]


@given(fact_lists, st.lists(plans(), min_size=1, max_size=4))
@settings(max_examples=25)
def test_answers_are_the_same_with_rough_scores_first(facts: list[Fact], batch: list[Plan]) -> None:
    answerer = answerer_of(graph_of(facts), least=1e-5, beam=8)
    full, rough = (rows_of(answerer, batch, rough=one) for one in (False, True))
    np.testing.assert_allclose(np.stack(rough), np.stack(full), atol=1e-4, rtol=0)


@given(fact_lists, st.lists(plans(), min_size=1, max_size=4))
@settings(max_examples=10)
def test_scores_too_large_for_their_exponentials_are_computed_in_full(
    facts: list[Fact], batch: list[Plan]
) -> None:
    answerer = answerer_of(graph_of(facts))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("nqe.answering.entity_scores.SMALL", 1e-3)
        full, rough = (rows_of(answerer, batch, rough=one) for one in (False, True))
    np.testing.assert_allclose(np.stack(rough), np.stack(full), atol=1e-6, rtol=0)
