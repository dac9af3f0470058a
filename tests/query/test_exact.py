"""Exact answers, judged by enumeration, by laws, and one at a time against many together."""

from __future__ import annotations

import json

import numpy as np
import pytest
from formulas import TARGET, answers, positive_queries, queries
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import ENTITIES, RELATIONS, small_facts

from nqe.errors import NqeError, QueryError, TooManyBindings
from nqe.graph import Dataset, Fact, Graph
from nqe.query import And, Not, Or, Query, bind, execute, execute_many
from nqe.query.formula import variables_of

# A fact of every name, so that random queries always bind.
EVERY_NAME = [Fact(name, RELATIONS[0], ENTITIES[0]) for name in ENTITIES] + [
    Fact(ENTITIES[0], name, ENTITIES[0]) for name in RELATIONS
]
fact_lists = st.lists(small_facts, max_size=16)


def graph_of(facts: list[Fact]) -> Graph:
    return Graph.of([*EVERY_NAME, *facts])


def few_variables(query: Query) -> bool:
    """Whether enumeration ends soon."""
    return len(variables_of(query.formula)) <= 4


@given(fact_lists, queries().filter(few_variables))
@settings(max_examples=200)
def test_answers_are_those_that_enumeration_finds(facts: list[Fact], query: Query) -> None:
    graph = graph_of(facts)
    assert execute(query, graph).ids == answers(query, graph)


@given(fact_lists, st.lists(queries(), max_size=6))
def test_many_queries_together_give_every_step_what_each_gives_alone(
    facts: list[Fact], batch: list[Query]
) -> None:
    graph = graph_of(facts)
    together = execute_many(batch, graph)
    assert len(together) == len(batch)
    for query, result in zip(batch, together, strict=True):
        alone = execute(query, graph)
        for one, other in zip(alone.sets, result.sets, strict=True):
            assert np.array_equal(one.to_array(len(ENTITIES)), other.to_array(len(ENTITIES)))


@given(fact_lists, queries())
def test_the_disjunctive_normal_form_has_the_same_answers(facts: list[Fact], query: Query) -> None:
    graph = graph_of(facts)
    assert execute(query.dnf(), graph).ids == execute(query, graph).ids


@given(fact_lists, st.data())
def test_the_laws_of_logic_hold(facts: list[Fact], data: st.DataObject) -> None:
    graph = graph_of(facts)
    a, b, c = (data.draw(queries(depth=1, prefix=name)).formula for name in "abc")

    def ids(formula: object) -> list[str]:
        return execute(Query(TARGET, formula), graph).ids  # type: ignore[arg-type]

    assert ids(Not(And((a, b)))) == ids(Or((Not(a), Not(b))))
    assert ids(Not(Or((a, b)))) == ids(And((Not(a), Not(b))))
    assert ids(And((a, Or((b, c))))) == ids(Or((And((a, b)), And((a, c)))))
    assert ids(Not(Not(a))) == ids(a)


@given(fact_lists, st.lists(small_facts, max_size=6), positive_queries())
def test_more_facts_take_no_answer_from_a_positive_open_query(
    facts: list[Fact], more: list[Fact], query: Query
) -> None:
    before = set(execute(query, graph_of(facts)).ids)
    assert before <= set(execute(query, graph_of([*facts, *more])).ids)


@given(fact_lists, queries())
def test_a_plan_turned_into_a_query_binds_to_the_same_plan(facts: list[Fact], query: Query) -> None:
    vocabulary = graph_of(facts).vocabulary
    plan = bind(query, vocabulary)
    assert bind(plan.query(vocabulary), vocabulary) == plan


FILMS = [
    Fact("Ann", "award", "Prize", (("year", "1999"), ("with", "Bob"), ("with", "Cid"))),
    Fact("Bob", "award", "Prize", (("year", "1999"), ("with", "Ann"))),
    Fact("Cid", "award", "Prize"),
    Fact("Ann", "born", "Rome"),
    Fact("Bob", "born", "Oslo"),
    Fact("Cid", "born", "Rome"),
]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("?x: award(?x, Prize)", {"Ann", "Bob", "Cid"}),
        ("?x: only award(?x, Prize)", {"Cid"}),
        ("?x: award(Ann, Prize; with: ?x)", {"Bob", "Cid"}),
        ("?x: only award(?x, Prize; year: ?y, with: ?z)", {"Bob"}),
        ("?x: award(?x, Prize; with: ?y, with: ?z)", {"Ann"}),
        ("?x: award(?x, Prize; with: ?y, with: ?z) and born(?y, Oslo) and born(?z, Oslo)", set()),
        ("?x: award(?x, Prize; with: ?y, with: ?z) and born(?y, Oslo) and born(?z, Rome)", {"Ann"}),
        ("?x: award(?x, Prize; with: Bob, with: Bob)", set()),
        ("?x: award(?x, Prize) and not award(?x, Prize; with: ?y)", {"Cid"}),
        ("?x: born(?y, ?x) and award(?y, Prize; year: 1999)", {"Rome", "Oslo"}),
        ("?x: born(?x, ?p) and not (born(?x, Rome) or born(?x, Oslo))", set()),
    ],
)
def test_a_query_means_what_it_says(query: str, expected: set[str]) -> None:
    assert set(execute(query, Graph.of(FILMS))) == expected


def test_a_data_set_is_asked_over_all_its_splits() -> None:
    dataset = Dataset.of({"train": FILMS[:3], "test": FILMS[3:]})
    assert execute("?x: born(?x, Rome)", dataset).ids == ["Ann", "Cid"]


def test_a_step_that_would_look_at_too_many_facts_is_refused() -> None:
    facts = [Fact(f"a{i}", "knows", f"b{i}") for i in range(50)]
    with pytest.raises(TooManyBindings, match="50 facts, more than the limit of 20"):
        execute("?x: knows(?x, ?y)", Graph.of(facts), max_bindings=20)
    with pytest.raises(TooManyBindings, match="--max-bindings"):
        execute_many(["?x: knows(?x, ?y)"], Graph.of(facts), max_bindings=20)


def test_a_complement_is_allowed_with_a_warning() -> None:
    result = execute("?x: not born(?x, Rome)", Graph.of(FILMS))
    assert "Ann" not in result.ids
    assert "Bob" in result.ids
    assert "only what they are not" in result.plan.warnings[0]
    assert not execute("?x: born(?x, Rome)", Graph.of(FILMS)).plan.warnings


def test_an_unknown_name_suggests_the_nearest() -> None:
    with pytest.raises(QueryError, match="no relation is called 'borm'; did you mean 'born'"):
        execute("?x: borm(?x, Rome)", Graph.of(FILMS))
    with pytest.raises(QueryError, match="no entity is called 'Romme'; did you mean 'Rome'"):
        execute("?x: born(?x, Romme)", Graph.of(FILMS))


def test_no_query_at_all_is_no_answer_at_all() -> None:
    assert execute_many([], Graph.of(FILMS)) == []


def test_a_query_may_be_text_json_or_a_tree() -> None:
    graph = Graph.of(FILMS)
    data = {
        "target": "x",
        "formula": {"relation": "born", "subject": {"variable": "x"}, "object": "Rome"},
    }
    for query in (data, json.dumps(data), Query.from_json(data), bind(data, graph)):
        assert execute(query, graph).ids == ["Ann", "Cid"]
    with pytest.raises(QueryError, match="a query is text, JSON or a Query, not int 5"):
        execute(5, graph)  # type: ignore[arg-type]


def test_a_plan_of_another_graph_is_refused() -> None:
    plan = bind("?x: born(?x, Rome)", Graph.of(FILMS).vocabulary)
    with pytest.raises(NqeError, match="bound to another graph"):
        execute(plan, Graph.of([Fact("a", "r", "b")]))


def test_a_proof_takes_a_number_as_results_give_it() -> None:
    result = execute("?x: born(?x, Rome)", Graph.of(FILMS))
    assert result.proof(result.answers[0]).entity == result.answers[0]
    with pytest.raises(NqeError, match="there is no entity number 999"):
        result.proof(999)


@pytest.mark.parametrize(
    "text",
    [
        "?x: " + "not " * 400 + "born(?x, Rome)",
        "?x: " + "not (born(?x, Rome) or " * 150 + "born(?x, Rome)" + ")" * 150,
        "?v0: " + " and ".join(f"born(?v{i}, ?v{i + 1})" for i in range(600)),
    ],
)
def test_a_query_nested_too_deep_is_refused(text: str) -> None:
    with pytest.raises(QueryError, match="nested more than 100 deep"):
        execute(text, Graph.of(FILMS))


def test_a_hundred_deep_is_not_too_deep() -> None:
    text = "?v0: " + " and ".join(f"born(?v{i}, ?v{i + 1})" for i in range(99))
    assert execute(text, Graph.of(FILMS)).plan.shape_name.startswith("P(P(")


def test_a_bare_word_may_write_a_space_of_an_id_or_label_as_underscore() -> None:
    graph = Graph.of([Fact("New York", "is in", "USA")])
    assert execute("?x: is_in(New_York, ?x)", graph).ids == ["USA"]
