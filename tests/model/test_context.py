"""Context in the model: vectors of facts, attention to them, and models over facts."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from random_plans import atom, batches, mixed
from small_models import ENTITY_COUNT, RELATION_COUNT, small_model, small_settings
from torch import Tensor, nn

from nqe.errors import NqeError
from nqe.graph.fact_columns import Facts
from nqe.graph.ragged import offsets
from nqe.model import NQEModel
from nqe.model.checkpoint import from_pretrained, save_pretrained
from nqe.model.context import (
    ContextAttention,
    ContextElements,
    ContextVectors,
    FactVectors,
)
from nqe.query.plan import Plan
from nqe.query.step_table import StepTable

NEAR = {"atol": 5e-5, "rtol": 0.0}


def random_facts(count: int = 60) -> Facts:
    """Facts of the small model's entities and relations."""
    rng = np.random.default_rng(0)
    qualifiers = rng.integers(0, 3, size=count)
    total = int(qualifiers.sum())
    return Facts(
        rng.integers(ENTITY_COUNT, size=count),
        rng.integers(RELATION_COUNT, size=count),
        rng.integers(ENTITY_COUNT, size=count),
        offsets(qualifiers),
        rng.integers(RELATION_COUNT, size=total),
        rng.integers(ENTITY_COUNT, size=total),
        np.ones(count, dtype=np.int64),
    ).to_canonical()


FACTS = random_facts()
MODEL = small_model(context=5).with_facts(FACTS)


def encode(model: nn.Module, plans: list[Plan]) -> Tensor:
    with torch.no_grad():
        vectors: Tensor = model.encode(StepTable.of(plans))  # type: ignore[operator]
    return vectors


@given(plans=batches)
@settings(max_examples=20)
def test_every_step_has_the_same_vector_in_a_batch_as_alone(plans: list[Plan]) -> None:
    with torch.no_grad():
        together = MODEL.encode_steps(StepTable.of(plans))
        alone = torch.cat([MODEL.encode_steps(StepTable.of([plan])) for plan in plans])
    torch.testing.assert_close(together, alone, **NEAR)


def test_training_compares_as_encoding_and_scoring_do() -> None:
    table = StepTable.of(mixed())
    with torch.no_grad():
        expected = MODEL.score(MODEL.encode(table), MODEL.entity_block())
        torch.testing.assert_close(MODEL.compare(table).scores(), expected, **NEAR)


def test_other_facts_give_other_vectors_and_the_weights_are_shared() -> None:
    other = MODEL.with_facts(FACTS.take(np.arange(20)))
    assert not torch.allclose(encode(other, [atom(2)]), encode(MODEL, [atom(2)]), atol=1e-3)
    assert all(one is two for one, two in zip(other.parameters(), MODEL.parameters(), strict=True))


def test_without_any_fact_there_is_a_vector_too() -> None:
    nothing = MODEL.with_facts(Facts.empty())
    assert bool(encode(nothing, mixed()).isfinite().all())


def test_a_model_with_context_that_was_given_no_facts_says_so() -> None:
    with pytest.raises(NqeError, match=r"sees up to 5 facts .* call its with_facts first"):
        encode(small_model(context=5), [atom(2)])


def test_without_context_facts_change_nothing() -> None:
    model = small_model()
    assert not model.needs_facts
    assert model.with_facts(FACTS) is model


def test_a_model_with_context_begins_with_the_weights_of_one_without() -> None:
    plain, context = (new_weights(context=most) for most in (0, 4))
    assert plain.keys() < context.keys()
    assert all(torch.equal(plain[name], context[name]) for name in plain)


def new_weights(**changes: int) -> dict[str, Tensor]:
    torch.manual_seed(3)
    return NQEModel(small_settings(**changes), ENTITY_COUNT, RELATION_COUNT).state_dict()


def test_training_sees_other_facts_each_time_and_repeats_them_for_a_seed() -> None:
    model = small_model(context=2, dropout=0.0).with_facts(FACTS)
    model.train()
    torch.manual_seed(1)
    first, second = encode(model, mixed()), encode(model, mixed())
    torch.manual_seed(1)
    again = encode(model, mixed())
    assert not torch.allclose(first, second, atol=1e-3)
    assert torch.equal(first, again)
    model.eval()
    assert torch.equal(encode(model, mixed()), encode(model, mixed()))


def test_all_weights_receive_a_gradient() -> None:
    model = small_model(context=5).with_facts(FACTS)
    model.compare(StepTable.of(mixed())).scores().square().sum().backward()
    assert all(one.grad is not None and bool(one.grad.any()) for one in model.parameters())


def test_a_checkpoint_keeps_the_setting_and_the_weights_but_no_facts(tmp_path: Path) -> None:
    save_pretrained(MODEL, tmp_path / "saved")
    loaded = from_pretrained(tmp_path / "saved", "cpu")
    assert loaded.settings == MODEL.settings
    assert loaded.needs_facts
    with pytest.raises(NqeError, match="given none"):
        encode(loaded, [atom(2)])
    assert torch.equal(encode(loaded.with_facts(FACTS), mixed()), encode(MODEL, mixed()))


def test_the_vector_of_a_fact_is_the_sum_of_its_entities_by_role() -> None:
    torch.manual_seed(0)
    vectors = FactVectors(3, 4)
    nn.init.normal_(vectors.scales)
    sources = torch.rand(5, 4)
    elements = ContextElements(
        entities=torch.tensor([4, 2, 3]),
        roles=torch.tensor([1, 0, 7]),
        places=torch.tensor([0, 2, 2]),
        padding=torch.tensor([[False, True], [False, True]]),
    )

    def element(source: int, role: int) -> Tensor:
        return 4 * (sources[source] - 0.5) * vectors.scales[role] + vectors.shifts[role]

    found = vectors(sources, elements)
    expected = torch.stack([element(4, 1), element(2, 0) + element(3, 7)])
    torch.testing.assert_close(found.facts[:, 0], vectors.norm(expected))


def test_attention_is_that_of_the_equations_with_one_place_for_nothing() -> None:
    torch.manual_seed(0)
    count, facts, width, heads = 3, 4, 6, 2
    attention = ContextAttention(width, heads, 8, 0.0)
    masked, vectors = torch.randn(count, width), torch.randn(count, facts, width)
    padding = torch.arange(facts) >= torch.tensor([[4], [2], [0]])
    attended = attention._attend(masked, ContextVectors(vectors, padding))
    for one in range(count):
        seen = vectors[one][~padding[one]]
        query = attention.query(masked[one]).view(heads, 3)
        key = attention.key(seen).view(len(seen), heads, 3)
        value = attention.value(seen).view(len(seen), heads, 3)
        for head in range(heads):
            scores = key[:, head] @ query[head] / math.sqrt(width / heads)
            weights = torch.softmax(torch.cat([torch.zeros(1), scores]), 0)[1:]
            expected = weights @ value[:, head]
            torch.testing.assert_close(attended[one].view(heads, -1)[head], expected)
