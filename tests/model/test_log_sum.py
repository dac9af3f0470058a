"""Log-sums over blocks and parts, against log-sum-exp over all columns at once."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from nqe.model.log_sum import LogSum, combine_log_sums


def scores_of(rows: int, columns: int, seed: int, spread: float) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return spread * torch.randn(rows, columns, generator=generator, dtype=torch.float64)


def log_sum_of(scores: Tensor, block: int) -> Tensor:
    log_sum = LogSum()
    for start in range(0, scores.shape[1], block):
        log_sum.add(scores[:, start : start + block])
    return log_sum.total


@given(
    rows=st.integers(1, 4),
    columns=st.integers(1, 20),
    block=st.integers(1, 7),
    spread=st.sampled_from([1.0, 1_000.0]),
    seed=st.integers(0, 99),
)
def test_the_log_sum_does_not_depend_on_the_blocks(
    rows: int, columns: int, block: int, spread: float, seed: int
) -> None:
    scores = scores_of(rows, columns, seed, spread)
    torch.testing.assert_close(log_sum_of(scores, block), scores.logsumexp(1))


@given(border=st.integers(1, 9), seed=st.integers(0, 99))
def test_the_log_sums_of_parts_combine_to_that_of_the_whole(border: int, seed: int) -> None:
    scores = scores_of(3, 10, seed, 5.0)
    parts = [log_sum_of(scores[:, :border], 4), log_sum_of(scores[:, border:], 4)]
    torch.testing.assert_close(combine_log_sums(parts), scores.logsumexp(1))


def test_blocks_can_be_added_after_the_total_was_read() -> None:
    scores = scores_of(2, 6, 0, 1.0)
    log_sum = LogSum()
    for start in (0, 2, 4):
        log_sum.add(scores[:, start : start + 2])
        torch.testing.assert_close(log_sum.total, scores[:, : start + 2].logsumexp(1))


def test_a_block_is_left_unchanged_unless_it_receives_the_exponentials() -> None:
    scores = scores_of(3, 5, 0, 1.0)
    block, log_sum = scores.clone(), LogSum()
    assert torch.equal(log_sum.add(block), scores.amax(1))
    assert torch.equal(block, scores)
    highest = log_sum.add(block, out=block)
    torch.testing.assert_close(block, (scores - highest[:, None]).exp())


@pytest.mark.parametrize("block", [1, 2, 4])
def test_minus_infinity_counts_for_nothing(block: int) -> None:
    scores = torch.tensor([[-torch.inf] * 4, [-torch.inf, 1.0, -torch.inf, 2.0]])
    found = log_sum_of(scores, block)
    assert found[0] == -torch.inf
    torch.testing.assert_close(found[1], torch.tensor([1.0, 2.0]).logsumexp(0))
