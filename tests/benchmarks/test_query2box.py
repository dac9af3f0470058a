"""The benchmark on Query2Box's queries: what a model sees, and which queries are asked."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from query2box_data import SHAPES, Query2Box, close_atoms, open_benchmark

from nqe.graph import Dataset, Fact
from nqe.query import execute
from nqe.sampling import sample
from nqe.settings import SamplingSettings


@pytest.fixture(scope="module")
def quick() -> Query2Box:
    return open_benchmark(60.0, quick=True)


@pytest.fixture(scope="module")
def triples() -> Dataset:
    """A ring of facts and a few more, without qualifiers."""
    ring = [Fact(f"e{n}", f"r{n % 2}", f"e{(n + 1) % 8}") for n in range(8)]
    return Dataset.of({"train": ring, "valid": [Fact("e0", "r0", "e5")]})


class TestWhatTheModelSees:
    def test_the_data_set_of_the_model_has_no_test_facts(self, quick: Query2Box) -> None:
        assert list(quick.seen.splits) == ["train", "valid"]
        assert len(quick.seen.graph) < len(quick.truth.graph)

    def test_its_entities_and_relations_keep_their_numbers(self, quick: Query2Box) -> None:
        assert quick.seen.vocabulary.same_ids(quick.truth.vocabulary)


class TestDrawnQueries:
    def test_every_shape_gets_as_many_as_asked_for(self, quick: Query2Box) -> None:
        assert Counter(quick.draw("test", 1).shape) == dict.fromkeys(SHAPES, 1)

    def test_the_same_queries_are_drawn_again(self, quick: Query2Box) -> None:
        first, second = quick.draw("test", 1), quick.draw("test", 1)
        assert first.plans == second.plans

    def test_their_missing_links_are_counted(self, quick: Query2Box) -> None:
        assert quick.draw("test", 2).missing.values.min() >= 1


def test_closed_atoms_have_the_same_answers_in_a_graph_of_triples(triples: Dataset) -> None:
    settings = SamplingSettings(shapes=("1p", "2p", "2i"), train=3, valid=0, test=0, match="open")
    table = sample(triples, settings, workers=1).splits["train"]
    closed = close_atoms(table)
    assert not table.plans.closed.any()
    assert closed.plans.closed.any()
    assert replace(closed.plans, closed=table.plans.closed) == table.plans
    known = triples.known("train")
    for row in range(len(table)):
        before, after = (execute(one.plans.plan(row), known).answers for one in (table, closed))
        assert np.array_equal(before, after)
