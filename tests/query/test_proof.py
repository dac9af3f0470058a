"""Proofs: every answer has one, and the facts that it names suffice for the answer."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from query_cases import FILMS, fact_lists, graph_of, positive_queries, queries

from nqe.errors import NqeError
from nqe.graph import Fact, Graph
from nqe.query import Query, execute
from nqe.query.plan import Op
from nqe.query.reason import Reason


@given(fact_lists, positive_queries())
def test_the_facts_of_a_proof_suffice_for_the_answer(facts: list[Fact], query: Query) -> None:
    graph = graph_of(facts)
    result = execute(query, graph)
    for entity in result.answers.tolist():
        rows = sorted(set(result.proof(entity).rows))
        alone = Graph(graph.vocabulary, graph.facts.take(np.array(rows)).to_canonical())
        assert entity in execute(result.plan, alone).sets[-1]


@given(fact_lists, queries())
def test_every_answer_has_a_proof_that_covers_its_plan(facts: list[Fact], query: Query) -> None:
    result = execute(query, graph_of(facts))
    for entity in result.answers.tolist():
        proof = result.proof(entity)
        assert proof.entity == entity
        assert proof.op == result.plan.target.op
        _check(proof)


def _check(proof: Reason) -> None:
    assert (proof.row is not None) == (proof.op == Op.PROJECTION)
    assert bool(proof.parts) <= (proof.op not in (Op.NOT, Op.ANY))
    for part in proof.parts:
        _check(part)


def test_a_proof_is_shown_step_by_step() -> None:
    result = execute(
        "?x: award(?x, Prize; with: ?y) and born(?y, Oslo) and not born(?x, Oslo)", Graph.of(FILMS)
    )
    assert str(result.proof("Ann")).split("\n") == [
        "?x = Ann: all of",
        "  stated (Ann, award, Prize, {with: Bob, with: Cid, year: 1999})",
        "    ?y = Bob: stated (Bob, born, Oslo)",
        "  no facts give born(Ann, Oslo)",
    ]
    data = result.proof("Ann").to_json()
    assert data["because"][0]["fact"]["subject"] == "Ann"
    assert data["because"][1]["absent"] == "born(Ann, Oslo)"


def test_a_proof_is_a_reason_in_which_everything_is_certain() -> None:
    proof = execute("?x: award(?x, Prize; with: ?y) and born(?y, Oslo)", Graph.of(FILMS)).proof(
        "Ann"
    )
    assert proof.certain
    assert proof.stated
    assert proof.weakest() is None
    assert proof.to_json()["atom"] == "award(Ann, Prize; with: Bob)"


def test_an_entity_that_is_not_an_answer_has_no_proof() -> None:
    with pytest.raises(NqeError, match="Bob is not an answer"):
        execute("?x: born(?x, Rome)", Graph.of(FILMS)).proof("Bob")


@pytest.mark.parametrize(
    ("negated", "absent"),
    [
        (
            "award(?x, Prize; with: ?y) and born(?y, Oslo)",
            "award(Cid, Prize; with: ?y) and born(?y, Oslo)",
        ),
        (
            "born(?x, Oslo) or award(?x, Prize; year: 1999)",
            "born(Cid, Oslo) or award(Cid, Prize; year: 1999)",
        ),
        (
            "born(?x, Rome) and not award(?x, Prize)",
            "born(Cid, Rome) and not award(Cid, Prize)",
        ),
    ],
)
def test_what_is_absent_is_told_in_the_words_of_a_query(negated: str, absent: str) -> None:
    proof = execute(f"?x: award(?x, Prize) and not ({negated})", Graph.of(FILMS)).proof("Cid")
    assert proof.parts[1].absent == absent
