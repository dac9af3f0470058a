"""Fitting a calibration: swapped queries, and a model trained briefly on the demo."""

from __future__ import annotations

import json
import math
from copy import deepcopy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from answering_cases import countries, country_model, plans_of_shape
from hypothesis import given, settings
from hypothesis import strategies as st

import nqe
from nqe.answering import calibrate
from nqe.answering.calibration import Calibration, Curve
from nqe.answering.calibration_fitting import (
    RELIABILITY_FILE,
    build_plain_calibration,
    fit_calibration,
    thin,
)
from nqe.answering.calibration_queries import draw_calibration_queries, swap_anchors
from nqe.answering.calibration_samples import mask_stated, split_rows
from nqe.answering.calibration_storage import CALIBRATION_FILE
from nqe.answering.fuzzy_set import Floats, FuzzySet
from nqe.answering.joined_runner import to_patterns
from nqe.answering.neural import NeuralEngine
from nqe.answering.probability import MAX_PREDICTED
from nqe.answering.question_curve import PARTS, UNMOVED, QuestionCurve, measure_parts
from nqe.answering.question_fitting import LEAST, Questions, draw_questions
from nqe.demo import demo_dataset
from nqe.errors import NqeError
from nqe.graph import Dataset, Fact
from nqe.graph.arrays import Booleans
from nqe.graph.ragged import Ragged
from nqe.model import EmbeddingRunner, Model, load, save_pretrained
from nqe.model.checkpoint import Card
from nqe.query import execute
from nqe.query.shapes import SHAPES
from nqe.query.step_table import StepTable
from nqe.sampling.one_hop import make_link_queries
from nqe.sampling.query_table import QueryTable
from nqe.settings import build_run_settings
from nqe.training import fit_weights

pytestmark = pytest.mark.xdist_group("fitting")


@pytest.fixture(scope="module")
def demo() -> Dataset:
    return demo_dataset()


@pytest.fixture(scope="module")
def run(demo: Dataset, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A RUN of a model that was trained briefly."""
    folder = tmp_path_factory.mktemp("fitting") / "run"
    model = {"width": 24, "layers": 1, "heads": 2, "feed_forward": 24, "dropout": 0.0}
    settings = build_run_settings(
        {
            "model": model,
            "train": {
                "shapes": ["1p"],
                "batch": 256,
                "steps": 150,
                "evaluate_steps": 150,
                "valid_queries": 100,
                "rate": 1e-2,
            },
        }
    )
    fit_weights(demo, folder, settings=settings)
    return folder


@pytest.fixture(scope="module")
def model(run: Path) -> Model:
    return load(run)


def anchors(table: QueryTable, row: int) -> list[tuple[int, int]]:
    """The slots and entities of the anchors of a query."""
    return [
        (place, anchor)
        for place, anchor in enumerate(table.plans.plan(row).target.slots)
        if anchor is not None
    ]


def test_one_anchor_is_swapped_in_the_first_queries_and_nothing_else(demo: Dataset) -> None:
    table = make_link_queries(demo.splits["valid"], demo.known("train,valid"))
    table = table.take(np.random.default_rng(0).permutation(len(table))[:400])
    new = swap_anchors(table, 200, np.random.default_rng(1))
    same = [row for row in range(400) if table.plans.plan(row) == new.plans.plan(row)]
    assert same[-200:] == list(range(200, 400))
    # An anchor stays if no other query of the relation has another entity in that slot.
    assert len(same) <= 210
    assert replace(table.plans, filler=new.plans.filler) == new.plans
    for row in sorted(set(range(200)) - set(same)):
        pairs = zip(anchors(table, row), anchors(new, row), strict=True)
        assert sum(one != other for one, other in pairs) == 1


def test_a_new_anchor_comes_from_the_same_slot_of_the_same_relation() -> None:
    dataset = countries()
    table = make_link_queries(dataset.splits["train"], dataset.known("train"))
    new = swap_anchors(table, len(table), np.random.default_rng(3))
    pools: dict[tuple[int, int, int], set[int]] = {}
    changed = 0
    for row in range(len(table)):
        for place, entity in anchors(table, row):
            pools.setdefault(slot_of(table, row, place), set()).add(entity)
    for row in range(len(table)):
        pairs = list(zip(anchors(table, row), anchors(new, row), strict=True))
        changes = [(place, now) for (place, before), (_, now) in pairs if before != now]
        assert all(now in pools[slot_of(table, row, place)] for place, now in changes)
        changed += len(changes)
        assert len(changes) <= 1
        if not changes:
            # The drawn anchor is the only entity in its slot.
            assert min(len(pools[slot_of(table, row, place)]) for (place, _), _ in pairs) == 1
    assert changed > len(table) / 2


def slot_of(table: QueryTable, row: int, place: int) -> tuple[int, int, int]:
    """The key of a slot: relation and slot for subject and object, attribute for a value."""
    target = table.plans.plan(row).target
    return (1, target.relation, place) if place < 2 else (0, 0, target.attributes[place - 2])


def test_answers_are_those_of_the_swapped_queries(demo: Dataset) -> None:
    rng = np.random.default_rng(2)
    table, stated = draw_calibration_queries(demo, "valid", "train", 120, rng)
    assert len(table) == len(stated) == 120
    full, known = demo.known("train,valid"), demo.known("train")
    for row in range(120):
        plan = table.plans.plan(row)
        assert table.easy[row].tolist() == execute(plan, full).answers.tolist()
        assert stated[row].tolist() == execute(plan, known).answers.tolist()
    counts = table.easy.lengths
    assert np.array_equal(table.answer_count, counts)
    assert not len(table.hard.values)
    # Only swapped queries can have no answer.
    assert (counts[:60] == 0).any()
    assert (counts[60:] > 0).all()


def test_calibrating_needs_validation_facts() -> None:
    dataset = countries()
    bare = Dataset(dataset.vocabulary, {"train": dataset.splits["train"]})
    with pytest.raises(NqeError, match="calibrating needs a valid split; import one"):
        fit_calibration(country_model(), bare)


def log_loss(model: Model, curve: Curve, dataset: Dataset, known: bool) -> float:
    """The mean log loss on test queries, over all entities or those that are not stated."""
    rng = np.random.default_rng(7)
    table, stated = draw_calibration_queries(dataset, "test", "train,valid", 300, rng)
    stated = stated if known else Ragged.empty(len(table))
    scores = EmbeddingRunner(model).run(table.plans).block(0, model.entity_count)
    scores = mask_stated(scores, stated)
    logs = (scores / curve.temperature).log_softmax(1).double().numpy()
    plans, targets = table.plans, table.plans.targets
    shift = curve.compute_shift(plans.relation[targets], plans.asked[targets], stated.lengths)
    row, entity = (one.ravel() for one in np.indices(logs.shape))
    graph = dataset.known("train,valid")
    stood = graph.has_stood(to_patterns(plans), row, entity) | (not known)
    chances = curve.to_probabilities(logs[row, entity], shift[row], ~stood).reshape(logs.shape)
    right, open_ = np.zeros(logs.shape), np.ones(logs.shape, dtype=bool)
    right[table.easy.owner, table.easy.values] = 1
    open_[stated.owner, stated.values] = False
    chances = np.clip(chances, 1e-12, 1 - 1e-12)
    loss = -(right * np.log(chances) + (1 - right) * np.log(1 - chances))
    return float(loss[open_].mean())


def test_a_fitted_calibration_is_more_reliable_than_the_plain_one(
    demo: Dataset, model: Model
) -> None:
    fitted = fit_calibration(model, demo)
    plain = build_plain_calibration(demo, model.relation_count)
    for curve, before, known in (
        (fitted.facts, plain.facts, True),
        (fitted.alone, plain.alone, False),
    ):
        assert np.isfinite(curve.own).all()
        assert log_loss(model, curve, demo, known) < log_loss(model, before, demo, known)
    graph, questions = demo.known("train"), draw_questions(demo, "valid", "train", 20, seed=9)
    one_hop = Calibration(fitted.facts, fitted.alone)
    rows = {
        name: chances_of(NeuralEngine.of(model, graph, one), questions)
        for name, one in {"plain": plain, "one-hop": one_hop, "fitted": fitted}.items()
    }
    every = np.ones(rows["plain"].shape, dtype=bool)
    losses = {name: question_loss(one, questions, every) for name, one in rows.items()}
    assert losses["one-hop"] < losses["plain"]
    # The whole question is fitted on what is likely enough.
    likely = rows["one-hop"] >= LEAST
    losses = {name: question_loss(one, questions, likely) for name, one in rows.items()}
    assert losses["fitted"] < losses["one-hop"]


def chances_of(engine: NeuralEngine, questions: Questions) -> Floats:
    """The probabilities of all entities for each question."""
    targets = engine.run_table(questions.plans).targets
    return np.stack([one.to_array(engine.predictor.entity_count) for one in targets])


def question_loss(rows: Floats, questions: Questions, counted: Booleans) -> float:
    """The sum of the log loss over counted entities of all questions that are not stated."""
    loss = 0.0
    for number, chances in enumerate(np.clip(rows, 1e-6, 1 - 1e-6)):
        right = np.zeros(len(chances))
        right[questions.right[number]] = 1
        losses = -(right * np.log(chances) + (1 - right) * np.log(1 - chances))
        losses[questions.stated[number]] = 0
        loss += float(losses[counted[number]].sum())
    return loss


def test_every_second_question_has_an_anchor_swapped_and_answers_are_exact(demo: Dataset) -> None:
    questions = draw_questions(demo, "valid", "train", 4)
    assert len(set(questions.shape)) == len(SHAPES)
    known, full = demo.known("train"), demo.known("train,valid")
    hard = 0
    for number in range(len(questions)):
        plan = questions.plans.plan(number)
        stated, right = questions.stated[number].tolist(), questions.right[number].tolist()
        assert stated == execute(plan, known).answers.tolist()
        assert right == execute(plan, full).answers.tolist()
        hard += bool(set(right) - set(stated))
    assert len(questions) / 2 <= hard < len(questions)


@given(st.lists(st.floats(1e-4, 0.9999), min_size=2, max_size=6), st.data())
def test_the_curve_of_questions_keeps_the_order_and_what_is_certain(
    values: list[float], data: st.DataObject
) -> None:
    numbers = st.floats(-3, 3)
    columns = [
        data.draw(st.lists(numbers, min_size=len(PARTS), max_size=len(PARTS))) for _ in range(3)
    ]
    curve = QuestionCurve(*(tuple(column) for column in columns))
    parts = np.array(data.draw(st.lists(st.floats(0, 1), min_size=len(PARTS), max_size=len(PARTS))))
    before = FuzzySet(np.arange(len(values) + 1), np.array([*values, 1.0]))
    after = curve.calibrate(before, parts)
    assert after.values[-1] == 1
    assert all(0 < one <= MAX_PREDICTED for one in after.values[:-1])
    order = np.argsort(before.values, kind="stable")
    assert np.all(np.diff(after.values[order]) >= 0)
    assert UNMOVED.calibrate(before, parts) is before


@pytest.mark.parametrize(
    ("shape", "parts"),
    [
        ("1p", {}),
        ("2p", {"hops": 1}),
        ("3p", {"hops": 1, "more_hops": 1}),
        ("2i", {"and": 1}),
        ("2u", {"or": 1}),
        ("up", {"hops": 1, "inner_or": 1}),
        ("pi", {"hops": 1, "and": 1}),
        ("2in", {"and": 1, "not": 1}),
        ("inp", {"hops": 1, "inner_and": 1, "inner_not": 1}),
        ("2cp", {"hops": 1, "several": 1}),
        ("3cp", {"hops": 1, "several": 1, "more_several": 1}),
    ],
)
@given(data=st.data())
@settings(max_examples=3)
def test_a_question_is_made_of_what_its_shape_says(
    shape: str, parts: dict[str, float], data: st.DataObject
) -> None:
    table = StepTable.of([data.draw(plans_of_shape(shape))])
    found = dict(zip(PARTS, measure_parts(table, [FuzzySet(*np.zeros((2, 0)))])[0], strict=True))
    joined = {"joined": 1} if parts else {}
    assert {name: part for name, part in found.items() if part} == {
        "question": 1,
        **joined,
        **parts,
    }


def test_more_missing_facts_move_what_is_joined_alone() -> None:
    joined = np.array([1.0 if part in ("question", "joined") else 0.0 for part in PARTS])
    single = np.array([1.0 if part == "question" else 0.0 for part in PARTS])
    curve = QuestionCurve(missing=(0.5, -1.0))
    before = FuzzySet(np.array([3]), np.array([0.2]))
    assert curve.calibrate(before, joined)[3] == pytest.approx(0.2)
    more = curve.move(math.e)
    assert more.calibrate(before, single)[3] == pytest.approx(0.2)
    logit = math.log(0.2 / 0.8)
    wanted = 1 / (1 + math.exp(-(1.5 * logit - 1)))
    assert more.calibrate(before, joined)[3] == pytest.approx(wanted)


def test_a_thinned_data_set_has_a_share_of_the_validation_facts_and_no_test(demo: Dataset) -> None:
    thinned = thin(demo, 0.5, 0)
    assert len(thinned.splits["valid"]) == round(len(demo.splits["valid"]) / 2)
    assert set(thinned.splits) == {"train", "valid"}
    everything = demo.split("valid")
    assert all(fact in set(everything) for fact in thinned.split("valid"))


def test_calibrating_a_run_writes_into_its_checkpoint(run: Path, demo: Dataset) -> None:
    before = nqe.open(run, graph=demo, facts="train").neural.calibration
    done = calibrate(run, demo)
    assert done.folder == run / "best"
    assert done.split == "test"
    assert (run / "best" / CALIBRATION_FILE).is_file()
    assert not (run / "last" / CALIBRATION_FILE).exists()
    assert done.after.error < done.before.error
    after = nqe.open(run, graph=demo, facts="train").neural.calibration
    assert len(before.facts.knots) == 2 < len(after.facts.knots)
    assert before.facts_questions != after.facts_questions
    kept = json.loads((run / "best" / RELIABILITY_FILE).read_text(encoding="utf-8"))
    del kept["digest"]
    assert kept == done.to_json()
    assert kept["after"]["all"]["error"] == done.after.error
    (run / "best" / CALIBRATION_FILE).unlink()


@pytest.mark.long
def test_a_checkpoint_is_calibrated_as_its_run_is(run: Path, demo: Dataset) -> None:
    written = []
    for place in (run, run / "best"):
        calibrate(place, demo)
        written.append((run / "best" / CALIBRATION_FILE).read_bytes())
        (run / "best" / CALIBRATION_FILE).unlink()
    assert written[0] == written[1]


def test_without_a_test_split_reliability_is_measured_on_valid(tmp_path: Path) -> None:
    save_pretrained(country_model(), tmp_path / "model", Card(trained_on="train"))
    splits = {name: facts for name, facts in countries().splits.items() if name != "test"}
    done = calibrate(tmp_path / "model", Dataset(countries().vocabulary, splits))
    assert done.split == "valid"


@pytest.mark.parametrize("learnt", ["train,valid", "valid", "train, valid", "all"])
def test_a_model_that_has_seen_the_validation_facts_is_refused(tmp_path: Path, learnt: str) -> None:
    save_pretrained(country_model(), tmp_path / "model", Card(trained_on=learnt))
    with pytest.raises(
        NqeError, match=r"learnt from the validation split, .*; train on train alone"
    ):
        calibrate(tmp_path / "model", countries())
    assert not (tmp_path / "model" / CALIBRATION_FILE).exists()


def test_another_data_set_is_refused_and_changes_no_calibration(tmp_path: Path) -> None:
    save_pretrained(country_model(), tmp_path / "model", Card(trained_on="train"))
    calibrate(tmp_path / "model", countries())
    written = (tmp_path / "model" / CALIBRATION_FILE).read_bytes()
    facts = [Fact("a", "p", "b"), Fact("b", "p", "a")]
    with pytest.raises(NqeError, match="was trained on other entities or relations"):
        calibrate(tmp_path / "model", Dataset.of({"train": facts, "valid": facts[:1]}))
    assert (tmp_path / "model" / CALIBRATION_FILE).read_bytes() == written


def test_queries_are_split_so_that_their_scores_fit_into_memory() -> None:
    assert [len(rows) for rows in split_rows(600, 100)] == [256, 256, 88]
    assert [len(rows) for rows in split_rows(3, 2**24)] == [1, 1, 1]
    assert [len(rows) for rows in split_rows(2, 2**30)] == [1, 1]


def test_an_untrained_model_can_be_calibrated() -> None:
    fitted = fit_calibration(country_model(), countries())
    for curve in (fitted.facts, fitted.alone):
        assert min(np.diff(curve.heights)) > 0
        assert np.isfinite([curve.cardinality, curve.stated, curve.elsewhere]).all()
        assert np.isfinite(curve.own).all()


@pytest.mark.parametrize("number", [float("nan"), 1e38])
def test_a_model_whose_scores_are_not_finite_is_neither_calibrated_nor_asked(number: float) -> None:
    dataset, model = countries(), deepcopy(country_model())
    name = dataset.vocabulary.relations.ids[0]
    with torch.no_grad():
        for weights in model.parameters():
            weights.fill_(number)
            weights.view(-1)[::2] *= -1
    with pytest.raises(NqeError, match=r"train (it|the model) again"):
        fit_calibration(model, dataset)
    with pytest.raises(NqeError, match="not finite, so its answers mean nothing; train it again"):
        nqe.Answerer(dataset, model).answer(f'?x: "{name}"(?x, ?y)', "hybrid")
