"""Scores of statements, and suggestions of statements that the graph lacks."""

from __future__ import annotations

import json
import math
from collections import Counter

import numpy as np
import pytest
from answering_cases import (
    answerer_of,
    countries,
    country_model,
    entities,
    fact_lists,
    graph_of,
    untrained,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from nqe.answering import Answerer, score, suggest
from nqe.answering.probability import MAX_PREDICTED
from nqe.answering.statement_scores import combine_probabilities
from nqe.errors import NqeError, QueryError
from nqe.graph import EntitySet, Fact, Graph

DATASET = countries()
NUMBER = DATASET.vocabulary.entities.resolve


def answerer(facts: str = "train") -> Answerer:
    return Answerer(DATASET, country_model(), facts=facts)


def test_each_slot_is_asked_for_with_the_others_given_and_the_statement_unknown() -> None:
    scored = score(answerer(), "speaks(Italy, German; since: 1990)")
    assert scored.stated
    assert [one.slot for one in scored.slots] == ["subject", "object", "since"]
    assert [one.answer.id for one in scored.slots] == ["it", "german", "y1990"]
    alone = answerer().with_facts("none")
    query = "?x: speaks(it, ?x; since: y1990)"
    chances = {one.id: one.probability for one in alone.answer(query, top=99)}
    middle = scored.slots[1]
    assert middle.answer.probability == pytest.approx(chances["german"])
    higher = [one for one in chances.values() if one > chances["german"]]
    assert middle.rank == len(higher) + 1
    best = [one for one in chances if one != "german"][:5]
    assert [one.id for one in middle.alternatives] == best
    assert scored.probability == pytest.approx(
        combine_probabilities(one.answer.probability for one in scored.slots)
    )


@given(fact_lists, st.integers(0, 11))
@settings(max_examples=25)
def test_a_statement_has_the_score_that_it_would_have_if_it_were_missing(
    facts: list[Fact], place: int
) -> None:
    graph = graph_of(facts)
    fact = list(graph)[place % len(graph)]
    pairs = "".join(f"{', ' if n else '; '}{a}: {v}" for n, (a, v) in enumerate(fact.qualifiers))
    statement = f"{fact.relation}({fact.subject}, {fact.object}{pairs})"
    rows = _find_stating(graph, fact)
    rest = Graph(graph.vocabulary, graph.facts.take(np.setdiff1d(np.arange(len(graph)), rows)))
    one, other = (score(answerer_of(some), statement) for some in (graph, rest))
    assert (one.stated, other.stated) == (True, False)
    assert one.probability == pytest.approx(other.probability, abs=1e-6)
    assert [slot.rank for slot in one.slots] == [slot.rank for slot in other.slots]
    assert 0 < one.probability < 1


def _find_stating(graph: Graph, fact: Fact) -> list[int]:
    """The rows of the facts that have all that a fact says."""
    wanted = Counter(fact.qualifiers)
    return [
        row
        for row, one in enumerate(graph)
        if (one.subject, one.relation, one.object) == (fact.subject, fact.relation, fact.object)
        and wanted <= Counter(one.qualifiers)
    ]


def test_alternatives_are_restricted_to_the_given_set() -> None:
    some = EntitySet.of([NUMBER("pt"), NUMBER("de")])
    scored = score(answerer(), "borders(France, Spain)", among=some)
    for one in scored.slots:
        assert {other.id for other in one.alternatives} <= {"pt", "de"}
    assert [one.answer.id for one in scored.slots] == ["fr", "es"]
    assert all(len(one.alternatives) <= 1 for one in score(answerer(), "borders(fr, es)", 1).slots)


def test_stated_alternatives_are_marked() -> None:
    scored = score(answerer(), "borders(France, Spain)", top=99)
    known = {one.id for one in scored.slots[0].alternatives if one.known}
    assert known == set()
    known = {one.id: one.probability for one in scored.slots[1].alternatives if one.known}
    assert known == {"de": 1}


def test_json_has_ids_and_labels() -> None:
    data = json.loads(json.dumps(score(answerer(), "borders(France, Spain)", 2).to_json()))
    assert data["statement"] == "borders(France, Spain)"
    assert set(data) == {"statement", "stated", "probability", "slots", "rule"}
    assert data["rule"] is None
    first = data["slots"][0]
    assert (first["slot"], first["entity"], first["label"]) == ("subject", "fr", "France")
    assert len(first["alternatives"]) == 2


@pytest.mark.parametrize(
    ("statement", "complaint"),
    [
        ("borders(France", "write a statement such as borders"),
        ("", "write a statement such as borders"),
        ("borders(France, Spain) and borders(Spain, France)", "a statement is one atom"),
        ("not borders(France, Spain)", "a statement is one atom"),
        ("borders(?x, Spain)", r"no variables; put a name in place of \?x"),
        ("borders(France, Spain; since: ?when)", r"put a name in place of \?when"),
        ("borders(Atlantis, Spain)", "no entity is called 'Atlantis'; "),
        ("adjoins(France, Spain)", "no relation is called 'adjoins'; "),
    ],
)
def test_a_wrong_statement_is_refused_with_one_sentence(statement: str, complaint: str) -> None:
    with pytest.raises(QueryError, match=complaint) as caught:
        score(answerer(), statement)
    assert "\n" not in str(caught.value)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=6))
def test_a_combined_probability_lies_between_and_is_symmetric(chances: list[float]) -> None:
    whole = combine_probabilities(chances)
    assert min(chances) - 1e-3 <= whole <= max(chances) + 1e-3
    assert combine_probabilities([1 - one for one in chances]) == pytest.approx(1 - whole)
    assert combine_probabilities(chances * 2) == pytest.approx(whole)


def test_a_combined_probability_has_the_mean_log_odds() -> None:
    odds = math.sqrt((0.8 / 0.2) * (0.5 / 0.5))
    assert combine_probabilities([0.8, 0.5]) == pytest.approx(odds / (1 + odds))
    assert combine_probabilities([1.0]) == pytest.approx(MAX_PREDICTED)
    assert combine_probabilities([0.0]) == pytest.approx(1 - MAX_PREDICTED)


@given(fact_lists, entities, st.integers(1, 12))
@settings(max_examples=40)
def test_suggestions_contain_the_entity_and_are_never_stated(
    facts: list[Fact], entity: int, top: int
) -> None:
    graph = graph_of(facts)
    name = graph.vocabulary.entities.ids[entity]
    stated = {(fact.subject, fact.relation, fact.object) for fact in graph}
    found = suggest(answerer_of(graph), entity, top=top)
    triples = [(one.subject.id, one.relation, one.object.id) for one in found]
    assert not stated & set(triples)
    assert len(set(triples)) == len(triples) <= top
    assert all(name in (subject, object_) for subject, _, object_ in triples)
    chances = [one.probability for one in found]
    assert chances == sorted(chances, reverse=True)


@given(fact_lists, entities)
@settings(max_examples=30)
def test_every_unstated_statement_is_suggested_if_enough_are_wanted(
    facts: list[Fact], entity: int
) -> None:
    graph = graph_of(facts)
    name, names = graph.vocabulary.entities.ids[entity], graph.vocabulary
    stated = {(fact.subject, fact.relation, fact.object) for fact in graph}
    lacking = {
        triple
        for relation in names.relations.ids
        for other in names.entities.ids
        for triple in ((name, relation, other), (other, relation, name))
    } - stated
    found = suggest(answerer_of(graph), entity, top=99)
    assert {(one.subject.id, one.relation, one.object.id) for one in found} == lacking
    both = answerer_of(graph)
    for one in found[:3]:
        chances = [
            {answer.id: answer.probability for answer in both.answer(query, top=99)}[end.id]
            for query, end in (
                (f"?x: {one.relation}(?x, {one.object.id})", one.subject),
                (f"?x: {one.relation}({one.subject.id}, ?x)", one.object),
            )
        ]
        assert one.probability == pytest.approx(combine_probabilities(chances), abs=1e-5)


def test_the_relation_and_the_other_ends_can_be_restricted() -> None:
    some = EntitySet.of([NUMBER("pt"), NUMBER("it"), NUMBER("de")])
    found = suggest(answerer(), "France", relation="borders", top=99, among=some)
    assert {one.relation for one in found} == {"borders"}
    ends = {(one.subject.id, one.object.id) for one in found}
    assert ends == {("fr", "pt"), ("pt", "fr"), ("fr", "it")}
    assert len(suggest(answerer(), "France", top=0)) == 0


def test_suggestions_as_json_have_ids_and_labels() -> None:
    [one] = suggest(answerer(), "Portugal", relation="speaks", top=1)
    data = json.loads(json.dumps(one.to_json()))
    assert set(data) == {"subject", "relation", "object", "labels", "probability"}
    assert data["relation"] == data["labels"][1] == "speaks"
    assert "pt" in (data["subject"], data["object"])


def test_nothing_is_suggested_about_unseen_names() -> None:
    more = Graph.of([*DATASET.graph, Fact("be", "trades_with", "es")])
    asked = Answerer(more, country_model())
    assert suggest(asked, "be") == []
    assert suggest(asked, "es", relation="trades_with") == []
    scored = score(asked, "trades_with(be, es)")
    assert scored.stated
    assert [one.answer.probability for one in scored.slots] == [0, 0]
    assert scored.probability == pytest.approx(1 - MAX_PREDICTED)


def test_unknown_names_have_no_suggestions() -> None:
    with pytest.raises(NqeError, match="no entity is called 'Atlantis'; "):
        suggest(answerer(), "Atlantis")
    with pytest.raises(NqeError, match="no relation is called 'adjoins'; "):
        suggest(answerer(), "France", relation="adjoins")
    with pytest.raises(NqeError, match="there is no entity number 9; they go to 8"):
        suggest(answerer(), 9)


def towns() -> Graph:
    """Twinned towns with one mayor each, who are friends; two newcomers have no mayor and no town.

    A year is only the value of an attribute.
    """
    names = [*(f"{number}" for number in range(20)), "new"]
    facts = [Fact(f"town{n}", "mayor", f"person{n}", (("since", "y2000"),)) for n in names[:-1]]
    for place, name in enumerate(names):
        for other in (names[place - 1], names[place - 2]):
            facts.append(Fact(f"town{name}", "twin", f"town{other}"))
            facts.append(Fact(f"person{name}", "friend", f"person{other}"))
    return Graph.of(facts)


def suggest_towns(entity: str, relation: str | None = None) -> set[tuple[str, str, str]]:
    """All suggestions about an entity."""
    graph = towns()
    asked = Answerer(graph, untrained(graph.vocabulary))
    found = suggest(asked, entity, relation=relation, top=500)
    return {(one.subject.id, one.relation, one.object.id) for one in found}


def test_no_second_value_is_suggested_where_a_relation_takes_one() -> None:
    assert {relation for _, relation, _ in suggest_towns("town1")} == {"twin"}
    assert {relation for _, relation, _ in suggest_towns("person1")} == {"friend"}
    assert suggest_towns("town1", "mayor") == set()


def test_a_first_value_is_suggested_though_the_relation_takes_one() -> None:
    for entity in ("townnew", "personnew"):
        mayors = {one for one in suggest_towns(entity) if one[1] == "mayor"}
        assert mayors == {("townnew", "mayor", "personnew")} == suggest_towns(entity, "mayor")


def test_an_attribute_is_not_suggested_as_a_main_relation() -> None:
    assert "since" not in {relation for _, relation, _ in suggest_towns("townnew")}
    assert suggest_towns("townnew", "since") == set()


def test_entities_are_suggested_only_where_those_like_them_stand() -> None:
    for subject, relation, object_ in suggest_towns("townnew"):
        assert relation in ("twin", "mayor")
        assert subject.startswith("town")
        assert object_.startswith("town" if relation == "twin" else "person")


def test_a_relation_that_is_named_may_be_new_to_the_entity() -> None:
    assert {"townnew"} == {subject for subject, _, _ in suggest_towns("y2000", "mayor")} - {"y2000"}
    assert suggest_towns("town1", "friend")


def test_without_known_facts_nothing_is_ruled_out() -> None:
    graph = towns()
    asked = Answerer(graph, untrained(graph.vocabulary), facts="none")
    assert {one.relation for one in suggest(asked, "town1", top=5000)} == {
        "mayor",
        "twin",
        "friend",
        "since",
    }
