"""Results: answers as numbers, ids and labels, and proofs of them."""

from __future__ import annotations

import pytest
from query_cases import FILMS

from nqe.errors import NqeError
from nqe.graph import Graph
from nqe.query import execute


def test_a_result_lists_its_answers_as_numbers_ids_and_labels() -> None:
    graph = Graph.of(FILMS)
    result = execute("?x: award(?x, Prize)", graph)
    assert len(result) == 3
    assert list(result) == result.ids == result.labels == ["Ann", "Bob", "Cid"]
    assert result.answers.tolist() == [graph.vocabulary.entities.resolve(name) for name in result]
    assert repr(result) == "<Result: 3 answers: Ann, Bob, Cid>"


def test_a_proof_takes_a_number_as_results_give_it() -> None:
    result = execute("?x: born(?x, Rome)", Graph.of(FILMS))
    assert result.proof(result.answers[0]).entity == result.answers[0]
    with pytest.raises(NqeError, match="there is no entity number 999"):
        result.proof(999)
