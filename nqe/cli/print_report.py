"""Print evaluation reports and comparisons as tables, JSON, Markdown, LaTeX or CSV."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from nqe.cli import printing
from nqe.errors import choose

if TYPE_CHECKING:
    from nqe.evaluation import Report
    from nqe.evaluation.result_tables import Sheet


def print_report(report: Report, form: str, by: Iterable[str]) -> None:
    """Print the report of a query set, with one table per grouping."""
    from nqe.evaluation.result_tables import build_sheets

    if form == "json":
        printing.json_block(report.to_json())
    else:
        print_sheets(build_sheets(report, by), form)
    if report.left_out:
        printing.note(f"{report.left_out:,} queries without {report.answers} answers are left out")


def print_link_report(report: Report, form: str) -> None:
    """Print a report of link prediction."""
    from nqe.evaluation.result_tables import build_link_sheet

    if form == "json":
        printing.json_block(report.to_json())
    else:
        print_sheets([build_link_sheet(report)], form)


def print_comparison(sheet: Sheet, form: str) -> None:
    """Print a table of several runs."""
    if form == "json":
        rows = [dict(zip(sheet.columns, row, strict=True)) for row in sheet.rows]
        printing.json_block({"title": sheet.title, "rows": rows})
    else:
        print_sheets([sheet], form)


def print_sheets(sheets: Iterable[Sheet], form: str) -> None:
    """Print tables in a format other than JSON."""
    from nqe.evaluation.result_tables import FORMS

    for number, sheet in enumerate(sheets):
        if form == "table":
            _print_table(sheet)
        else:
            text = choose(FORMS, form, "format")(sheet)
            say = printing.write_data if form == "csv" else printing.say_lines
            say(("\n" if number else "") + text.rstrip("\n"))


def draw_plot(report: Report, path: Path | None) -> None:
    """Draw a report to a file, if one is given."""
    from nqe.evaluation.plot import plot
    from nqe.files import new_file

    if path is not None:
        with new_file(path) as temporary:
            plot(report, temporary)
        note_written(path)


def note_written(path: Path | None) -> None:
    """Tell the user that a file was written, if one was."""
    if path is not None:
        printing.note(f"{path}: written")


def _print_table(sheet: Sheet) -> None:
    from nqe.evaluation.result_tables import mark_best, split_to_width

    printing.heading(sheet.title)
    width = printing.console().width if printing.on_terminal() else sys.maxsize
    for part in split_to_width(sheet, width):
        printing.table(part.columns, mark_best(part))
