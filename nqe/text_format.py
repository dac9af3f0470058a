"""Conventions of text files that readers and writers share: cells in quotes, the labels file."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence

from nqe.errors import InputError

STANDARD_STREAM = "-"
"""In place of a path: standard input to read, standard output to write."""
LABELS_FILE = "labels.tsv"
"""The file beside the splits of a folder that describes their ids."""
ALIAS_SEPARATOR = "|"
"""Stands between the aliases in one cell of the labels file."""
MAIN_COLUMNS = ("subject", "relation", "object")
"""The names of a table's main columns; every other column is an attribute."""
WHOLE_WITH_FRACTION = re.compile(r"-?[0-9]+\.0")
"""How pandas writes a whole number if a number is missing elsewhere in its column."""
SEPARATOR_NAMES = {",": "comma", "\t": "tab", ";": "semicolon", "|": "bar"}


def split_cells(line: str, separator: str) -> list[str]:
    """The cells of a line without outer spaces; a quoted cell must end on its line."""
    if '"' not in line:
        cells = line.split(separator)
    else:
        rows = csv.reader([line], delimiter=separator, skipinitialspace=True, strict=True)
        try:
            cells = next(rows)
        except csv.Error as error:
            raise InputError(f"{error}; close the quotes on the line they are opened") from error
    return [cell.strip() for cell in cells] if " " in line else cells


def join_table_cells(cells: Sequence[str], separator: str) -> str:
    """The line of a table; what a reader could take for a number of pandas is quoted."""
    line = join_cells(cells, separator)
    if ".0" not in line or not any(map(WHOLE_WITH_FRACTION.fullmatch, cells)):
        return line
    return separator.join(map(_quote, cells))


def join_cells(cells: Sequence[str], separator: str) -> str:
    """The line that `split_cells` splits into these cells, in quotes where it needs them."""
    line = separator.join(cells)
    # A line that begins with a brace or a bracket may be detected as JSON.
    plain = '"' not in line and not line.startswith(("{", "["))
    if plain and line.count(separator) == len(cells) - 1:
        return line
    return separator.join(map(_quote, cells))


def _quote(cell: str) -> str:
    return f'"{cell.replace(chr(34), 2 * chr(34))}"'
