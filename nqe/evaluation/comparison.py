"""Compare reports: runs side by side in one table, optionally beside published results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean

from nqe.errors import NqeError, choose
from nqe.evaluation.groupings import PARTS, RELATION_PARTS
from nqe.evaluation.metrics import METRICS, Metric, Metrics
from nqe.evaluation.published_results import BENCHMARKS, LINK_PREDICTION
from nqe.evaluation.report import AVERAGES, Report
from nqe.evaluation.result_tables import (
    Cell,
    Sheet,
    describe_averages,
    describe_split,
    to_unit,
)
from nqe.sampling.patterns import rank_kind

Row = tuple[str, Mapping[str, float]]
"""The name of a run or a published model, and its values by column, in the unit of the table."""


def compare(
    reports: Mapping[str, Report],
    *,
    measure: str = "mrr",
    published: bool = False,
    benchmark: str | None = None,
) -> Sheet:
    """A table with one row per run, by name, and one column per shape.

    Reports of link prediction have one column per part of the fact instead. `measure` is the name
    of a metric, one of `METRICS`. `published` adds the published rows of the benchmark that the
    reports belong to, or of the one named by `benchmark`.
    """
    metric = choose(METRICS, measure, "measure")
    if not reports:
        raise NqeError("there are no reports to compare; give at least one")
    if published and measure != "mrr":
        raise NqeError(f"no {measure} is published; compare by mrr, or leave out --published")
    _check_same_queries(reports)
    _check_measured(reports, measure)
    first = next(iter(reports.values()))
    known = benchmark or first.about.get("benchmark")
    if first.is_link_prediction:
        rows = [_link_row(name, report, measure) for name, report in reports.items()]
        found = [part for part in RELATION_PARTS if any(part in values for _, values in rows)]
        columns = ["all", *PARTS, *found]
        theirs = _published_links(known) if published else []
    else:
        rows = [(name, _values(report.group("shape"), measure)) for name, report in reports.items()]
        columns = sorted({shape for _, values in rows for shape in values}, key=rank_kind)
        theirs = _published_shapes(known) if published else []
        rows, theirs = ([_add_averages(row, columns) for row in part] for part in (rows, theirs))
        columns += [name for name, shapes in AVERAGES.items() if set(shapes) & set(columns)]
    return _build_sheet(_describe(first, metric), columns, [*theirs, *rows], metric)


def _check_same_queries(reports: Mapping[str, Report]) -> None:
    """Refuse reports that were not made from the same queries."""
    (first, report), *others = reports.items()
    for name, other in others:
        if other.is_link_prediction != report.is_link_prediction:
            raise NqeError(
                "link prediction and queries have no common columns; compare only one of them"
            )
        if _identify(other) != _identify(report):
            raise NqeError(
                f"{first} and {name} were evaluated on different queries; "
                "evaluate both on the same split of the same query set"
            )


def _identify(report: Report) -> tuple[object, ...]:
    """What reports on the same queries have in common."""
    about = report.about
    return report.split, about.get("fingerprint"), about.get("digest"), report.all.answers


def _check_measured(reports: Mapping[str, Report], measure: str) -> None:
    """Refuse reports that an older version of nqe wrote without this metric."""
    for name, report in reports.items():
        if measure not in report.all.values:
            has = ", ".join(report.all.values)
            raise NqeError(
                f"{name}: its report has no {measure}, only {has}; "
                "create it again with `nqe evaluate`"
            )


def _values(groups: Mapping[str, Metrics], measure: str) -> dict[str, float]:
    metric = METRICS[measure]
    return {label: to_unit(metric, metrics[measure]) for label, metrics in groups.items()}


def _link_row(name: str, report: Report, measure: str) -> Row:
    trained = report.about.get("trained_on")
    values = _values({"all": report.all, **report.group("part")}, measure)
    return (f"{name} (trained on {trained})" if trained else name), values


def _published_shapes(benchmark: str | None) -> list[Row]:
    rows = _choose_benchmark(BENCHMARKS, benchmark)
    return [(f"{name} (paper)", values) for name, values in rows.items()]


def _published_links(benchmark: str | None) -> list[Row]:
    rows = _choose_benchmark(LINK_PREDICTION, benchmark)
    return [
        (
            f"{name} (paper; training splits unknown)",
            {part: to_unit(METRICS["mrr"], mrr) for part, mrr in values.items()},
        )
        for name, values in rows.items()
    ]


def _choose_benchmark(
    tables: Mapping[str, Mapping[str, Mapping[str, float]]], benchmark: str | None
) -> Mapping[str, Mapping[str, float]]:
    if benchmark is None:
        raise NqeError(
            "the queries do not belong to a published benchmark; "
            f"choose the one to show with --benchmark: {', '.join(tables)}"
        )
    return choose(tables, benchmark, "benchmark")


def _add_averages(row: Row, shapes: Sequence[str]) -> Row:
    """The row limited to the given shapes, with each average of which it has all those shapes."""
    name, values = row
    shown = {shape: values[shape] for shape in shapes if shape in values}
    for average, wanted in AVERAGES.items():
        present = [shape for shape in wanted if shape in shapes]
        if present and set(present) <= set(shown):
            shown[average] = fmean(shown[shape] for shape in present)
    return name, shown


def _describe(report: Report, metric: Metric) -> str:
    """The title of a comparison."""
    task = " of link prediction" if report.is_link_prediction else ""
    unit = ", %" if metric.in_percent else ""
    label = metric.label[0].upper() + metric.label[1:]
    return f"{label}{task}{describe_split(report)} ({describe_averages(report)}{unit})"


def _build_sheet(title: str, columns: Sequence[str], rows: Sequence[Row], metric: Metric) -> Sheet:
    # Values are rounded only here, so that an average equals the one in the report.
    rows = [
        (name, {column: round(value, 2) for column, value in values.items()})
        for name, values in rows
    ]
    cells: tuple[tuple[Cell, ...], ...] = tuple(
        (name, *(values.get(column) for column in columns)) for name, values in rows
    )
    return Sheet(title, ("run", *columns), cells, _find_best(columns, rows, metric))


def _find_best(
    columns: Sequence[str], rows: Sequence[Row], metric: Metric
) -> frozenset[tuple[int, int]]:
    """The cells with the best value of their column, in columns with several values."""
    best: set[tuple[int, int]] = set()
    for place, column in enumerate(columns, start=1):
        known = {row: values[column] for row, (_, values) in enumerate(rows) if column in values}
        if len(known) > 1:
            wanted = (min if metric.lower_is_better else max)(known.values())
            best |= {(row, place) for row, value in known.items() if value == wanted}
    return frozenset(best)
