"""A line of cells with a separator between them, some perhaps in quotes."""

from __future__ import annotations

import csv
from collections.abc import Sequence

from nqe.readers.bad_lines import Bad

NAMES = {",": "comma", "\t": "tab", ";": "semicolon", "|": "bar"}


def split(line: str, separator: str) -> list[str] | Bad:
    """The cells of a line, outer spaces cut off; a quoted cell ends on its line."""
    if '"' not in line:
        cells = line.split(separator)
    else:
        rows = csv.reader([line], delimiter=separator, skipinitialspace=True, strict=True)
        try:
            cells = next(rows)
        except csv.Error as error:
            return Bad(f"{error}; close the quotes on the line they are opened", line)
    return [cell.strip() for cell in cells] if " " in line else cells


def join(cells: Sequence[str], separator: str) -> str:
    """The line of cells; what could be taken for something else is put in quotes."""
    line = separator.join(cells)
    # A line that begins with a brace would be taken for JSON.
    plain = '"' not in line and not line.startswith("{")
    if plain and line.count(separator) == len(cells) - 1:
        return line
    return separator.join(f'"{cell.replace(chr(34), 2 * chr(34))}"' for cell in cells)
