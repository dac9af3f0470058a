"""Plot a report: bars of MRR by group, with bootstrap intervals."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from nqe.evaluation.groupings import OF_QUERIES
from nqe.evaluation.metrics import Metrics
from nqe.evaluation.report import Report
from nqe.evaluation.result_tables import LABELS, describe_split
from nqe.figures import choose_picture_format, create_figure, escape_figure_text


def plot(report: Report, path: Path, by: Sequence[str] = OF_QUERIES) -> None:
    """Draw bars of MRR in percent with bootstrap intervals, one chart per grouping."""
    form = choose_picture_format(path)
    charts = {name: report.group(name) for name in by if report.group(name)}
    widths = [max(3, len(chart)) for chart in charts.values()]
    figure = create_figure(1 + 0.45 * sum(widths), 3.6)
    axes = figure.subplots(1, len(charts), squeeze=False, sharey=True, width_ratios=widths)
    for axis, (name, chart) in zip(axes[0], charts.items(), strict=True):
        shares = [100 * metrics.mrr for metrics in chart.values()]
        groups = [escape_figure_text(group) for group in chart]
        axis.bar(groups, shares, yerr=_find_errors(chart.values()), color="#3b6fb6", capsize=2)
        axis.set_title(LABELS.get(name, name), fontsize=10)
        axis.tick_params(axis="x", labelrotation=90 if name == "shape" else 0, labelsize=8)
    measure = f"MRR{describe_split(report)}, % ({report.answers} answers)"
    axes[0][0].set_ylabel(escape_figure_text(measure))
    figure.savefig(path, format=form)


def _find_errors(chart: Iterable[Metrics]) -> list[list[float]]:
    """How far each interval extends below and above the mean, in percent."""
    ends = [(one.mrr, *one.intervals.get("mrr", (one.mrr, one.mrr))) for one in chart]
    below = [100 * max(0.0, mrr - low) for mrr, low, _ in ends]
    return [below, [100 * max(0.0, high - mrr) for mrr, _, high in ends]]
