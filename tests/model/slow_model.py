"""A slow reference for the NQE model: the paper's equations, one pair of elements at a time.

It uses the weights of a model, but none of its batches, layouts or edge matrices.
"""

from __future__ import annotations

import math
from functools import reduce

import torch
from torch import Tensor
from torch.nn import functional

from nqe.model import NQEModel
from nqe.model.edge_kinds import EDGES
from nqe.model.encoder import Layer, TransformerEncoder
from nqe.query.plan import Op, Plan, Step


def slow_results(model: NQEModel, plan: Plan) -> Tensor:
    """The vector of each step of a plan, (steps, width)."""
    done: list[Tensor] = []
    for step in plan.steps:
        done.append(_step(model, step, [done[i] for i in step.inputs]))
    return torch.stack(done)


def _step(model: NQEModel, step: Step, inputs: list[Tensor]) -> Tensor:
    match step.op:
        case Op.PROJECTION:
            return project(model.encoder, _sequence(model, step, inputs), 2 * step.asked)
        case Op.AND:
            return CONJOIN[model.settings.logic](inputs)
        case Op.OR:
            return DISJOIN[model.settings.logic](inputs)
        case Op.NOT:
            return inputs[0] if model.settings.logic == "mean" else 1 - inputs[0]
        case _:
            return fuzzy(model.masks.weights[2], model.settings.steepness)


def _product(inputs: list[Tensor]) -> Tensor:
    return reduce(torch.mul, inputs)


def _mean(inputs: list[Tensor]) -> Tensor:
    return sum(inputs, start=torch.zeros(())) / len(inputs)


CONJOIN = {
    "product": _product,
    "godel": lambda inputs: reduce(torch.minimum, inputs),
    "lukasiewicz": lambda inputs: reduce(lambda a, b: torch.relu(a + b - 1), inputs),
    "mean": _mean,
}
DISJOIN = {
    "product": lambda inputs: reduce(lambda a, b: a + b - a * b, inputs),
    "godel": lambda inputs: reduce(torch.maximum, inputs),
    "lukasiewicz": lambda inputs: reduce(lambda a, b: 1 - torch.relu(1 - a - b), inputs),
    "mean": _mean,
}


def fuzzy(weights: Tensor, steepness: float) -> Tensor:
    """The vectors of a table: sigmoids of its rows, each minus its mean."""
    return torch.sigmoid(steepness * (weights - weights.mean(-1, keepdim=True)))


def _sequence(model: NQEModel, step: Step, inputs: list[Tensor]) -> list[Tensor]:
    """X = [s, r, o, a1, v1, …] with a mask in the asked slot."""
    steepness = model.settings.steepness
    mask = fuzzy(model.masks.weights[int(step.closed)], steepness)
    fillers = dict(zip(step.filled, inputs, strict=True))
    entities = [
        fuzzy(model.entities.weights[anchor], steepness)
        if anchor is not None
        else fillers.get(place, mask)
        for place, anchor in enumerate(step.slots)
    ]
    relations = [
        fuzzy(model.relations.weights[number], steepness)
        for number in (step.relation, *step.attributes)
    ]
    sequence = entities[:1]
    for relation, entity in zip(relations, entities[1:], strict=True):
        sequence += [relation, entity]
    return sequence


def project(encoder: TransformerEncoder, sequence: list[Tensor], mask: int) -> Tensor:
    """P(X) = σ(LN(MLP(x of the mask)))."""
    elements = [encoder.norm(element) for element in sequence]
    for layer in encoder.layers:
        elements = slow_layer(layer, elements)
    return torch.sigmoid(encoder.out_norm(encoder.mlp(elements[mask])))


def slow_layer(layer: Layer, elements: list[Tensor]) -> list[Tensor]:
    """The new vectors of all elements."""
    result = []
    for i, element in enumerate(elements):
        heads = [_attended(layer, elements, i, head) for head in range(layer.heads)]
        after = layer.attention_norm(element + layer.out(torch.cat(heads)))
        result.append(layer.feed_forward_norm(after + layer.feed_forward(after)))
    return result


def _attended(layer: Layer, elements: list[Tensor], i: int, head: int) -> Tensor:
    """x̃_i = Σ_j α_ij (W^V x_j + b^V_ij) of one head."""
    query = _map(layer, elements, i, "Q", head)
    importance, values = [], []
    for j in range(len(elements)):
        key = _map(layer, elements, j, "K", head) + _bias(layer, i, j, "K", head)
        importance.append((query + _bias(layer, i, j, "Q", head)) @ key / math.sqrt(len(key)))
        values.append(_map(layer, elements, j, "V", head) + _bias(layer, i, j, "V", head))
    total = torch.logsumexp(torch.stack(importance), 0)
    terms = [torch.exp(m - total) * v for m, v in zip(importance, values, strict=True)]
    return torch.stack(terms).sum(0)


def _map(layer: Layer, elements: list[Tensor], i: int, part: str, head: int) -> Tensor:
    """W_role(i) x_i; counted from 0, even places are entities."""
    maps = layer.relation_maps if i % 2 else layer.entity_maps
    width = len(elements[i])
    first = "QKV".index(part) * width + head * layer.head_width
    rows = slice(first, first + layer.head_width)
    return functional.linear(elements[i], maps.weight[rows], maps.bias[rows])


def _bias(layer: Layer, i: int, j: int, part: str, head: int) -> Tensor | float:
    """b_ij by the kind of edge; 0 for self and without edge heterogeneity."""
    if i == j or layer.edges is None:
        return 0.0
    of_kind = layer.edges["QKV".index(part), EDGES.index(edge(i, j)) - 1]
    return of_kind[head * layer.head_width : (head + 1) * layer.head_width]


def edge(i: int, j: int) -> str:
    """The kind of edge between two different elements, from their names."""
    (first, a), (last, b) = sorted((_name(i), _name(j)), key=lambda name: "sroav".index(name[0]))
    if a is None or b is None:
        return f"{first}-{last}"
    return f"{first}_i-{last}_{'i' if a == b else 'j'}"


def _name(place: int) -> tuple[str, int | None]:
    """s, r, o, or a or v with the number of its qualifier."""
    return ("sro"[place], None) if place < 3 else ("av"[(place - 3) % 2], (place - 3) // 2)


def inclusion_exclusion(vectors: list[Tensor]) -> Tensor:
    """Σq - Σqq + Σqqq - …, as the paper writes the disjunction."""
    total = torch.zeros_like(vectors[0])
    for chosen in range(1, 2 ** len(vectors)):
        subset = [vector for place, vector in enumerate(vectors) if chosen >> place & 1]
        total = total + _product(subset) * (-1) ** (len(subset) + 1)
    return total
