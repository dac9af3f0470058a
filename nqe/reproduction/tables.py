"""The tables of a benchmark: rows beside the published ones, by shape and by missing links."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean

from nqe.evaluation.published_results import BENCHMARKS
from nqe.evaluation.report import AVERAGES
from nqe.evaluation.result_tables import Cell, Sheet
from nqe.query.shapes import SHAPES, rank_shape
from nqe.reproduction.results import EASY, HARD, MEASURES, Result
from nqe.reproduction.rows import ROWS, rows_of
from nqe.reproduction.summary import MISSING, Value, add_averages, sum_up
from nqe.sampling.presets import choose_preset

TITLES = {
    HARD: "MRR of hard answers",
    EASY: "MRR of easy answers, which the paper's released evaluation ranks",
}
"""What a measure is called."""
ANSWERS = {"hard": (HARD,), "easy": (EASY,), "both": (HARD, EASY)}
"""The measures to show by the name of the answers that are ranked."""
NOT_RUN = "not run yet"
Published = Mapping[str, Mapping[str, float]]


def build_tables(benchmark: str, results: Sequence[Result], answers: str = "both") -> list[Sheet]:
    """The tables of a benchmark of logical queries, from the results that there are."""
    sheets = [build_shape_sheet(benchmark, results, measure) for measure in ANSWERS[answers]]
    if HARD in ANSWERS[answers]:
        sheets.append(build_missing_sheet(results))
    return [*sheets, build_run_sheet(results)] if results else sheets


def build_shape_sheet(benchmark: str, results: Sequence[Result], measure: str) -> Sheet:
    """A measure by row and shape, each row below the paper's; in percent."""
    found, shapes = sum_up(results, measure), list_shapes(benchmark, results)
    columns = [*shapes, *(name for name, some in AVERAGES.items() if set(some) & set(shapes))]
    rows: list[tuple[Cell, ...]] = []
    ours: dict[int, Mapping[str, Value]] = {}
    for name in list_rows(benchmark, results):
        theirs = BENCHMARKS.get(benchmark, {}).get(name)
        if theirs is not None:
            rows.append((f"{name} (paper)", *_show_published(theirs, columns)))
        if measure == EASY and not ROWS[name].ranks_easy_answers:
            continue
        values = add_averages(found.get(name, {}), shapes)
        label = name if values else f"{name}, {NOT_RUN}"
        ours[len(rows)] = values
        rows.append((label, *(show_value(values.get(column)) for column in columns)))
    title = f"{benchmark}: {TITLES[measure]}, %{describe_spread(results)}"
    return Sheet(title, ("row", *columns), tuple(rows), find_best(ours, columns))


def build_missing_sheet(results: Sequence[Result], order: Iterable[str] = ROWS) -> Sheet:
    """MRR of hard answers by row and number of missing links, in percent."""
    found = sum_up(results, MISSING)
    columns = sorted({group for values in found.values() for group in values}, key=int)
    rows = [
        (name, *(show_value(found[name].get(column)) for column in columns))
        for name in order
        if name in found
    ]
    ours = {place: found[str(row[0])] for place, row in enumerate(rows)}
    title = f"MRR of hard answers by missing links, %{describe_spread(results)}"
    return Sheet(title, ("row", *columns), tuple(rows), find_best(ours, columns))


def build_run_sheet(results: Sequence[Result], order: Iterable[str] = ROWS) -> Sheet:
    """How each result was computed."""
    rows = tuple(
        (
            one.row,
            one.seed,
            f"{one.training.steps:,}",
            f"{one.training.minutes:.1f}",
            f"{one.origin.processor}, {one.origin.cores} cores",
            one.origin.commit or "unknown",
            one.origin.date,
        )
        for one in sort_results(results, order)
    )
    columns = ("row", "seed", "steps", "minutes", "machine", "commit", "date")
    return Sheet("How the rows were computed", columns, rows)


def build_long_sheet(
    benchmark: str, results: Sequence[Result], measures: Sequence[str] = MEASURES
) -> Sheet:
    """One line per row, measure and group, for other programs; values in percent."""
    rows: list[tuple[Cell, ...]] = []
    paper = BENCHMARKS.get(benchmark, {})
    for measure in (*measures, MISSING):
        for row, values in sum_up(results, measure).items():
            theirs = {} if measure == MISSING else paper.get(row, {})
            rows += [
                (row, measure, group, len(one.by_seed), *_split(one), theirs.get(group))
                for group, one in values.items()
            ]
    columns = ("row", "measure", "group", "seeds", "mean", "spread", "paper")
    return Sheet(benchmark, columns, tuple(rows))


def list_rows(benchmark: str, results: Iterable[Result]) -> list[str]:
    """The rows of a table: all that belong to the benchmark, and those that there are."""
    wanted = {row.name for row in rows_of(benchmark)} | {one.row for one in results}
    return [name for name in ROWS if name in wanted]


def list_shapes(benchmark: str, results: Sequence[Result]) -> list[str]:
    """The shapes of a table: those of the results, or of the benchmark if there are none."""
    found = {shape for one in results for shape in one.scores[HARD].values}
    return sorted(found or choose_preset(benchmark).shapes or SHAPES, key=rank_shape)


def sort_results(results: Iterable[Result], order: Iterable[str]) -> list[Result]:
    """The results in the order of the rows, then of the seeds."""
    places = {name: place for place, name in enumerate(order)}
    return sorted(results, key=lambda one: (places.get(one.row, len(places)), one.row, one.seed))


def describe_spread(results: Iterable[Result]) -> str:
    """The words of a title that say what stands after ±; empty if no row has several seeds."""
    seeds: dict[str, set[int]] = {}
    for one in results:
        seeds.setdefault(one.row, set()).add(one.seed)
    counts = sorted({len(some) for some in seeds.values()})
    if not counts or counts[-1] == 1:
        return ""
    shown = " or ".join(map(str, counts))
    return f" (mean ± standard deviation of {shown} seeds)"


def leave_out_not_run(sheet: Sheet) -> Sheet:
    """The table without the rows that were not run."""
    kept = [place for place, row in enumerate(sheet.rows) if not str(row[0]).endswith(NOT_RUN)]
    places = {place: number for number, place in enumerate(kept)}
    best = ((places[row], column) for row, column in sheet.best)
    rows = tuple(sheet.rows[place] for place in kept)
    return Sheet(sheet.title, sheet.columns, rows, frozenset(best))


def find_best(
    rows: Mapping[int, Mapping[str, Value]], columns: Sequence[str]
) -> frozenset[tuple[int, int]]:
    """The cells with the highest mean of their column, in columns with several values."""
    best: set[tuple[int, int]] = set()
    for place, column in enumerate(columns, start=1):
        means = {row: values[column].mean for row, values in rows.items() if column in values}
        if len(means) > 1:
            most = max(means.values())
            best |= {(row, place) for row, mean in means.items() if mean == most}
    return frozenset(best)


def show_value(value: Value | None) -> str | None:
    """A value as a cell; None if there is none."""
    return None if value is None else str(value)


def _split(value: Value) -> tuple[float, float | None]:
    spread = None if value.spread is None else 100 * value.spread
    return 100 * value.mean, spread


def _show_published(values: Mapping[str, float], columns: Sequence[str]) -> list[Cell]:
    """The published values, with plain means; what the paper prints as averages is no mean."""
    known = dict(values)
    for average, wanted in AVERAGES.items():
        present = [shape for shape in wanted if shape in columns]
        if present and set(present) <= set(values):
            known[average] = fmean(values[shape] for shape in present)
    return [round(known[column], 2) if column in known else None for column in columns]
