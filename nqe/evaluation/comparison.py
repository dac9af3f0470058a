"""Comparison: the reports of several runs side by side, and beside published rows."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from nqe.errors import NqeError, choose
from nqe.evaluation.link_prediction import PARTS, LinkReport
from nqe.evaluation.published_results import BENCHMARKS, LINK_PREDICTION
from nqe.evaluation.report import AVERAGES, Report, choose_measure
from nqe.evaluation.result_tables import Cell, Sheet
from nqe.query.shapes import SHAPES, rank_shape
from nqe.sampling.presets import PRESETS

Row = tuple[str, Mapping[str, float]]

# What reports on the same queries have in common.
_SAME = ("fingerprint", "digest")
# What may differ between a query set and the preset whose benchmark it is.
_FREE = ("shapes", "train", "valid", "test", "seed", "max_answers", "train_answers")


def compare(
    reports: Mapping[str, Report | LinkReport],
    *,
    measure: str = "mrr",
    published: bool = False,
    benchmark: str | None = None,
) -> Sheet:
    """Runs as rows and shapes as columns (or parts of link prediction), in percent."""
    place = choose_measure(measure)
    if published and measure != "mrr":
        raise NqeError(f"no {measure} is published; compare by mrr, or leave out --published")
    links = {name: one for name, one in reports.items() if isinstance(one, LinkReport)}
    plain = {name: one for name, one in reports.items() if isinstance(one, Report)}
    if links and plain:
        raise NqeError("link prediction and queries have no common columns; compare one of them")
    title = measure.upper() if measure == "mrr" else measure.capitalize()
    if links:
        return _link_sheet(links, place, title, published, benchmark)
    return _shape_sheet(plain, place, title, published, benchmark)


def benchmark_of(settings: Mapping[str, Any] | None, *names: str) -> str | None:
    """The published benchmark that a query set is: by its settings, and by a name of its graph."""
    stems = {re.split(r"[.-]", Path(name).name.lower())[0] for name in names}
    for name, preset in PRESETS.items():
        wanted = preset.to_json()
        shapes = set(wanted["shapes"] or SHAPES)
        if (
            settings is not None
            and name.partition("-")[0] in stems
            and all(settings.get(key) == wanted[key] for key in wanted if key not in _FREE)
            and set(settings.get("shapes") or SHAPES) <= shapes
        ):
            return name
    return None


def _shape_sheet(
    reports: Mapping[str, Report], place: int, title: str, published: bool, benchmark: str | None
) -> Sheet:
    _check_alike(reports, lambda one: (*map(one.about.get, _SAME), one.all.queries))
    rows: list[Row] = [
        (name, {shape: 100 * one.values[place] for shape, one in report.group("shape").items()})
        for name, report in reports.items()
    ]
    shapes = sorted({shape for _, cells in rows for shape in cells}, key=rank_shape)
    first = next(iter(reports.values()))
    if published:
        table = _published(BENCHMARKS, benchmark or first.about.get("benchmark"))
        rows = [(f"{name} (paper)", cells) for name, cells in table.items()] + rows
    rows = [(name, _with_averages(cells, shapes)) for name, cells in rows]
    averages = [name for name, wanted in AVERAGES.items() if set(wanted) & set(shapes)]
    what = f"{first.answers} answers, per {first.per}, {first.ties} ties, %"
    return _sheet(f"{title} ({what})", "run", (*shapes, *averages), rows)


def _link_sheet(
    reports: Mapping[str, LinkReport],
    place: int,
    title: str,
    published: bool,
    benchmark: str | None,
) -> Sheet:
    _check_alike(reports, lambda one: (one.about.get("fingerprint"), one.parts["all"].count))
    rows: list[Row] = [
        (
            _with_training(name, report),
            {part: 100 * (one.mrr, *one.hits)[place] for part, one in report.parts.items()},
        )
        for name, report in reports.items()
    ]
    first = next(iter(reports.values()))
    if published:
        table = _published(LINK_PREDICTION, benchmark or first.about.get("benchmark"))
        theirs = {
            f"{name} (paper; split not told)": {part: 100 * mrr for part, mrr in cells.items()}
            for name, cells in table.items()
        }
        rows = [*theirs.items(), *rows]
    return _sheet(f"{title} of link prediction ({first.ties} ties, %)", "run", tuple(PARTS), rows)


def _published(
    tables: Mapping[str, Mapping[str, Mapping[str, float]]], benchmark: str | None
) -> Mapping[str, Mapping[str, float]]:
    if benchmark is None:
        raise NqeError(
            "the queries are like those of no published benchmark; "
            f"name the one to show with --benchmark: {', '.join(tables)}"
        )
    return choose(tables, benchmark, "benchmark")


def _check_alike(reports: Mapping[str, Any], identity: Any) -> None:
    """Refuse reports of different queries that have the same name."""
    (first, told), *others = ((name, identity(one)) for name, one in reports.items())
    for name, other in others:
        if other != told:
            raise NqeError(
                f"{first} and {name} were evaluated on different queries of the same name; "
                "evaluate both on the same queries"
            )


def _with_averages(cells: Mapping[str, float], shapes: Sequence[str]) -> dict[str, float]:
    """A row with its plain means, if it has every shape of them that is shown."""
    shown = {shape: cells[shape] for shape in shapes if shape in cells}
    for name, wanted in AVERAGES.items():
        present = [shape for shape in wanted if shape in shapes]
        if present and set(present) <= set(shown):
            shown[name] = fmean(shown[shape] for shape in present)
    return shown


def _with_training(name: str, report: LinkReport) -> str:
    trained = report.about.get("trained_on")
    return f"{name} (trained on {trained})" if trained else name


def _sheet(title: str, corner: str, columns: tuple[str, ...], rows: Sequence[Row]) -> Sheet:
    # Rounded only here, so that an average is that of the report.
    rows = [(name, {key: round(one, 2) for key, one in values.items()}) for name, values in rows]
    cells: tuple[tuple[Cell, ...], ...] = tuple(
        (name, *(values.get(column) for column in columns)) for name, values in rows
    )
    best = set()
    for place, column in enumerate(columns, start=1):
        known = {row: values[column] for row, (_, values) in enumerate(rows) if column in values}
        if len(known) > 1:
            best |= {(row, place) for row, one in known.items() if one == max(known.values())}
    return Sheet(title, (corner, *columns), cells, frozenset(best))
