"""The answerer: modes, known facts, unseen names, and the options of requests."""

from __future__ import annotations

import math
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from answering_cases import (
    EVERY_NAME,
    answerer_of,
    countries,
    country_model,
    fact_lists,
    graph_of,
    odd_calibration,
    plans,
    small_model,
    untrained,
)
from hypothesis import given, settings
from hypothesis import strategies as st

import nqe
from nqe import EmbeddingRunner
from nqe.answering import MODES, Answerer, Answers, Calibration, HybridOptions, Request, score
from nqe.answering.calibration_storage import save_calibration
from nqe.errors import NqeError, TooManyBindings
from nqe.graph import Dataset, EntitySet, Fact, Graph
from nqe.model import save_pretrained
from nqe.query import Plan, bind, execute
from nqe.query.exact import execute_many
from nqe.query.result import Result
from nqe.query.step_table import StepTable

DATASET = countries()
NEIGHBOURS = "?x: borders(?x, France)"


def answerer(facts: str = "all") -> Answerer:
    return Answerer(DATASET, country_model(), facts=facts)


@given(fact_lists, st.lists(plans(), max_size=5), st.sampled_from(MODES))
@settings(max_examples=40)
def test_a_batch_gives_the_answers_that_each_question_has_alone(
    facts: list[Fact], batch: list[Plan], mode: str
) -> None:
    graph = graph_of(facts)
    asked = answerer_of(graph, rules=nqe.mine_rules(graph, workers=1))
    together = asked.answer_many([Request(plan, mode, top=3) for plan in batch])
    assert len(together) == len(batch)
    for plan, answers in zip(batch, together, strict=True):
        alone = asked.answer(plan, mode, top=3)
        assert isinstance(answers, Answers)
        assert (answers.plan, answers.mode) == (plan, mode)
        chances = [one.probability for one in answers]
        assert chances == sorted(chances, reverse=True)
        assert chances == pytest.approx([one.probability for one in alone], abs=1e-5)
        assert all(
            one.known == (one.entity in execute(plan, asked.graph).sets[-1]) for one in answers
        )


@given(fact_lists, plans())
@settings(max_examples=40)
def test_the_mode_exact_gives_the_exact_answers(facts: list[Fact], plan: Plan) -> None:
    graph = graph_of(facts)
    answers = answerer_of(graph).answer(plan, "exact", top=99)
    assert sorted(answers.ids) == execute(plan, graph).ids
    assert all(one.probability == 1 and one.known for one in answers)


@given(plans())
@settings(max_examples=40)
def test_the_mode_embedding_gives_the_papers_softmax(plan: Plan) -> None:
    answers = answerer_of(graph_of([])).answer(plan, "embedding", top=4)
    runner = EmbeddingRunner(small_model())
    scores = runner.run(StepTable.of([plan])).block(0, runner.entity_count)
    softmax = scores.softmax(1)[0]
    expected = softmax.topk(4).values.tolist()
    assert [one.probability for one in answers] == pytest.approx(expected, abs=1e-6)
    [target] = answerer_of(graph_of([])).compute_sets([plan], "embedding")
    row = target.to_array(runner.entity_count)
    assert float(row.sum()) == pytest.approx(1)
    np.testing.assert_allclose(row, softmax.numpy(), atol=1e-6, rtol=0)


def test_an_unknown_mode_is_refused_with_a_list_of_the_modes() -> None:
    with pytest.raises(
        NqeError, match="unknown mode 'magic'; choose one of hybrid, rules, embedding, exact"
    ):
        answerer().answer(NEIGHBOURS, "magic")


def test_an_unknown_logic_is_refused_with_a_list_of_the_logics() -> None:
    with pytest.raises(NqeError, match="unknown logic 'fuzzy'; choose one of product, godel"):
        Answerer(DATASET, country_model(), logic="fuzzy")


def test_stated_answers_come_first_and_predicted_ones_after() -> None:
    answers = answerer("train").answer(NEIGHBOURS, top=99)
    assert set(answers.ids[:3]) == {"es", "de", "it"}
    assert [one.known for one in answers] == [True] * 3 + [False] * (len(answers) - 3)
    assert len(answers) == len(DATASET.vocabulary.entities)
    assert answers[0].probability == 1
    assert answers[0].name in {"Spain", "Germany", "Italy"}
    data = answers.to_json()
    assert data["mode"] == "hybrid"
    assert set(data["answers"][0]) == {
        "entity",
        "label",
        "probability",
        "known",
        "seen",
        "elsewhere",
    }


def test_top_limits_the_number_of_answers_and_a_threshold_their_probability() -> None:
    asked = answerer("train")
    everything = asked.answer(NEIGHBOURS, top=99)
    assert everything.ids[:3] == ["de", "es", "it"]
    for top in range(len(everything)):
        assert asked.answer(NEIGHBOURS, top=top).ids == everything.ids[:top]
    border = everything[5].probability
    likely = asked.answer(NEIGHBOURS, threshold=border)
    assert asked.answer(NEIGHBOURS, top=1, threshold=border).ids == likely.ids[:1]
    assert set(likely.ids) == {one.id for one in everything if one.probability >= border}
    assert len(asked.answer(NEIGHBOURS, threshold=0.0)) == len(everything)


@pytest.mark.parametrize("mode", MODES)
def test_answers_are_restricted_to_the_given_set(mode: str) -> None:
    asked = Answerer(DATASET, country_model(), rules=nqe.mine_rules(DATASET, workers=1))
    number = DATASET.vocabulary.entities.resolve
    some = EntitySet.of([number("es"), number("french")])
    inside = asked.answer(NEIGHBOURS, mode, top=99, among=some)
    outside = asked.answer(NEIGHBOURS, mode, top=99, among=some.complement())
    every = asked.answer(NEIGHBOURS, mode, top=99)
    assert set(inside.ids) == set(every.ids) & {"es", "french"}
    assert set(outside.ids) == set(every.ids) - {"es", "french"}
    best = asked.answer(NEIGHBOURS, mode, top=1, among=EntitySet.of([number("es")]))
    assert best.ids == ["es"]


def test_facts_name_the_splits_that_are_known() -> None:
    speakers = "?x: speaks(?x, french)"
    assert answerer("train").answer(speakers, "exact").ids == ["fr"]
    assert answerer("train,valid").answer(speakers, "exact").ids == ["fr", "it"]
    assert answerer("train").answer(speakers, threshold=1).ids == ["fr"]


@pytest.mark.parametrize("graph", [DATASET, DATASET.graph], ids=["data set", "graph"])
def test_without_facts_no_answer_is_known_or_certain(graph: Dataset | Graph) -> None:
    asked = Answerer(graph, country_model(), facts="none")
    assert len(asked.graph) == 0
    answers = asked.answer(NEIGHBOURS, top=99)
    assert len(answers) == len(DATASET.vocabulary.entities)
    assert not any(one.known or one.probability == 1 for one in answers)
    assert len(asked.answer(NEIGHBOURS, "exact")) == 0
    assert len(asked.answer(NEIGHBOURS, threshold=1)) == 0
    same = Answerer(DATASET, country_model(), calibration=asked.neural.calibration).with_facts(
        "none"
    )
    assert same.answer(NEIGHBOURS, top=99) == answers
    assert same.with_facts("none").answer(NEIGHBOURS, top=99) == answers


def test_a_graph_has_no_splits_to_choose() -> None:
    assert len(Answerer(DATASET.graph, country_model(), facts="all").graph) == len(DATASET.graph)
    with pytest.raises(NqeError, match="its facts are all or none, not 'train'; give the data set"):
        Answerer(DATASET.graph, country_model(), facts="train")


def grown() -> Dataset:
    """The countries with one more country and relation, whose names sort before the others."""
    more = [
        Fact("be", "borders", "fr"),
        Fact("be", "allied_with", "es"),
        Fact("it", "allied_with", "de"),
    ]
    train = [*DATASET.split("train"), *more]
    return Dataset.of(
        {"train": train, "valid": DATASET.split("valid"), "test": DATASET.split("test")}
    )


@pytest.mark.parametrize("mode", ["hybrid", "exact"])
def test_facts_about_unseen_names_are_used_at_once(mode: str) -> None:
    asked = Answerer(grown(), country_model())
    neighbours = asked.answer("?x: borders(?x, fr)", mode, threshold=1)
    assert set(neighbours.ids) == {"be", "es", "de", "it"}
    assert {one.id for one in neighbours if not one.seen} == {"be"}
    assert asked.answer("?x: allied_with(it, ?x)", mode, threshold=1).ids == ["de"]
    chain = "?x: allied_with(be, ?y) and speaks(?y, ?x)"
    assert asked.answer(chain, mode, threshold=1).ids == ["spanish"]


def test_nothing_is_predicted_about_unseen_names() -> None:
    asked = Answerer(grown(), country_model())
    answers = asked.answer("?x: borders(?x, de)", top=99)
    assert "be" not in answers.ids
    assert len(answers) == len(DATASET.vocabulary.entities)
    assert all(one.seen for one in answers)
    assert asked.answer("?x: allied_with(it, ?x)", top=99).ids == ["de"]
    assert asked.answer("?x: allied_with(fr, ?x)", top=99).ids == []
    assert asked.answer("?x: speaks(be, ?x)", top=99).ids == []


def test_unseen_names_are_reported() -> None:
    asked = Answerer(grown(), country_model())
    answers = asked.answer("?x: allied_with(be, ?x)")
    assert answers.unseen == ("allied_with", "be")
    assert answers.to_json()["unseen"] == ["allied_with", "be"]
    assert asked.answer("?x: borders(?x, fr)").unseen == ()
    assert score(asked, "borders(be, de)").unseen == ("be",)
    explanation = asked.explain("?x: borders(?x, de)", "be")
    assert explanation.unseen == ("be",)
    assert "Not seen in training, so nothing is predicted about: be" in str(explanation)


def test_a_model_with_the_mean_logic_answers_by_the_product_logic() -> None:
    blind = untrained(DATASET.vocabulary, logic="mean")
    query = "?x: borders(?x, fr) and not speaks(?x, german)"
    asked, product = Answerer(DATASET, blind), Answerer(DATASET, blind, logic="product")
    assert asked.answer(query, top=99) == product.answer(query, top=99)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"threshold": -0.1}, "the threshold is -0.1; give a probability from 0 to 1"),
        ({"threshold": 1.5}, "the threshold is 1.5"),
        ({"threshold": math.nan}, "the threshold is nan"),
        ({"top": -1}, "the number of answers is -1; give 1 or more"),
    ],
)
def test_numbers_out_of_range_are_refused(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(NqeError, match=message):
        Answerer(DATASET, country_model()).answer("?x: borders(?x, fr)", **wrong)


def test_the_calibration_of_another_model_is_refused() -> None:
    fewer = Calibration.plain(np.ones((2, 3), dtype=np.float32))
    with pytest.raises(NqeError, match="of a model with 2 relations, this one has"):
        Answerer(DATASET, country_model(), calibration=fewer)


def test_the_mode_embedding_refuses_unseen_names() -> None:
    asked = Answerer(grown(), country_model())
    assert "be" not in asked.answer("?x: borders(?x, fr)", "embedding", top=99).ids
    for query in ("?x: borders(?x, be)", "?x: allied_with(it, ?x)"):
        with pytest.raises(
            NqeError,
            match=r"names (be|allied_with), which was added to the graph after the model was "
            "trained; ask in the mode",
        ):
            asked.answer(query, "embedding")


@given(fact_lists, plans())
@settings(max_examples=50)
def test_new_names_do_not_change_the_probabilities_of_old_ones(
    facts: list[Fact], plan: Plan
) -> None:
    more = Graph.of([*EVERY_NAME, *facts, Fact("a_new", "a_new", "a_new")])
    options = HybridOptions(beam=400)
    asked = Answerer(more, small_model(), calibration=odd_calibration(), options=options)
    [old] = answerer_of(graph_of(facts), beam=400).run([plan]).targets
    [new] = asked.run([renumbered(plan)]).targets
    rows = [one.to_array(more.entity_count) for one in (new, old)]
    np.testing.assert_allclose(rows[0][1:], rows[1][:-1], atol=3e-5, rtol=0)


def renumbered(plan: Plan) -> Plan:
    """The same plan over a vocabulary with a new first entity and a new first relation."""
    steps = (
        replace(
            step,
            relation=step.relation + 1,
            attributes=tuple(one + 1 for one in step.attributes),
            slots=tuple(None if one is None else one + 1 for one in step.slots),
        )
        for step in plan.steps
    )
    return Plan(tuple(steps))


def test_a_graph_that_lacks_names_of_the_model_is_refused() -> None:
    facts = [fact for fact in DATASET.split("train") if fact.object != "pt"]
    with pytest.raises(
        NqeError, match="lacks 1 of the model's 9 names, such as the entity 'pt'; give the graph"
    ):
        Answerer(Graph.of(facts), country_model())
    without = [Fact(one, "borders", one) for one in DATASET.vocabulary.entities.ids]
    with pytest.raises(NqeError, match="lacks 2 of the model's 3 names, such as the relation"):
        Answerer(Graph.of(without), country_model())


def test_a_model_without_names_needs_a_graph_of_its_size() -> None:
    model = untrained(DATASET.vocabulary)
    model.vocabulary = None
    assert Answerer(DATASET, model).answer(NEIGHBOURS).ids
    with pytest.raises(NqeError, match="the model has 9 entities and 3 relations, the graph 10"):
        Answerer(grown(), model)


@pytest.mark.parametrize("mode", ["hybrid", "exact"])
def test_a_query_without_possible_answers_has_none(mode: str) -> None:
    asked = Answerer(grown(), country_model())
    answers = asked.answer("?x: allied_with(fr, ?x)", mode)
    assert len(answers) == 0
    unseen = {"exact": {}, "hybrid": {"unseen": ["allied_with"]}}[mode]
    count = {"count": 0} if mode == "exact" else {}
    count |= {"listed": 0, "stated_count": 0}
    count |= {"likely_count": 0} if mode == "hybrid" else {}
    [note] = answers.warnings
    assert note.startswith("no known fact of allied_with has fr as subject")
    told = {"warnings": [note]}
    assert answers.to_json() == {"mode": mode, **count, "answers": [], **unseen, **told}


def test_a_checkpoint_answers_with_its_calibration(tmp_path: Path) -> None:
    save_pretrained(country_model(), tmp_path / "model")
    plan = bind(NEIGHBOURS, DATASET)
    before = nqe.open(tmp_path / "model", graph=DATASET, facts="none")
    assert before.answer(plan) == answerer("none").answer(plan)
    save_calibration(odd_calibration(), tmp_path / "model")
    after = nqe.open(tmp_path / "model", graph=DATASET, facts="none")
    own = Answerer(DATASET, country_model(), facts="none", calibration=odd_calibration())
    assert after.answer(plan) == own.answer(plan) != before.answer(plan)


def test_a_question_is_text_json_a_query_or_a_plan() -> None:
    asked = answerer()
    plan = bind(NEIGHBOURS, DATASET)
    query = plan.query(DATASET.vocabulary)
    expected = asked.answer(plan)
    for question in (NEIGHBOURS, query, query.to_json()):
        assert asked.answer(question) == expected
    assert np.isclose(expected[0].probability, 1)


def test_a_batch_may_mix_modes_facts_and_options_and_each_has_its_own_outcome() -> None:
    asked = answerer("train")
    requests = [
        Request(NEIGHBOURS, "exact"),
        Request(NEIGHBOURS, "hybrid", top=3),
        Request("?x: borders(?x, nowhere)"),
        Request(NEIGHBOURS, "embedding", top=2),
        Request(NEIGHBOURS, facts="none", threshold=0.1),
        Request(NEIGHBOURS, "magic"),
        Request(NEIGHBOURS, predicted_only=True, top=2),
        Request(NEIGHBOURS, among="?x: borders(fr, ?x)"),
    ]
    outcomes = asked.answer_many(requests)
    wrong = [number for number, one in enumerate(outcomes) if isinstance(one, NqeError)]
    assert wrong == [2, 5]
    for number, request in enumerate(requests):
        options = {
            "mode": request.mode,
            "top": request.top,
            "threshold": request.threshold,
            "among": request.among,
            "facts": request.facts,
            "predicted_only": request.predicted_only,
        }
        if number in wrong:
            with pytest.raises(NqeError, match=re.escape(str(outcomes[number]))):
                asked.answer(request.query, **options)
        else:
            together, alone = outcomes[number], asked.answer(request.query, **options)
            assert isinstance(together, Answers)
            assert (together.mode, together.ids) == (alone.mode, alone.ids)
            chances = [one.probability for one in alone]
            assert [one.probability for one in together] == pytest.approx(chances, abs=1e-5)


def test_predicted_only_leaves_out_stated_answers() -> None:
    asked = answerer("train")
    every = asked.answer(NEIGHBOURS, threshold=0.0)
    predicted = asked.answer(NEIGHBOURS, threshold=0.0, predicted_only=True)
    assert predicted.ids == [one.id for one in every if not one.known]
    assert 0 < len(predicted) < len(every)
    with pytest.raises(NqeError, match="exact answers are all stated"):
        asked.answer(NEIGHBOURS, "exact", predicted_only=True)


def test_stated_only_leaves_out_predictions() -> None:
    asked = answerer("train")
    every = asked.answer(NEIGHBOURS, threshold=0.0)
    stated = asked.answer(NEIGHBOURS, threshold=0.0, stated_only=True)
    assert stated.answers == tuple(one for one in every if one.known)
    assert asked.answer(NEIGHBOURS, "exact", stated_only=True).ids == stated.ids
    among = EntitySet.of([stated[0].entity, every[-1].entity])
    assert asked.answer(NEIGHBOURS, among=among, stated_only=True).ids == stated.ids[:1]
    with pytest.raises(NqeError, match="no answer is stated and predicted at once"):
        asked.answer(NEIGHBOURS, stated_only=True, predicted_only=True)


def test_stated_and_likely_answers_are_counted_whether_or_not_they_are_listed() -> None:
    asked = answerer("train")
    every = asked.answer(NEIGHBOURS, top=99)
    stated = [one for one in every if one.known]
    likely = [one for one in every if not one.known and one.probability > 0.5]
    for options in ({}, {"top": 1}, {"predicted_only": True}, {"stated_only": True}):
        answers = asked.answer(NEIGHBOURS, **options)
        assert (answers.stated_count, answers.likely_count) == (len(stated), len(likely))
    bar = sorted(one.probability for one in every)[len(every) // 2]
    reaching = asked.answer(NEIGHBOURS, threshold=bar, top=1)
    expected = [one.known for one in every if one.probability >= bar]
    assert reaching.stated_count == sum(expected)
    assert reaching.likely_count == len(expected) - sum(expected)
    among = EntitySet.of([stated[0].entity, every[-1].entity])
    within = asked.answer(NEIGHBOURS, among=among)
    assert (within.stated_count, within.likely_count) == (1, 0)


def test_only_the_mode_hybrid_counts_predictions() -> None:
    asked = answerer("train")
    for mode in ("exact", "embedding"):
        answers = asked.answer(NEIGHBOURS, mode)
        assert answers.stated_count == len(asked.answer(NEIGHBOURS, "exact"))
        assert answers.likely_count is None


def test_a_stated_answer_below_1_says_what_a_missing_fact_may_say() -> None:
    asked = answerer("train")
    query = "?x: borders(?x, fr) and not (speaks(?x, ?l) and speaks(de, ?l))"
    answers = asked.answer(query)
    assert any(one.known and one.probability < 1 for one in answers)
    unless = ("speaks(?x, ?l) and speaks(Germany, ?l)",)
    assert answers.unless == unless
    assert answers.to_json()["unless"] == list(unless)
    for other in (asked.answer(query, "exact"), asked.answer(query, predicted_only=True)):
        assert other.unless == ()
        assert "unless" not in other.to_json()
    assert asked.answer(NEIGHBOURS).unless == ()


def test_the_exact_engine_runs_once_for_a_batch_of_all_modes() -> None:
    asked = answerer("train")
    with pytest.MonkeyPatch.context() as patch:
        sizes: list[int] = []

        def count(plans: Sequence[Plan], *rest: Any, **options: Any) -> list[Result]:
            sizes.append(len(plans))
            return execute_many(plans, *rest, **options)

        patch.setattr("nqe.answering.answerer.execute_many", count)
        asked.answer_many([NEIGHBOURS, Request(NEIGHBOURS, steps=3), Request(NEIGHBOURS, "exact")])
    assert sizes == [3]


@pytest.mark.parametrize("mode", ["hybrid", "exact"])
def test_steps_are_summarized_when_asked_for(mode: str) -> None:
    asked = answerer("train")
    answers = asked.answer(NEIGHBOURS, mode, steps=2)
    assert [step.number for step in answers.steps] == list(range(len(answers.plan.steps)))
    assert all(len(step.members) <= 2 for step in answers.steps)
    assert answers.steps[-1].members == asked.answer(NEIGHBOURS, mode, top=2).answers
    assert [one["step"] for one in answers.to_json()["steps"]] == list(
        range(1, len(answers.plan.steps) + 1)
    )


class TestAGraphAlone:
    def test_it_answers_exactly_and_refuses_predictions(self) -> None:
        asked = Answerer(DATASET, facts="train")
        assert asked.answer(NEIGHBOURS).ids == execute(NEIGHBOURS, DATASET.known("train")).ids
        assert asked.answer(NEIGHBOURS).mode == "exact"
        assert asked.answer(NEIGHBOURS, top=1).count == len(asked.answer(NEIGHBOURS))
        with pytest.raises(NqeError, match="the mode hybrid needs a model"):
            asked.answer(NEIGHBOURS, "hybrid")
        with pytest.raises(NqeError, match="a graph alone predicts nothing"):
            asked.explain(NEIGHBOURS)

    def test_opening_and_asking_it_loads_no_pytorch(self, tmp_path: Path) -> None:
        DATASET.save(tmp_path / "graph")
        script = (
            "import sys, nqe\n"
            f"answers = nqe.open({str(tmp_path / 'graph')!r}).answer({NEIGHBOURS!r})\n"
            "assert len(answers), answers\n"
            "assert 'torch' not in sys.modules"
        )
        subprocess.run([sys.executable, "-c", script], check=True)

    def test_a_request_that_looks_at_too_many_facts_fails_alone(self) -> None:
        asked = Answerer(DATASET, max_bindings=2)
        few, many = asked.answer_many(["?x: borders(?x, pt)", "?x: borders(?x, ?y)"])
        assert isinstance(few, Answers)
        assert isinstance(many, NqeError)


@pytest.mark.parametrize("mode", MODES)
def test_with_a_model_a_request_that_looks_at_too_many_facts_fails_alone(mode: str) -> None:
    rules = nqe.mine_rules(DATASET, workers=1)
    asked = Answerer(DATASET, country_model(), rules=rules, max_bindings=2)
    requests = [Request(text, mode) for text in ("?x: borders(?x, pt)", "?x: borders(?x, ?y)")]
    few, many = asked.answer_many(requests)
    assert isinstance(few, Answers)
    assert isinstance(many, TooManyBindings)


def test_the_facts_that_predictions_look_at_are_limited_as_well() -> None:
    # No fact has this neighbour, so exact steps look at none. The model predicts who borders it,
    # and the facts about those are looked at.
    asked = Answerer(DATASET, country_model(), max_bindings=0)
    query = "?x: speaks(?y, ?x) and borders(?y, german)"
    assert not len(asked.answer(query, "exact"))
    with pytest.raises(TooManyBindings):
        asked.answer(query, "hybrid")
    with pytest.raises(TooManyBindings):
        asked.explain(query)
