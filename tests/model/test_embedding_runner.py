"""The embedding runner: scores of ranges of entities for the plans of a table."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from random_plans import mixed
from small_models import ENTITY_COUNT, small_model

from nqe.errors import NqeError
from nqe.graph import Fact, Graph
from nqe.model import EmbeddingRunner
from nqe.query.step_table import StepTable
from nqe.sampling.one_hop import make_closed_queries


def test_a_runner_gives_the_scores_of_its_model() -> None:
    model, table = small_model(), StepTable.of(mixed())
    runner = EmbeddingRunner(model)
    assert runner.entity_count == ENTITY_COUNT
    scores = runner.run(table)
    with torch.no_grad():
        expected = model.score(model.encode(table), model.entity_block())
    torch.testing.assert_close(scores.block(0, ENTITY_COUNT), expected)
    torch.testing.assert_close(scores.block(2, 7), expected[:, 2:7])


def test_a_runner_switches_dropout_off() -> None:
    model, table = small_model(dropout=0.9).train(), StepTable.of(mixed())
    first, second = (EmbeddingRunner(model).run(table).block(0, ENTITY_COUNT) for _ in range(2))
    assert torch.equal(first, second)


def test_a_runner_refuses_queries_of_a_larger_graph() -> None:
    graph = Graph.of([Fact(f"e{n}", "r", f"e{n + 1}") for n in range(20)])
    table = make_closed_queries(graph.facts)
    with pytest.raises(NqeError, match="entity number 20 is not one of the model's 12"):
        EmbeddingRunner(small_model()).run(table.plans)
    scores = EmbeddingRunner(small_model()).run(table.plans.take(np.arange(3)))
    assert scores.block(2, 7).shape == (3, 5)
