"""The cases that every kind of model in MODELS must pass, whatever it is made of.

They also run for a model that implements no more than the interface requires. A kind that cannot
express every plan is tested with conjunctive ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
import torch
from bag_model import BagModel
from hypothesis import given, settings
from hypothesis import strategies as st
from random_plans import atom, batches, conjunctive_batches, mixed, mixed_conjunctive
from small_models import ENTITY_COUNT, RELATION_COUNT, enlarge_weights, small_settings
from torch import Tensor

from nqe.errors import NqeError
from nqe.model import MODELS, EntityBlock, Model, from_pretrained, new_model, save_pretrained
from nqe.query.plan import Plan
from nqe.query.step_table import StepTable

KINDS = (*MODELS, "bag")
NEAR = {"atol": 1e-5, "rtol": 1e-5}
every_kind = pytest.mark.parametrize("kind", KINDS)


@pytest.fixture(scope="module", autouse=True)
def _register_bag_model() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(MODELS, "bag", BagModel)
        yield


def model_of(kind: str, seed: int = 0, **changed: Any) -> Model:
    """A small model in eval mode, the same one for the same seed."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = new_model(small_settings(kind=kind, **changed), ENTITY_COUNT, RELATION_COUNT)
        enlarge_weights(model)
    return model.eval()


def batches_for(model: Model) -> st.SearchStrategy[list[Plan]]:
    """Random plans that a model can express."""
    return batches if model.expresses_all else conjunctive_batches


def mixed_for(model: Model) -> list[Plan]:
    """All sorts of plans that a model can express."""
    return mixed() if model.expresses_all else mixed_conjunctive()


def vectors_of(model: Model, plans: list[Plan]) -> Tensor:
    with torch.no_grad():
        return model.encode(StepTable.of(plans))


def scores_of(model: Model, plans: list[Plan]) -> Tensor:
    """The scores of all entities, (queries, entities)."""
    with torch.no_grad():
        return model.score(vectors_of(model, plans), model.entity_block())


@every_kind
def test_it_is_a_model_with_the_given_counts_and_settings(kind: str) -> None:
    model = model_of(kind)
    assert isinstance(model, Model)
    assert (model.entity_count, model.relation_count) == (ENTITY_COUNT, RELATION_COUNT)
    assert model.settings == small_settings(kind=kind)
    assert model.device == torch.device("cpu")
    assert model.vocabulary is None


@every_kind
@given(data=st.data(), order=st.randoms())
@settings(max_examples=20)
def test_a_vector_does_not_depend_on_the_other_queries_or_their_order(
    kind: str, data: st.DataObject, order: Random
) -> None:
    model = model_of(kind)
    plans = data.draw(batches_for(model))
    together = vectors_of(model, plans)
    alone = torch.cat([vectors_of(model, [plan]) for plan in plans])
    torch.testing.assert_close(together, alone, **NEAR)
    places = list(range(len(plans)))
    order.shuffle(places)
    shuffled = vectors_of(model, [plans[place] for place in places])
    torch.testing.assert_close(shuffled, together[places], **NEAR)


@every_kind
@given(data=st.data())
@settings(max_examples=20)
def test_plans_taken_from_a_larger_table_have_the_same_vectors(
    kind: str, data: st.DataObject
) -> None:
    model = model_of(kind)
    plans = data.draw(batches_for(model))
    places = data.draw(st.lists(st.integers(0, len(plans) - 1)))
    taken = StepTable.of(plans).take(np.array(places, dtype=np.int64))
    with torch.no_grad():
        vectors = model.encode(taken)
    assert torch.equal(vectors, vectors_of(model, [plans[place] for place in places]))


@every_kind
def test_all_sorts_of_queries_have_finite_vectors_and_scores(kind: str) -> None:
    model = model_of(kind)
    plans = mixed_for(model)
    vectors, scores = vectors_of(model, plans), scores_of(model, plans)
    assert len(vectors) == len(plans)
    assert scores.shape == (len(plans), ENTITY_COUNT)
    assert bool(vectors.isfinite().all() and scores.isfinite().all())


@every_kind
def test_no_queries_have_no_vectors_and_no_scores(kind: str) -> None:
    model = model_of(kind)
    assert len(vectors_of(model, [])) == 0
    assert scores_of(model, []).shape == (0, ENTITY_COUNT)
    assert model.compare(StepTable.of([])).scores().shape == (0, ENTITY_COUNT)


@every_kind
@given(cuts=st.sets(st.integers(1, ENTITY_COUNT - 1)))
@settings(max_examples=20)
def test_the_scores_of_blocks_together_are_the_scores_of_all_entities(
    kind: str, cuts: set[int]
) -> None:
    model = model_of(kind)
    plans = mixed_for(model)[:5]
    vectors, bounds = vectors_of(model, plans), [0, *sorted(cuts), ENTITY_COUNT]
    with torch.no_grad():
        blocks = [
            model.score(vectors, model.entity_block(slice(first, last)))
            for first, last in pairwise(bounds)
        ]
    torch.testing.assert_close(torch.cat(blocks, 1), scores_of(model, plans), **NEAR)


@every_kind
def test_chosen_entities_have_the_scores_they_have_among_all(kind: str) -> None:
    model = model_of(kind)
    plans = mixed_for(model)[:5]
    chosen, whole = torch.tensor([4, 0, 11, 4]), model.entity_block()
    blocks: list[EntityBlock] = [model.entity_block(chosen), whole[chosen]]
    with torch.no_grad():
        for block in blocks:
            assert len(block) == 4
            scores = model.score(vectors_of(model, plans), block)
            torch.testing.assert_close(scores, scores_of(model, plans)[:, chosen], **NEAR)
    assert len(whole) == ENTITY_COUNT
    assert len(whole[2:5]) == 3


@every_kind
@pytest.mark.parametrize("entities", [None, torch.tensor([7, 2, 11])], ids=["all", "some"])
def test_comparing_gives_the_scores_and_gradients_of_encoding_and_scoring(
    kind: str, entities: Tensor | None
) -> None:
    model = model_of(kind)
    plans = StepTable.of(mixed_for(model))
    separate = model.score(model.encode(plans), model.entity_block(entities))
    compared = model.compare(plans, entities).scores()
    torch.testing.assert_close(compared, separate, **NEAR)
    weight = torch.linspace(-1, 1, compared.numel()).view_as(compared)
    of_separate, of_compared = (
        torch.autograd.grad((scores * weight).sum(), list(model.parameters()))
        for scores in (separate, compared)
    )
    for one, other in zip(of_compared, of_separate, strict=True):
        torch.testing.assert_close(one, other, atol=1e-4, rtol=1e-3)


@every_kind
def test_gradients_are_finite_and_reach_every_parameter(kind: str) -> None:
    model = model_of(kind).train()
    plans = StepTable.of(mixed_for(model))
    scores = model.compare(plans).scores()
    answers = torch.arange(len(plans)) % ENTITY_COUNT
    torch.nn.functional.cross_entropy(scores, answers).backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        assert bool(parameter.grad.isfinite().all()), name
        assert bool((parameter.grad != 0).any()), name


@every_kind
def test_a_saved_model_is_loaded_with_equal_scores(kind: str, tmp_path: Path) -> None:
    model = model_of(kind)
    plans = mixed_for(model)
    save_pretrained(model, tmp_path / "model")
    loaded = from_pretrained(tmp_path / "model", "cpu")
    assert type(loaded) is type(model)
    assert loaded.settings == model.settings
    assert torch.equal(scores_of(loaded, plans), scores_of(model, plans))


@every_kind
def test_a_copy_has_equal_scores_and_weights_of_its_own(kind: str) -> None:
    model = model_of(kind)
    plans = mixed_for(model)
    before, copy = scores_of(model, plans), deepcopy(model)
    assert torch.equal(scores_of(copy, plans), before)
    enlarge_weights(copy)
    assert not torch.equal(scores_of(copy, plans), before)
    assert torch.equal(scores_of(model, plans), before)


@every_kind
def test_a_state_dict_carries_all_there_is_to_a_model(kind: str) -> None:
    model, other = model_of(kind), model_of(kind, seed=1)
    plans = mixed_for(model)
    assert not torch.equal(scores_of(other, plans), scores_of(model, plans))
    other.load_state_dict(model.state_dict())
    assert torch.equal(scores_of(other, plans), scores_of(model, plans))


@every_kind
def test_a_model_in_eval_mode_is_deterministic(kind: str) -> None:
    model = model_of(kind, dropout=0.5)
    plans = mixed_for(model)
    assert torch.equal(scores_of(model, plans), scores_of(model, plans))


OUT_OF_RANGE = {
    "an entity": ("filler", ENTITY_COUNT, "entity number 12 is not one of the model's 12;"),
    "a relation": ("relation", RELATION_COUNT, "relation number 5 is not one of the model's 5;"),
    "an attribute": ("attribute", RELATION_COUNT, "relation number 5 is not one of the model's 5;"),
    "a negative entity": ("filler", -1, "entity number -1 is not one of the model's 12;"),
}


@every_kind
@pytest.mark.parametrize(("column", "number", "message"), OUT_OF_RANGE.values(), ids=OUT_OF_RANGE)
def test_numbers_that_a_model_does_not_have_are_refused(
    kind: str, column: str, number: int, message: str
) -> None:
    model, table = model_of(kind), StepTable.of([atom(4)])
    values = getattr(table, column).copy()
    values[-1] = number
    wrong = replace(table, **{column: values})
    for use in (model.encode, model.compare):
        with pytest.raises(
            NqeError, match=f"{message}.* use queries and a model of the same graph"
        ):
            use(wrong)
