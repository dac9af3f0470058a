"""Tiny graphs, models, calibrations and random plans over a few names."""

from __future__ import annotations

from functools import cache
from itertools import count
from typing import Any

import numpy as np
import torch
from hypothesis import strategies as st
from strategies import ENTITIES, RELATIONS, small_facts

from nqe.answering import Answerer, Calibration, HybridOptions
from nqe.answering.calibration import Curve
from nqe.graph import Dataset, Description, Fact, Graph, Vocabulary
from nqe.model import Model, new_model
from nqe.query import Plan
from nqe.query.plan import Op, PlanBuilder
from nqe.query.shapes import Shape, parse_shape
from nqe.rules.rules import Rules
from nqe.settings import ModelSettings

# One fact per name, so that all graphs have the vocabulary of the model.
EVERY_NAME = [Fact(name, RELATIONS[0], ENTITIES[0]) for name in ENTITIES] + [
    Fact(ENTITIES[0], name, ENTITIES[0]) for name in RELATIONS
]
fact_lists = st.lists(small_facts, max_size=12)
entities = st.integers(0, len(ENTITIES) - 1)
relations = st.integers(0, len(RELATIONS) - 1)
POSITIVE = (Op.AND, Op.OR)
ALL = (*POSITIVE, Op.NOT)


def graph_of(facts: list[Fact]) -> Graph:
    """A graph of the facts and of one fact per name."""
    return Graph.of([*EVERY_NAME, *facts])


def untrained(vocabulary: Vocabulary, seed: int = 0, **settings: Any) -> Model:
    """A tiny model with weights so large that every part of a query makes a difference."""
    sizes = {"width": 8, "layers": 1, "heads": 2, "feed_forward": 8, "temperature": 3.0}
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        counts = len(vocabulary.entities), len(vocabulary.relations)
        model = new_model(ModelSettings(**(sizes | settings)), *counts, vocabulary)
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.mul_(1.5).add_(torch.randn_like(parameter), alpha=0.2)
    return model.eval()


@cache
def small_model(context: int = 0) -> Model:
    """The model of all graphs over the few names."""
    return untrained(graph_of([]).vocabulary, context=context)


def odd_curve(seed: int) -> Curve:
    """A curve for three relations in which every coefficient makes a difference."""
    rng = np.random.default_rng(seed)
    answers, own = rng.uniform(1, 3, (3, 3)), rng.normal(size=(3, 3))
    temperature, cardinality, stated, nothing, elsewhere = rng.uniform(0.3, 1.5, 5).tolist()
    tables = answers.astype(np.float32), own.astype(np.float32)
    numbers = cardinality, -stated, nothing, -elsewhere
    return Curve(temperature, (-3.0, -1.0, 0.5), (-2.0, -1.0, 1.5), *numbers, *tables)


def odd_calibration() -> Calibration:
    """A calibration of two such curves."""
    return Calibration(odd_curve(5), odd_curve(6))


def answerer_of(
    graph: Graph, logic: str = "product", *, rules: Rules | None = None, **options: Any
) -> Answerer:
    """An answerer with the small model over a graph."""
    return Answerer(
        graph,
        small_model(),
        rules=rules,
        calibration=odd_calibration(),
        logic=logic,
        options=HybridOptions(**options),
    )


@st.composite
def plans(draw: st.DrawFn, connectives: tuple[Op, ...] = ALL, deepest: int = 3) -> Plan:
    """A random tree plan, with several variables per fact, Any, and open and closed atoms."""
    plan = _RandomPlan(draw, connectives)
    plan.add("x", deepest)
    return plan.builder.finish()


positive_plans = plans(POSITIVE)


@st.composite
def plans_of_shape(draw: st.DrawFn, name: str) -> Plan:
    """A plan of a shape with random atoms."""
    plan = _RandomPlan(draw, ())
    plan.add_shape("x", parse_shape(name))
    return plan.builder.finish()


class _RandomPlan:
    """Adds random steps to a plan; every variable has its own name."""

    def __init__(self, draw: st.DrawFn, connectives: tuple[Op, ...]) -> None:
        self.draw, self.connectives = draw, connectives
        self.builder = PlanBuilder()
        self.names = (f"y{number}" for number in count())

    def add(self, variable: str, room: int) -> int:
        """Add a random step with at most `room` levels below it; returns its number."""
        inner = self.connectives if room else ()
        op = self.draw(st.sampled_from((Op.PROJECTION, Op.PROJECTION, *inner)))
        if op == Op.PROJECTION:
            return self._projection(variable, room)
        size = 1 if op == Op.NOT else self.draw(st.integers(2, 3))
        inputs = tuple(self.add(variable, room - 1) for _ in range(size))
        return self.builder.add_connective(op, variable, inputs)

    def add_shape(self, variable: str, shape: Shape) -> int:
        """Add the steps of a shape; returns the number of the last step."""
        if shape.word != "P":
            inputs = tuple(self.add_shape(variable, one) for one in shape.inputs)
            op = {one.word: one for one in Op}[shape.word]
            return self.builder.add_connective(op, variable, inputs)
        arity = max(2, len(shape.inputs) + 1) + self.draw(st.integers(0, 1))
        asked, *others = self.draw(st.permutations(range(arity)))
        filled = zip(others, shape.inputs, strict=False)
        pairs = [(slot, self.add_shape(next(self.names), one)) for slot, one in filled]
        return self._atom(variable, arity, asked, tuple(pairs))

    def _projection(self, variable: str, room: int) -> int:
        arity = self.draw(st.integers(2, 4))
        asked, *others = self.draw(st.permutations(range(arity)))
        filled = others[: self.draw(st.integers(0, 2))] if room else []
        pairs = [(slot, self._input(next(self.names), room)) for slot in filled]
        return self._atom(variable, arity, asked, tuple(pairs))

    def _input(self, variable: str, room: int) -> int:
        if self.draw(st.integers(0, 3)) == 0:
            return self.builder.add_connective(Op.ANY, variable, ())
        return self.add(variable, room - 1)

    def _atom(
        self, variable: str, arity: int, asked: int, inputs: tuple[tuple[int, int], ...]
    ) -> int:
        filled = {slot for slot, _ in inputs} | {asked}
        slots = tuple(None if slot in filled else self.draw(entities) for slot in range(arity))
        attributes = tuple(self.draw(relations) for _ in range(arity - 2))
        relation, closed = self.draw(relations), self.draw(st.booleans())
        return self.builder.add_projection(
            variable, relation, attributes, slots, asked, closed, inputs
        )


LABELS = {
    "fr": "France",
    "es": "Spain",
    "de": "Germany",
    "pt": "Portugal",
    "it": "Italy",
    "french": "French",
    "german": "German",
    "spanish": "Spanish",
    "y1990": "1990",
    "borders": "borders",
    "speaks": "speaks",
    "since": "since",
}


def countries() -> Dataset:
    """Countries with borders and languages, with labels; some facts are held out."""
    train = [
        Fact("fr", "borders", "es"),
        Fact("es", "borders", "fr"),
        Fact("fr", "borders", "de"),
        Fact("de", "borders", "fr", (("since", "y1990"),)),
        Fact("es", "borders", "pt"),
        Fact("it", "borders", "fr"),
        Fact("fr", "speaks", "french"),
        Fact("de", "speaks", "german"),
        Fact("it", "speaks", "german", (("since", "y1990"),)),
        Fact("es", "speaks", "spanish"),
    ]
    valid = [Fact("pt", "borders", "es"), Fact("it", "speaks", "french")]
    test = [Fact("fr", "borders", "it")]
    dataset = Dataset.of({"train": train, "valid": valid, "test": test})
    return dataset.describe({name: Description(label) for name, label in LABELS.items()})


@cache
def country_model() -> Model:
    """An untrained model of the countries."""
    return untrained(countries().vocabulary, seed=1)
