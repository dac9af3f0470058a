"""Mapping files: a TOML file with one section per table that says what its columns mean."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from nqe.errors import InputError, NqeError
from nqe.graph.splits import SPLITS
from nqe.readers.columns import TYPE_RELATION, Columns, Pairs
from nqe.readers.sparql_source import is_endpoint
from nqe.readers.typed_values import LiteralType
from nqe.text_format import SEPARATOR_NAMES

LARGEST_FILE = 1 << 20
"""Bytes that a mapping file may have."""
DEEPEST_KEY = 30
"""Names that a key may have, with dots between; the memory for a key grows with their square."""
_DEEP_KEY = re.compile(
    rb"""(?<![\w."'-])((?:"[^"\n]*+"|'[^'\n]*+'|[\w-]++)[ \t]*+\.[ \t]*+){%d}""" % DEEPEST_KEY
)
LITERAL_KEYS = tuple(field.name for field in fields(LiteralType))


@dataclass(frozen=True)
class MappedFile:
    """One table of a mapping: its file, what its columns mean, and its split if that is said."""

    section: str
    file: str
    columns: Columns
    split: str | None


def read_mapping(path: str | Path, sources: Sequence[str] = ()) -> list[MappedFile]:
    """The tables of a mapping file; with `sources`, those of these files alone.

    The name of a section is the path of its file, seen from the folder of the mapping. A source
    belongs to the section whose name is the end of its path.
    """
    content = _load(path)
    files = [
        _read_section(f"{path} [{name}]", name, _locate(name, Path(path).parent), section)
        for name, sections in content.items()
        for section in (sections if isinstance(sections, list) else [sections])
    ]
    if not files:
        raise InputError(f'{path}: no section in it; write one for each file, such as ["a.csv"]')
    return list(_choose(files, sources, path)) if sources else files


def _locate(name: str, folder: Path) -> str:
    """Where the file of a section is; an endpoint is where its name says."""
    return name if is_endpoint(name) else str(folder / name)


def _load(path: str | Path) -> dict[str, Any]:
    try:
        with Path(path).open("rb") as file:
            content = file.read(LARGEST_FILE + 1)
        if len(content) > LARGEST_FILE:
            raise InputError(f"{path}: more than {LARGEST_FILE:,} bytes; name a mapping in TOML")
        if _DEEP_KEY.search(content):
            raise InputError(f"{path}: a key of {DEEPEST_KEY} names and more; put one in quotes")
        return tomllib.loads(content.decode("utf-8-sig"))
    except FileNotFoundError:
        raise InputError(f"{path}: no such file; name a mapping in TOML") from None
    except OSError as error:
        raise InputError(
            f"{path}: cannot be opened ({error.strerror}); name a mapping in TOML"
        ) from error
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"{path}: not a TOML file ({error}); see 'Several tables' on the page of formats"
        ) from error


def _choose(
    files: Sequence[MappedFile], sources: Sequence[str], path: str | Path
) -> Iterator[MappedFile]:
    """The tables of the given sources, each with the path that was given."""
    for source in sources:
        parts = Path(source).parts
        found = [
            one
            for one in files
            if parts[-len(Path(one.section).parts) :] == Path(one.section).parts
        ]
        if not found:
            names = ", ".join(dict.fromkeys(one.section for one in files))
            raise InputError(
                f"{source}: no section of {path} is about this file (it has {names:.200}); "
                "add one, or leave out the file"
            )
        yield from (MappedFile(one.section, source, one.columns, one.split) for one in found)


def _read_section(where: str, name: str, file: str, section: Any) -> MappedFile:
    if not isinstance(section, dict):
        raise InputError(f'{where}: not a section; write ["{name}"] above the keys of a file')
    unknown = [key for key in section if key not in KEYS]
    if unknown:
        raise InputError(f"{where}: unknown key '{unknown[0]:.60}'; use {', '.join(KEYS)}")
    values = {key: KEYS[key](value, f"{where} {key}") for key, value in section.items()}
    split = values.pop("split", None)
    kind = values.pop("type", None)
    if kind is not None:
        values["properties"] = (*values.get("properties", ()), (kind, TYPE_RELATION))
    return MappedFile(name, file, Columns(**values, mapping=where), split)


def _text(value: Any, where: str) -> str:
    """A text that is not empty; a number may be the number of a column."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str) or not value.strip():
        raise InputError(f"{where}: {value!r:.60} is no name; give one in quotes")
    return value.strip()


def _texts(value: Any, where: str) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise InputError(f'{where}: {value!r:.60} is no list; write ["a", "b"]')
    return tuple(_text(one, where) for one in value)


def _pairs(value: Any, where: str) -> Pairs:
    """Columns with the names that they give; in a list, those are the names of the columns."""
    if isinstance(value, dict):
        return tuple((column, _text(name, where)) for column, name in value.items())
    return tuple((name, name) for name in _texts(value, where))


def _literals(value: Any, where: str) -> tuple[tuple[str, LiteralType], ...]:
    """Columns with the types of their values: a kind, or a table with a unit or a language."""
    if not isinstance(value, dict):
        raise InputError(f'{where}: {value!r:.60} is no table; write {{ column = "time" }}')
    return tuple((column, _literal_type(one, f"{where} {column}")) for column, one in value.items())


def _literal_type(value: Any, where: str) -> LiteralType:
    parts = value if isinstance(value, dict) else {"kind": value}
    unknown = [key for key in parts if key not in LITERAL_KEYS]
    if unknown or "kind" not in parts:
        problem = f"unknown key '{unknown[0]:.60}'" if unknown else "no kind"
        raise InputError(f'{where}: {problem}; write {{ kind = "number", unit = "kg" }}')
    texts = {key: _text(one, f"{where} {key}") for key, one in parts.items()}
    try:
        return LiteralType(**texts)
    except NqeError as error:
        raise InputError(f"{where}: {error}") from error


def _truth(value: Any, where: str) -> bool:
    if not isinstance(value, bool):
        raise InputError(f"{where}: {value!r:.60} is neither true nor false; write one of them")
    return value


def _one_of(allowed: Sequence[str]) -> Callable[[Any, str], str]:
    def read(value: Any, where: str) -> str:
        if value not in allowed:
            listed = ", ".join(map(repr, allowed))
            raise InputError(f"{where}: {value!r:.60} is not possible; choose one of {listed}")
        return str(value)

    return read


# The keys of a section, and how their values are read.
KEYS: dict[str, Callable[[Any, str], Any]] = {
    "subject": _text,
    "relation": _text,
    "object": _text,
    "relation_name": _text,
    "qualifiers": _pairs,
    "properties": _pairs,
    "type": _text,
    "literals": _literals,
    "label": _text,
    "description": _text,
    "aliases": _text,
    "object_label": _text,
    "header": _truth,
    "names": _texts,
    "separator": _one_of(tuple(SEPARATOR_NAMES)),
    "missing": lambda value, where: frozenset(_texts(value, where)),
    "split": _one_of(SPLITS),
}
