"""Models with context: what is known of the graph counts, under any numbers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from answering_cases import graph_of, small_model
from torch import Tensor

from nqe.answering import OpenedRun
from nqe.answering.predictor import Predictor
from nqe.graph import Dataset, Fact, Graph
from nqe.graph.added_facts import add_facts
from nqe.model import save_pretrained
from nqe.model.checkpoint import Card
from nqe.query import bind
from nqe.query.step_table import StepTable

ASKED = "?x: r1(e1, ?x)"


def encode(graph: Graph, context: int = 3) -> Tensor:
    predictor = Predictor(small_model(context), graph)
    return predictor.encode(StepTable.of([bind(ASKED, graph)]))


def extend(*facts: Fact) -> Graph:
    """The graph of the model with facts that were added after its training."""
    graph = graph_of([])
    return add_facts(Dataset(graph.vocabulary, {"train": graph.facts}), facts).graph


def test_an_added_fact_about_a_known_entity_changes_the_vector_of_a_query() -> None:
    changed = encode(extend(Fact("e1", "r2", "e4")))
    assert not torch.allclose(changed, encode(graph_of([])), atol=1e-3)


def test_a_fact_that_answers_the_query_does_not() -> None:
    assert torch.equal(encode(extend(Fact("e1", "r1", "e4"))), encode(graph_of([])))


@pytest.mark.parametrize(
    "fact",
    [
        Fact("e1", "r2", "new"),
        Fact("e1", "new", "e4"),
        Fact("e1", "r2", "e4", (("r0", "new"),)),
        Fact("e1", "r2", "e4", (("new", "e0"),)),
    ],
)
def test_a_fact_with_a_name_that_the_model_lacks_is_no_context(fact: Fact) -> None:
    torch.testing.assert_close(encode(extend(fact)), encode(graph_of([])))


def test_a_model_without_context_sees_no_facts() -> None:
    assert torch.equal(encode(extend(Fact("e1", "r2", "e4")), 0), encode(graph_of([]), 0))


@pytest.mark.parametrize(
    ("trained_on", "splits"),
    [("train", "train"), ("train,valid", "train,valid"), ("all", "all"), ("some.queries", "train")],
)
def test_the_runner_of_a_run_has_the_facts_that_the_model_was_trained_on(
    tmp_path: Path, trained_on: str, splits: str
) -> None:
    model, everything = small_model(3), graph_of([Fact("e1", "r2", "e4"), Fact("e2", "r2", "e1")])
    rows = np.arange(len(everything))
    parts = {"train": rows[::2], "valid": rows[1::2]}
    splits_of = {name: everything.facts.take(part) for name, part in parts.items()}
    dataset = Dataset(everything.vocabulary, splits_of)
    save_pretrained(model, tmp_path / "saved", Card(trained_on=trained_on))
    table = StepTable.of([bind(ASKED, dataset)])
    found = OpenedRun.load(tmp_path / "saved", "cpu").open_runner(dataset).run(table).vectors
    expected = model.with_facts(dataset.known(splits).facts).encode(table).detach()
    assert torch.equal(found, expected)
