"""Scores of half the precision that say which entities to score in full."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from answering_cases import answerer_of, fact_lists, graph_of, plans
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import ENTITIES

from nqe.answering import Answerer
from nqe.answering.entity_vectors import EntityVectors
from nqe.answering.fuzzy_set import Floats
from nqe.graph import Fact
from nqe.query import Plan


@pytest.fixture(scope="module", autouse=True)
def small_blocks() -> Iterator[None]:
    """So few entities at once that a graph has several blocks of them."""
    with pytest.MonkeyPatch.context() as patch:
        for module in ("entity_scores", "rough_scores"):
            patch.setattr(f"nqe.answering.{module}.COLUMNS", 3)
        yield


def rows_of(answerer: Answerer, batch: list[Plan], *, rough: bool) -> list[Floats]:
    """The probabilities of all entities for each plan, by scores in full or rough ones first."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(EntityVectors, "are_rough_quick", rough)
        targets = answerer.run(batch).targets
    return [one.to_array(len(ENTITIES)) for one in targets]


@pytest.mark.parametrize(("least", "tolerance"), [(1e-4, 1e-5), (0.02, 1e-4), (0.3, 2e-2)])
@given(fact_lists, st.lists(plans(), min_size=1, max_size=4))
@settings(max_examples=25)
def test_rough_scores_first_change_little_and_less_where_more_is_scored_in_full(
    least: float, tolerance: float, facts: list[Fact], batch: list[Plan]
) -> None:
    answerer = answerer_of(graph_of(facts), least=least, beam=8)
    full, rough = (rows_of(answerer, batch, rough=one) for one in (False, True))
    np.testing.assert_allclose(np.stack(rough), np.stack(full), atol=tolerance, rtol=0)


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
