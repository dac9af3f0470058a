"""Statements, WD50K's form: subject, relation, object, then attribute and value in turn."""

from __future__ import annotations

from nqe.graph.fact import Fact
from nqe.readers import cells
from nqe.readers.bad_lines import Bad, Lines
from nqe.readers.source import Source


def read(source: Source) -> Lines:
    """One fact a line, split at commas, or at tabs where the first line has any."""
    first = source.head_lines()[:1]
    separator = "\t" if first and "\t" in first[0] else ","
    for number, line in source.lines():
        yield number, _fact(line, separator)


def _fact(line: str, separator: str) -> Fact | Bad:
    parts = cells.split(line, separator)
    if isinstance(parts, Bad):
        return parts
    if len(parts) < 3:
        found = f"{len(parts)} part(s) with a {cells.NAMES[separator]} between them"
        return Bad(f"{found}, but a statement has 3 or more; add what is missing", line)
    if len(parts) % 2 == 0:
        return Bad(f"qualifier '{parts[-1]}' has no value; add one or drop the pair", line)
    if "" in parts:
        return Bad(f"part {parts.index('') + 1} is empty; fill it or drop the statement", line)
    return Fact(parts[0], parts[1], parts[2], tuple(zip(parts[3::2], parts[4::2], strict=True)))
