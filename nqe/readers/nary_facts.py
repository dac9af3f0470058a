"""N-ary facts: JF17K's lines (a relation and its entities) and JSON lines (roles to values).

Which triple is the main one:
- tab-separated `relation e1 e2 e3 …`: (e1, relation, e2); e3 onwards are the values of
  attributes `relation_0`, `relation_1`, …;
- JSON with `subject`, `relation` (or `predicate`), `object` (the GRAN family): as marked;
- JSON with roles `R_h` and `R_t` (WikiPeople): (value of R_h, R, value of R_t); of several such
  R the first by name;
- JSON with no such mark: roles are sorted by name, the first value of the first role is the
  subject, the next value the object, and the relation is called `role1/role2` after them.
All other roles are attributes, a list of values being as many qualifiers. `N` is passed over.
"""

from __future__ import annotations

import json
from typing import Any

from nqe.graph.fact import Fact, Qualifier
from nqe.readers.bad_lines import Bad, Lines
from nqe.readers.source import Source

HEAD_MARK, TAIL_MARK = "_h", "_t"
ARITY_KEY = "N"


def read(source: Source) -> Lines:
    """One fact a line; the first line tells whether they are JSON."""
    first = source.head_lines()[:1]
    parse = _from_json if first and first[0].lstrip().startswith("{") else _from_columns
    for number, line in source.lines():
        yield number, parse(line)


def _from_columns(line: str) -> Fact | Bad:
    relation, *entities = (part.strip() for part in line.split("\t"))
    if len(entities) < 2:
        return Bad(
            f"{len(entities)} tab-separated entities after the relation, but a fact has 2 or more; "
            "add them or drop the line",
            line,
        )
    if not relation or "" in entities:
        return Bad("an empty column; fill it or drop the line", line)
    rest = tuple((f"{relation}_{i}", entity) for i, entity in enumerate(entities[2:]))
    return Fact(entities[0], relation, entities[1], rest)


def _from_json(line: str) -> Fact | Bad:
    try:
        roles = json.loads(line, object_pairs_hook=_each_once)
    except ValueError as error:
        return Bad(f"not JSON ({error}); write one object a line", line)
    if not isinstance(roles, dict):
        return Bad("not a JSON object; write roles and their values", line)
    roles.pop(ARITY_KEY, None)
    try:
        pairs = [(role, text) for role, value in roles.items() for text in _values(role, value)]
    except ValueError as error:
        return Bad(str(error), line)
    return _marked_by_name(pairs, line) or _marked_by_ending(pairs) or _unmarked(pairs, line)


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The roles of an object; the json module would drop all but the last of equal ones."""
    roles = dict(pairs)
    if len(roles) < len(pairs):
        raise ValueError("a role stands twice, where a list of values is meant")
    return roles


def _values(role: str, value: Any) -> list[str]:
    """A role's values as texts."""
    values = value if isinstance(value, list) else [value]
    if not all(isinstance(one, str | int | float) and not isinstance(one, bool) for one in values):
        raise ValueError(f"role '{role}' holds {value!r:.60}; give texts, numbers or lists of them")
    texts = [str(one).strip() for one in values]
    if "" in texts:
        raise ValueError(f"role '{role}' has an empty value; fill it or drop the role")
    return texts


def _marked_by_name(pairs: list[Qualifier], line: str) -> Fact | Bad | None:
    main: dict[str, str] = {}
    rest = []
    for role, text in pairs:
        place = "relation" if role == "predicate" else role
        if place in ("subject", "relation", "object"):
            if place in main:
                return Bad(f"two values for '{place}'; the main triple has one each", line)
            main[place] = text
        else:
            rest.append((role, text))
    if len(main) == 3:
        return Fact(main["subject"], main["relation"], main["object"], tuple(rest))
    return None


def _marked_by_ending(pairs: list[Qualifier]) -> Fact | None:
    roles = {role for role, _ in pairs}
    heads = (role for role in sorted(roles) if role.endswith(HEAD_MARK))
    relations = (head.removesuffix(HEAD_MARK) for head in heads)
    relation = next((name for name in relations if name + TAIL_MARK in roles), None)
    if not relation:
        return None
    rest = list(pairs)
    subject = _take(rest, relation + HEAD_MARK)
    object_ = _take(rest, relation + TAIL_MARK)
    return Fact(subject, relation, object_, tuple(rest))


def _take(pairs: list[Qualifier], wanted: str) -> str:
    """The first value of a role, which leaves the list."""
    return pairs.pop(next(i for i, (role, _) in enumerate(pairs) if role == wanted))[1]


def _unmarked(pairs: list[Qualifier], line: str) -> Fact | Bad:
    if len(pairs) < 2:
        what = f"{len(pairs)} value(s), but a fact has 2 or more"
        return Bad(f"{what}; add roles or drop the line", line)
    (first, subject), (second, object_), *rest = sorted(pairs, key=lambda pair: pair[0])
    return Fact(subject, f"{first}/{second}", object_, tuple(rest))
