"""Fuzzy logics on vectors in [0,1]^d: conjunction, disjunction and negation of any fan-in."""

from __future__ import annotations

from typing import Protocol, assert_never

import torch
from torch import Tensor

from nqe.query.plan import Op


class Logic(Protocol):
    """What a logic must provide. The inputs of connectives are (steps, inputs, width)."""

    def conjoin(self, inputs: Tensor) -> Tensor:
        """The conjunction of the inputs of each step, (steps, width)."""

    def disjoin(self, inputs: Tensor) -> Tensor:
        """The disjunction of the inputs of each step, (steps, width)."""

    def negate(self, inputs: Tensor) -> Tensor:
        """The negation of each vector, (steps, width)."""


class Product:
    """The product t-norm, as in the paper; the disjunction follows from De Morgan's law."""

    def conjoin(self, inputs: Tensor) -> Tensor:
        """Π q."""
        return _product(inputs)

    def disjoin(self, inputs: Tensor) -> Tensor:
        """1 - Π(1 - q), which equals the paper's Σq - Σqq + Σqqq - …."""
        return 1 - _product(1 - inputs)

    def negate(self, inputs: Tensor) -> Tensor:
        """1 - q."""
        return 1 - inputs


class Godel:
    """The Gödel t-norm."""

    def conjoin(self, inputs: Tensor) -> Tensor:
        """The minimum."""
        return inputs.amin(1)

    def disjoin(self, inputs: Tensor) -> Tensor:
        """The maximum."""
        return inputs.amax(1)

    def negate(self, inputs: Tensor) -> Tensor:
        """1 - q."""
        return 1 - inputs


class Lukasiewicz:
    """The Łukasiewicz t-norm."""

    def conjoin(self, inputs: Tensor) -> Tensor:
        """max(0, Σq - (m - 1)) for m inputs."""
        return (inputs.sum(1) - (inputs.shape[1] - 1)).clamp_min(0)

    def disjoin(self, inputs: Tensor) -> Tensor:
        """min(1, Σq)."""
        return inputs.sum(1).clamp_max(1)

    def negate(self, inputs: Tensor) -> Tensor:
        """1 - q."""
        return 1 - inputs


class Mean:
    """The paper's Logic-blind ablation: And and Or are the mean, Not is the identity."""

    def conjoin(self, inputs: Tensor) -> Tensor:
        """The mean."""
        return inputs.mean(1)

    def disjoin(self, inputs: Tensor) -> Tensor:
        """The mean."""
        return inputs.mean(1)

    def negate(self, inputs: Tensor) -> Tensor:
        """The input, unchanged."""
        return inputs


LOGICS: dict[str, Logic] = {
    "product": Product(),
    "godel": Godel(),
    "lukasiewicz": Lukasiewicz(),
    "mean": Mean(),
}
"""Logics by the value of `model.logic`."""


def connect(logic: Logic, op: Op, inputs: Tensor) -> Tensor:
    """Apply a connective to the inputs of each step, (steps, inputs, width) to (steps, width)."""
    match op:
        case Op.AND:
            return logic.conjoin(inputs)
        case Op.OR:
            return logic.disjoin(inputs)
        case Op.NOT:
            return logic.negate(inputs[:, 0])
        case Op.PROJECTION | Op.ANY:
            raise ValueError(f"{op.word} is not a connective; use And, Or or Not")
        case _:
            assert_never(op)


def norm_of(logic: Logic) -> Logic:
    """The logic to multiply probabilities with: itself, or Product for Mean, which is no t-norm."""
    return Product() if isinstance(logic, Mean) else logic


def _product(inputs: Tensor) -> Tensor:
    """The product over the inputs; faster than `prod`, with correct gradients at zeros."""
    result, *others = torch.unbind(inputs, 1)
    for other in others:
        result = result * other
    return result
