"""Rows: answers of several targets and counts, their names, notes and proofs."""

from __future__ import annotations

import pytest
from query_cases import FILMS

from nqe.errors import NqeError
from nqe.graph import Description, Fact, Graph
from nqe.query import bind, execute
from nqe.query.binder import bind_tree
from nqe.query.rows import Rows

GRAPH = Graph.of(FILMS).describe({"Ann": Description("Ann Lee"), "born": Description("born in")})
PAIRS = "?x, ?y: award(?x, Prize; with: ?y)"
CYCLE = "?x: award(?x, Prize; with: ?y) and award(?y, Prize; with: ?x)"


def ask(query: str) -> Rows:
    rows = execute(query, GRAPH)
    assert isinstance(rows, Rows)
    return rows


def test_rows_have_ids_and_labels_by_column() -> None:
    rows = ask(PAIRS)
    assert rows.columns == ("x", "y")
    assert list(rows) == rows.rows == [("Ann", "Bob"), ("Ann", "Cid"), ("Bob", "Ann")]
    assert rows.label_rows[0] == ("Ann Lee", "Bob")
    assert repr(rows) == "<Rows: 3 of x, y: Ann Lee Bob, Ann Lee Cid, Bob Ann Lee>"


def test_rows_of_one_target_are_like_a_result() -> None:
    rows = ask(CYCLE)
    assert len(rows) == 2
    assert list(rows) == rows.ids == ["Ann", "Bob"]
    assert rows.labels == ["Ann Lee", "Bob"]
    assert rows.members.members.tolist() == rows.answers.tolist()
    assert rows.columns == execute("?x: born(?x, Rome)", GRAPH).columns == ("x",)


def test_relations_have_names_of_relations() -> None:
    rows = ask("?r: ?r(Cid, ?x)")
    assert rows.ids == ["award", "born"]
    assert rows.labels == ["award", "born in"]
    with pytest.raises(NqeError, match="not single entities but r; ask for one variable"):
        rows.members  # noqa: B018


@pytest.mark.parametrize("name", ["ids", "labels", "answers", "members"])
@pytest.mark.parametrize("query", [PAIRS, "?c, count ?x: born(?x, ?c)", "count ?x: born(?x, ?c)"])
def test_rows_are_not_taken_for_single_entities(query: str, name: str) -> None:
    with pytest.raises(NqeError, match="not single entities"):
        getattr(ask(query), name)


def test_a_count_has_a_column_of_numbers() -> None:
    rows = ask("?c, count ?x: born(?x, ?c)")
    assert rows.columns == ("c", "count")
    assert rows.rows == [("Oslo", 1), ("Rome", 2)]
    alone = ask("count ?x: born(?x, ?c)")
    assert (alone.columns, alone.rows, len(alone)) == (("count",), [(3,)], 1)


def test_notes_tell_of_names_that_no_fact_has_there() -> None:
    [note] = ask("?x, ?y: born(?x, Prize) and award(?x, ?y)").warnings
    assert "no known fact of born in has Prize as object" in note
    assert "so no fact matches born in(?x, Prize)" in note


def test_a_proof_lists_a_fact_for_each_atom_and_what_was_not_found() -> None:
    query = "?x, ?y: award(?x, Prize; with: ?y) and born(?y, ?c) and not born(?x, Oslo)"
    proof = ask(query).proof(("Ann Lee", "Bob"))
    assert str(proof).splitlines() == [
        "?x = Ann Lee: all of",
        "  stated (Ann Lee, award, Prize, {with: Bob, with: Cid, year: 1999})",
        "  ?y = Bob: stated (Bob, born in, Oslo)",
        "  no facts give born in(Ann Lee, Oslo)",
    ]
    assert [part.op.word for part in proof.parts] == ["P", "P", "Not"]
    assert proof.certain


def test_a_proof_of_an_alternative_shows_the_one_that_holds() -> None:
    query = (
        "?x, ?c: born(?x, ?c) and (award(?x, ?c) or award(?x, Prize; with: ?y) and born(?y, ?c))"
    )
    assert str(ask(query).proof(("Ann", "Rome"))).splitlines() == [
        "?x = Ann Lee: all of",
        "  stated (Ann Lee, born in, Rome)",
        "  one of the alternatives",
        "    all of",
        "      stated (Ann Lee, award, Prize, {with: Bob, with: Cid, year: 1999})",
        "      ?y = Cid: stated (Cid, born in, Rome)",
    ]


def test_a_proof_of_a_relation_names_the_relation() -> None:
    proof = ask("?r: ?r(Cid, ?x) and ?r != award").proof("born in")
    assert str(proof) == "?x = Rome: stated (Cid, born in, Rome)"
    proof = ask("?r: ?r(Cid, Rome)").proof("born")
    assert str(proof) == "?r = born in: stated (Cid, born in, Rome)"
    assert proof.to_json()["entity"] == "born"


@pytest.mark.parametrize(
    ("query", "row", "message"),
    [
        (PAIRS, ("Bob", "Cid"), "this is not an answer, so there is no proof"),
        (PAIRS, "Ann", "a row has 2 targets, not 1"),
        ("?c, count ?x: born(?x, ?c)", "Rome", r"a count has no proof; ask for \?x itself"),
    ],
)
def test_what_is_no_answer_has_no_proof(query: str, row: object, message: str) -> None:
    with pytest.raises(NqeError, match=message):
        ask(query).proof(row)


def test_every_row_of_a_query_has_a_proof() -> None:
    for query in (PAIRS, CYCLE, "?x, ?c: born(?x, ?c) and not award(?x, Prize; with: ?c)"):
        rows = ask(query)
        for row in rows:
            assert rows.proof(row).rows


# Plans


def test_a_plan_is_bound_once_and_answers_again() -> None:
    plan = bind(PAIRS, GRAPH)
    assert bind(plan, GRAPH) is plan
    assert plan == bind(plan.text, GRAPH)
    assert plan != bind(CYCLE, GRAPH)
    assert execute(plan, GRAPH).rows == execute(PAIRS, GRAPH).rows


def test_a_plan_of_another_graph_is_refused() -> None:
    small = Graph.of([Fact("a", "r", "b")])
    with pytest.raises(NqeError, match="bound to another graph's vocabulary"):
        execute(bind(PAIRS, GRAPH), small)


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        (PAIRS, r"the query has several targets \(\?x, \?y\)"),
        (CYCLE, r"\?x closes a cycle at award\(\?y, Prize; with: \?x\)"),
        ("?x: born(?x, ?x)", r"\?x stands twice in born\(\?x, \?x\)"),
        ("?x: born(?x, ?c) and ?c != Rome", r"\?c != Rome is a comparison"),
        ("count ?x: born(?x, Rome)", r"the query counts \?x"),
        ("?x: ?r(?x, Rome)", r"\?r stands for the relation in \?r\(\?x, Rome\)"),
        ("?x: born(?x, ?c) and not award(?x, ?c)", r"shares \?c with the rest beside \?x"),
    ],
)
def test_what_needs_a_tree_says_why_a_query_is_none(query: str, reason: str) -> None:
    with pytest.raises(NqeError, match=rf"is no tree \(.*{reason}.*\), and only trees .*nqe ask"):
        bind_tree(query, GRAPH)
