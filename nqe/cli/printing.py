"""Print tables and colours on a terminal, and plain tab-separated lines into a pipe."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal

from nqe.shown_text import dump_json, make_lines_visible, make_visible

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

Cell = str | int | float | None

# The styles of columns on a terminal.
STYLES = {"label": "bold cyan", "id": "dim"}


def on_terminal() -> bool:
    """Whether standard output is a terminal."""
    return sys.stdout.isatty()


def console() -> Console:
    """Return a console that prints in colour; only used on a terminal."""
    from rich.console import Console

    return Console(highlight=False)


def say(text: str = "") -> None:
    """Print a line of plain text; a line break in it is made visible."""
    print(make_visible(text))


def say_lines(text: str) -> None:
    """Print a text of several lines."""
    print(make_lines_visible(text))


def write_data(text: str) -> None:
    """Print text for other programs exactly as it is, such as CSV or SPARQL."""
    print(text)


def note(text: str) -> None:
    """Print a line for the user on standard error, so that pipes do not read it."""
    print(make_visible(text), file=sys.stderr)


def note_warnings(warnings: Iterable[str]) -> None:
    """Print notes about a query on standard error."""
    for warning in warnings:
        note(f"nqe: note: {warning}")


def note_error(where: str, error: Exception) -> None:
    """Print an error on standard error; that of a query has several lines."""
    print(make_lines_visible(f"nqe: {where}{error}"), file=sys.stderr)


def heading(text: str) -> None:
    """Print a title."""
    if on_terminal():
        console().print()
        console().print(_plain_text(text, "bold"))
    else:
        print(f"\n# {make_visible(text)}")


def table(columns: Sequence[str], rows: Sequence[Sequence[Cell]]) -> None:
    """Print rows under a header, with numbers aligned to the right."""
    if not on_terminal():
        for row in (columns, *rows):
            print("\t".join("" if cell is None else make_visible(str(cell)) for cell in row))
        return
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    drawn = Table(box=SIMPLE_HEAD, pad_edge=False)
    for place, name in enumerate(columns):
        number = bool(rows) and all(isinstance(row[place], int | float) for row in rows)
        side: Literal["left", "right"] = "right" if number else "left"
        # Ids are never wrapped, so that they can be copied.
        drawn.add_column(
            _plain_text(name), justify=side, style=STYLES.get(name, ""), no_wrap=name == "id"
        )
    for row in rows:
        drawn.add_row(*(_shown(cell) for cell in row))
    console().print(drawn)


def chance(probability: float) -> str:
    """Format a probability with four decimals, or with an exponent if it is very small."""
    small = 0 < probability < 0.00005
    return f"{probability:.1e}" if small else f"{probability:.4f}"


def json_line(value: Any) -> None:
    """Print a JSON object on one line."""
    print(dump_json(_plain(value)))


def json_block(value: Any) -> None:
    """Print a JSON object, indented."""
    print(dump_json(_plain(value), indent=2))


def _plain(value: Any) -> Any:
    return dataclasses.asdict(value) if dataclasses.is_dataclass(value) else value  # type: ignore[arg-type]


def _shown(cell: Cell) -> str | Text:
    match cell:
        case None:
            return ""
        case int():
            return f"{cell:,}"
        case float():
            return f"{cell:,.2f}"
        case _:
            return _plain_text(cell)


def _plain_text(text: str, style: str = "") -> Text:
    """Text in which rich looks for no markup and no names of emoji."""
    from rich.text import Text

    return Text(make_visible(text), style)
