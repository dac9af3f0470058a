"""Reads a labels file: tab-separated id and label, then optionally description and aliases."""

from __future__ import annotations

from nqe.errors import InputError
from nqe.graph.vocabulary import Description
from nqe.readers.records import DescribedId, Records
from nqe.readers.source import Source
from nqe.text_format import ALIAS_SEPARATOR


def read(source: Source) -> Records:
    """One description per line; a second line for an id adds an alias."""
    return source.parse_lines(_parse)


def _parse(line: str) -> DescribedId:
    name, *texts = (part.strip() for part in line.split("\t"))
    if not name or not texts:
        raise InputError("no tab between an id and a label; add one")
    label, description, aliases, *_ = (*texts, "", "")
    names = tuple(alias for alias in aliases.split(ALIAS_SEPARATOR) if alias)
    return DescribedId(name, Description(label or None, description or None, names))
