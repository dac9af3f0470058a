"""Headers: whether the first line of a file names columns, although nobody said so."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence

from nqe.readers.cells import split_or_skip

# At most this many lines are compared with the first one.
COMPARED = 1000
# At least this many lines must have what the first line lacks.
FEWEST = 3
# At least this many lines must follow to say that they repeat their second cells.
MANY = 8
# At least this many names must begin with small letters above cells that begin with capitals.
FEWEST_SMALL = 2
# This share of the lines must have as many cells as the first one.
SAME_WIDTH = 0.9

# Names of columns, by what stands in them; in lower case, without signs between words.
USUAL_NAMES = {
    "subject": "subject source src from head start startid node1 entity1 item item1 origin fromid "
    "sourceid subjekt sujet sujeto soggetto sujeito onderwerp",
    "relation": "relation predicate property prop rel relationship relationtype edge edgetype "
    "pradikat praedikat predikat predicat predicado predicato beziehung relacion relazione relacao",
    "object": "object target dst dest destination to tail end endid node2 entity2 item2 value toid "
    "targetid objekt objet objeto oggetto wert valeur valor valore",
    "kind": "type kind label category",
    "qualifier": "id name year date time since until weight score count title email url country "
    "description itemlabel valuelabel proplabel propertylabel objectlabel qualifier distance "
    "datum jahr titel nom annee titre nombre fecha titulo nome anno data ano",
}
ROLES = {name: role for role, names in USUAL_NAMES.items() for name in names.split()}
SHORT_HEADERS = (("s", "p", "o"), ("h", "r", "t"))

# Kinds of cells that names of columns are not; the first one that fits is the kind of a cell.
KINDS = {
    "number": re.compile(r"[+-]?[0-9][0-9.,]*"),
    "date": re.compile(r"[+-]?[0-9]{1,4}-[0-9]{1,2}-[0-9]{1,2}.*"),
    "address": re.compile(r"<?[a-z]+://.*|<.*>|[^@\s]+@[^@\s]+\.[a-z]+"),
    "number of an item": re.compile(r"[A-Za-z]{1,3}[0-9]+"),
    "capital letters": re.compile(r"[A-Z]{2,}[0-9]*"),
    "name with a number": re.compile(r".*\D[0-9]+"),
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
    if same < SAME_WIDTH * len(others):
        return False
    columns = [[row[at] for row in others if at < len(row)] for at in range(len(first))]
    named = [(name, column) for name, column in zip(first, columns, strict=True) if name]
    if any(name in column for name, column in named):
        return False
    if len(set(first)) == len(first) and _has_usual_names(first):
        return True
    if any(_differs(name, column) for name, column in named):
        return True
    small = sum(_is_small_above_capitals(name, column) for name, column in named)
    return small >= FEWEST_SMALL or _stands_apart(first, columns)


def _is_small_above_capitals(name: str, column: Sequence[str]) -> bool:
    """Whether a name begins with a small letter, and all cells below it with capital letters."""
    filled = [cell for cell in column if cell]
    return name[0].islower() and len(filled) >= FEWEST and all(one[0].isupper() for one in filled)


def _stands_apart(first: Sequence[str], columns: Sequence[Sequence[str]]) -> bool:
    """Whether other lines repeat their second cells, and have no cell of the first line anywhere.

    The relation of a fact stands in other facts too, and mostly so does an entity. A first line
    with an id of the same kind as all others in its column is a fact, and so is one that begins
    some cells, but not all, with capital letters.
    """
    if len(columns) < 3 or len(columns[1]) < MANY or not repeats(columns[1]):
        return False
    if len({name[0].isupper() for name in first if name}) > 1:
        return False
    kinds = [(_find_kind(name), column) for name, column in zip(first, columns, strict=True)]
    if any(kind and {_find_kind(one) for one in column} == {kind} for kind, column in kinds):
        return False
    return set(first).isdisjoint(cell for column in columns for cell in column)


def repeats(column: Sequence[str]) -> bool:
    """Whether the cells of a column have each of their values twice on average, or more often."""
    filled = [cell for cell in column if cell]
    return len(filled) >= FEWEST and 2 * len(set(filled)) <= len(filled)


def suggest_options(names: Sequence[str], rows: Sequence[Sequence[str]] = ()) -> str:
    """The options that say which columns of a header are subject, relation and object.

    A column is suggested as the relation only if its name says so: the relations of most tables
    stand in their headers.
    """
    roles = {ROLES.get(_simplify(name), ""): name for name in reversed(names)}
    free = [name for name in names if name and not _names_labels(name, names)] or list(names)
    subject = roles.get("subject", free[0])
    relation = roles.get("relation") or _find_column_of_kinds(roles, names, rows)
    free = [name for name in free if name not in (subject, relation)] or [names[-1]]
    given = {"subject": subject, "relation": relation, "object": roles.get("object", free[0])}
    options = [f"--{key} {_quote(name)}" for key, name in given.items() if name is not None]
    return " ".join(options if relation is not None else [*options, "--relation-name NAME"])


def _find_column_of_kinds(
    roles: Mapping[str, str], names: Sequence[str], rows: Sequence[Sequence[str]]
) -> str | None:
    """The column of the kinds of edges: such kinds are repeated between a source and a target."""
    kind = roles.get("kind")
    if kind is None or not {"subject", "object"} <= roles.keys():
        return None
    cells = _list_cells(names, kind, rows)
    return kind if len(cells) < FEWEST or repeats(cells) else None


def _list_cells(names: Sequence[str], name: str, rows: Sequence[Sequence[str]]) -> list[str]:
    at = names.index(name)
    return [row[at] for row in rows if at < len(row)]


def _names_labels(name: str, names: Sequence[str]) -> bool:
    """Whether a column has the labels of another one, as `personLabel` has those of `person`."""
    stem = name.removesuffix("Label")
    return stem != name and stem in names


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
    letters = unicodedata.normalize("NFKD", name.casefold())
    return re.sub(r"[^a-z0-9]", "", letters)


def _quote(name: str) -> str:
    return name if re.fullmatch(r"[\w.:-]+", name) else f"'{name:.60}'"
