"""A slow reference for StarQE: message passing in loops over nodes, facts and qualifiers.

It uses the weights of a model, but none of its batches and none of its layers' code.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from nqe.model.starqe_model import StarQEModel
from nqe.query.plan import Op, Plan

Node = tuple[str, int]
"""An entity with its number, or a variable with the step that computes it."""
Place = tuple[int, Node]
"""A node of one of several queries."""


@dataclass(frozen=True)
class SlowFact:
    """One atom of a query."""

    subject: Place
    relation: int
    object: Place
    pairs: tuple[tuple[int, Place], ...]


def slow_vectors(model: StarQEModel, plans: Sequence[Plan]) -> Tensor:
    """The vector of each query, (queries, width); in training with the means of these plans."""
    targets: list[Place] = [(query, ("variable", -1)) for query in range(len(plans))]
    facts = [fact for query, plan in enumerate(plans) for fact in _read(query, plan)]
    vectors = {place: _first_vector(model, place) for fact in facts for place in _places(fact)}
    relations, state = model.relations, dict(model.state_dict())
    for number in range(len(model.layers)):
        weights = {
            name.removeprefix(f"layers.{number}."): value
            for name, value in state.items()
            if name.startswith(f"layers.{number}.")
        }
        raw = {place: _pass(weights, vectors, relations, facts, place) for place in vectors}
        normed = _normalise(weights, torch.stack(list(raw.values())), training=model.training)
        vectors = dict(zip(raw, torch.relu(normed), strict=True))
        if "relations.weight" in weights:
            relations = torch.stack([weights["relations.weight"] @ one for one in relations])
    return torch.stack([vectors[target] for target in targets])


def _read(query: int, plan: Plan) -> Iterator[SlowFact]:
    """The facts of a plan; all inputs of an And are about the variable of the And."""
    pending: list[tuple[int, Node]] = [(len(plan.steps) - 1, ("variable", -1))]
    while pending:
        number, variable = pending.pop()
        step = plan.steps[number]
        if step.op == Op.AND:
            pending += [(one, variable) for one in step.inputs]
            continue
        nodes: list[Node] = []
        for slot, anchor in enumerate(step.slots):
            if slot == step.asked:
                nodes.append(variable)
            elif anchor is not None:
                nodes.append(("entity", anchor))
            else:
                below = step.inputs[step.filled.index(slot)]
                pending.append((below, ("variable", below)))
                nodes.append(("variable", below))
        subject, object_, *values = ((query, node) for node in nodes)
        pairs = tuple(zip(step.attributes, values, strict=True))
        yield SlowFact(subject, step.relation, object_, pairs)


def _places(fact: SlowFact) -> Iterator[Place]:
    yield from (fact.subject, fact.object, *(value for _, value in fact.pairs))


def _first_vector(model: StarQEModel, place: Place) -> Tensor:
    kind, number = place[1]
    if kind == "entity":
        return model.entities[number]
    return model.variables[0 if number == -1 else 1]


def _pass(
    weights: dict[str, Tensor],
    vectors: dict[Place, Tensor],
    relations: Tensor,
    facts: Sequence[SlowFact],
    place: Place,
) -> Tensor:
    """The sum of the messages to a node, divided by three."""
    half = len(relations) // 2
    total = weights["itself.weight"] @ _multiply(vectors[place], weights["loop"][0])
    for fact in facts:
        leaving = sum(other.subject == fact.subject for other in facts)
        entering = sum(other.object == fact.object for other in facts)
        degree = (leaving * entering) ** 0.5
        for source, end, first, name in (
            (fact.subject, fact.object, 0, "along"),
            (fact.object, fact.subject, half, "against"),
        ):
            if end != place:
                continue
            relation = relations[first + fact.relation]
            if fact.pairs:
                pairs = [_multiply(vectors[value], relations[one]) for one, value in fact.pairs]
                added = weights["qualifiers.weight"] @ torch.stack(pairs).sum(0)
                relation = 0.5 * relation + 0.5 * added
            message = weights[f"{name}.weight"] @ _multiply(vectors[source], relation)
            total = total + message / degree
    return total / 3


def _multiply(one: Tensor, other: Tensor) -> Tensor:
    """The product of complex numbers."""
    half = len(one) // 2
    product = torch.complex(one[:half], one[half:]) * torch.complex(other[:half], other[half:])
    return torch.cat([product.real, product.imag])


def _normalise(weights: dict[str, Tensor], nodes: Tensor, *, training: bool) -> Tensor:
    mean = nodes.mean(0) if training else weights["norm.running_mean"]
    variance = nodes.var(0, unbiased=False) if training else weights["norm.running_var"]
    scaled = (nodes - mean) / (variance + 1e-5).sqrt()
    return scaled * weights["norm.weight"] + weights["norm.bias"]
