"""The query graph: which variable belongs to which scope, and what never has a meaning."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from query_cases import queries, query_graphs

from nqe.errors import QueryError
from nqe.query import Query, QueryGraph, Variable, parse, variables
from nqe.query.compiler import compile_tree
from nqe.query.query_graph import Scope
from nqe.query.text import render_atom

X, Y, Z = variables("x y z")


def graph_of(text: str, *more_targets: Variable) -> QueryGraph:
    query = parse(text)
    return QueryGraph.of((query.target, *more_targets), query.formula)


def test_a_scope_has_its_variables_atoms_negations_and_branches() -> None:
    scope = parse("?x: p(?x, ?y) and not q(?y, ?z) and (r(?x, ?z) or s(?x, a))").graph.scope
    assert scope.variables == (Y,)
    assert scope.free == (X,)
    assert [atom.relation for atom in scope.atoms] == ["p"]
    [negation] = scope.negations
    assert (negation.scope.variables, negation.variables) == ((Z,), (Y,))
    [branches] = scope.disjunctions
    assert [one.variables for one in branches.scopes] == [(Z,), ()]
    assert branches.variables == (X,)
    assert scope.depth == 2


def test_a_name_that_is_bound_outside_is_free_inside_at_any_depth() -> None:
    scope = parse("?x: p(?x, ?y) and not (q(?x, ?z) and not r(?y, ?z))").graph.scope
    [outer] = scope.negations
    assert outer.scope.variables == (Z,)
    assert outer.variables == (X, Y)
    [inner] = outer.scope.negations
    assert inner.scope.variables == ()
    assert inner.variables == (Y, Z)


def test_an_or_of_ors_is_one_or() -> None:
    [branches] = parse("?x: (p(?x, a) or q(?x, b)) or r(?x, c)").graph.scope.disjunctions
    assert [one.atoms[0].relation for one in branches.scopes] == ["p", "q", "r"]


@given(queries())
def test_the_formula_of_a_graph_gives_the_same_graph(query: Query) -> None:
    graph = query.graph
    assert QueryGraph.of(graph.targets, graph.formula, graph.counted) == graph


@given(query_graphs())
def test_the_formula_of_a_graph_that_is_not_a_tree_gives_the_same_graph(graph: QueryGraph) -> None:
    assert QueryGraph.of(graph.targets, graph.formula, graph.counted) == graph


def compiles(graph: QueryGraph) -> bool:
    try:
        compile_tree(graph)
    except QueryError:
        return False
    return True


@given(st.one_of(query_graphs(), queries().map(lambda query: query.graph)))
def test_a_graph_is_a_tree_exactly_if_the_compiler_takes_it(graph: QueryGraph) -> None:
    assert graph.is_tree == compiles(graph)


@pytest.mark.parametrize(
    ("text", "refused_as_tree"),
    [
        ("count ?x: p(?x, a)", r"counts \?x"),
        ("?y, count ?x: p(?x, ?y)", r"counts \?x"),
        ("?x, ?y: p(?x, ?y)", r"several targets \(\?x, \?y\)"),
        ("?x: p(?x, ?y) and ?y < 5", r"\?y < 5 is a comparison"),
        ("?x: p(?x, ?y) and not ?x = ?y", r"shares \?y with the rest beside \?x"),
        ("?x: not ?r(?x, a)", r"\?r stands for the relation in \?r\(\?x, a\)"),
        ("?x: p(?x, ?y) and q(?y, ?z) and r(?z, ?x)", r"\?x closes a cycle"),
        ("?x: p(?x, ?x)", r"\?x stands twice"),
        ("?x: q(?y, a) and not p(?x, ?y)", r"shares \?y with the rest beside \?x"),
        ("?x: p(?x, ?y) and (q(?x, a) or r(?y, b))", r"shares \?y with the rest beside \?x"),
    ],
)
def test_what_is_not_a_tree_has_a_graph_and_is_refused_by_the_compiler(
    text: str, refused_as_tree: str
) -> None:
    with pytest.raises(QueryError, match=refused_as_tree):
        compile_tree(parse(text).graph)


def test_several_targets_have_a_graph_and_are_refused_by_the_compiler() -> None:
    graph = graph_of("?x: p(?x, ?y) and q(?y, ?z)", Z)
    assert graph.targets == (X, Z)
    assert graph.scope.variables == (Y,)
    with pytest.raises(QueryError, match=r"several targets \(\?x, \?z\); ask for one of them"):
        compile_tree(graph)


def test_comparisons_bind_in_the_scope_in_which_they_stand() -> None:
    scope = parse("?x: p(?x, ?y) and ?y < ?z and (q(?x, ?z) or r(?z, ?w) and ?w != ?y)").graph.scope
    assert scope.variables == (Y, Z)
    assert [str(one.left) for one in scope.comparisons] == ["?y"]
    [branches] = scope.disjunctions
    assert branches.variables == (X, Z, Y)


@pytest.mark.parametrize(
    "text",
    [
        "?x: area(?x, ?a) and area(France, ?b) and ?a > ?b",
        "?x: born(?x, ?y) and (?y < 1900 or ?y > 2000)",
        "?x: not p(?x, a) and ?x != b",
        "?x: p(?x, a) and (q(?x, ?z) or r(?z, ?x)) and ?z > 1999",
        "?x, ?r: ?r(France, ?x) and not ?r(Germany, ?x) and ?r != borders",
        "?r: ?r(a, ?x) and ?r(b, ?y) and ?x != ?y",
    ],
)
def test_comparisons_and_relations_connect_parts(text: str) -> None:
    assert parse(text).graph.formula == parse(text).formula


def test_variables_for_relations_are_told_from_those_for_entities() -> None:
    (r,) = variables("r")
    assert parse("?x: ?r(?x, ?y) and not ?s(?x, ?y)").graph.relation_variables == {
        r,
        Variable("s"),
    }
    assert parse("?x: p(?x, ?r)").graph.relation_variables == frozenset()


def test_parts_may_be_connected_with_any_of_several_targets() -> None:
    assert graph_of("?x: p(?x, a) and q(?y, b)", Y).scope.free == (X, Y)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("?x: p(?y, a)", r"target \?x does not occur"),
        ("?x: p(?x, a) and q(b, c)", r"q\(b, c\) has no variable"),
        ("?x: p(?x, a) and q(?y, b)", r"q\(\?y, b\) is not connected with \?x; join \?y"),
        ("?x: p(?x, a) and q(?y, b) and not r(?y, c)", r"q\(\?y, b\) is not connected with \?x"),
        ("?x: not (p(?x, a) and q(?z, b))", r"not connected with \?x"),
        ("?x: p(?x, a) and not q(?z, b)", r"`not` in .* shares no variable with the rest; use \?x"),
        ("?x: p(?x, a) and (q(?z, b) or r(?z, c))", r"the `or` in .* shares no variable"),
        ("?x: p(?x, a) and (q(?x, b) or r(?z, b))", r"branch r\(\?z, b\) does not use \?x, which"),
        ("?x: p(?x, ?y) and (q(?x, ?y) or r(?z, b))", r"does not use \?x or \?y, which the `or`"),
        ("?x: ?x > 5", r"\?x stands only in comparisons, .*; add an atom with \?x"),
        ("?x: p(?x, a) and ?x != ?y", r"\?y stands only in comparisons"),
        ("?x: p(?x, a) and not (q(?x, b) and ?z < ?x)", r"\?z stands only in comparisons"),
        ("?x: p(?x, a) and not ?z < 5", r"`not` in .* shares no variable"),
        ("?x: p(?x, a) and (q(?x, b) or ?z < 5)", r"the branch \?z < 5 does not use \?x"),
        ("?x, ?y: p(?x, a) and ?y < 5", r"\?y stands only"),
        ("count ?x: p(?y, a)", r"\?x, which is counted, does not occur"),
        ("?x, count ?x: p(?x, a)", r"\?x is a target and counted, too"),
        ("?x: ?r(?x, a) and p(?r, b)", r"\?r stands for an entity in p\(\?r, b\) and for a rel"),
        ("?x: ?r(?x, a) and not p(?x, ?r)", r"use two variables"),
        ("?x: ?r(?x, a) and ?r < p", r"\?r < p orders a relation, but \?r stands for one"),
        ("?x: ?r(?x, a) and ?r != ?x", r"compares a relation, \?r, with an entity, \?x"),
        ("?x: ?r(?x, a) and ?x != ?r", r"compares a relation, \?r, with an entity, \?x"),
    ],
)
def test_what_never_has_a_meaning_has_no_graph(text: str, message: str) -> None:
    query = parse(text)
    with pytest.raises(QueryError, match=message):
        _ = query.graph


def test_targets_are_named_and_distinct() -> None:
    formula = parse("?x: p(?x, a)").formula
    with pytest.raises(QueryError, match="has no target"):
        QueryGraph.of((), formula)
    with pytest.raises(QueryError, match=r"the target \?x is named twice"):
        QueryGraph.of((X, X), formula)


def test_a_graph_built_by_hand_must_bind_all_its_variables() -> None:
    atoms = parse("?x: p(?x, ?y)").graph.scope.atoms
    with pytest.raises(ValueError, match=r"\?y is neither a target nor quantified"):
        QueryGraph((X,), Scope((), atoms))


def test_all_atoms_are_listed_in_the_order_in_which_they_were_written() -> None:
    atoms = ["a(?x, ?y)", "b(?y, c)", "d(?x, ?z)", "e(?x, f)", "g(?x, h)"]
    graph = parse("?x: {} and not ({} and {}) and ({} or not {})".format(*atoms)).graph
    assert [render_atom(atom) for atom in graph.scope.list_atoms()] == atoms
