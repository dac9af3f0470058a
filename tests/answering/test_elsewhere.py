"""Predictions of entities that no known fact has in the slot that a question asks for."""

from __future__ import annotations

import pytest
from answering_cases import answerer_of, countries, country_model, fact_lists, graph_of, plans
from hypothesis import given, settings

from nqe.answering import Answerer
from nqe.graph import Fact
from nqe.query import Plan

DATASET = countries()


def find_flagged(query: str, facts: str = "train", mode: str = "hybrid") -> set[str]:
    """The ids of the listed answers that are said to stand elsewhere."""
    asked = Answerer(DATASET, country_model(), facts=facts)
    answers = asked.answer(query, mode, top=99)
    assert {one["entity"] for one in answers.to_json()["answers"] if one["elsewhere"]} == {
        one.id for one in answers if one.elsewhere
    }
    listed = set(answers.ids)
    assert listed == set(DATASET.vocabulary.entities.ids)
    return {one.id for one in answers if one.elsewhere}


NOT_SUBJECTS = {"pt", "french", "german", "spanish", "y1990"}
NOT_SPOKEN = {"fr", "es", "de", "pt", "it", "y1990"}
NOT_NEIGHBOURS = {"it", "french", "german", "spanish", "y1990"}


@pytest.mark.parametrize("mode", ["hybrid", "embedding"])
def test_an_entity_that_no_fact_has_in_the_slot_is_told(mode: str) -> None:
    assert find_flagged("?x: borders(?x, fr)", mode=mode) == NOT_SUBJECTS
    assert find_flagged("?x: speaks(fr, ?x)", mode=mode) == NOT_SPOKEN


def test_the_attribute_of_a_qualifier_counts() -> None:
    assert "y1990" not in find_flagged("?x: borders(de, fr; since: ?x)")
    assert "y1990" in find_flagged("?x: borders(de, fr; speaks: ?x)")


def test_of_a_conjunction_one_slot_that_is_new_to_it_is_enough() -> None:
    both = find_flagged("?x: borders(?x, fr) and borders(es, ?x)")
    assert both == NOT_SUBJECTS | NOT_NEIGHBOURS


def test_of_a_disjunction_all_slots_must_be_new_to_it() -> None:
    either = find_flagged("?x: borders(?x, fr) or borders(es, ?x)")
    assert either == NOT_SUBJECTS & NOT_NEIGHBOURS


def test_what_is_negated_does_not_count() -> None:
    asked = Answerer(DATASET, country_model(), facts="train")
    alone, beside = (
        asked.answer(query, top=99)
        for query in ("?x: not borders(?x, fr)", "?x: borders(?x, pt) and not speaks(fr, ?x)")
    )
    assert not any(one.elsewhere for one in alone)
    assert {one.id for one in beside if one.elsewhere} == NOT_SUBJECTS & set(beside.ids)


def test_only_the_slots_of_the_target_count() -> None:
    assert find_flagged("?x: borders(?y, fr) and speaks(?y, ?x)") == NOT_SPOKEN


def test_without_known_facts_nothing_is_told() -> None:
    assert find_flagged("?x: borders(?x, fr)", facts="none") == set()


@given(fact_lists, plans())
@settings(max_examples=40)
def test_a_stated_answer_is_never_told_to_stand_elsewhere(facts: list[Fact], plan: Plan) -> None:
    answers = answerer_of(graph_of(facts)).answer(plan, top=99)
    assert not any(one.known and one.elsewhere for one in answers)
