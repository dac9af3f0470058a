"""Rules as reasons: in explanations and scores, and for names that were added after training."""

from __future__ import annotations

import json
from functools import cache

import pytest
from answering_cases import untrained
from toy_dataset import towns

import nqe
from nqe.answering import Answerer, Calibration, Explanation, score, suggest
from nqe.answering.calibration import compute_mean_answers
from nqe.answering.rule_reasons import SHOWN, find_rules
from nqe.errors import NqeError
from nqe.graph import Fact
from nqe.graph.added_facts import add_facts
from nqe.graph.pattern import Pattern
from nqe.model import Model
from nqe.query.reason import Reason
from nqe.rules import Rules
from nqe.rules.strength import weigh

DATASET = towns()
LANGUAGE = "?x: speaks(person0, ?x)"
NEW = "speaks(newcomer, language3)"
MOVED = Fact("newcomer", "lives_in", "town3")


@cache
def rules() -> Rules:
    return nqe.mine_rules(DATASET)


@cache
def model() -> Model:
    return untrained(DATASET.vocabulary)


@cache
def calibration() -> Calibration:
    relations = len(DATASET.vocabulary.relations)
    return Calibration.plain(compute_mean_answers(DATASET.splits["train"], relations))


@cache
def answerer() -> Answerer:
    return Answerer(DATASET, model(), facts="train", rules=rules(), calibration=calibration())


@cache
def by_model() -> Answerer:
    return Answerer(DATASET, model(), facts="train", calibration=calibration())


@cache
def by_rules() -> Answerer:
    return Answerer(DATASET, facts="train", rules=rules())


@cache
def explanation() -> Explanation:
    return answerer().explain(LANGUAGE, "language0")


def check_rules(reason: Reason) -> None:
    """Check that facts fire the rules of a reason, and that the strongest come first."""
    assert 0 < len(reason.rules) <= SHOWN
    for rule in reason.rules:
        assert 0 < rule.support <= rule.predictions
        assert rule.words.startswith(f"{rule.support} of {rule.predictions}")
        assert len(rule.rows) <= 3


def test_a_prediction_names_its_strongest_rules_with_the_facts_that_fire_them() -> None:
    reason = explanation().reason
    check_rules(reason)
    [first, *_] = reason.rules
    facts = [reason.graph.fact(row) for row in first.rows]
    assert [(one.subject, one.relation) for one in facts] == [
        ("person0", "lives_in"),
        ("person6", "speaks"),
    ]
    assert facts[-1].object == "language0"
    assert first.rule == "speaks(?x, ?y) <- lives_in(?x, ?a; with: ?z) and speaks(?z, ?y)"
    names = DATASET.vocabulary
    person = names.entities.to_number("person0")
    pattern = Pattern(names.relations.to_number("speaks"), (person, None))
    fired = find_rules(answerer().neural.predictor, pattern, reason.entity)
    assert fired is not None
    assert len(fired) == len(reason.rules) + reason.more_rules
    assert fired.weight.tolist() == sorted(fired.weight, reverse=True)
    book = answerer().neural.predictor.rules
    assert book is not None
    assert fired.weight.tolist() == weigh(book.book.rules)[fired.fired.rule].tolist()


def test_the_model_alone_stands_beside_the_rules() -> None:
    reason = explanation().reason
    plain = by_model().explain(LANGUAGE, "language0").reason
    assert reason.model is not None
    assert reason.model == pytest.approx(plain.own, rel=1e-4)
    assert plain.model == plain.own
    assert reason.own > reason.model
    assert (plain.rules, plain.more_rules) == ((), 0)
    assert by_rules().explain(LANGUAGE).reason.model is None


def test_rules_are_told_as_text_markdown_json_and_in_notebooks() -> None:
    found = explanation()
    [first, *_] = found.reason.rules
    here = "      here (person0, lives_in, town0, {since: year0, with: person6}), (person6, speaks"
    for text in (str(found), found.to_markdown()):
        assert f"\n    {first.words}\n{here}" in text
        assert f"\n    and {found.reason.more_rules} more rules\n" in text
        assert "\n    the model alone: 0.0" in text
        assert "The weakest part" not in text
    assert "30 of 30 pairs" in found._repr_html_()
    data = json.loads(json.dumps(found.to_json()))["reason"]
    assert data["model"] == found.reason.model
    assert data["more_rules"] == found.reason.more_rules
    rule = data["rules"][0]
    assert (rule["rule"], rule["words"]) == (first.rule, first.words)
    assert (rule["support"], rule["predictions"]) == (first.support, first.predictions)
    assert rule["facts"][1]["object"] == "language0"


def test_only_predicted_atoms_have_rules() -> None:
    found = by_rules().explain("?x: knows(?y, person5) and speaks(?y, ?x)", "language4")
    check_rules(found.reason)
    [part] = found.reason.parts
    assert part.stated
    assert part.rules == ()
    assert "rules" not in part.to_json()
    assert str(found.reason).endswith("stated (person52, knows, person5)")


def test_a_negated_prediction_tells_its_rules_below_its_line() -> None:
    query = "?x: knows(?x, person1) and not speaks(?x, language0)"
    found = by_rules().explain(query, "person0")
    lines = str(found.reason).splitlines()
    [place] = [n for n, line in enumerate(lines) if "no facts give speaks(person0" in line]
    assert lines[place + 1].startswith("    30 of 45 pairs with ")


def test_what_no_rule_predicts_has_no_rules() -> None:
    reason = answerer().explain(LANGUAGE, "person5").reason
    assert (reason.rules, reason.more_rules) == ((), 0)
    assert "the model alone" not in str(reason)


def test_a_mode_without_explanations_is_refused() -> None:
    assert answerer().explain(LANGUAGE, mode="rules").reason.model is None
    assert answerer().explain(LANGUAGE, mode="hybrid").reason.model is not None
    with pytest.raises(NqeError, match="the mode embedding has no explanations; choose hybrid or"):
        answerer().explain(LANGUAGE, mode="embedding")
    with pytest.raises(NqeError, match="there are no rules"):
        Answerer(DATASET, model()).explain(LANGUAGE, mode="rules")


@pytest.mark.parametrize("make", [answerer, by_rules], ids=["hybrid", "rules alone"])
def test_a_new_entity_gets_predictions_from_rules_at_once(make: cache[Answerer]) -> None:
    asked = make().with_source(add_facts(DATASET, [MOVED]))
    answers = asked.answer("?x: speaks(newcomer, ?x)")
    assert answers.ids[0] == "language3"
    assert answers[0].probability > 0.05
    _, language = score(asked, NEW).slots
    assert language.answer.probability > 0.05
    found = asked.explain("?x: speaks(newcomer, ?x)")
    check_rules(found.reason)
    assert found.reason.model is None
    assert any(MOVED in map(asked.graph.fact, rule.rows) for rule in found.reason.rules)
    assert "the model alone" not in str(found)


def test_notes_say_that_rules_alone_predict_about_a_new_entity() -> None:
    asked = answerer().with_source(add_facts(DATASET, [MOVED]))
    answers = asked.answer("?x: speaks(newcomer, ?x)")
    assert (answers.unseen, answers.has_rules) == (("newcomer",), True)
    told = "Added after training, so rules alone predict about: newcomer"
    assert told in str(asked.explain("?x: speaks(newcomer, ?x)"))
    scored = score(asked, NEW)
    assert (scored.unseen, scored.has_rules) == (("newcomer",), True)
    assert scored.probability > score(asked, "speaks(newcomer, language2)").probability
    alone = by_rules().with_source(add_facts(DATASET, [MOVED]))
    assert alone.answer("?x: speaks(newcomer, ?x)").unseen == ()  # as there is no model


def test_suggestions_about_a_new_entity_come_from_rules() -> None:
    asked = answerer().with_source(add_facts(DATASET, [MOVED]))
    found = suggest(asked, "newcomer", relation="speaks")
    assert found[0].object.id == "language3"


def test_suggestions_count_rules() -> None:
    [best, *_] = suggest(answerer(), "person0", relation="speaks")
    plain = suggest(by_model(), "person0", relation="speaks", top=99)
    assert best.object.id == "language0"
    chances = {one.object.id: one.probability for one in plain}
    assert best.probability > chances["language0"]


def test_a_score_counts_rules_but_not_the_statement_itself() -> None:
    known, unknown = "speaks(person12, language0)", "speaks(person0, language0)"
    for statement, stated in ((known, True), (unknown, False)):
        scored = score(answerer(), statement)
        assert scored.stated == stated
        assert scored.probability > score(by_model(), statement).probability
        assert scored.rule is not None
        assert scored.to_json()["rule"] == scored.rule.to_json()
        used = {scored.rule.graph.fact(row) for row in scored.rule.rows}
        assert not any((one.subject, one.relation) == ("person12", "speaks") for one in used)


def test_a_score_without_rules_names_none() -> None:
    scored = score(by_model(), "speaks(person0, language0)")
    assert scored.rule is None
    assert not scored.has_rules
    assert score(answerer().with_facts("none"), "speaks(person0, language0)").rule is None
