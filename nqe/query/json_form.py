"""The JSON form of queries, for clients and files.

A term is a name or {"variable": "x"}. A formula is {"and": […]}, {"or": […]}, {"not": …} or an
atom: an object with relation, subject, object and, optionally, qualifiers and only.
"""

from __future__ import annotations

import json
from typing import Annotated, Any, assert_never

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, ValidationError

from nqe.errors import QueryError
from nqe.query.formula import TOO_DEEP, And, Atom, Formula, Not, Or, Term, Variable


class _Wire(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class VariableWire(_Wire):
    """A variable."""

    variable: str


TermWire = VariableWire | str


class QualifierWire(_Wire):
    """An attribute and the value that it must have."""

    attribute: str
    value: TermWire


class AtomWire(_Wire):
    """A pattern of facts."""

    relation: str
    subject: TermWire
    object: TermWire
    qualifiers: tuple[QualifierWire, ...] = ()
    only: bool = False


class AndWire(_Wire):
    """All parts hold."""

    parts: tuple[FormulaWire, ...] = Field(alias="and", min_length=2)


class OrWire(_Wire):
    """At least one part holds."""

    parts: tuple[FormulaWire, ...] = Field(alias="or", min_length=2)


class NotWire(_Wire):
    """The part does not hold."""

    part: FormulaWire = Field(alias="not")


def _kind(data: Any) -> str:
    keys = data.keys() if isinstance(data, dict) else ()
    return next((word for word in ("and", "or", "not") if word in keys), "atom")


FormulaWire = Annotated[
    Annotated[AtomWire, Tag("atom")]
    | Annotated[AndWire, Tag("and")]
    | Annotated[OrWire, Tag("or")]
    | Annotated[NotWire, Tag("not")],
    Discriminator(_kind),
]


class QueryWire(_Wire):
    """A query."""

    target: str
    formula: FormulaWire


def to_json(target: Variable, formula: Formula) -> dict[str, Any]:
    """A query as JSON data."""
    return {"target": target.name, "formula": _formula_data(formula)}


def from_json(data: Any) -> tuple[Variable, Formula]:
    """The target and the formula of JSON data or JSON text."""
    try:
        content = json.loads(data) if isinstance(data, str | bytes) else data
        wire = QueryWire.model_validate(content)
    except ValidationError as error:
        raise QueryError(f"query JSON: {_complaint(error)}") from None
    except ValueError as error:
        raise QueryError(f"query JSON: not JSON ({error})") from None
    except RecursionError:
        raise QueryError(f"query JSON: {TOO_DEEP}") from None
    return Variable(wire.target), _formula(wire.formula)


def _complaint(error: ValidationError) -> str:
    """The place and the kind of the error, without the names of the classes in this file."""
    first = error.errors()[0]
    parts = [str(part) for part in first["loc"]]
    if any(part.endswith("Wire") or part == "str" for part in parts):
        message = 'give a name, or {"variable": "x"}'
    else:
        message = first["msg"].lower()
    kept = [
        part
        for place, part in enumerate(parts)
        if part not in ("atom", "str", "VariableWire") and parts[place - 1 : place] != [part]
    ]
    return f"{'.'.join(kept) or 'the query'}: {message}"


def _formula_data(formula: Formula) -> dict[str, Any]:
    match formula:
        case And(parts):
            return {"and": [_formula_data(part) for part in parts]}
        case Or(parts):
            return {"or": [_formula_data(part) for part in parts]}
        case Not(part):
            return {"not": _formula_data(part)}
        case Atom():
            return _atom_data(formula)
        case _:
            assert_never(formula)


def _atom_data(atom: Atom) -> dict[str, Any]:
    data: dict[str, Any] = {
        "relation": atom.relation,
        "subject": _term_data(atom.subject),
        "object": _term_data(atom.object),
    }
    if atom.qualifiers:
        pairs = [{"attribute": a, "value": _term_data(value)} for a, value in atom.qualifiers]
        data["qualifiers"] = pairs
    if atom.closed:
        data["only"] = True
    return data


def _term_data(term: Term) -> Any:
    return {"variable": term.name} if isinstance(term, Variable) else term


def _formula(wire: FormulaWire) -> Formula:
    match wire:
        case AndWire():
            return And(tuple(_formula(part) for part in wire.parts))
        case OrWire():
            return Or(tuple(_formula(part) for part in wire.parts))
        case NotWire():
            return Not(_formula(wire.part))
        case AtomWire():
            pairs = tuple((pair.attribute, _term(pair.value)) for pair in wire.qualifiers)
            terms = _term(wire.subject), _term(wire.object)
            return Atom(wire.relation, *terms, pairs, closed=wire.only)
        case _:
            assert_never(wire)


def _term(wire: TermWire) -> Term:
    return Variable(wire.variable) if isinstance(wire, VariableWire) else wire
