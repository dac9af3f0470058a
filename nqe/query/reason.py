"""The type `Reason`: why an entity is an answer, as a tree of facts and predictions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, assert_never

from nqe.graph.entity_facts import label_fact
from nqe.graph.fact_source import FactSource
from nqe.graph.vocabulary import Names
from nqe.query.plan import Op
from nqe.shown_text import make_visible


@dataclass(frozen=True, eq=False)
class RuleReason:
    """A rule that predicts an atom, and the facts that it does so from."""

    graph: FactSource
    rule: str
    """The rule as logic, in labels."""
    words: str
    """The rule in words, with its counts."""
    support: int
    """How many of its predictions are true by the facts that it was mined from."""
    predictions: int
    confidence: float
    rows: tuple[int, ...]
    """The rows of the facts that fire it; a rule without a body needs none."""

    def lines(self, indent: str = "") -> Iterator[str]:
        """The rule in words, and on a second line the facts that fire it."""
        yield make_visible(f"{indent}{self.words}")
        if self.rows:
            facts = ", ".join(str(label_fact(self.graph, row).labels) for row in self.rows)
            yield f"{indent}  here {facts}"

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def to_json(self) -> dict[str, Any]:
        """The rule and its facts as JSON data; the facts are in ids."""
        return {
            "rule": self.rule,
            "words": self.words,
            "support": self.support,
            "predictions": self.predictions,
            "confidence": self.confidence,
            "facts": [fact_to_json(self.graph, row) for row in self.rows],
        }


def fact_to_json(graph: FactSource, row: int) -> dict[str, Any]:
    """A fact as JSON data, in ids."""
    fact = graph.fact(row)
    return {
        "subject": fact.subject,
        "relation": fact.relation,
        "object": fact.object,
        "qualifiers": [list(pair) for pair in fact.qualifiers],
    }


@dataclass(frozen=True, eq=False)
class Reason:
    """Why an entity is in the set of a step, and with what probability.

    A projection rests on a fact (`row`) or on a prediction, which comes from rules and a model, and
    on the reasons for the entities that its variables stand for (`parts`). An `and` has a reason
    for every part, an `or` for the best one. A `not` rests on what the facts do not state
    (`absent`), or on the reason for its part, which speaks against it. A proof is a reason in which
    facts state everything.
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
    """The atom of a projection in labels, with entities in place of its variables."""
    row: int | None = None
    """The row of the fact that states the atom; None if it is predicted."""
    absent: str = ""
    """What a negation looked for in the facts and did not find."""
    ways: int = 1
    """How many bindings a projection has, or alternatives an `or`; `parts` shows the likeliest."""
    alone: float | None = None
    """Of the likeliest one alone; None if it is the same as `probability`."""
    parts: tuple[Reason, ...] = ()
    of_relation: bool = False
    """Whether the variable stands for a relation; then `entity` is the number of that."""
    rules: tuple[RuleReason, ...] = ()
    """The strongest rules that predict the atom, if it is predicted."""
    more_rules: int = 0
    """How many more rules predict it."""
    model: float | None = None
    """What the model alone gives a predicted atom; None if it knows nothing about it."""

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
            "entity": self._names.ids[self.entity],
            "probability": self.probability,
        }
        if self.op == Op.PROJECTION:
            data |= {"atom": self.atom, "stated": self.stated, "own": self.own}
        if self.ways > 1:
            data |= {"ways": self.ways, "alone": self._alone}
        if self.row is not None:
            data["fact"] = fact_to_json(self.graph, self.row)
        elif self.op == Op.PROJECTION:
            data |= {"rules": [rule.to_json() for rule in self.rules]}
            data |= {"more_rules": self.more_rules, "model": self.model}
        if self.absent:
            data["absent"] = self.absent
        if self.parts:
            data["because"] = [part.to_json() for part in self.parts]
        return data

    @property
    def _names(self) -> Names:
        vocabulary = self.graph.vocabulary
        return vocabulary.relations if self.of_relation else vocabulary.entities

    @property
    def _alone(self) -> float:
        return self.probability if self.alone is None else self.alone

    @property
    def is_one_line(self) -> bool:
        """Whether it is told in a single line, but for rules."""
        return not self._shown_parts

    @property
    def _is_leaf(self) -> bool:
        """Whether it is one atom, with nothing to explain below it."""
        return self.op == Op.PROJECTION and not self.parts

    @property
    def _shown_parts(self) -> tuple[Reason, ...]:
        """The parts that get lines of their own; a negated atom is described on its line."""
        on_line = self.op == Op.NOT and all(part._is_leaf for part in self.parts)
        return () if on_line else self.parts

    def _lines(self, indent: str, *, certain: bool, above: Reason | None = None) -> Iterator[str]:
        """The lines of the reason; `above` is the one that it is a part of."""
        text = self._describe(certain)
        if above is not None and (above.variable, above.entity) == (self.variable, self.entity):
            yield f"{indent}{text}{self._show_whole()}"
        else:
            name = self._names.name(self.entity)
            chance = "" if certain else f" ({show_probability(self.probability)})"
            yield f"{indent}?{self.variable} = {name}{chance}: {text}"
        below = indent + "  "
        yield from (f"{below}{line}" for line in self._list_rules())
        parts = (one._lines(below, certain=certain, above=self) for one in self._shown_parts)
        for lines in dict.fromkeys(map(tuple, parts)):  # Equal parts are shown once.
            yield from lines

    def _list_rules(self) -> Iterator[str]:
        """The rules behind a prediction, one per line, and the model's part beside them."""
        if self.op == Op.NOT and self.is_one_line:
            for part in self.parts:
                yield from part._list_rules()
        if not self.rules:
            return
        for rule in self.rules:
            yield from rule.lines()
        if self.more_rules:
            yield f"and {self.more_rules:,} more rule{'s' if self.more_rules > 1 else ''}"
        if self.model is not None:
            yield f"the model alone: {show_probability(self.model)}"

    def _describe(self, certain: bool) -> str:
        match self.op:
            case Op.PROJECTION if self.row is not None:
                return f"stated {label_fact(self.graph, self.row).labels}{self._describe_ways()}"
            case Op.PROJECTION:
                return f"predicted {self.atom}{self._show_own()}{self._describe_ways()}"
            case Op.AND:
                return "all of"
            case Op.OR:
                is_one = certain or self.ways == 1
                return "one of the alternatives" if is_one else self._describe_ways("alternatives")
            case Op.NOT:
                return self._describe_negation()
            case Op.ANY:
                return "any entity will do"
            case _:
                assert_never(self.op)

    def _show_own(self) -> str:
        """The probability of a predicted atom, unless it is the same as another on its line."""
        shown = show_probability(self.own)
        told = self._alone if self.ways > 1 else self.probability
        return "" if shown == show_probability(told) else f" ({shown})"

    def _show_whole(self) -> str:
        """The probability of the whole, on a line that does not begin with it."""
        told = self.ways > 1 or (self.op == Op.NOT and not self._shown_parts)
        if self.probability == 1 or told:
            return ""
        follows = " with what follows" if self.op == Op.PROJECTION and self.parts else ""
        return f" ({show_probability(self.probability)}{follows})"

    def _describe_ways(self, what: str = "ways") -> str:
        """How the chain that is shown relates to the number that is shown."""
        if self.ways == 1:
            return ""
        start = "" if self.op == Op.OR else "; "
        alone, together = show_probability(self._alone), show_probability(self.probability)
        text = f"{start}the likeliest of {self.ways:,} {what}, {alone}"
        return text if alone == together else f"{text} alone; all together {together}"

    def _describe_negation(self) -> str:
        if self.absent:
            return f"no facts give {self.absent}"
        [part] = self.parts
        if not part._is_leaf:
            return "unless these hold"
        if part.row is not None:
            return f"but a fact states {label_fact(self.graph, part.row).labels}"
        return f"no facts give {part.atom} (predicted {show_probability(part.own)})"


def show_probability(probability: float) -> str:
    """Format a probability with three decimals; only what is certain is shown as 0 or 1."""
    if 0 < probability < 0.0005:
        return "below 0.001"
    if 0.9995 <= probability < 1:
        return "over 0.999"
    return f"{probability:.3f}"


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
        atom = f"{'not ' if self.negated else ''}{self.reason.atom}"
        return make_visible(f"{atom} ({show_probability(self.support)})")
