"""The type `Reason`: why an entity is an answer, as a tree of facts and predictions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, assert_never

from nqe.graph.entity_facts import label_fact
from nqe.graph.fact_source import FactSource
from nqe.query.plan import Op
from nqe.shown_text import make_visible


@dataclass(frozen=True, eq=False)
class Reason:
    """Why an entity is in the set of a step, and with what probability.

    A projection rests on a fact (`row`) or on a prediction, and on the reasons for the entities
    that its variables stand for (`parts`). An `and` has a reason for every part, an `or` for the
    best one. A `not` rests on what the facts do not state (`absent`), or on the reason for its
    part, which speaks against it. A proof is a reason in which facts state everything.
    """

    graph: FactSource
    op: Op
    variable: str
    entity: int
    probability: float = 1.0
    """Of the whole, with everything below it."""
    own: float = 1.0
    """Of this atom alone, given the entities that its variables stand for; 1 if it is stated."""
    atom: str = ""
    """The atom of a projection, in labels and with the entity in its place."""
    row: int | None = None
    """The row of the fact that states the atom; None if it is predicted."""
    absent: str = ""
    """What a negation looked for in the facts and did not find."""
    parts: tuple[Reason, ...] = ()

    @property
    def stated(self) -> bool:
        """Whether a fact states the atom."""
        return self.row is not None

    @property
    def certain(self) -> bool:
        """Whether facts state everything; no prediction has probability 1."""
        return self.probability == 1

    @property
    def rows(self) -> list[int]:
        """The rows of all facts that it rests on."""
        own = [] if self.row is None else [self.row]
        return own + [row for part in self.parts for row in part.rows]

    def weakest(self) -> Support | None:
        """The atom that keeps the answer from ranking higher; None if all is certain."""
        found = self._find_weakest(negated=False)
        return None if found is None or found.support >= 1 else found

    def _find_weakest(self, negated: bool) -> Support | None:
        """The atom with the least support, as all parts must hold.

        Under a negation it is the atom with the most support, as one that fails is enough there.
        """
        below = (part._find_weakest(negated != (self.op == Op.NOT)) for part in self.parts)
        found = [one for one in below if one is not None]
        if self.op == Op.PROJECTION:
            found.append(Support(self, negated, 1 - self.own if negated else self.own))
        choice = max if negated else min
        return choice(found, key=lambda one: one.support, default=None)

    def lines(self, indent: str = "") -> Iterator[str]:
        """The reason as indented text in labels; with probabilities, unless it is certain."""
        return map(make_visible, self._lines(indent, certain=self.certain))

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def to_json(self) -> dict[str, Any]:
        """The reason as JSON data, in ids."""
        data: dict[str, Any] = {
            "operator": self.op.word,
            "variable": self.variable,
            "entity": self.graph.vocabulary.entities.ids[self.entity],
            "probability": self.probability,
        }
        if self.op == Op.PROJECTION:
            data |= {"atom": self.atom, "stated": self.stated, "own": self.own}
        if self.row is not None:
            data["fact"] = self._fact_json(self.row)
        if self.absent:
            data["absent"] = self.absent
        if self.parts:
            data["because"] = [part.to_json() for part in self.parts]
        return data

    def _fact_json(self, row: int) -> dict[str, Any]:
        fact = self.graph.fact(row)
        return {
            "subject": fact.subject,
            "relation": fact.relation,
            "object": fact.object,
            "qualifiers": [list(pair) for pair in fact.qualifiers],
        }

    def _lines(self, indent: str, *, certain: bool) -> Iterator[str]:
        name = self.graph.vocabulary.entities.name(self.entity)
        probability = "" if certain else f" ({self.probability:.3f})"
        yield f"{indent}?{self.variable} = {name}{probability}: {self._describe(certain)}"
        for part in self.parts:
            yield from part._lines(indent + "  ", certain=certain)

    def _describe(self, certain: bool) -> str:
        match self.op:
            case Op.PROJECTION if self.row is not None:
                return f"stated {label_fact(self.graph, self.row).labels}"
            case Op.PROJECTION:
                return f"predicted {self.atom} ({self.own:.3f})"
            case Op.AND:
                return "all of"
            case Op.OR:
                return "one of the branches" if certain else "the best of the branches"
            case Op.NOT:
                return f"no facts give {self.absent}" if self.absent else "unless"
            case Op.ANY:
                return "any entity will do"
            case _:
                assert_never(self.op)


@dataclass(frozen=True, eq=False)
class Support:
    """How much one atom of a reason supports the answer; under a negation, by being unlikely."""

    reason: Reason
    """The reason for the atom."""
    negated: bool
    support: float

    def to_json(self) -> dict[str, Any]:
        """The reason for the atom as JSON data, with its support."""
        return {**self.reason.to_json(), "negated": self.negated, "support": self.support}

    def __str__(self) -> str:
        name = self.reason.graph.vocabulary.entities.name(self.reason.entity)
        atom = f"{'not ' if self.negated else ''}{self.reason.atom}"
        shown = f"{atom} with ?{self.reason.variable} = {name}, which has {self.support:.4f}"
        return make_visible(shown)
