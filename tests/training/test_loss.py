"""The loss and its gradients, compared with PyTorch's cross-entropy over all scores at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.nn import functional

from nqe.graph.ragged import Ragged
from nqe.model.log_sum import LogSum, combine_log_sums
from nqe.model.model import Comparison
from nqe.training import loss as loss_file
from nqe.training.candidates import sample_entities, take_all_entities
from nqe.training.loss import SoftmaxLoss, Targets

WIDTH = 4


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loss_file, "_COLUMNS", 3)


def comparison_of(queries: int, entities: int, seed: int = 0) -> Comparison:
    generator = torch.Generator().manual_seed(seed)
    sizes = (queries, WIDTH), (entities, WIDTH), (entities,)
    return Comparison(
        *(
            torch.randn(size, generator=generator, dtype=torch.float64, requires_grad=True)
            for size in sizes
        )
    )


def answers_of(*rows: list[int]) -> Ragged:
    return Ragged.of([np.array(row, dtype=np.int64) for row in rows])


def targets_of(*rows: list[int]) -> Targets:
    return take_all_entities(answers_of(*rows)).targets


def labels_of(answers: list[list[int]], entity_count: int, smoothing: float) -> Tensor:
    """Give 1-ε to the answers and ε to the others, or everything to one kind if it is alone."""
    labels = torch.zeros(len(answers), entity_count, dtype=torch.float64)
    for row, own in zip(labels, answers, strict=True):
        others = [entity for entity in range(entity_count) if entity not in own]
        part = 0.0 if not others else 1.0 if not own else smoothing
        row[own] = (1 - part) / max(len(own), 1)
        row[others] = part / max(len(others), 1)
    return labels


def gradients(value: Tensor, comparison: Comparison) -> tuple[Tensor, ...]:
    return torch.autograd.grad(value, (comparison.queries, comparison.entities, comparison.bias))


@dataclass
class Batch:
    """The answers of some queries."""

    answers: list[list[int]]
    entity_count: int
    seed: int


@st.composite
def batches(draw: st.DrawFn) -> Batch:
    entity_count = draw(st.integers(2, 11))
    own = st.sets(st.integers(0, entity_count - 1)).map(sorted)
    answers = draw(st.lists(own, min_size=1, max_size=6))
    return Batch(answers, entity_count, draw(st.integers(0, 99)))


@given(
    batch=batches(),
    smoothing=st.sampled_from([0.0, 0.1, 0.2, 0.9]),
    block=st.sampled_from([1, 7, 12, 30, 2**25]),
    scale=st.sampled_from([1.0, 0.25]),
)
@settings(max_examples=60)
def test_the_loss_and_its_gradients_are_those_of_cross_entropy(
    batch: Batch, smoothing: float, block: int, scale: float
) -> None:
    comparison = comparison_of(len(batch.answers), batch.entity_count, batch.seed)
    found = SoftmaxLoss(smoothing, batch.entity_count, block)(
        comparison, targets_of(*batch.answers), scale
    )
    labels = labels_of(batch.answers, batch.entity_count, smoothing)
    expected = scale * functional.cross_entropy(comparison.scores(), labels, reduction="sum")
    torch.testing.assert_close(found, expected)
    for one, other in zip(
        gradients(found, comparison), gradients(expected, comparison), strict=True
    ):
        torch.testing.assert_close(one, other, atol=1e-10, rtol=1e-7)


def test_a_single_answer_has_the_label_of_the_paper() -> None:
    comparison = comparison_of(1, 5)
    found = SoftmaxLoss(0.2, 5)(comparison, targets_of([3]))
    likely = comparison.scores().softmax(1)[0]
    labels = torch.tensor([0.05, 0.05, 0.05, 0.8, 0.05], dtype=torch.float64)
    torch.testing.assert_close(found, -(labels * likely.log()).sum())


def test_the_gradient_is_scaled_by_the_incoming_gradient() -> None:
    comparison, loss, targets = comparison_of(2, 5), SoftmaxLoss(0.1, 5), targets_of([0], [1, 4])
    once = gradients(loss(comparison, targets), comparison)
    thrice = gradients(3 * loss(comparison, targets), comparison)
    for one, other in zip(once, thrice, strict=True):
        torch.testing.assert_close(3 * one, other)


def test_very_high_and_very_low_scores_stay_finite() -> None:
    plain = comparison_of(3, 8)
    comparison = Comparison(plain.queries * 300, plain.entities, plain.bias)
    answers = [[0], [1, 2], [7]]
    found = SoftmaxLoss(0.1, 8)(comparison, targets_of(*answers))
    expected = functional.cross_entropy(
        comparison.scores(), labels_of(answers, 8, 0.1), reduction="sum"
    )
    torch.testing.assert_close(found, expected)
    assert all(bool(one.isfinite().all()) for one in gradients(found, plain))


class RecordingLoss(SoftmaxLoss):
    """Remembers how much memory was allocated."""

    def __init__(self, entity_count: int, block: int) -> None:
        super().__init__(0.1, entity_count, block)
        self.sizes: list[int] = []

    def allocate(self, queries: Tensor, rows: int, columns: int) -> Tensor:
        memory = super().allocate(queries, rows, columns)
        self.sizes.append(memory.numel())
        return memory


@given(queries=st.integers(0, 40), entities=st.integers(1, 40), block=st.integers(1, 1_000))
@settings(max_examples=60)
def test_at_most_one_block_or_the_scores_of_one_query_exist_at_once(
    queries: int, entities: int, block: int
) -> None:
    loss = RecordingLoss(entities, block)
    loss(comparison_of(queries, entities), targets_of(*[[0]] * queries))
    assert max(loss.sizes, default=0) <= max(block, entities)
    assert sum(loss.sizes) == queries * entities
    assert loss._memory.numel() <= max(block, entities)
    # Blocks have equal sizes, so there are no more of them than necessary.
    assert len(loss.sizes) == -(-queries // max(1, block // entities))


def test_the_memory_of_a_block_is_reused() -> None:
    loss = SoftmaxLoss(0.1, 6)
    loss(comparison_of(5, 6), targets_of(*[[0]] * 5))
    before = loss._memory.data_ptr()
    loss(comparison_of(3, 6), targets_of(*[[0]] * 3))
    assert loss._memory.data_ptr() == before
    single = Comparison(*(one.detach().float() for one in vars(comparison_of(3, 6)).values()))
    assert loss(single, targets_of(*[[0]] * 3)).dtype == torch.float32


def test_no_queries_have_no_loss_and_no_gradients() -> None:
    comparison = comparison_of(0, 6)
    value = SoftmaxLoss(0.1, 6)(comparison, targets_of())
    assert float(value.detach()) == 0
    for one in gradients(value, comparison):
        assert bool((one == 0).all())


def test_bf16_inputs_are_added_up_in_float32() -> None:
    comparison = comparison_of(3, 7)
    short = Comparison(
        comparison.queries.detach().bfloat16().requires_grad_(),
        comparison.entities.detach().float().requires_grad_(),
        comparison.bias.detach().float().requires_grad_(),
    )
    with torch.autocast("cpu", dtype=torch.bfloat16):
        value = SoftmaxLoss(0.1, 7)(short, targets_of([0], [1, 2], [6]))
    assert value.dtype == torch.float32
    found = gradients(value, short)
    exact = Comparison(short.queries.detach().float(), short.entities, short.bias)
    labels = labels_of([[0], [1, 2], [6]], 7, 0.1).float()
    expected = functional.cross_entropy(exact.scores(), labels, reduction="sum")
    torch.testing.assert_close(value, expected)
    assert [one.dtype for one in found] == [torch.bfloat16, torch.float32, torch.float32]


# Entities in parts.


def part_of(comparison: Comparison, targets: Targets, columns: slice) -> tuple[Comparison, Targets]:
    inside = (targets.entity >= columns.start) & (targets.entity < columns.stop)
    entities = targets.entity[inside] - columns.start
    return (
        Comparison(comparison.queries, comparison.entities[columns], comparison.bias[columns]),
        Targets(targets.query[inside], entities, targets.count),
    )


def log_sums_of(comparison: Comparison) -> Tensor:
    log_sum = LogSum()
    log_sum.add(comparison.scores().detach())
    return log_sum.total


@given(batch=batches(), border=st.integers(1, 10), smoothing=st.sampled_from([0.0, 0.1]))
@settings(max_examples=60)
def test_the_losses_and_gradients_of_two_parts_of_the_entities_add_up(
    batch: Batch, border: int, smoothing: float
) -> None:
    comparison = comparison_of(len(batch.answers), batch.entity_count, batch.seed)
    targets = targets_of(*batch.answers)
    whole = SoftmaxLoss(smoothing, batch.entity_count)(comparison, targets, 0.5)
    border = min(border, batch.entity_count - 1)
    columns = slice(0, border), slice(border, batch.entity_count)
    parts = [part_of(comparison, targets, one) for one in columns]
    log_sums = [log_sums_of(part) for part, _ in parts]
    losses = []
    for (part, answers), other in zip(parts, reversed(log_sums), strict=True):

        def combine(own: Tensor, other: Tensor = other) -> Tensor:
            return combine_log_sums([own, other])

        loss = SoftmaxLoss(smoothing, batch.entity_count, combine=combine)
        losses.append(loss(part, answers, 0.5))
    found = losses[0] + losses[1]
    torch.testing.assert_close(found, whole)
    for left, right in zip(gradients(found, comparison), gradients(whole, comparison), strict=True):
        torch.testing.assert_close(left, right, atol=1e-10, rtol=1e-7)


# The sampled softmax.


def among(comparison: Comparison, entities: Tensor) -> Comparison:
    return Comparison(comparison.queries, comparison.entities[entities], comparison.bias[entities])


def sampled_loss(
    comparison: Comparison, answers: Ragged, smoothing: float, count: int, seed: int
) -> Tensor:
    entity_count = len(comparison.entities)
    rng = np.random.default_rng(seed)
    drawn = sample_entities(answers, answers, entity_count, count, rng)
    assert drawn.entities is not None
    loss = SoftmaxLoss(smoothing, entity_count)
    return loss(among(comparison, drawn.entities), drawn.targets, 1.0, drawn.weight)


def test_a_sample_of_all_entities_gives_the_full_loss_and_gradients() -> None:
    comparison, rows = comparison_of(4, 9), [[0, 3], [5], [1, 2, 8], [0]]
    found = sampled_loss(comparison, answers_of(*rows), 0.2, count=500, seed=0)
    full = SoftmaxLoss(0.2, 9)(comparison, targets_of(*rows))
    torch.testing.assert_close(found, full)
    for one, other in zip(gradients(found, comparison), gradients(full, comparison), strict=True):
        torch.testing.assert_close(one, other)


def weighted_cross_entropy(
    comparison: Comparison, weight: Tensor, targets: Targets, smoothing: float, entity_count: int
) -> Tensor:
    """Cross-entropy in which every sum over entities counts each one by its weight."""
    scores = comparison.scores()
    total = torch.tensor(0.0, dtype=scores.dtype)
    for row, of_query in enumerate(scores):
        own = targets.entity[targets.query == row].tolist()
        others = [place for place in range(len(of_query)) if place not in own]
        total = total + (weight.log() + of_query).logsumexp(0)
        total = total - (1 - smoothing) * of_query[own].mean()
        even = smoothing / (entity_count - len(own))
        total = total - even * (weight[others] * of_query[others]).sum()
    return total


@pytest.mark.parametrize("seed", range(4))
def test_a_sampled_loss_is_cross_entropy_with_weights(seed: int) -> None:
    comparison, answers = comparison_of(3, 40), answers_of([0, 3], [5], [1, 2, 39])
    found = sampled_loss(comparison, answers, 0.1, count=12, seed=seed)
    drawn = sample_entities(answers, answers, 40, 12, np.random.default_rng(seed))
    assert drawn.entities is not None
    assert drawn.weight is not None
    expected = weighted_cross_entropy(
        among(comparison, drawn.entities), drawn.weight.double(), drawn.targets, 0.1, 40
    )
    torch.testing.assert_close(found, expected)
    for one, other in zip(
        gradients(found, comparison), gradients(expected, comparison), strict=True
    ):
        torch.testing.assert_close(one, other)


def partition(comparison: Comparison, answers: Ragged, draws: int) -> npt.NDArray[np.float64]:
    """Σ exp(score) of the only query for several samples, computed from the unsmoothed loss."""
    (answer,) = answers.values
    with torch.no_grad():
        own = float(comparison.scores()[0, answer])
        losses = [
            float(sampled_loss(comparison, answers, 0.0, count=8, seed=seed))
            for seed in range(draws)
        ]
    return np.exp(np.array(losses) + own)


def test_the_sum_in_a_sampled_softmax_is_unbiased() -> None:
    comparison = comparison_of(1, 30)
    sums = partition(comparison, answers_of([4]), draws=1_500)
    expected = float(comparison.scores().detach().exp().sum())
    error = sums.std() / np.sqrt(len(sums))
    assert sums.std() > 0.05 * expected
    assert abs(sums.mean() - expected) < 3 * error
