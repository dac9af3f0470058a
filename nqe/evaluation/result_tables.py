"""Forms of a table of results: Markdown, LaTeX, CSV, and what a report's tables are."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from nqe.evaluation.link_prediction import LinkReport
from nqe.evaluation.report import HITS, Metrics, Report

Cell = str | int | float | None

_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{one: "\\" + one for one in "&%$#_{}"},
}


@dataclass(frozen=True)
class Sheet:
    """A table with a title; `best` are the cells (row, column) to be marked."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    best: frozenset[tuple[int, int]] = frozenset()


def report_sheets(report: Report, by: Iterable[str] = ("shape",)) -> list[Sheet]:
    """The tables of a report, one a group; numbers in percent."""
    what = f"{report.answers} answers, per {report.per}, {report.ties} ties, %"
    return [_group_sheet(report, one, what) for one in by if report.group(one)]


def link_sheet(report: LinkReport) -> Sheet:
    """The table of a report of link prediction; numbers in percent."""
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (part.replace("_", "/"), percent(one.mrr), *map(percent, one.hits), one.count)
        for part, one in report.parts.items()
    )
    trained = report.about.get("trained_on")
    told = f", trained on {trained}" if trained else ""
    title = f"Link prediction on {report.split}{told} (per answer, {report.ties} ties, %)"
    return Sheet(title, ("slots", "MRR", *(f"Hits@{k}" for k in HITS), "answers"), rows)


def percent(share: float) -> float:
    """A share as the field prints it."""
    return round(100 * share, 2)


def shown(cell: Cell) -> str:
    """A cell as text; numbers in percent always have two places."""
    if cell is None:
        return ""
    return f"{cell:.2f}" if isinstance(cell, float) else str(cell)


def marked_rows(sheet: Sheet) -> list[tuple[Cell, ...]]:
    """The rows in plain text; the best of a column has a star."""
    return [
        tuple(
            f"{shown(cell)}*" if (row, column) in sheet.best else cell
            for column, cell in enumerate(cells)
        )
        for row, cells in enumerate(sheet.rows)
    ]


def fitting(sheet: Sheet, width: int) -> list[Sheet]:
    """The table in parts that are no wider than a terminal, each with the first column."""
    texts = [sheet.columns, *([shown(cell) for cell in row] for row in sheet.rows)]
    # A star and the space between columns come to what a cell holds.
    widths = [max(map(len, column)) + 4 for column in zip(*texts, strict=True)]
    parts: list[list[int]] = [[]]
    for column in range(1, len(widths)):
        if parts[-1] and sum(widths[one] for one in (0, *parts[-1], column)) > width:
            parts.append([])
        parts[-1].append(column)
    return [_columns(sheet, [0, *part]) for part in parts]


def markdown(sheet: Sheet) -> str:
    """A Markdown table under its title."""
    sides = ["---" if not column else "---:" for column in range(len(sheet.columns))]
    rows = [
        [
            f"**{_piped(cell)}**" if (row, column) in sheet.best else _piped(cell)
            for column, cell in enumerate(cells)
        ]
        for row, cells in enumerate(sheet.rows)
    ]
    lines = [[_piped(name) for name in sheet.columns], sides, *rows]
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return f"{sheet.title}\n\n{table}\n"


def latex(sheet: Sheet) -> str:
    """A LaTeX table for the package booktabs."""
    rows = [
        [
            rf"\textbf{{{escaped(shown(cell))}}}"
            if (row, column) in sheet.best
            else escaped(shown(cell))
            for column, cell in enumerate(cells)
        ]
        for row, cells in enumerate(sheet.rows)
    ]
    lines = [
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{escaped(sheet.title)}}}",
        rf"\begin{{tabular}}{{l{'r' * (len(sheet.columns) - 1)}}}",
        r"\toprule",
        _latex_row([escaped(name) for name in sheet.columns]),
        r"\midrule",
        *map(_latex_row, rows),
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def comma_separated(sheet: Sheet) -> str:
    """CSV with a header; no title, so that it can be read as it stands."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows([sheet.columns, *([shown(cell) for cell in row] for row in sheet.rows)])
    return text.getvalue()


FORMS = {"markdown": markdown, "latex": latex, "csv": comma_separated}


def escaped(text: str) -> str:
    """Text that LaTeX prints as it stands."""
    return "".join(_LATEX.get(letter, letter) for letter in text)


def _columns(sheet: Sheet, columns: Sequence[int]) -> Sheet:
    """Some columns of a table."""
    place = {column: number for number, column in enumerate(columns)}
    best = ((row, place[column]) for row, column in sheet.best if column in place)
    rows = tuple(tuple(row[column] for column in columns) for row in sheet.rows)
    names = tuple(sheet.columns[column] for column in columns)
    return Sheet(sheet.title, names, rows, frozenset(best))


def _group_sheet(report: Report, by: str, what: str) -> Sheet:
    label = "missing links" if by == "missing" else by
    level = f"{100 * report.bootstrap.level:g}%"
    hits = tuple(f"Hits@{k}" for k in HITS)
    columns = (label, "MRR", f"{level} from", "to", *hits, "queries", "answers")
    named = list(report.group(by).items())
    if by == "shape":
        named += report.averages.items()
    named.append(("all", report.all))
    rows = tuple(_row(name, metrics) for name, metrics in named)
    return Sheet(f"By {label} ({what})", columns, rows)


def _row(name: str, metrics: Metrics) -> tuple[Cell, ...]:
    within = metrics.interval or (None, None)
    return (
        name,
        percent(metrics.mrr),
        *(None if one is None else percent(one) for one in within),
        *map(percent, metrics.hits),
        metrics.queries,
        metrics.answers,
    )


def _piped(cell: Cell) -> str:
    return shown(cell).replace("|", r"\|").replace("*", r"\*").replace("_", r"\_")


def _latex_row(cells: Sequence[str]) -> str:
    return " & ".join(cells) + r" \\"
