"""Headers: whether the first line of a file names columns, although nobody said so."""

from __future__ import annotations

import re
from collections.abc import Sequence

from nqe.readers.cells import split_or_skip

# At most this many lines are compared with the first one.
COMPARED = 200
# At least this many lines must have what the first line lacks.
FEWEST = 3
# This share of the lines must have as many cells as the first one.
SAME_WIDTH = 0.9

# Names of columns, by what stands in them; in lower case, without signs between words.
USUAL_NAMES = {
    "subject": "subject source src from head start startid node1 entity1 item item1 origin fromid "
    "sourceid",
    "relation": "relation predicate property prop rel relationship relationtype edge edgetype",
    "object": "object target dst dest destination to tail end endid node2 entity2 item2 value toid "
    "targetid",
    "kind": "type kind label category",
    "qualifier": "id name year date time since until weight score count "
    "description itemlabel valuelabel proplabel propertylabel objectlabel qualifier distance",
}
ROLES = {name: role for role, names in USUAL_NAMES.items() for name in names.split()}
SHORT_HEADERS = (("s", "p", "o"), ("h", "r", "t"))

# Kinds of cells that names of columns are not; the first one that fits is the kind of a cell.
KINDS = {
    "number": re.compile(r"[+-]?[0-9][0-9.,]*"),
    "date": re.compile(r"[+-]?[0-9]{1,4}-[0-9]{1,2}-[0-9]{1,2}.*"),
    "address": re.compile(r"<?[a-z]+://.*|<.*>"),
    "number of an item": re.compile(r"[A-Za-z]{1,3}[0-9]+"),
    "capital letters": re.compile(r"[A-Z]{2,}[0-9]*"),
}
WORD = re.compile(r"[?:]?[^\W\d_][\w .:()/-]*")


def looks_like_header(lines: Sequence[str], separator: str) -> bool:
    """Whether the first line is unlike the others in a way that names of columns are.

    It is not if one of its cells stands in the same column again.
    """
    rows = [split_or_skip(line.rstrip("\n"), separator) for line in lines[: COMPARED + 1]]
    rows = [row for row in rows if row]
    if not rows or len(rows[0]) < 2 or not all(map(WORD.fullmatch, filter(None, rows[0]))):
        return False
    first, others = rows[0], rows[1:]
    same = sum(len(row) == len(first) for row in others)
    if same < SAME_WIDTH * len(others) or len(set(first)) < len(first):
        return False
    columns = [[row[at] for row in others if at < len(row)] for at in range(len(first))]
    if any(name in column for name, column in zip(first, columns, strict=True) if name):
        return False
    if _has_usual_names(first):
        return True
    return any(_differs(name, column) for name, column in zip(first, columns, strict=True) if name)


def suggest_options(names: Sequence[str]) -> str:
    """The options that say which columns of a header are subject, relation and object."""
    found = {ROLES.get(_simplify(name), ""): name for name in reversed(names)}
    subject, object_ = found.get("subject", names[0]), found.get("object")
    relation = found.get("relation", found.get("kind"))
    if object_ is None or len(names) == 2:
        object_ = names[1] if len(names) == 2 else names[2]
        relation = relation or (names[1] if len(names) > 2 else None)
    given = {"subject": subject, "relation": relation, "object": object_}
    options = [f"--{key} {_quote(name)}" for key, name in given.items() if name is not None]
    return " ".join(options if relation is not None else [*options, "--relation-name NAME"])


def _has_usual_names(first: Sequence[str]) -> bool:
    simple = [_simplify(name) for name in first]
    return tuple(simple) in SHORT_HEADERS or sum(name in ROLES for name in simple) >= 2


def _differs(name: str, column: Sequence[str]) -> bool:
    """Whether all cells below a name are of one kind that the name is not."""
    kinds = [_find_kind(cell) for cell in column if cell]
    if len(kinds) < FEWEST or len(set(kinds)) > 1:
        return False
    return kinds[0] is not None and kinds[0] != _find_kind(name)


def _find_kind(cell: str) -> str | None:
    return next((kind for kind, pattern in KINDS.items() if pattern.fullmatch(cell)), None)


def _simplify(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.casefold())


def _quote(name: str) -> str:
    return name if re.fullmatch(r"[\w.:-]+", name) else f"'{name:.60}'"
