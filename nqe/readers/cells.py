"""A line of cells with a separator between them, some perhaps in quotes."""

from __future__ import annotations

import csv
from collections.abc import Iterable

from nqe.readers.lines import Bad

NAMES = {",": "comma", "\t": "tab", ";": "semicolon", "|": "bar"}


def split(line: str, separator: str) -> list[str] | Bad:
    """The cells of a line, outer spaces cut off; a quoted cell ends on its line."""
    if '"' not in line:
        return [cell.strip() for cell in line.split(separator)]
    try:
        cells = next(csv.reader([line], delimiter=separator, skipinitialspace=True, strict=True))
    except csv.Error as error:
        return Bad(f"{error}; close the quotes on the line they are opened", line)
    return [cell.strip() for cell in cells]


def join(cells: Iterable[str], separator: str) -> str:
    """The line of cells; what could be taken for something else is put in quotes."""
    return separator.join(
        f'"{cell.replace(chr(34), 2 * chr(34))}"' if _needs_quotes(cell, separator) else cell
        for cell in cells
    )


def _needs_quotes(cell: str, separator: str) -> bool:
    # A line that begins with a brace would be taken for JSON.
    return '"' in cell or separator in cell or cell.startswith("{")
