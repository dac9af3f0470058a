"""Labels from a TSV: id, label, and where there are more columns description and aliases."""

from __future__ import annotations

from nqe.errors import InputError
from nqe.graph.vocabulary import Description
from nqe.readers.bad_lines import Bad, BadLines
from nqe.readers.source import Source

ALIAS_SEPARATOR = "|"


def read_labels(path: str, bad: BadLines | None = None) -> dict[str, Description]:
    """What the file says of each id; a second line for an id adds an alias."""
    bad = bad or BadLines()
    found: dict[str, Description] = {}
    with Source(path, bad) as source:
        for number, line in source.lines():
            name, *texts = (part.strip() for part in line.split("\t"))
            if not name or not texts:
                bad.report(path, number, Bad("no tab between an id and a label; add one", line))
                continue
            found[name] = found.get(name, Description()).merge(_description(texts))
    if not found:
        raise InputError(f"{path}: no labels in it; write an id, a tab and a label on each line")
    return found


def _description(texts: list[str]) -> Description:
    label, description, aliases, *_ = (*texts, "", "")
    names = tuple(alias for alias in aliases.split(ALIAS_SEPARATOR) if alias)
    return Description(label or None, description or None, names)
