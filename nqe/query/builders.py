"""Functions that build formulas in Python: atoms, comparisons and variables."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from typing import cast

from nqe.query.formula import Atom, Comparison, Pairs, Term, Variable

Value = int | float | Decimal | date
"""What a comparison takes besides variables and texts; a `datetime` is a `date`."""
_MIRRORED = {"=": "=", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
"""Each operator, and the one that says the same with its sides exchanged."""


def variables(names: str) -> tuple[Variable, ...]:
    """Variables with these names: `x, y = variables("x y")`."""
    return tuple(Variable(name) for name in names.replace(",", " ").split())


def atom(
    relation: Term,
    subject: Term,
    object: Term,
    qualifiers: Mapping[str, Term] | Pairs = (),
    **more: Term,
) -> Atom:
    """An open atom: `atom("award_received", x, "Nobel Prize in Physics", together_with=y)`."""
    pairs = qualifiers.items() if isinstance(qualifiers, Mapping) else qualifiers
    return Atom(relation, subject, object, (*pairs, *more.items()))


def comparison(left: Term | Value, operator: str, right: Term | Value) -> Comparison:
    """A comparison: `comparison(year, "<", 1955)`, `comparison(x, "!=", y)`.

    One that begins with a value is turned round: `comparison(1955, ">", year)` is the first.
    """
    first, second = _write_value(left), _write_value(right)
    if isinstance(second, Variable) and not isinstance(first, Variable):
        return Comparison(_MIRRORED.get(operator, operator), second, first)
    return Comparison(operator, cast(Variable, first), second)


def _write_value(value: Term | Value) -> Term:
    """A value as text; what is neither a value nor a term is left for `Comparison` to refuse."""
    if isinstance(value, bool):
        return cast(Term, value)
    if isinstance(value, date):
        return value.isoformat()
    return str(value) if isinstance(value, int | float | Decimal) else value
