"""Relations as targets: scores and gradients against the slow reference, fact by fact."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from bag_model import BagModel
from slow_model import fuzzy, slow_layer
from small_models import (
    ENTITY_COUNT,
    HETEROGENEITIES,
    RELATION_COUNT,
    enlarge_weights,
    small_model,
    small_settings,
)
from tampering import sign_again
from torch import Tensor

from nqe.errors import NqeError
from nqe.graph.fact_columns import Facts
from nqe.model import ENCODERS, Encoder, NQEModel, from_pretrained, save_pretrained
from nqe.sampling.relation_queries import MASKED

Row = tuple[int, int, int, list[tuple[int, int]]]


def facts_of(rows: list[Row]) -> Facts:
    """Facts as they are, without sorting."""
    pairs = [pair for row in rows for pair in row[3]]
    attribute, value = (np.array([pair[side] for pair in pairs], dtype=np.int64) for side in (0, 1))
    main = np.array([row[:3] for row in rows], dtype=np.int64).reshape(-1, 3)
    offset = np.cumsum([0, *(len(row[3]) for row in rows)])
    return Facts(main[:, 0], main[:, 1], main[:, 2], offset, attribute, value, main[:, 0] * 0 + 1)


ROWS: list[Row] = [
    (0, 2, 1, [(1, 4), (MASKED, 5), (0, 5)]),
    (3, MASKED, 3, []),
    (7, MASKED, 2, [(1, 1), (3, 11)]),
    (1, 4, 0, [(MASKED, 9)]),
    (1, MASKED, 0, []),
]


def slow_scores(model: NQEModel, row: Row) -> Tensor:
    """The score of each relation for the masked one of a fact, by the equations."""
    subject, relation, object_, pairs = row
    steepness, own = model.settings.steepness, model.relation_scores
    assert own is not None
    sequence, asked = [subject, relation, object_, *(one for pair in pairs for one in pair)], 0
    elements = []
    for place, number in enumerate(sequence):
        weights = model.relations.weights if place % 2 else model.entities.weights
        if number == MASKED:
            asked, weights = place, own.mask.weights
        elements.append(model.encoder.norm(fuzzy(weights[max(number, 0)], steepness)))
    for layer in model.encoder.layers:
        elements = slow_layer(layer, elements)
    query = torch.sigmoid(own.norm(own.mlp(elements[asked])))
    relations = fuzzy(model.relations.weights, steepness)
    return own.scorer.prepare(query[None])[0] @ (relations - 0.5).T + own.scorer.bias


@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("kind", HETEROGENEITIES)
def test_scores_and_all_gradients_agree_with_the_equations(kind: str, layers: int) -> None:
    model = small_model(heterogeneity=kind, layers=layers, predict_relations=True).double()
    found = model.compare_relations(facts_of(ROWS)).scores()
    expected = torch.stack([slow_scores(model, row) for row in ROWS])
    torch.testing.assert_close(found, expected)
    weight = torch.linspace(-1, 1, found.numel(), dtype=torch.float64).view_as(found)
    named = dict(model.named_parameters())
    gradients, references = (
        torch.autograd.grad((one * weight).sum(), list(named.values()), allow_unused=True)
        for one in (found, expected)
    )
    for name, gradient, reference in zip(named, gradients, references, strict=True):
        unused = name.startswith(("scorer", "masks", "encoder.mlp", "encoder.out_norm"))
        assert (gradient is None) == unused, name
        if gradient is not None:
            torch.testing.assert_close(gradient, reference)


def test_scores_do_not_depend_on_the_other_facts() -> None:
    model = small_model(predict_relations=True)
    together = model.score_relations(facts_of(ROWS))
    assert together.shape == (len(ROWS), RELATION_COUNT)
    for number, row in enumerate(ROWS):
        torch.testing.assert_close(model.score_relations(facts_of([row]))[0], together[number])


def test_the_other_weights_begin_as_they_do_without_relations_to_predict() -> None:
    def build(predict_relations: bool) -> dict[str, Tensor]:
        torch.manual_seed(0)
        settings = small_settings(predict_relations=predict_relations)
        return NQEModel(settings, ENTITY_COUNT, RELATION_COUNT).state_dict()

    without, with_relations = build(False), build(True)
    assert all(torch.equal(without[name], with_relations[name]) for name in without)
    others = with_relations.keys() - without.keys()
    assert {name.partition(".")[0] for name in others} == {"relation_scores"}


@pytest.mark.parametrize("model", [small_model(), BagModel(small_settings(), 3, 2)])
def test_a_model_without_relations_to_predict_refuses(model: NQEModel | BagModel) -> None:
    assert not model.predicts_relations
    with pytest.raises(NqeError, match="trained without relations to predict; train one with"):
        model.score_relations(facts_of([(0, MASKED, 1, [])]))


@pytest.mark.parametrize(
    ("row", "sentence"),
    [
        ((0, 1, 1, []), "fact 0 misses 0 relations; put -1 in place of one"),
        ((0, MASKED, 1, [(MASKED, 1)]), "fact 0 misses 2 relations; put -1 in place of one"),
        ((0, MASKED, ENTITY_COUNT, []), "entity number 12 is not one of the model's 12"),
        ((MASKED, MASKED, 0, []), "entity number -1 is not one of the model's 12"),
        ((0, RELATION_COUNT, 0, [(MASKED, 1)]), "relation number 5 is not one of the model's 5"),
    ],
)
def test_facts_that_cannot_be_asked_about_are_refused(row: Row, sentence: str) -> None:
    with pytest.raises(NqeError, match=sentence):
        small_model(predict_relations=True).score_relations(facts_of([row]))


def test_numbers_that_are_not_finite_are_refused() -> None:
    model = small_model(predict_relations=True)
    with torch.no_grad():
        model.relations.weights[0] = torch.nan
    with pytest.raises(NqeError, match="not finite"):
        model.score_relations(facts_of(ROWS))


def test_an_encoder_that_cannot_mask_relations_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    class Plain(Encoder):
        def __init__(self, settings: object) -> None:
            super().__init__()

    monkeypatch.setitem(ENCODERS, "plain", Plain)
    model = NQEModel(small_settings(encoder="plain", predict_relations=True), 3, 2)
    with pytest.raises(NqeError, match=r"Plain has no encode_masked.*train.relation_share to 0"):
        model.score_relations(facts_of([(0, MASKED, 1, [])]))


@pytest.mark.parametrize("predict_relations", [False, True])
def test_a_checkpoint_keeps_what_predicts_relations(
    tmp_path: Path, predict_relations: bool
) -> None:
    model = small_model(predict_relations=predict_relations)
    save_pretrained(model, tmp_path / "model")
    loaded = from_pretrained(tmp_path / "model", "cpu")
    assert loaded.predicts_relations is predict_relations
    if predict_relations:
        found, expected = (one.score_relations(facts_of(ROWS)) for one in (loaded, model))
        assert torch.equal(found, expected)


def test_a_checkpoint_from_before_the_setting_is_read(tmp_path: Path) -> None:
    model = small_model()
    save_pretrained(model, tmp_path / "model")
    config = tmp_path / "model" / "config.json"
    data = json.loads(config.read_text())
    del data["model"]["predict_relations"]
    config.write_text(json.dumps(data))
    sign_again(tmp_path / "model")
    loaded = from_pretrained(tmp_path / "model", "cpu")
    assert loaded.settings == model.settings
    assert not loaded.predicts_relations


def test_the_paper_s_score_is_used_for_relations_too() -> None:
    model = small_model(predict_relations=True, score="dot")
    enlarge_weights(model)
    comparison = model.compare_relations(facts_of(ROWS))
    assert not comparison.bias.any()
    torch.testing.assert_close(comparison.entities, model.relations())
