"""Proofs: the facts named are facts of the graph, and they alone give the answer."""

from __future__ import annotations

import pytest
from formulas import positive_queries, queries
from hypothesis import given
from test_exact import FILMS, fact_lists, graph_of

from nqe.errors import NqeError
from nqe.graph import Fact, Graph
from nqe.query import Query, execute
from nqe.query.plan import Op
from nqe.query.proof import Proof


@given(fact_lists, positive_queries())
def test_the_facts_of_a_proof_are_enough_for_the_answer(facts: list[Fact], query: Query) -> None:
    graph = graph_of(facts)
    result = execute(query, graph)
    for entity in result.answers.tolist():
        rows = sorted(set(result.proof(entity).rows))
        alone = Graph(graph.vocabulary, graph.facts.take(_rows(rows)).to_canonical())
        assert entity in execute(result.plan, alone).sets[-1]


@given(fact_lists, queries())
def test_every_answer_has_a_proof_that_covers_its_plan(facts: list[Fact], query: Query) -> None:
    result = execute(query, graph_of(facts))
    for entity in result.answers.tolist():
        proof = result.proof(entity)
        assert proof.entity == entity
        assert proof.op == result.plan.target.op
        _check(proof)


def _check(proof: Proof) -> None:
    assert (proof.row is not None) == (proof.op == Op.PROJECTION)
    assert bool(proof.parts) <= (proof.op not in (Op.NOT, Op.ANY))
    for part in proof.parts:
        _check(part)


def _rows(rows: list[int]):
    import numpy as np

    return np.array(rows, dtype=np.int64)


def test_a_proof_reads_as_the_reasons_step_by_step() -> None:
    result = execute(
        "?x: award(?x, Prize; with: ?y) and born(?y, Oslo) and not born(?x, Oslo)", Graph.of(FILMS)
    )
    assert str(result.proof("Ann")).split("\n") == [
        "?x = Ann: all of",
        "  ?x = Ann: stated (Ann, award, Prize, {with: Bob, with: Cid, year: 1999})",
        "    ?y = Bob: stated (Bob, born, Oslo)",
        "  ?x = Ann: no facts give born(Ann, Oslo)",
    ]
    told = result.proof("Ann").to_json()
    assert told["because"][0]["fact"]["subject"] == "Ann"
    assert told["because"][1]["absent"] == "born(Ann, Oslo)"


def test_what_is_no_answer_has_no_proof() -> None:
    with pytest.raises(NqeError, match="Bob is not an answer"):
        execute("?x: born(?x, Rome)", Graph.of(FILMS)).proof("Bob")
