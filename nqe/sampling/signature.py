"""Signatures: equal for queries that differ only in the order of their parts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from hashlib import blake2b
from itertools import permutations
from typing import assert_never

from nqe.graph.pattern import FIRST_QUALIFIER, OBJECT, SUBJECT
from nqe.query.formula import (
    And,
    Atom,
    Comparison,
    Formula,
    Not,
    Or,
    Term,
    Variable,
    find_variables,
)
from nqe.query.plan import Op, Plan, Step
from nqe.query.query import Query

Range = tuple[float, float]
"""A range of signatures, as parts of 1."""


def signature_of(plan: Plan) -> bytes:
    """Compute a hash that ignores the order of parts and the names of variables."""
    return _hash(_step_texts(plan)[-1])


def signature_of_query(query: Query) -> bytes:
    """The same for a query that is no tree; the order of its targets counts no more than names.

    It takes a time that grows with the permutations of its variables.
    """
    return _hash(min(_write(query.formula, names) for names in _list_namings(query)))


def is_in_range(signature: bytes, limits: Range) -> bool:
    """Whether a signature is in a range."""
    first, last = limits
    return first <= int.from_bytes(signature[:4], "big") / 2**32 < last


def _hash(text: str) -> bytes:
    return blake2b(text.encode(), digest_size=16).digest()


def repeats_itself(plan: Plan) -> bool:
    """Whether an atom occurs twice, or a branch is the same as another."""
    texts = _step_texts(plan)
    atoms = [text for step, text in zip(plan.steps, texts, strict=True) if step.op == Op.PROJECTION]
    if len(set(atoms)) < len(atoms):
        return True
    branches = ([texts[number] for number in step.inputs] for step in plan.steps)
    return any(len(set(texts)) < len(texts) for texts in branches)


def _step_texts(plan: Plan) -> list[str]:
    """Write each step as text, with the texts of its inputs in sorted order."""
    texts: list[str] = []
    for step in plan.steps:
        if step.op == Op.PROJECTION:
            texts.append(_atom_text(step, texts))
        else:
            texts.append(f"{step.op.word}({','.join(sorted(texts[i] for i in step.inputs))})")
    return texts


def _atom_text(step: Step, texts: list[str]) -> str:
    terms = ["?" if anchor is None else str(anchor) for anchor in step.slots]
    for place, number in zip(step.filled, step.inputs, strict=True):
        terms[place] = texts[number]
    values = terms[FIRST_QUALIFIER:]
    pairs = sorted(f"{a}:{v}" for a, v in zip(step.attributes, values, strict=True))
    only = "only " if step.closed else ""
    return f"{only}{step.relation}({terms[SUBJECT]},{terms[OBJECT]};{','.join(pairs)})"


def _list_namings(query: Query) -> Iterator[Mapping[Variable, str]]:
    """All ways to number the targets, and to number the other variables."""
    others = [one for one in find_variables(query.formula) if one not in query.targets]
    for targets in permutations(query.targets):
        for order in permutations(others):
            names = {one: f"?t{number}" for number, one in enumerate(targets)}
            names |= {one: f"?v{number}" for number, one in enumerate(order)}
            yield names


def _write(formula: Formula, names: Mapping[Variable, str]) -> str:
    """A formula as text, with its parts in sorted order."""

    def read(term: Term) -> str:
        return names[term] if isinstance(term, Variable) else repr(term)

    match formula:
        case Atom():
            pairs = sorted(
                f"{attribute!r}:{read(value)}" for attribute, value in formula.qualifiers
            )
            only = "only " if formula.closed else ""
            main = f"{read(formula.subject)},{read(formula.object)}"
            return f"{only}{read(formula.relation)}({main};{','.join(pairs)})"
        case Comparison(("=" | "!=") as operator, left, right):
            return operator.join(sorted((read(left), read(right))))
        case Comparison(operator, left, right):
            return f"{read(left)}{operator}{read(right)}"
        case Not(part):
            return f"not({_write(part, names)})"
        case And(parts):
            return f"and({','.join(sorted(_write(part, names) for part in parts))})"
        case Or(parts):
            return f"or({','.join(sorted(_write(part, names) for part in parts))})"
        case _:
            assert_never(formula)
