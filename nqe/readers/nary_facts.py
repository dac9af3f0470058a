"""Reads n-ary facts: JF17K's lines (a relation and its entities), JSON lines (roles and values).

Which triple of a fact is the main one depends on how it is written:
- tab-separated `relation e1 e2 e3 …`: (e1, relation, e2); e3 and further entities are the values
  of the attributes `relation_0`, `relation_1`, …;
- JSON with `subject`, `relation` (or `predicate`) and `object`, as the GRAN family writes it:
  the triple of these three;
- JSON with roles `R_h` and `R_t`, as in WikiPeople: (value of R_h, R, value of R_t); if several
  relations R have both roles, the first by name;
- any other JSON: roles are sorted by name, the first value of the first role is the subject, the
  next value is the object, and the relation is named `role1/role2` after their roles. If only some
  of `subject`, `relation` and `object` are among them, or other names of a triple's parts, such as
  `source`, `type` and `target`, the line is bad.
All other roles are attributes, and a list of values gives one qualifier per value. The key `N`,
which some data sets use for the arity, is ignored.
"""

from __future__ import annotations

import json
import math
from typing import Any

from nqe.errors import InputError
from nqe.graph.fact import Fact, Qualifier
from nqe.readers.records import Records
from nqe.readers.source import Source
from nqe.readers.typed_values import read_value
from nqe.text_format import MAIN_COLUMNS

HEAD_MARK, TAIL_MARK = "_h", "_t"
# The roles that name the parts of a main triple, and the part that each names.
MAIN_ROLES = {part: part for part in MAIN_COLUMNS} | {"predicate": "relation"}
# Other names that tools give to the parts of a triple: of subject and object, and of the relation.
OTHER_ENDS = (
    ("subject", "object"),
    ("head", "tail"),
    ("source", "target"),
    ("from", "to"),
    ("s", "o"),
    ("h", "t"),
)
OTHER_RELATIONS = (*MAIN_ROLES, "rel", "relationship", "property", "type", "label", "p", "r")
ARITY_KEY = "N"


class NumberText(str):
    """A number of JSON as it is written."""

    __slots__ = ()


def read(source: Source, *, typed: bool = False) -> Records:
    """One fact per line; all lines are JSON if the first one is.

    If `typed`, the numbers in JSON are literals, except as subjects; otherwise plain ids.
    """
    first = source.head_lines()[:1]
    is_json = bool(first) and first[0].lstrip().startswith("{")
    of_json = _parse_typed_json if typed else parse_json
    return source.parse_lines(of_json if is_json else _parse_columns)


def _parse_columns(line: str) -> Fact:
    relation, *entities = (part.strip() for part in line.split("\t"))
    if len(entities) < 2:
        raise InputError(
            f"{len(entities)} tab-separated entities after the relation, but a fact has 2 or more; "
            "add them or drop the line"
        )
    if not relation or "" in entities:
        raise InputError("an empty column; fill it or drop the line")
    rest = tuple((f"{relation}_{i}", entity) for i, entity in enumerate(entities[2:]))
    return Fact(entities[0], relation, entities[1], rest)


def _parse_typed_json(line: str) -> Fact:
    fact = parse_json(line, typed=True)
    pairs = tuple((role, _read_number(value)) for role, value in fact.qualifiers)
    return Fact(fact.subject, fact.relation, _read_number(fact.object), pairs)


def _read_number(text: str) -> str:
    return read_value(text, "number") if isinstance(text, NumberText) else text


# How the json module reads numbers, by whether they are typed.
NUMBERS: dict[bool, dict[str, Any]] = {
    False: {"parse_int": str},
    True: {"parse_int": NumberText, "parse_float": NumberText},
}


def parse_json(line: str, *, typed: bool = False) -> Fact:
    """The fact that a JSON object of roles and values states."""
    try:
        # Whole numbers stay as they are written, as Python converts only those below 4,300 digits.
        roles = json.loads(line, object_pairs_hook=_refuse_repeated_roles, **NUMBERS[typed])
    except (ValueError, RecursionError) as error:
        raise InputError(f"not JSON ({error}); write one object per line") from error
    if not isinstance(roles, dict):
        raise InputError("not a JSON object; write roles and their values")
    roles.pop(ARITY_KEY, None)
    pairs = [(role, text) for role, value in roles.items() for text in _list_texts(role, value)]
    return _fact_of_named_parts(pairs) or _fact_of_endings(pairs) or _fact_of_sorted_roles(pairs)


def _refuse_repeated_roles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The roles of an object; of equal roles, the json module would keep only the last."""
    roles = dict(pairs)
    if len(roles) < len(pairs):
        raise ValueError("a role stands twice, where a list of values is meant")
    return roles


def _list_texts(role: str, value: Any) -> list[str]:
    """The values of a role as texts."""
    values = value if isinstance(value, list) else [value]
    if not all(map(_is_text_or_number, values)):
        raise InputError(f"role '{role}' holds {value!r:.60}; give texts, numbers or lists of them")
    texts = [one if isinstance(one, NumberText) else str(one).strip() for one in values]
    if "" in texts:
        raise InputError(f"role '{role}' has an empty value; fill it or drop the role")
    return texts


def _is_text_or_number(value: Any) -> bool:
    """Whether it is a text, which whole numbers are too, or a number with a fraction."""
    if isinstance(value, float):
        return math.isfinite(value)  # not what the json module makes of NaN and 1e999
    return isinstance(value, str)


def _fact_of_named_parts(pairs: list[Qualifier]) -> Fact | None:
    """The fact whose roles name its subject, relation and object."""
    main: dict[str, str] = {}
    rest = []
    for role, text in pairs:
        place = MAIN_ROLES.get(role)
        if place is not None:
            if place in main:
                raise InputError(f"two values for '{place}'; the main triple has one each")
            main[place] = text
        else:
            rest.append((role, text))
    if len(main) == 3:
        return Fact(main["subject"], main["relation"], main["object"], tuple(rest))
    return None


def _fact_of_endings(pairs: list[Qualifier]) -> Fact | None:
    """The fact of which two roles end in the marks of a head and a tail."""
    roles = {role for role, _ in pairs}
    heads = (role for role in sorted(roles) if role.endswith(HEAD_MARK))
    relations = (head.removesuffix(HEAD_MARK) for head in heads)
    relation = next((name for name in relations if name + TAIL_MARK in roles), None)
    if not relation:
        return None
    rest = list(pairs)
    subject = _pop_first(rest, relation + HEAD_MARK)
    object_ = _pop_first(rest, relation + TAIL_MARK)
    return Fact(subject, relation, object_, tuple(rest))


def _pop_first(pairs: list[Qualifier], wanted: str) -> str:
    """Remove the first pair of a role from the list, and return its value."""
    return pairs.pop(next(i for i, (role, _) in enumerate(pairs) if role == wanted))[1]


def _fact_of_sorted_roles(pairs: list[Qualifier]) -> Fact:
    """The fact of roles that mark no main triple."""
    roles = {role for role, _ in pairs}
    _refuse_other_names(roles)
    _refuse_part_of_triple(roles)
    if len(pairs) < 2:
        raise InputError(
            f"{len(pairs)} value(s), but a fact has 2 or more; add roles or drop the line"
        )
    (first, subject), (second, object_), *rest = sorted(pairs, key=lambda pair: pair[0])
    return Fact(subject, f"{first}/{second}", object_, tuple(rest))


def _refuse_other_names(roles: set[str]) -> None:
    """Refuse roles that name all parts of a triple in words other than the usual ones."""
    written = {role.casefold(): role for role in roles}
    relation = next((name for name in OTHER_RELATIONS if name in written), None)
    ends = next((both for both in OTHER_ENDS if written.keys() >= set(both)), None)
    if relation is not None and ends is not None:
        named = [written[name] for name in (ends[0], relation, ends[1])]
        raise InputError(
            f"the roles {', '.join(named)} name the parts of a triple; rename them to "
            f"{', '.join(MAIN_COLUMNS)}, or to other words if they mean something else"
        )


def _refuse_part_of_triple(roles: set[str]) -> None:
    """Refuse roles that name some parts of a main triple, but not all three."""
    named = [role for role in MAIN_ROLES if role in roles]
    missing = [part for part in MAIN_COLUMNS if part not in {MAIN_ROLES[role] for role in named}]
    if named:
        raise InputError(
            f"the main triple has {_join(named)} but no {_join(missing)}; add what is missing, or "
            f"rename {_join(named)} if the roles do not name parts of a triple"
        )


def _join(roles: list[str]) -> str:
    return " and ".join(f"'{role}'" for role in roles)
