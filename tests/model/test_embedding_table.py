"""Embedding tables: their vectors and the gradients written by hand."""

from __future__ import annotations

import pytest
import torch
from slow_model import fuzzy
from small_models import random
from torch import Tensor

from nqe.model.embedding_table import FuzzyTable


@pytest.mark.parametrize("centre", [0.0, 0.5])
@pytest.mark.parametrize("rows", [None, slice(1, 3), torch.tensor([3, 0, 3])], ids=str)
def test_vectors_are_sigmoids_of_the_rows_minus_the_centre(
    rows: Tensor | slice | None, centre: float
) -> None:
    table = FuzzyTable(4, 3, steepness=2.5).double()
    expected = fuzzy(table.weights, 2.5) - centre
    torch.testing.assert_close(table(rows, centre), expected if rows is None else expected[rows])

    def vectors(weights: Tensor) -> Tensor:
        return torch.func.functional_call(table, {"weights": weights}, (rows, centre))

    assert torch.autograd.gradcheck(vectors, (random(4, 3),))


@pytest.mark.parametrize("candidates", [None, torch.tensor([3, 0, 2])], ids=str)
@pytest.mark.parametrize("anchors", [torch.tensor([1, 3, 1]), torch.tensor([], dtype=torch.long)])
def test_reading_twice_in_one_operation_agrees_with_two_reads(
    anchors: Tensor, candidates: Tensor | None
) -> None:
    table = FuzzyTable(4, 3, steepness=2.5).double()
    first, second = table.read_twice(anchors, candidates, 0.5)
    torch.testing.assert_close(first, table(anchors))
    torch.testing.assert_close(second, table(candidates, 0.5))

    def both(weights: Tensor) -> tuple[Tensor, Tensor]:
        table.__dict__["weights"] = weights  # hides the parameter
        return table.read_twice(anchors, candidates, 0.5)

    assert torch.autograd.gradcheck(both, (random(4, 3),))
