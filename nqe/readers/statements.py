"""Reads statements, the format of WD50K: subject, relation, object, attribute, value, …"""

from __future__ import annotations

from functools import partial

from nqe.errors import InputError
from nqe.graph.fact import Fact
from nqe.readers.records import Records
from nqe.readers.source import Source
from nqe.text_format import SEPARATOR_NAMES, split_cells


def read(source: Source) -> Records:
    """One fact per line, separated by commas, or by tabs if the first line has any."""
    first = source.head_lines()[:1]
    separator = "\t" if first and "\t" in first[0] else ","
    return source.parse_lines(partial(_parse, separator))


def _parse(separator: str, line: str) -> Fact:
    parts = split_cells(line, separator)
    if len(parts) < 3:
        raise InputError(
            f"{len(parts)} part(s) with a {SEPARATOR_NAMES[separator]} between them, "
            "but a statement has 3 or more; add what is missing"
        )
    if len(parts) % 2 == 0:
        raise InputError(f"qualifier '{parts[-1]}' has no value; add one or drop the pair")
    if "" in parts:
        raise InputError(f"part {parts.index('') + 1} is empty; fill it or drop the statement")
    return Fact(parts[0], parts[1], parts[2], tuple(zip(parts[3::2], parts[4::2], strict=True)))
