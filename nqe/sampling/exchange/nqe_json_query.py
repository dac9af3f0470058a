"""Converts one query of the NQE paper's JSON to a plan, and a plan to such a query.

A query is an object with pairs of `hrfK` (a projection) and `logicK` (a connective). The result
of hrfK is variable 2K and that of logicK is variable 2K + 1; the last one is the answer. Each
connective shares its pair with a projection among its inputs, so And(Not(P()), Not(P())) cannot
be expressed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from nqe.errors import QueryError
from nqe.graph.vocabulary import Names, Vocabulary
from nqe.query.plan import Op, Plan, PlanBuilder, Step

VARIABLE = "VAR"
LOGICS = {"not": Op.NOT, "and": Op.AND, "or": Op.OR}
WORDS = {op: word for word, op in LOGICS.items()}


class Malformed(Exception):
    """Says what is wrong with a query and what to do; the reader adds file and line."""


class Unwritable(Exception):
    """Names the part of a query that the format cannot express."""


def read_query(query: Any, vocabulary: Vocabulary) -> Plan:
    """Convert a query to a plan."""
    reader = _QueryReader(_read_pairs(query), vocabulary)
    try:
        reader.read_variable(2 * len(reader.pairs) - 1)
    except RecursionError as error:
        raise Malformed("the query is nested too deeply; split it") from error
    unused = set(range(len(reader.pairs))) - reader.used
    if unused:
        raise Malformed(f"the result of hrf{min(unused)} is not used; use it or remove it")
    try:
        return reader.builder.finish()
    except QueryError as error:  # it is larger than queries may be
        raise Malformed(str(error)) from error


def read_answers(query: Mapping[str, Any], vocabulary: Vocabulary) -> tuple[list[int], list[int]]:
    """Read the easy and the hard answers, which are in the last hrf."""
    name = f"hrf{len(query) // 2 - 1}"
    answers = _member(query[name], "answers", dict, name)
    easy = _entities(answers.get("easy", []), vocabulary, f"{name}.answers.easy")
    hard = _entities(answers.get("hard", []), vocabulary, f"{name}.answers.hard")
    both = set(easy) & set(hard)
    if both:
        name = vocabulary.entities.ids[min(both)]
        raise Malformed(f"'{name}' is both an easy and a hard answer; remove one of them")
    return easy, hard


def _entities(tokens: Any, vocabulary: Vocabulary, where: str) -> list[int]:
    if not isinstance(tokens, list):
        raise Malformed(f"{where} is not a list; write a list of entities")
    return sorted({_number(vocabulary.entities, token, where) for token in tokens})


def _number(names: Names, token: Any, where: str) -> int:
    number = names.number(token) if isinstance(token, str) else None
    if number is None:
        raise Malformed(
            f"{where} has {token!r:.100}, which is no {names.kind} of the graph; "
            "read the queries with the graph they were made from"
        )
    return number


def _read_pairs(query: Any) -> list[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    """Return the hrf and logic objects in pairs."""
    if not isinstance(query, dict) or not query:
        raise Malformed("a query is not an object; write hrf0, logic0, hrf1, logic1 and so on")
    wanted = [f"{kind}{k}" for k in range((len(query) + 1) // 2) for kind in ("hrf", "logic")]
    for name in wanted:
        if not isinstance(query.get(name), dict):
            raise Malformed(
                f"{name} is missing or not an object; keys are hrf0, logic0, hrf1, logic1 …"
            )
    return [
        (query[hrf], query[logic]) for hrf, logic in zip(wanted[::2], wanted[1::2], strict=True)
    ]


def _member(mapping: Mapping[str, Any], key: str, kind: type, where: str) -> Any:
    value = mapping.get(key)
    if not isinstance(value, kind) or isinstance(value, bool):
        raise Malformed(f"{where}.{key} is {value!r:.60}; write a JSON {_JSON_NAMES[kind]}")
    return value


_JSON_NAMES: dict[type, str] = {dict: "object", list: "list", int: "whole number", str: "text"}


@dataclass
class _QueryReader:
    """Builds the steps of a plan from the answer down, each variable once."""

    pairs: Sequence[tuple[Mapping[str, Any], Mapping[str, Any]]]
    vocabulary: Vocabulary
    builder: PlanBuilder = field(default_factory=PlanBuilder)
    seen: set[int] = field(default_factory=set)

    @property
    def used(self) -> set[int]:
        """The pairs whose hrf has been read."""
        return {variable // 2 for variable in self.seen if variable % 2 == 0}

    def read_variable(self, number: int) -> int:
        """Add the step that gives a variable, and return its number."""
        if number in self.seen:
            raise Malformed(f"variable {number} is used twice; give each use a pair of its own")
        self.seen.add(number)
        return self._read_hrf(number // 2) if number % 2 == 0 else self._read_logic(number // 2)

    def _read_logic(self, k: int) -> int:
        where, logic = f"logic{k}", self.pairs[k][1]
        word = _member(logic, "type", str, where)
        inputs = self._read_inputs(logic, where, 2 * k + 1)
        if word == "direct" and len(inputs) == 1:
            return self.read_variable(inputs[0])
        if word not in LOGICS or not inputs or (len(inputs) == 1) != (word == "not"):
            raise Malformed(
                f"{where} is {word!r:.100} with {len(inputs)} variables; "
                "'direct' and 'not' take one, 'and' and 'or' take more"
            )
        steps = tuple(map(self.read_variable, inputs))
        return self.builder.add_connective(LOGICS[word], f"v{2 * k + 1}", steps)

    def _read_inputs(self, holder: Mapping[str, Any], where: str, before: int) -> list[int]:
        """Return the variables that an object uses; all must be less than `before`."""
        numbers: list[int] = _member(holder, "in_vars", list, where)
        for number in numbers:
            if not isinstance(number, int) or not 0 <= number < 2 * len(self.pairs):
                raise Malformed(
                    f"{where} uses the unknown variable {number!r:.100}; "
                    f"variables are 0 to {2 * len(self.pairs) - 1}"
                )
            if number >= before:
                raise Malformed(
                    f"{where} uses variable {number} before it is defined, perhaps in a cycle; "
                    f"use one below {before}"
                )
        return numbers

    def _read_hrf(self, k: int) -> int:
        where, hrf = f"hrf{k}", self.pairs[k][0]
        tokens = _read_tokens(hrf, where)
        inputs = self._read_inputs(hrf, where, 2 * k)
        asked, filled = _read_positions(hrf, tokens, len(inputs), where)
        entity, relation = self.vocabulary.entities, self.vocabulary.relations
        slots = tuple(
            None if place == asked or place in filled else _number(entity, token, where)
            for place, token in enumerate(tokens[::2])
        )
        main, *attributes = (_number(relation, token, where) for token in tokens[1::2])
        steps = tuple(zip(filled, map(self.read_variable, inputs), strict=True))
        name = f"v{2 * k}"
        return self.builder.add_projection(name, main, tuple(attributes), slots, asked, True, steps)


def _read_tokens(hrf: Mapping[str, Any], where: str) -> list[Any]:
    tokens: list[Any] = _member(hrf, "hrf", list, where)
    if len(tokens) < 3 or len(tokens) % 2 == 0:
        raise Malformed(f"{where} has {len(tokens)} tokens; write s, r, o and pairs of a, v")
    if _member(hrf, "N", int, where) != len(tokens) - 1:
        raise Malformed(
            f"{where}.N is {hrf['N']}; with {len(tokens)} tokens it must be {len(tokens) - 1}"
        )
    return tokens


def _read_positions(
    hrf: Mapping[str, Any], tokens: Sequence[Any], input_count: int, where: str
) -> tuple[int, list[int]]:
    """Return the asked slot, and the slots that variables fill."""
    asked: int = _member(hrf, "out_pos", int, where)
    filled: list[int] = _member(hrf, "in_pos", list, where)
    if len(filled) != input_count:
        raise Malformed(f"{where} has {len(filled)} in_pos for {input_count} in_vars; give as many")
    variables = {place for place in range(0, len(tokens), 2) if tokens[place] == VARIABLE}
    for place in (asked, *filled):
        if not isinstance(place, int) or place not in variables:
            raise Malformed(
                f"{where} has a variable at position {place!r:.100}, which has no '{VARIABLE}'; "
                "entities are at even positions from 0"
            )
    if len({asked, *filled}) != 1 + input_count or len(variables) != 1 + input_count:
        raise Malformed(
            f"{where} has {len(variables)} '{VARIABLE}' for out_pos {asked} and in_pos {filled}; "
            "give each one position"
        )
    return asked // 2, [place // 2 for place in filled]


def write_query(
    plan: Plan, easy: Sequence[int], hard: Sequence[int], vocabulary: Vocabulary
) -> dict[str, Any]:
    """Convert a plan with its answers to a query."""
    writer = _QueryWriter(plan, vocabulary)
    writer.write_step(len(plan.steps) - 1)
    ids = vocabulary.entities.ids
    writer.last_hrf["answers"] = {"easy": [ids[e] for e in easy], "hard": [ids[e] for e in hard]}
    return writer.query


@dataclass
class _QueryWriter:
    """Writes the steps of a plan as pairs, inputs first."""

    plan: Plan
    vocabulary: Vocabulary
    query: dict[str, Any] = field(default_factory=dict)

    @property
    def last_hrf(self) -> dict[str, Any]:
        """The hrf of the last pair."""
        last: dict[str, Any] = self.query[f"hrf{len(self.query) // 2 - 1}"]
        return last

    def write_step(self, number: int) -> int:
        """Write a step and what it uses, and return its variable."""
        step = self.plan.steps[number]
        if step.op == Op.PROJECTION:
            return self._write_pair(step, "direct", [])
        if step.op == Op.ANY:
            raise Unwritable("a variable without any restriction")
        # The last input must be a projection, whose pair has room for the connective.
        ordered = sorted(step.inputs, key=lambda one: self.plan.steps[one].op == Op.PROJECTION)
        last = self.plan.steps[ordered[-1]]
        if last.op != Op.PROJECTION:
            raise Unwritable(f"{step.op.word} without a projection among its inputs")
        return self._write_pair(
            last, WORDS[step.op], [self.write_step(one) for one in ordered[:-1]]
        )

    def _write_pair(self, step: Step, logic: str, others: list[int]) -> int:
        """Write a projection and the connective of its result and others."""
        if not step.closed:
            raise Unwritable("an open atom")
        inputs = [self.write_step(one) for one in step.inputs]
        k = len(self.query) // 2
        tokens = self._tokens(step)
        self.query[f"hrf{k}"] = {
            "N": len(tokens) - 1,
            "hrf": tokens,
            "out_pos": 2 * step.asked,
            "in_pos": [2 * place for place in step.filled],
            "in_vars": inputs,
            "answers": {"easy": [], "hard": []},
        }
        self.query[f"logic{k}"] = {"type": logic, "in_vars": [*others, 2 * k]}
        return 2 * k + 1

    def _tokens(self, step: Step) -> list[str]:
        entity, relation = self.vocabulary.entities.ids, self.vocabulary.relations.ids
        tokens = [""] * (2 * len(step.slots) - 1)
        tokens[::2] = [VARIABLE if one is None else entity[one] for one in step.slots]
        tokens[1::2] = [relation[one] for one in (step.relation, *step.attributes)]
        return tokens
