"""Hybrid answers of questions that are no trees, against exact answers and every binding."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from answering_cases import (
    EVERY_NAME,
    answerer_of,
    fact_lists,
    graph_of,
    odd_calibration,
    untrained,
)
from hypothesis import given, reject, settings
from query_cases import literal_facts, query_graphs
from strategies import ENTITIES

from nqe.answering import Answerer
from nqe.answering.predicted_rows import PredictedRows, cut_plan, predict_rows
from nqe.answering.probability import MAX_PREDICTED
from nqe.errors import QueryError
from nqe.graph import Fact, Graph
from nqe.query import QueryGraph, bind, parse
from nqe.query.binder import bind_ids, resolve_graph
from nqe.query.cut import Cut
from nqe.query.join_binder import bind_joins
from nqe.query.join_plan import JoinPlan, list_negated
from nqe.query.query import Query
from nqe.query.rows import Rows, find_rows

EVERY_BINDING = len(ENTITIES) ** 3
FACTS = [
    Fact("e1", "r0", "e2"),
    Fact("e2", "r0", "e3"),
    Fact("e1", "r1", "e3", (("r2", "e4"),)),
    Fact("e4", "r1", "e5", (("r2", "e4"),)),
    Fact("e5", "r2", "e1"),
]


def plan_of(query: QueryGraph, graph: Graph) -> JoinPlan:
    """A join plan, also of a tree; a query without a meaning is rejected."""
    try:
        resolved = resolve_graph(query, graph.vocabulary)
        plan = bind_joins(resolved, graph.vocabulary, "a test")
        cut_plan(plan)
    except QueryError:
        reject()
    return plan


def predict(plan: JoinPlan, answerer: Answerer) -> tuple[Rows, PredictedRows]:
    stated = find_rows(plan, answerer.graph)
    return stated, predict_rows(plan, stated, answerer.neural)


def to_chances(found: PredictedRows) -> dict[tuple[int, ...], float]:
    rows = zip(*(column.tolist() for column in found.columns), strict=True)
    return dict(zip(rows, found.probability.tolist(), strict=True))


@given(query_graphs(), fact_lists, literal_facts)
@settings(max_examples=40)
def test_what_facts_state_is_listed_and_certain_without_a_not(
    query: QueryGraph, facts: list[Fact], more: list[Fact]
) -> None:
    names = (term for one in query.scope.list_atoms() for term in one.terms)
    named = [Fact("e0", "r0", name) for name in names if isinstance(name, str)]
    graph = Graph.of([*EVERY_NAME, *facts, *more, *named])
    plan = plan_of(query, graph)
    model = untrained(graph.vocabulary)
    stated, found = predict(plan, Answerer(graph, model, calibration=odd_calibration()))
    exact = set(zip(*(column.tolist() for column in stated.numbers), strict=True))
    known = to_chances(found.keep(found.known))
    assert set(known) == exact
    others = found.probability[~found.known]
    assert (others <= MAX_PREDICTED).all()
    assert (others > 0).all()
    if not any(list_negated(plan.scope)):
        assert set(known.values()) <= {1.0}


def ask_tree(answerer: Answerer, query: QueryGraph, entity: int) -> float:
    """The probability of an entity as an answer of a tree."""
    [found] = answerer.compute_sets([bind_ids(query, answerer.graph.vocabulary)])
    return found[entity]


def enumerate_rows(
    cut: Cut, answerer: Answerer, targets: tuple[int, ...]
) -> dict[tuple[int, ...], float]:
    """The probability of each row by all bindings of the variables, one by one."""
    ids = answerer.graph.vocabulary.entities.ids
    missed: dict[tuple[int, ...], float] = {}
    for binding in product(range(len(ids)), repeat=len(cut.steps)):
        chance = 1.0
        for place, step in enumerate(cut.steps):
            values = {one: ids[n] for one, n in zip(cut.order[:place], binding, strict=False)}
            asked = step.ask(values)
            chance *= 1.0 if asked is None else ask_tree(answerer, asked, binding[place])
        row = tuple(binding[one] for one in targets)
        missed[row] = missed.get(row, 1.0) * (1 - chance)
    return {row: 1 - one for row, one in missed.items()}


@pytest.mark.parametrize(
    "text",
    [
        "?x: r0(?x, ?y) and r0(?y, ?z) and r1(?x, ?z)",
        "?x, ?y: r0(?x, ?y) and r1(?y, e3)",
        "?x, ?y: r1(?x, e5; r2: ?y) and not r0(?x, ?y)",
        "?x: r0(?x, ?y) and r2(?y, ?x)",
    ],
)
def test_rows_join_every_binding_if_the_beam_holds_them_all(text: str) -> None:
    graph = graph_of(FACTS)
    answerer = answerer_of(graph, beam=EVERY_BINDING, asked=1e-12, least=1e-12)
    plan = bind(text, graph)
    assert isinstance(plan, JoinPlan)
    cut = cut_plan(plan)
    _, found = predict(plan, answerer)
    places = tuple(cut.order.index(one) for one in plan.graph.targets)
    expected = enumerate_rows(cut, answerer, places)
    chances = to_chances(found.keep(~found.known))
    assert len(chances) > len(ENTITIES) / 2
    for row, chance in chances.items():
        assert chance == pytest.approx(min(expected[row], MAX_PREDICTED), abs=1e-5)


def test_a_nested_cycle_has_a_cut_of_its_own() -> None:
    graph = graph_of(FACTS)
    answerer = answerer_of(graph, beam=EVERY_BINDING, asked=1e-12, least=1e-12)
    inner = "r0(?x, ?y) and r0(?y, ?z) and r1(?x, ?z)"
    cycle = answerer.answer(f"?x: {inner}", top=len(ENTITIES))
    chances = {one.id: one.probability for one in cycle}
    tree = {one.id: one.probability for one in answerer.answer("?x: r2(?x, e1)", top=6)}
    both = answerer.answer(f"?x: r2(?x, e1) and not ({inner})", top=len(ENTITIES))
    found = {one.id: one.probability for one in both}
    assert max(found.values()) > 0.01
    for name in ENTITIES:
        expected = tree.get(name, 0) * (1 - chances.get(name, 0))
        assert found.get(name, 0) == pytest.approx(expected, abs=2e-3)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("?x: r0(?x, e3) and ?x != e2", lambda one: one != "e2"),
        ("?x: r0(?x, e3) and ?x = e2", lambda one: one == "e2"),
        ("?x: r0(?x, e3) and (?x = e2 or ?x = e4)", lambda one: one in ("e2", "e4")),
        ("?x: r0(?x, e3) and not ?x = e2", lambda one: one != "e2"),
    ],
)
def test_a_comparison_keeps_answers_with_their_probabilities(text: str, kept) -> None:
    answerer = answerer_of(graph_of(FACTS))
    every = {one.id: one.probability for one in answerer.answer("?x: r0(?x, e3)", top=6)}
    found = {one.id: one.probability for one in answerer.answer(text, top=6)}
    assert found == {name: chance for name, chance in every.items() if kept(name)}
    assert found


def test_a_variable_twice_in_an_atom_is_one_entity() -> None:
    answerer = answerer_of(graph_of([*FACTS, Fact("e3", "r1", "e3")]))
    found = {one.id: one for one in answerer.answer("?x: r1(?x, ?x)", top=6)}
    assert found["e3"].known
    assert found["e3"].probability == 1
    [other] = [one for one in answerer.answer("?x: r1(?x, e4)", top=6) if one.id == "e4"]
    assert found["e4"].probability == pytest.approx(other.probability, rel=1e-3)


def test_relations_between_entities_are_stated_or_predicted() -> None:
    answerer = answerer_of(graph_of(FACTS))
    found = {row.ids: row for row in answerer.answer("?r: ?r(e1, e3)", top=6)}
    assert found[("r1",)].known
    [single] = [one for one in answerer.answer("?x: r0(e1, ?x)", top=6) if one.id == "e3"]
    assert found[("r0",)].probability == pytest.approx(single.probability, rel=1e-3)


def test_a_stated_row_with_a_not_ranks_by_what_is_predicted_against_it() -> None:
    facts = [Fact(name, "r0", "e0") for name in ENTITIES]
    answerer = answerer_of(graph_of(facts), beam=1)
    found = answerer.answer("?x: r0(?x, ?y) and not (r1(?x, ?z) and r2(?y, ?z))", top=6)
    known = [one for one in found if one.known]
    assert len(known) > 3
    assert all(0 < one.probability < 1 for one in known)
    assert [one.probability for one in known] == sorted(
        (k.probability for k in known), reverse=True
    )
    assert found.unless == ("r1(?x, ?z) and r2(?y, ?z)",)


def test_options_of_a_request_hold_for_rows() -> None:
    answerer = answerer_of(graph_of(FACTS))
    text = "?x, ?y: r0(?x, ?y)"
    every = answerer.answer(text, top=100)
    assert {row.known for row in every} == {True, False}
    assert every.stated_count == sum(row.known for row in every)
    predicted = answerer.answer(text, top=100, predicted_only=True)
    assert [row.ids for row in predicted] == [row.ids for row in every if not row.known]
    stated = answerer.answer(text, top=100, stated_only=True)
    assert [row.ids for row in stated] == [row.ids for row in every if row.known]
    likely = answerer.answer(text, threshold=0.3)
    assert [row.ids for row in likely] == [row.ids for row in every if row.probability >= 0.3]
    assert len(answerer.answer(text, top=2)) == 2


def test_counts_and_vectors_are_refused_in_one_sentence() -> None:
    answerer = answerer_of(graph_of(FACTS))
    with pytest.raises(QueryError, match=r"counts .x.*only exact answers can do; use --mode exact"):
        answerer.answer("count ?x: r0(?x, e1)", "hybrid")
    with pytest.raises(QueryError, match=r"several targets.*vectors cannot answer; use --mode hyb"):
        answerer.answer("?x, ?y: r0(?x, ?y)", "embedding")


@given(query_graphs(with_literals=False), fact_lists)
@settings(max_examples=15)
def test_rows_do_not_depend_on_other_requests_of_the_batch(
    query: QueryGraph, facts: list[Fact]
) -> None:
    graph = graph_of(facts)
    plan = plan_of(query, graph)
    answerer = answerer_of(graph)
    alone = answerer.answer(plan, top=20)
    _, together, _ = answerer.answer_many(
        [parse("?x: r0(?x, ?y)"), Query(plan.graph.targets, plan.graph.formula), "?x: r1(?x, e1)"]
    )
    if isinstance(bind(Query(plan.graph.targets, plan.graph.formula), graph), JoinPlan):
        shown = list(together)[:10]
        assert np.allclose(
            [one.probability for one in shown], [one.probability for one in list(alone)[:10]]
        )


YEARS = [Fact(f"e{number}", "r0", f"{1990 + number}^^time") for number in range(6)]


def test_vectors_take_a_comparison_as_an_or_of_what_passes() -> None:
    graph = Graph.of([*FACTS, *YEARS])
    answerer = Answerer(graph, untrained(graph.vocabulary))
    compared = answerer.answer("?x: r0(?x, ?y) and ?y >= 1994", "embedding", top=6)
    named = answerer.answer("?x: r0(?x, 1994) or r0(?x, 1995)", "embedding", top=6)
    assert [(one.id, one.probability) for one in compared] == [
        (one.id, one.probability) for one in named
    ]


def test_vectors_keep_answers_that_pass_a_comparison() -> None:
    graph = Graph.of([*FACTS, *YEARS])
    answerer = Answerer(graph, untrained(graph.vocabulary))
    found = answerer.answer("?y: r0(e1, ?y) and ?y < 1993", "embedding", top=9)
    assert {one.id for one in found} == {f"{year}^^time" for year in (1990, 1991, 1992)}


@pytest.mark.parametrize(
    "text",
    ["?x: r0(?x, ?y) and ?x != ?y", "?x: r0(?x, ?y) and ?y < 1890", "?x: r0(?x, ?x)"],
)
def test_vectors_refuse_what_is_no_or_of_trees(text: str) -> None:
    graph = Graph.of([*FACTS, *YEARS])
    answerer = Answerer(graph, untrained(graph.vocabulary))
    with pytest.raises(QueryError, match="which vectors cannot answer; use --mode hybrid or exact"):
        answerer.answer(text, "embedding")
