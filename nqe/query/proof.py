"""Proofs: for an answer, the facts that support it, step by step, and what negation checked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from nqe.errors import NqeError
from nqe.graph.entity_facts import label_fact
from nqe.graph.entity_set import EntitySet
from nqe.graph.graph import Graph
from nqe.graph.pattern import FIRST_QUALIFIER, OBJECT, SUBJECT, Pattern, Restriction
from nqe.query.exact import Result, filled_pattern
from nqe.query.plan import Op
from nqe.query.step_text import step_words


@dataclass(frozen=True, eq=False)
class Proof:
    """Why an entity is in a step's set.

    A projection has the row of a supporting fact and a proof of each variable in it; `and` has a
    proof of every part, `or` of one; `not` has none, and `words` say what was looked for in vain.
    """

    graph: Graph
    op: Op
    variable: str
    entity: int
    words: str
    row: int | None = None
    parts: tuple[Proof, ...] = ()

    @property
    def rows(self) -> list[int]:
        """The rows of all facts it rests on."""
        own = [] if self.row is None else [self.row]
        return own + [row for part in self.parts for row in part.rows]

    def lines(self, indent: str = "") -> Iterator[str]:
        """The proof as indented text with labels."""
        name = self.graph.vocabulary.entities.name(self.entity)
        yield f"{indent}?{self.variable} = {name}: {self._reason()}"
        for part in self.parts:
            yield from part.lines(indent + "  ")

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def to_json(self) -> dict[str, Any]:
        """The proof as JSON data, in ids."""
        data: dict[str, Any] = {
            "variable": self.variable,
            "entity": self.graph.vocabulary.entities.ids[self.entity],
            "operator": self.op.word,
        }
        if self.row is not None:
            fact = self.graph.fact(self.row)
            data["fact"] = {
                "subject": fact.subject,
                "relation": fact.relation,
                "object": fact.object,
                "qualifiers": [list(pair) for pair in fact.qualifiers],
            }
        if self.op == Op.NOT:
            data["absent"] = self.words
        if self.parts:
            data["because"] = [part.to_json() for part in self.parts]
        return data

    def _reason(self) -> str:
        if self.row is not None:
            return f"stated {label_fact(self.graph, self.row).labels}"
        return {
            Op.AND: "all of",
            Op.OR: "one of the branches",
            Op.NOT: f"no facts give {self.words}",
            Op.ANY: "any entity will do",
        }.get(self.op, self.words)


def prove(result: Result, entity: int) -> Proof:
    """A proof that the entity is an answer; refuses one that is not."""
    if entity not in result.sets[-1]:
        name = result.graph.vocabulary.entities.full_name(entity)
        raise NqeError(f"{name} is not an answer, so there is no proof; ask for one of the answers")
    return _prove(result, len(result.sets) - 1, entity)


def _prove(result: Result, number: int, entity: int) -> Proof:
    plan, graph = result.plan, result.graph
    step = plan.steps[number]
    row: int | None = None
    parts: tuple[Proof, ...] = ()
    words = step_words(plan, number, graph.vocabulary, entity)
    match step.op:
        case Op.PROJECTION:
            row, fillers = _supporting_fact(result, number, entity)
            pairs = zip(step.inputs, fillers, strict=True)
            parts = tuple(_prove(result, one, filler) for one, filler in pairs)
        case Op.AND:
            parts = tuple(_prove(result, one, entity) for one in step.inputs)
        case Op.OR:
            holding = next(one for one in step.inputs if entity in result.sets[one])
            parts = (_prove(result, holding, entity),)
        case Op.NOT:
            words = _absent_words(result, step.inputs[0], entity)
        case Op.ANY:
            pass
    return Proof(graph, step.op, step.variable, entity, words, row, parts)


def _absent_words(result: Result, number: int, entity: int) -> str:
    """What a negation looked for: its input with the entity in place, and what lies below."""
    step = result.plan.steps[number]
    here = step_words(result.plan, number, result.graph.vocabulary, entity)
    if step.op == Op.PROJECTION:
        below = [_absent_words_below(result, one) for one in step.inputs]
        where = " and ".join(words for words in below if words)
        return f"{here} with {where}" if where else here
    inner = ", ".join(_absent_words(result, one, entity) for one in step.inputs)
    return f"{here}({inner})"


def _absent_words_below(result: Result, number: int) -> str:
    step = result.plan.steps[number]
    if step.op == Op.PROJECTION:
        below = [_absent_words_below(result, one) for one in step.inputs]
        here = step_words(result.plan, number, result.graph.vocabulary)
        return " and ".join([here, *(words for words in below if words)])
    inner = ", ".join(filter(None, (_absent_words_below(result, one) for one in step.inputs)))
    return f"{step.op.word}({inner})" if inner else ""


def _supporting_fact(result: Result, number: int, entity: int) -> tuple[int, list[int]]:
    """The first fact that gives the entity, and what it has in the slots that inputs fill."""
    step = result.plan.steps[number]
    open_pattern = filled_pattern(step, [result.sets[one] for one in step.inputs])
    slots = list(open_pattern.slots)
    slots[step.asked] = entity
    pattern = Pattern(step.relation, tuple(slots), step.attributes, step.asked, step.closed)
    row = int(result.graph.matches(pattern)[0])
    entities = slot_entities(result.graph, pattern, row)
    return row, [entities[place] for place in step.filled]


def slot_entities(graph: Graph, pattern: Pattern, row: int) -> list[int]:
    """What a matching fact has in each slot of the pattern: the first way to map it."""
    subject, _, object_, pairs = graph.facts.row(row)
    chosen = next(_mappings(pattern, pairs, ()))
    entities = {SUBJECT: subject, OBJECT: object_}
    entities |= {FIRST_QUALIFIER + i: pairs[place][1] for i, place in enumerate(chosen)}
    return [entities[place] for place in range(len(pattern.slots))]


def _mappings(
    pattern: Pattern, pairs: Sequence[tuple[int, int]], chosen: tuple[int, ...]
) -> Iterator[tuple[int, ...]]:
    """Every injective way to map the pattern's qualifiers to the fact's."""
    if len(chosen) == len(pattern.attributes):
        yield chosen
        return
    attribute, restriction = pattern.qualifier(FIRST_QUALIFIER + len(chosen))
    for place, (name, value) in enumerate(pairs):
        if place not in chosen and name == attribute and _lets(restriction, value):
            yield from _mappings(pattern, pairs, (*chosen, place))


def _lets(restriction: Restriction, entity: int) -> bool:
    if isinstance(restriction, EntitySet):
        return entity in restriction
    return restriction is None or restriction == entity
