"""Fuzzy logics on vectors in [0,1]^d: conjunction, disjunction and negation of any fan-in."""

from __future__ import annotations

from typing import Protocol

import torch
from torch import Tensor

from nqe.query.plan import Op


class Logic(Protocol):
    """What the model asks of a logic; inputs of a connective are (steps, inputs, width)."""

    def conjoin(self, inputs: Tensor) -> Tensor:
        """The conjunction of the inputs of each step, (steps, width)."""

    def disjoin(self, inputs: Tensor) -> Tensor:
        """The disjunction of the inputs of each step, (steps, width)."""

    def negate(self, inputs: Tensor) -> Tensor:
        """The negation of each vector, (steps, width)."""


class Product:
    """The product t-norm: the paper's equations, disjunction by De Morgan."""

    def conjoin(self, inputs: Tensor) -> Tensor:
        """Π q."""
        return _product(inputs)

    def disjoin(self, inputs: Tensor) -> Tensor:
        """1 - Π(1 - q), which is Σq - Σqq + Σqqq - …."""
        return 1 - _product(1 - inputs)

    def negate(self, inputs: Tensor) -> Tensor:
        """1 - q."""
        return 1 - inputs


class Godel:
    """The Gödel t-norm."""

    def conjoin(self, inputs: Tensor) -> Tensor:
        """The least."""
        return inputs.amin(1)

    def disjoin(self, inputs: Tensor) -> Tensor:
        """The greatest."""
        return inputs.amax(1)

    def negate(self, inputs: Tensor) -> Tensor:
        """1 - q."""
        return 1 - inputs


class Lukasiewicz:
    """The Łukasiewicz t-norm."""

    def conjoin(self, inputs: Tensor) -> Tensor:
        """max(0, Σq - (m - 1))."""
        return (inputs.sum(1) - (inputs.shape[1] - 1)).clamp_min(0)

    def disjoin(self, inputs: Tensor) -> Tensor:
        """min(1, Σq)."""
        return inputs.sum(1).clamp_max(1)

    def negate(self, inputs: Tensor) -> Tensor:
        """1 - q."""
        return 1 - inputs


class Mean:
    """Logic-blind: And and Or are the mean, Not is left out."""

    def conjoin(self, inputs: Tensor) -> Tensor:
        """The mean."""
        return inputs.mean(1)

    def disjoin(self, inputs: Tensor) -> Tensor:
        """The mean."""
        return inputs.mean(1)

    def negate(self, inputs: Tensor) -> Tensor:
        """The input itself."""
        return inputs


def connect(logic: Logic, op: Op, inputs: Tensor) -> Tensor:
    """What a connective gives for the inputs of each step, (steps, inputs, width)."""
    match op:
        case Op.AND:
            return logic.conjoin(inputs)
        case Op.OR:
            return logic.disjoin(inputs)
        case _:
            return logic.negate(inputs[:, 0])


def norm_of(logic: Logic) -> Logic:
    """What to weigh a chance by another with; a mean is no conjunction, there it is the product."""
    return Product() if isinstance(logic, Mean) else logic


LOGICS: dict[str, type[Logic]] = {
    "product": Product,
    "godel": Godel,
    "lukasiewicz": Lukasiewicz,
    "mean": Mean,
}


def _product(inputs: Tensor) -> Tensor:
    """The product over the inputs, one after another: quicker than prod, and safe at zeros."""
    result, *others = torch.unbind(inputs, 1)
    for other in others:
        result = result * other
    return result
