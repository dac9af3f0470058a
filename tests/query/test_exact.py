"""Exact answers of single queries, against enumeration and the laws of logic."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from query_cases import FILMS, TARGET, answers, fact_lists, graph_of, positive_queries, queries
from strategies import small_facts

from nqe.errors import TooManyBindings
from nqe.graph import Dataset, Fact, Graph
from nqe.graph.fact_source import FactSource
from nqe.query import And, Not, Or, Query, execute, execute_many
from nqe.query.formula import find_variables


def few_variables(query: Query) -> bool:
    """Whether enumeration is fast enough."""
    return len(find_variables(query.formula)) <= 4


@given(fact_lists, queries().filter(few_variables))
@settings(max_examples=200)
def test_answers_are_those_that_enumeration_finds(facts: list[Fact], query: Query) -> None:
    graph = graph_of(facts)
    assert execute(query, graph).ids == answers(query, graph)


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
def test_adding_facts_removes_no_answer_of_a_positive_open_query(
    facts: list[Fact], more: list[Fact], query: Query
) -> None:
    before = set(execute(query, graph_of(facts)).ids)
    assert before <= set(execute(query, graph_of([*facts, *more])).ids)


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


class OnlyFacts:
    """A fact source that has only what the interface of fact sources requires."""

    def __init__(self, graph: Graph) -> None:
        for name in (
            "vocabulary",
            "entity_count",
            "relation_count",
            "match_one",
            "match_many",
            "matches",
            "fact",
        ):
            setattr(self, name, getattr(graph, name))


def test_the_exact_runners_and_proofs_need_only_a_fact_source() -> None:
    query = "?x: award(?x, Prize; with: ?y) and born(?y, Oslo) and not born(?x, Oslo)"
    source: FactSource = OnlyFacts(Graph.of(FILMS))  # type: ignore[assignment]
    result = execute(query, source)
    assert result.ids == ["Ann"]
    assert execute_many([query], source)[0].ids == ["Ann"]
    assert str(result.proof("Ann")) == str(execute(query, Graph.of(FILMS)).proof("Ann"))


def test_a_step_that_would_look_at_too_many_facts_is_refused() -> None:
    facts = [Fact(f"a{i}", "knows", f"b{i}") for i in range(50)]
    with pytest.raises(TooManyBindings, match="50 facts, more than the limit of 20"):
        execute("?x: knows(?x, ?y)", Graph.of(facts), max_bindings=20)
    with pytest.raises(TooManyBindings, match="--max-bindings"):
        execute_many(["?x: knows(?x, ?y)"], Graph.of(facts), max_bindings=20)
