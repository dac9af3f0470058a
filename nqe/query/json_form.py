"""The JSON form of queries, for clients and files.

A term is a name or {"variable": "x"}. A formula is {"and": […]}, {"or": […]}, {"not": …}, an atom
(an object with relation, subject, object and, optionally, qualifiers and only) or a comparison (an
object with left, operator and right). A query has a formula and a target, or targets and count.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection
from typing import Annotated, Any, assert_never

from pydantic import (
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    StrictFloat,
    StrictInt,
    Tag,
    ValidationError,
    model_validator,
)
from pydantic_core import PydanticCustomError

from nqe.errors import QueryError
from nqe.query.builders import comparison
from nqe.query.formula import And, Atom, Comparison, Formula, Not, Or, Term, Variable
from nqe.query.limits import JSON_CHARACTERS, JSON_VALUES, NESTING, TARGETS, show_text, show_value

# An `and` or `or` is an object and a list. Below the last one are an atom, the list of its
# qualifiers, a qualifier, a variable and its name; above the first one is the query.
_JSON_NESTING = 2 * NESTING.most + 6
# A whole number with more digits is read as a float, because long ones take quadratic time.
_DIGITS = 18


class _JsonModel(BaseModel):
    """What all forms in this file have in common: unknown fields are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class VariableJson(_JsonModel):
    """A variable."""

    variable: str


TermJson = VariableJson | str
ComparedJson = VariableJson | str | StrictInt | StrictFloat


class QualifierJson(_JsonModel):
    """An attribute and the value that it must have."""

    attribute: str
    value: TermJson


class AtomJson(_JsonModel):
    """A pattern of facts."""

    relation: TermJson
    subject: TermJson
    object: TermJson
    qualifiers: tuple[QualifierJson, ...] = ()
    only: bool = False


class ComparisonJson(_JsonModel):
    """Two terms compared, at least one of them a variable; numbers may stand without quotes."""

    left: ComparedJson
    operator: str
    right: ComparedJson


class AndJson(_JsonModel):
    """All parts hold."""

    parts: tuple[FormulaJson, ...] = Field(alias="and", min_length=2)


class OrJson(_JsonModel):
    """At least one part holds."""

    parts: tuple[FormulaJson, ...] = Field(alias="or", min_length=2)


class NotJson(_JsonModel):
    """The part does not hold."""

    part: FormulaJson = Field(alias="not")


def _kind(data: Any) -> str:
    keys = data.keys() if isinstance(data, dict) else ()
    return next((word for word in ("and", "or", "not", "operator") if word in keys), "atom")


FormulaJson = Annotated[
    Annotated[AtomJson, Tag("atom")]
    | Annotated[ComparisonJson, Tag("operator")]
    | Annotated[AndJson, Tag("and")]
    | Annotated[OrJson, Tag("or")]
    | Annotated[NotJson, Tag("not")],
    Discriminator(_kind),
]


class QueryJson(_JsonModel):
    """A query: what it asks for and its formula."""

    target: str | None = None
    targets: tuple[str, ...] | None = None
    count: str | None = None
    formula: FormulaJson

    @model_validator(mode="after")
    def _check_asked(self) -> QueryJson:
        if self.target is not None and self.targets is not None:
            raise PydanticCustomError("asked", "give target or targets, not both")
        if self.target is None and self.targets is None and self.count is None:
            raise PydanticCustomError("asked", "give target, targets or count")
        return self

    @property
    def asked(self) -> tuple[str, ...]:
        """The names of the targets."""
        return (self.targets or ()) if self.target is None else (self.target,)


def to_json(
    targets: tuple[Variable, ...], formula: Formula, counted: Variable | None = None
) -> dict[str, Any]:
    """A query as JSON data."""
    data: dict[str, Any] = {}
    if len(targets) == 1 and counted is None:
        data["target"] = targets[0].name
    elif targets:
        data["targets"] = [target.name for target in targets]
    if counted is not None:
        data["count"] = counted.name
    return {**data, "formula": _formula_data(formula)}


def from_json(data: Any) -> tuple[tuple[Variable, ...], Formula, Variable | None]:
    """The targets, the formula and the counted variable of JSON data or JSON text."""
    content = _load(data) if isinstance(data, str | bytes) else data
    _check_size(content)
    try:
        query = QueryJson.model_validate(content)
    except ValidationError as error:
        raise QueryError(f"query JSON: {_describe_error(error)}") from None
    TARGETS.check(len(query.asked))
    counted = None if query.count is None else Variable(query.count)
    return tuple(map(Variable, query.asked)), _formula(query.formula), counted


def _load(text: str | bytes) -> Any:
    """The data of JSON text; stricter than Python's own reader."""
    JSON_CHARACTERS.check(len(text))
    try:
        return json.loads(
            text,
            object_pairs_hook=_read_object,
            parse_int=_read_integer,
            parse_constant=_refuse_constant,
        )
    except ValueError as error:
        raise QueryError(f"query JSON: not JSON ({error})") from None
    except RecursionError:
        raise NESTING.exceeded() from None


def _read_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        counts = Counter(key for key, _ in pairs)
        twice = next(key for key, count in counts.items() if count > 1)
        raise QueryError(f"query JSON: an object has the key {show_value(twice)} twice; keep one")
    return content


def _read_integer(digits: str) -> float:
    return int(digits) if len(digits) <= _DIGITS else float(digits)


def _refuse_constant(word: str) -> None:
    raise QueryError(f"query JSON: {word} is not JSON; write a name in quotes")


def _check_size(content: Any) -> None:
    """Refuse data that is too large or too deep, before its content is looked at."""
    level, count, depth = [content], 1, 0
    while level:
        depth += 1
        if depth > _JSON_NESTING:
            raise NESTING.exceeded()
        inner = [values for values in map(_values, level) if values]
        count += sum(map(len, inner))
        JSON_VALUES.check(count)
        level = [value for values in inner for value in values]


def _values(data: Any) -> Collection[Any]:
    match data:
        case dict():
            return data.values()
        case list() | tuple():
            return data
        case _:
            return ()


def _describe_error(error: ValidationError) -> str:
    """The place and the kind of the error, without the names of the classes in this file."""
    first = error.errors(include_url=False, include_input=False)[0]
    parts = [str(part) for part in first["loc"]]
    if any(part.endswith("Json") or part == "str" for part in parts):
        message = 'give a name, or {"variable": "x"}'
    else:
        message = first["msg"].lower()
    path = [
        part
        for place, part in enumerate(parts)
        if part not in ("atom", "str", "VariableJson") and parts[place - 1 : place] != [part]
    ]
    return f"{show_text('.'.join(path)) or 'the query'}: {message}"


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
        case Comparison(operator, left, right):
            return {"left": _term_data(left), "operator": operator, "right": _term_data(right)}
        case _:
            assert_never(formula)


def _atom_data(atom: Atom) -> dict[str, Any]:
    data: dict[str, Any] = {
        "relation": _term_data(atom.relation),
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


def _formula(data: FormulaJson) -> Formula:
    match data:
        case AndJson():
            return And(tuple(_formula(part) for part in data.parts))
        case OrJson():
            return Or(tuple(_formula(part) for part in data.parts))
        case NotJson():
            return Not(_formula(data.part))
        case AtomJson():
            pairs = tuple((pair.attribute, _term(pair.value)) for pair in data.qualifiers)
            terms = _term(data.subject), _term(data.object)
            return Atom(_term(data.relation), *terms, pairs, closed=data.only)
        case ComparisonJson():
            return comparison(_compared(data.left), data.operator, _compared(data.right))
        case _:
            assert_never(data)


def _compared(data: ComparedJson) -> Term | int | float:
    if isinstance(data, VariableJson):
        return Variable(data.variable)
    if isinstance(data, float) and abs(data) >= 10**_DIGITS:
        raise QueryError("query JSON: a number is too long; write it in quotes")
    return data


def _term(data: TermJson) -> Term:
    return Variable(data.variable) if isinstance(data, VariableJson) else data
