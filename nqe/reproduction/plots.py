"""Plots of a benchmark: MRR by shape and row, by missing links, and the learning curves."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from nqe.figures import choose_picture_format, create_figure, escape_figure_text
from nqe.files import new_file
from nqe.query.shapes import rank_shape
from nqe.reproduction.results import HARD, Result
from nqe.reproduction.rows import ROWS
from nqe.reproduction.summary import MISSING, Value, sum_up

COLOURS = (
    *("#3b6fb6", "#d9822b", "#4c9a52", "#b5423c", "#7b5aa6", "#8c6d46", "#d279a6"),
    *("#222222", "#a8a83a", "#9fc5e8", "#3aa6a8", "#f2b8a0", "#8fd19e"),
)
"""One per row."""
MOST_INCHES = 13.0
RUN_ROWS = {name: row for name, row in ROWS.items() if row.run_of is None}
"""The rows that have runs of their own."""
Groups = Mapping[str, Mapping[str, Value]]


def plot_shapes(results: Sequence[Result], path: Path) -> None:
    """Bars of the MRR of hard answers: one group per shape, one bar per row."""
    _plot_bars(sum_up(results, HARD), path, "MRR of hard answers, %", rank_shape)


def plot_missing(results: Sequence[Result], path: Path) -> None:
    """Bars of the MRR of hard answers: one group per number of missing links."""
    _plot_bars(sum_up(results, MISSING), path, "MRR of hard answers, % (by missing links)", int)


def plot_curves(results: Sequence[Result], path: Path) -> None:
    """The validation MRR of every run against its minutes of training.

    A row is validated on the shapes that it learns from, which the legend tells.
    """
    figure = create_figure(7, 4)
    axis = figure.subplots()
    own = [one for one in results if one.training.curve and one.row in RUN_ROWS]
    colours = _choose_colours([one.row for one in own])
    for one in own:
        minutes, _, scores = zip(*one.training.curve, strict=True)
        label = _name_curve(one.row) if one.seed == min(_seeds(own, one.row)) else None
        shares = [100 * score for score in scores]
        axis.plot(minutes, shares, color=colours[one.row], label=label, marker="o", markersize=3)
    axis.set(xlabel="minutes of training", ylabel="validation MRR, %")
    if own:
        axis.legend(fontsize=8)
    _save(figure, path)


PLOTS: dict[str, Callable[[Sequence[Result], Path], None]] = {
    "shapes": plot_shapes,
    "missing": plot_missing,
    "curves": plot_curves,
}
"""The plots of a benchmark, by the ending of their names."""


def _plot_bars(found: Groups, path: Path, label: str, rank: Callable[[str], Any]) -> None:
    groups = sorted({group for values in found.values() for group in values}, key=rank)
    rows = [name for name in ROWS if name in found]
    width, colours = 0.8 / max(len(rows), 1), _choose_colours(rows)
    figure = create_figure(min(6 + 0.04 * len(groups) * len(rows), MOST_INCHES), 4.5)
    axis = figure.subplots()
    for number, row in enumerate(rows):
        shown = [
            (place, found[row][group]) for place, group in enumerate(groups) if group in found[row]
        ]
        axis.bar(
            [place + (number - (len(rows) - 1) / 2) * width for place, _ in shown],
            [100 * value.mean for _, value in shown],
            width,
            yerr=[100 * (value.spread or 0.0) for _, value in shown],
            color=colours[row],
            label=escape_figure_text(row),
        )
    axis.set_xticks(range(len(groups)), groups)
    axis.margins(x=0.01)
    axis.set_ylabel(label)
    if rows:
        figure.legend(loc="outside upper center", fontsize=8, ncols=4)
    _save(figure, path)


def _choose_colours(rows: Sequence[str]) -> dict[str, str]:
    """The same colour for a row in all plots."""
    places = {name: place for place, name in enumerate(ROWS)}
    return {row: COLOURS[places[row] % len(COLOURS)] for row in rows}


def _seeds(results: Sequence[Result], row: str) -> list[int]:
    return [one.seed for one in results if one.row == row]


def _name_curve(row: str) -> str:
    learns = RUN_ROWS[row].train_shapes
    return escape_figure_text(f"{row} (on {', '.join(learns)} alone)" if learns else row)


def _save(figure: Any, path: Path) -> None:
    """Write a figure, the same bytes for the same results."""
    from matplotlib import rc_context

    with new_file(path) as temporary, rc_context({"svg.hashsalt": "nqe"}):
        figure.savefig(temporary, format=choose_picture_format(path), metadata={"Date": None})
