"""Tables of results: those of a report, and any table as Markdown, LaTeX or CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from nqe.evaluation.metrics import METRICS, Metric, Metrics
from nqe.evaluation.report import Report
from nqe.shown_text import escape_markdown, make_visible

Cell = str | int | float | None

SHOWN = ("mrr", "hits@1", "hits@3", "hits@10")
"""The metrics in the tables of a report; its JSON has all."""
LABELS = {
    "missing": "missing links",
    "subject_object": "subject/object",
    "main_relation": "main relation",
}
"""How groupings and groups are called in tables, where that is not their name in JSON."""

_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{letter: "\\" + letter for letter in "&%$#_{}"},
}


@dataclass(frozen=True)
class Sheet:
    """A table with a title; `best` are the cells (row, column) to mark."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    best: frozenset[tuple[int, int]] = frozenset()


def build_sheets(report: Report, by: Iterable[str] = ("shape",)) -> list[Sheet]:
    """The tables of a report, one per grouping that the report has; shares are in percent."""
    return [_build_group_sheet(report, grouping) for grouping in by if report.group(grouping)]


def build_link_sheet(report: Report) -> Sheet:
    """The table of a report of link prediction; shares are in percent."""
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (LABELS.get(part, part), *(_show(metrics, name) for name in SHOWN), metrics.answers)
        for part, metrics in {"all": report.all, **report.group("part")}.items()
    )
    trained = report.about.get("trained_on")
    training = f", trained on {trained}" if trained else ""
    title = f"Link prediction{describe_split(report)}{training} ({describe_averages(report)}, %)"
    return Sheet(title, ("slots", *(METRICS[name].label for name in SHOWN), "answers"), rows)


def describe_split(report: Report) -> str:
    """The words of a title that name the split, such as ' on test'; empty if it is not known."""
    return f" on {report.split}" if report.split else ""


def describe_averages(report: Report) -> str:
    """The words of a title that say what was averaged and how."""
    answers = "" if report.is_link_prediction else f"{report.answers} answers, "
    return f"{answers}per {report.per}, {report.ties} ties"


def to_unit(metric: Metric, value: float) -> float:
    """A value in the unit that tables use: percent, unless the metric is not a share."""
    return 100 * value if metric.in_percent else value


def format_cell(cell: Cell) -> str:
    """A cell as text; fractional numbers always have two decimals."""
    if cell is None:
        return ""
    return f"{cell:.2f}" if isinstance(cell, float) else str(cell)


def mark_best(sheet: Sheet) -> list[tuple[Cell, ...]]:
    """The rows for plain text, with a star after the best cells of a column."""
    return [
        tuple(
            f"{format_cell(cell)}*" if (row, column) in sheet.best else cell
            for column, cell in enumerate(cells)
        )
        for row, cells in enumerate(sheet.rows)
    ]


def split_to_width(sheet: Sheet, width: int) -> list[Sheet]:
    """The table as several ones that fit the width of a terminal, each with the first column."""
    texts = [sheet.columns, *([format_cell(cell) for cell in row] for row in sheet.rows)]
    # The star and the space between columns add up to four characters per cell.
    widths = [max(map(len, column)) + 4 for column in zip(*texts, strict=True)]
    parts: list[list[int]] = [[]]
    for column in range(1, len(widths)):
        if parts[-1] and sum(widths[each] for each in (0, *parts[-1], column)) > width:
            parts.append([])
        parts[-1].append(column)
    return [_take_columns(sheet, [0, *part]) for part in parts]


def to_markdown(sheet: Sheet) -> str:
    """A Markdown table below its title."""
    sides = ["---" if not column else "---:" for column in range(len(sheet.columns))]
    rows = [
        [
            f"**{_escape_cell(cell)}**" if (row, column) in sheet.best else _escape_cell(cell)
            for column, cell in enumerate(cells)
        ]
        for row, cells in enumerate(sheet.rows)
    ]
    lines = [[_escape_cell(name) for name in sheet.columns], sides, *rows]
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return f"{escape_markdown(sheet.title)}\n\n{table}\n"


def to_latex(sheet: Sheet) -> str:
    """A LaTeX table for the package booktabs."""
    rows = [
        [
            rf"\textbf{{{escape_latex(format_cell(cell))}}}"
            if (row, column) in sheet.best
            else escape_latex(format_cell(cell))
            for column, cell in enumerate(cells)
        ]
        for row, cells in enumerate(sheet.rows)
    ]
    lines = [
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{escape_latex(sheet.title)}}}",
        rf"\begin{{tabular}}{{l{'r' * (len(sheet.columns) - 1)}}}",
        r"\toprule",
        _join_latex([escape_latex(name) for name in sheet.columns]),
        r"\midrule",
        *map(_join_latex, rows),
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def to_csv(sheet: Sheet) -> str:
    """CSV with a header row and without the title, so that other programs can read it."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows([sheet.columns, *([format_cell(cell) for cell in row] for row in sheet.rows)])
    return text.getvalue()


FORMS = {"markdown": to_markdown, "latex": to_latex, "csv": to_csv}
"""The text formats of a table, by name."""


def escape_latex(text: str) -> str:
    """The visible text with LaTeX's special characters escaped."""
    return "".join(_LATEX.get(letter, letter) for letter in make_visible(text))


def _build_group_sheet(report: Report, by: str) -> Sheet:
    label = LABELS.get(by, by)
    level = f"{100 * report.bootstrap.level:g}%"
    first, *others = (METRICS[name].label for name in SHOWN)
    columns = (label, first, f"{level} from", "to", *others, "queries", "answers")
    groups = list(report.group(by).items())
    if by == "shape":
        groups += report.averages.items()
    groups.append(("all", report.all))
    rows = tuple(_build_row(LABELS.get(name, name), metrics) for name, metrics in groups)
    title = f"By {label}{describe_split(report)} ({describe_averages(report)}, %)"
    return Sheet(title, columns, rows)


def _build_row(name: str, metrics: Metrics) -> tuple[Cell, ...]:
    first, *others = SHOWN
    interval = metrics.intervals.get(first)
    ends = (None, None) if interval is None else (_round(METRICS[first], end) for end in interval)
    return (
        name,
        _show(metrics, first),
        *ends,
        *(_show(metrics, other) for other in others),
        metrics.queries,
        metrics.answers,
    )


def _show(metrics: Metrics, name: str) -> float:
    return _round(METRICS[name], metrics[name])


def _round(metric: Metric, value: float) -> float:
    return round(to_unit(metric, value), 2)


def _take_columns(sheet: Sheet, columns: Sequence[int]) -> Sheet:
    place = {column: number for number, column in enumerate(columns)}
    best = ((row, place[column]) for row, column in sheet.best if column in place)
    rows = tuple(tuple(row[column] for column in columns) for row in sheet.rows)
    names = tuple(sheet.columns[column] for column in columns)
    return Sheet(sheet.title, names, rows, frozenset(best))


def _escape_cell(cell: Cell) -> str:
    return escape_markdown(format_cell(cell))


def _join_latex(cells: Sequence[str]) -> str:
    return " & ".join(cells) + r" \\"
