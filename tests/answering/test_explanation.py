"""Explanations: reasons, the weakest part, truth, and entities removed by negations."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import reduce

import pytest
from answering_cases import (
    answerer_of,
    countries,
    country_model,
    entities,
    fact_lists,
    graph_of,
    plans,
)
from hypothesis import given, settings
from slow_hybrid import CONJOIN, says

from nqe.answering import Answerer, Explanation, explain
from nqe.answering.probability import MAX_PREDICTED
from nqe.errors import NqeError, TooManyBindings
from nqe.graph import Fact, Graph
from nqe.query import Plan, bind, execute
from nqe.query.plan import Op
from nqe.query.reason import Reason, show_probability
from nqe.query.step_text import describe_step

DATASET = countries()
NEIGHBOURS_SPEAK = "?x: borders(?y, France) and speaks(?y, ?x)"
NOT_GERMAN = "?x: borders(?x, fr) and not speaks(?x, german)"


def explain_countries(query: str, entity: str | None = None, facts: str = "train") -> Explanation:
    answerer = Answerer(DATASET, country_model(), facts=facts)
    return explain(answerer, query, entity, truth=DATASET.graph)


def walk(reason: Reason) -> Iterator[Reason]:
    yield reason
    for part in reason.parts:
        yield from walk(part)


def describe_bound(
    plan: Plan, number: int, graph: Graph, entity: int, bound: dict[str, int]
) -> str:
    """The atom of a step, with the entities that its variables stand for."""
    step = plan.steps[number]
    names = {
        place: bound[plan.steps[one].variable]
        for place, one in zip(step.filled, step.inputs, strict=True)
        if plan.steps[one].variable in bound
    }
    return describe_step(plan, number, graph.vocabulary, entity, names)


def check_atom(plan: Plan, graph: Graph, reason: Reason) -> None:
    """Check that the fact of a stated atom matches it, and that no fact matches a predicted one."""
    bound = {part.variable: part.entity for part in reason.parts}
    [step, *_] = [
        step
        for number, step in enumerate(plan.steps)
        if step.op == Op.PROJECTION
        and step.variable == reason.variable
        and describe_bound(plan, number, graph, reason.entity, bound) == reason.atom
    ]
    slots = list(step.slots)
    for place, one in zip(step.filled, step.inputs, strict=True):
        slots[place] = bound.get(plan.steps[one].variable)
    slots[step.asked] = reason.entity
    if reason.row is not None:
        assert says(graph.facts.row(reason.row), step, slots)
        assert reason.own == 1
    else:
        assert reason.own < 1
        assert not any(says(graph.facts.row(row), step, slots) for row in range(len(graph)))


def check_probability(reason: Reason, logic: str) -> None:
    """Check that the probability follows from the parts, with the join `max`."""
    parts = [part.probability for part in reason.parts]
    match reason.op:
        case Op.PROJECTION:
            expected = reduce(CONJOIN[logic], [*parts, reason.own])
            assert reason.alone is None or reason.alone == pytest.approx(expected, abs=2e-4)
        case Op.AND:
            expected = reduce(CONJOIN[logic], parts)
        case Op.NOT:
            expected = 1 - parts[0]
        case _:
            return
    if reason.probability < 1:
        expected = min(expected, MAX_PREDICTED)
    assert reason.probability == pytest.approx(expected, abs=2e-4)


@pytest.mark.parametrize("logic", CONJOIN)
@given(fact_lists, plans(), entities)
@settings(max_examples=40)
def test_reasons_have_the_facts_and_probabilities_they_claim(
    logic: str, facts: list[Fact], plan: Plan, entity: int
) -> None:
    graph = graph_of(facts)
    answerer = answerer_of(graph, logic, join="max", beam=400)
    explanation = explain(answerer, plan, entity)
    [row] = answerer.run([plan]).targets
    reason = explanation.reason
    assert explanation.entity == reason.entity == entity
    assert explanation.probability == pytest.approx(row[entity])
    assert reason.probability == pytest.approx(row[entity])
    listed = [one.entity for one in answerer.answer(plan, top=graph.entity_count)]
    place = listed.index(entity) if entity in listed else len(listed)
    assert explanation.rank == place + 1
    assert explanation.known == (entity in execute(plan, graph).sets[-1])
    for one in walk(reason):
        check_probability(one, logic)
        if one.op == Op.PROJECTION:
            check_atom(plan, graph, one)


def least_support(reason: Reason) -> float:
    """The least support of an atom; under a negation, 1 minus the most support (De Morgan)."""
    if reason.op == Op.NOT:
        return 1 - most_support(reason.parts[0])
    own = [reason.own] if reason.op == Op.PROJECTION else []
    return min([*own, *(least_support(part) for part in reason.parts)], default=1.0)


def most_support(reason: Reason) -> float:
    """The counterpart of `least_support` for the inside of a negation."""
    if reason.op == Op.NOT:
        return 1 - least_support(reason.parts[0])
    own = [reason.own] if reason.op == Op.PROJECTION else []
    return min([*own, *(most_support(part) for part in reason.parts)], default=0.0)


@given(fact_lists, plans(), entities)
@settings(max_examples=40)
def test_the_weakest_atom_has_the_least_support_and_certain_answers_have_none(
    facts: list[Fact], plan: Plan, entity: int
) -> None:
    explanation = explain(answerer_of(graph_of(facts)), plan, entity)
    expected = least_support(explanation.reason)
    if explanation.probability == 1:
        assert explanation.weakest is None
    elif explanation.weakest is None:
        assert expected == 1
    else:
        assert explanation.weakest.support == expected < 1


@given(fact_lists, plans(deepest=2), fact_lists)
@settings(max_examples=40)
def test_candidates_are_easy_hard_or_wrong_by_known_and_all_facts(
    facts: list[Fact], plan: Plan, more: list[Fact]
) -> None:
    known, full = graph_of(facts), graph_of([*facts, *more])
    answerer = answerer_of(known)
    explanation = explain(answerer, plan, 0, top=99, truth=full)
    before, after = execute(plan, known).sets, execute(plan, full).sets
    sets = answerer.run([plan]).sets
    number = known.vocabulary.entities.resolve
    for view in explanation.steps:
        step = view.step - 1
        for one in view.candidates:
            entity = number(one.id)
            assert one.probability == sets[step][entity]
            assert one.known == (entity in before[step])
            truth = "easy" if one.known else "hard"
            assert one.truth == (truth if entity in after[step] else "wrong")
        ranks = [one.rank for one in view.candidates]
        assert ranks == list(range(1, len(ranks) + 1))
    unknown = explain(answerer, plan, 0)
    assert all(one.truth is None for view in unknown.steps for one in view.candidates)


def test_the_reason_of_a_chain_names_its_variables() -> None:
    reason = explain_countries(NEIGHBOURS_SPEAK, "German").reason
    names = DATASET.vocabulary.entities
    assert reason.stated
    [below] = reason.parts
    assert (below.variable, names.ids[below.entity]) in {("y", "de"), ("y", "it")}
    assert str(reason).splitlines()[0] == (
        f"?x = German: stated ({names.name(below.entity)}, speaks, German"
        + (", {since: 1990})" if names.ids[below.entity] == "it" else ")")
    )


def test_the_predicted_part_is_the_weakest() -> None:
    explanation = explain_countries("?x: speaks(?x, french) and borders(?x, pt)", "fr")
    weakest = explanation.weakest
    assert weakest is not None
    assert not weakest.negated
    assert weakest.reason.atom == "borders(France, Portugal)"
    assert weakest.support == weakest.reason.own < 1
    assert "The weakest part is borders(France, Portugal) (" in str(explanation)


def test_a_stated_fact_under_a_negation_is_the_weakest_part() -> None:
    explanation = explain_countries(NOT_GERMAN, "Germany")
    assert explanation.probability == 0
    weakest = explanation.weakest
    assert weakest is not None
    assert weakest.negated
    assert weakest.support == 0
    assert str(weakest) == "not speaks(Germany, German) (0.000)"
    lines = str(explanation).splitlines()
    assert "Why Germany is no answer:" in lines
    assert "    but a fact states (Germany, speaks, German)" in lines


def test_of_a_negated_conjunction_the_part_that_fails_most_easily_is_the_weakest() -> None:
    query = "?x: borders(?x, pt) and not (speaks(?x, french) and speaks(?x, german))"
    explanation = explain_countries(query, "fr")
    negation = explanation.reason.parts[1]
    assert negation.op == Op.NOT
    weakest = negation.weakest()
    assert weakest is not None
    assert str(weakest).startswith("not speaks(France, German) (")
    assert weakest.support == 1 - weakest.reason.own > 0


def test_certainty_is_never_explained_by_a_negation() -> None:
    explanation = explain_countries("?x: not speaks(?x, german) or borders(?x, fr)", "Spain")
    assert explanation.probability == 1
    assert [one.op for one in walk(explanation.reason)] == [Op.OR, Op.PROJECTION]


def test_the_entities_removed_by_a_negation_are_listed() -> None:
    [removed] = explain_countries(NOT_GERMAN).removed
    assert removed.says == "not speaks(?x, German)"
    name = DATASET.vocabulary.entities.name
    sure = {name(entity) for entity, chance in removed.entities if chance == 1}
    assert sure >= {"Germany", "Italy"}
    assert "Removed by not speaks(?x, German): " in str(explain_countries(NOT_GERMAN))
    assert explain_countries(NEIGHBOURS_SPEAK).removed == ()


def test_held_out_answers_are_hard() -> None:
    [view] = explain(
        Answerer(DATASET, country_model(), facts="train"),
        "?x: borders(?x, es)",
        top=99,
        truth=DATASET.graph,
    ).steps
    truth = {one.id: one.truth for one in view.candidates}
    assert truth.pop("fr") == "easy"
    assert truth.pop("pt") == "hard"
    assert set(truth.values()) == {"wrong"}


def test_without_the_truth_nothing_is_called_easy_or_wrong() -> None:
    explanation = explain(Answerer(DATASET, country_model(), facts="train"), NEIGHBOURS_SPEAK)
    assert not {"easy", "hard", "wrong"} & set(re.findall(r"\w+", str(explanation)))
    text = explanation.to_markdown()
    assert "| known by |\n" in text
    assert len({line.count("|") for line in text.splitlines() if line.startswith("|")}) == 1
    steps = explanation.to_json()["steps"]
    assert not any("truth" in one for step in steps for one in step["candidates"])


def test_of_equal_answers_the_rank_is_their_place_in_the_list() -> None:
    answerer = Answerer(DATASET, country_model(), facts="train")
    answers = answerer.answer("?x: borders(?x, fr)")
    assert [answer.probability for answer in answers[:3]] == [1, 1, 1]
    ranks = [explain(answerer, "?x: borders(?x, fr)", one.entity).rank for one in answers]
    assert ranks == list(range(1, len(answers) + 1))


def test_joined_bindings_give_the_number_of_the_best_alone_and_of_all_together() -> None:
    reason = explain_countries("?x: borders(?y, France) and borders(?y, ?x)", "it").reason
    assert reason.ways > 1
    assert reason.alone is not None
    assert reason.alone < reason.probability
    ways = f"; the likeliest of {reason.ways} ways, {show_probability(reason.alone)} alone; "
    assert f"{ways}all together {show_probability(reason.probability)}" in str(reason)
    data = reason.to_json()
    assert (data["ways"], data["alone"]) == (reason.ways, reason.alone)


def test_a_single_atom_is_said_once() -> None:
    text = str(explain_countries("?x: borders(?x, pt)", "fr"))
    assert text.count("borders(France, Portugal)") == 1
    assert "weakest" not in text


def test_connectives_are_described_in_the_words_of_a_query() -> None:
    lines = str(explain_countries(NOT_GERMAN)).splitlines()
    assert "step 4, ?x: borders(?x, France) and not speaks(?x, German)" in lines


def test_the_best_answer_is_explained_if_none_is_named() -> None:
    explanation = explain_countries("?x: borders(?x, pt)")
    assert DATASET.vocabulary.entities.ids[explanation.entity] == "es"
    assert (explanation.rank, explanation.probability, explanation.known) == (1, 1, True)


def test_an_entity_is_named_by_number_id_or_label() -> None:
    number = DATASET.vocabulary.entities.resolve("pt")
    answerer = Answerer(DATASET, country_model())
    for name in (number, "pt", "Portugal"):
        assert explain(answerer, NEIGHBOURS_SPEAK, name).entity == number


def test_an_unknown_entity_is_not_explained() -> None:
    answerer = Answerer(DATASET, country_model())
    with pytest.raises(NqeError, match="no entity is called 'Atlantis'; "):
        explain(answerer, NEIGHBOURS_SPEAK, "Atlantis")
    for number in (-1, 9):
        with pytest.raises(NqeError, match=f"there is no entity number {number}; they go to 8"):
            explain(answerer, NEIGHBOURS_SPEAK, number)


def test_a_query_without_possible_answers_is_not_explained() -> None:
    more = Graph.of([*DATASET.graph, Fact("fr", "trades_with", "es")])
    answerer = Answerer(more, country_model())
    with pytest.raises(NqeError, match="the query has no possible answer"):
        explain(answerer, "?x: trades_with(it, ?x)")
    named = explain(answerer, "?x: trades_with(it, ?x)", "es")
    assert (named.probability, named.rank) == (0, 1)


def test_the_text_shows_each_step_and_then_the_reason() -> None:
    lines = str(explain_countries(NEIGHBOURS_SPEAK, "French")).splitlines()
    assert lines[0] == "step 1, ?y: borders(?y, France)"
    assert lines[1].startswith("  1. ")
    assert "stated, easy" in lines[1]
    assert any(line.startswith("step 2, ?x: speaks(?y, ?x)") for line in lines)
    [why] = [line for line in lines if line.startswith("Why French is number ")]
    after = lines[lines.index(why) + 1 :]
    assert after[0].startswith("  ?x = French (")
    assert after[1].startswith("    ?y = ")


def test_markdown_has_the_steps_as_one_table() -> None:
    explanation = explain_countries(NEIGHBOURS_SPEAK, "French")
    text = explanation.to_markdown()
    table = [line for line in text.splitlines() if line.startswith("|")]
    assert len(table) == 2 + sum(len(view.candidates) for view in explanation.steps)
    assert len({line.count("|") for line in table}) == 1
    assert text.startswith(f"`{explanation.query}`\n")
    assert "Why French is number" in text


@given(fact_lists, plans(), entities)
@settings(max_examples=40)
def test_json_has_the_same_content_in_ids(facts: list[Fact], plan: Plan, entity: int) -> None:
    graph = graph_of(facts)
    explanation = explain(answerer_of(graph), plan, entity)
    data = json.loads(json.dumps(explanation.to_json(), allow_nan=False))
    assert data["entity"] == graph.vocabulary.entities.ids[entity]
    assert data["probability"] == explanation.probability
    weakest = explanation.weakest
    assert (data["weakest"] is None) == (weakest is None)
    if weakest is not None:
        assert data["weakest"]["negated"] == weakest.negated
        assert data["weakest"]["support"] == weakest.support
    ids = graph.vocabulary.entities.ids
    assert all(pair["entity"] in ids for one in data["removed"] for pair in one["entities"])
    assert data["unseen"] == []
    assert [one["step"] for one in data["steps"]] == [one.step for one in explanation.steps]
    pairs = [(explanation.reason, data["reason"])]
    while pairs:
        reason, part = pairs.pop()
        assert part["operator"] == reason.op.word
        assert ("fact" in part) == reason.stated
        assert ("atom" in part) == (reason.op == Op.PROJECTION)
        pairs += zip(reason.parts, part.get("because", []), strict=True)


def test_an_explanation_repeats_the_query() -> None:
    repeated = explain_countries(NOT_GERMAN).query
    assert bind(repeated, DATASET) == bind(NOT_GERMAN, DATASET)


def test_an_explanation_holds_the_limit_of_bindings() -> None:
    answerer = Answerer(DATASET, country_model(), max_bindings=1)
    with pytest.raises(TooManyBindings, match="more than the limit of 1"):
        explain(answerer, NEIGHBOURS_SPEAK)
    result = execute(NEIGHBOURS_SPEAK, DATASET)
    with pytest.raises(TooManyBindings):
        replace(result, max_bindings=0).proof(result.ids[0])
