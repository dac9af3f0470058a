"""Explanations: the chain of intermediate answers that gave an answer, stated or predicted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from nqe.answering.bindings import Bindings
from nqe.answering.hybrid import Chances, HybridRun
from nqe.graph.entity_facts import label_fact
from nqe.graph.graph import Graph
from nqe.graph.pattern import Pattern
from nqe.query.exact import Result, execute
from nqe.query.plan import Op, Plan, Step
from nqe.query.proof import Proof, prove
from nqe.query.step_text import step_words


@dataclass(frozen=True, eq=False)
class Reason:
    """Why an entity is as likely as it is in a step's set.

    A projection is stated, with the row of a fact, or predicted, with the model's probability of
    it alone; its parts are the reasons of what its variables are bound to. `and` has a reason for
    every part, `or` for the best; of `not` the part is what speaks against it.
    """

    graph: Graph
    op: Op
    variable: str
    entity: int
    probability: float
    """Of the whole, all below included."""
    own: float
    """Of this atom alone, its variables taken as they are; 1 if stated."""
    words: str
    row: int | None = None
    parts: tuple[Reason, ...] = ()

    @property
    def stated(self) -> bool:
        """Whether a fact says it."""
        return self.row is not None

    def weakest(self) -> Support | None:
        """The atom that keeps the answer from ranking higher; None if all is certain."""
        found = self._weakest(negated=False)
        return None if found is None or found.support >= 1 else found

    def _weakest(self, negated: bool) -> Support | None:
        """Of parts that must all hold, that with the least support.

        Under a negation one that fails is enough, so there it is that with the most.
        """
        below = (part._weakest(negated != (self.op == Op.NOT)) for part in self.parts)
        found = [one for one in below if one is not None]
        if self.op == Op.PROJECTION:
            found.append(Support(self, negated, 1 - self.own if negated else self.own))
        choice = max if negated else min
        return choice(found, key=lambda one: one.support, default=None)

    def lines(self, indent: str = "") -> Iterator[str]:
        """The reason as indented text with labels."""
        name = self.graph.vocabulary.entities.name(self.entity)
        yield f"{indent}?{self.variable} = {name} ({self.probability:.3f}): {self._text()}"
        for part in self.parts:
            yield from part.lines(indent + "  ")

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def to_json(self) -> dict[str, Any]:
        """The reason as JSON data, in ids."""
        data: dict[str, Any] = {
            "variable": self.variable,
            "entity": self.graph.vocabulary.entities.ids[self.entity],
            "operator": self.op.word,
            "probability": self.probability,
        }
        if self.op == Op.PROJECTION:
            data |= {"atom": self.words, "stated": self.stated, "own": self.own}
        if self.row is not None:
            data["fact"] = str(self.graph.fact(self.row))
        if self.parts:
            data["because"] = [part.to_json() for part in self.parts]
        return data

    def _text(self) -> str:
        if self.row is not None:
            return f"stated {label_fact(self.graph, self.row).labels}"
        return {
            Op.PROJECTION: f"predicted {self.words} ({self.own:.3f})",
            Op.AND: "all of",
            Op.OR: "the best of the branches",
            Op.NOT: "unless",
            Op.ANY: "any entity will do",
        }[self.op]


@dataclass(frozen=True, eq=False)
class Support:
    """An atom, and how far it supports an answer: the less likely the better, under a negation."""

    atom: Reason
    negated: bool
    support: float

    def to_json(self) -> dict[str, Any]:
        """The atom as JSON data, with its support."""
        return {**self.atom.to_json(), "negated": self.negated, "support": self.support}

    def __str__(self) -> str:
        name = self.atom.graph.vocabulary.entities.name(self.atom.entity)
        atom = f"{'not ' if self.negated else ''}{self.atom.words}"
        return f"{atom} with ?{self.atom.variable} = {name}, which has {self.support:.4f}"


class Explainer:
    """Explains what one run of one plan gave."""

    def __init__(self, plan: Plan, run: HybridRun) -> None:
        self.plan, self.run = plan, run
        self.graph = run.knowledge.graph
        self.result: Result = execute(plan, self.graph)
        # What is certain is proved without negations, though the exact answers have some.
        self.certain = Result(plan, self.graph, tuple(run.certain.sets()))

    def reason(self, entity: int, number: int | None = None) -> Reason:
        """Why an entity is as likely as it is, in a step's set or in the target's."""
        number = len(self.plan.steps) - 1 if number is None else number
        if self._chance(number, entity) == 1:
            return self._of_proof(prove_step(self.certain, number, entity))
        step = self.plan.steps[number]
        match step.op:
            case Op.PROJECTION:
                return self._projection(number, step, entity)
            case Op.OR:
                best = max(step.inputs, key=lambda one: self._chance(one, entity))
                return self._connective(number, step, entity, (best,))
            case _:
                return self._connective(number, step, entity, step.inputs)

    def _chance(self, number: int, entity: int) -> float:
        return float(self.run.rows[number, entity])

    def _connective(self, number: int, step: Step, entity: int, inputs: tuple[int, ...]) -> Reason:
        chance = self._chance(number, entity)
        parts = tuple(self.reason(entity, one) for one in inputs)
        words = step.op.word
        return Reason(
            self.graph, step.op, step.variable, entity, chance, chance, words, None, parts
        )

    def _projection(self, number: int, step: Step, entity: int) -> Reason:
        """By the binding that gives the entity its best chance."""
        bindings = self.run.bindings(np.array([number]))
        chances = Chances.of(bindings, self.run.knowledge, self.run.curve)
        alone = chances.column(entity).cpu()  # (bindings,)
        pairs = torch.stack((torch.from_numpy(bindings.weight), alone), 1)[..., None]
        best = int(self.run.norm.conjoin(pairs)[:, 0].argmax())
        bound = self._bound(bindings, best)
        row = self._stated(step, bound, entity)
        parts = tuple(
            self.reason(bound[place], one)
            for place, one in zip(step.filled, step.inputs, strict=True)
            if bound[place] >= 0
        )
        words = step_words(self.plan, number, self.graph.vocabulary, entity)
        own = 1.0 if row is not None else float(alone[best])
        chance = self._chance(number, entity)
        return Reason(self.graph, step.op, step.variable, entity, chance, own, words, row, parts)

    def _bound(self, bindings: Bindings, number: int) -> list[int]:
        first, last = bindings.patterns.first_slot[number], bindings.patterns.first_slot[number + 1]
        fillers: list[int] = bindings.patterns.filler[first:last].tolist()
        return fillers

    def _stated(self, step: Step, bound: list[int], entity: int) -> int | None:
        slots = [one if one >= 0 else None for one in bound]
        slots[step.asked] = entity
        pattern = Pattern(step.relation, tuple(slots), step.attributes, step.asked, step.closed)
        rows = self.graph.matches(pattern)
        return int(rows[0]) if len(rows) else None

    def _of_proof(self, proof: Proof) -> Reason:
        parts = tuple(self._of_proof(part) for part in proof.parts)
        return Reason(
            self.graph,
            proof.op,
            proof.variable,
            proof.entity,
            1.0,
            1.0,
            proof.words,
            proof.row,
            parts,
        )


def prove_step(result: Result, number: int, entity: int) -> Proof:
    """A proof that an entity is in a step's set."""
    steps = result.plan.steps[: number + 1]
    return prove(Result(Plan(steps), result.graph, result.sets[: number + 1]), entity)
