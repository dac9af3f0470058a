"""A picture of a report: MRR by group, with its intervals."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from nqe.evaluation.report import GROUPS, Metrics, Report
from nqe.figures import choose_picture_format, create_figure


def plot(report: Report, path: Path, by: Sequence[str] = GROUPS) -> None:
    """Bars of MRR in percent with bootstrap intervals, a chart a group."""
    form = choose_picture_format(path)
    charts = {one: report.group(one) for one in by if report.group(one)}
    widths = [max(3, len(chart)) for chart in charts.values()]
    figure = create_figure(1 + 0.45 * sum(widths), 3.6)
    axes = figure.subplots(1, len(charts), squeeze=False, sharey=True, width_ratios=widths)
    for axis, (name, chart) in zip(axes[0], charts.items(), strict=True):
        shares = [100 * metrics.mrr for metrics in chart.values()]
        axis.bar(list(chart), shares, yerr=_errors(chart.values()), color="#3b6fb6", capsize=2)
        axis.set_title("missing links" if name == "missing" else name, fontsize=10)
        axis.tick_params(axis="x", labelrotation=90 if name == "shape" else 0, labelsize=8)
    axes[0][0].set_ylabel(f"MRR, % ({report.answers} answers)")
    figure.savefig(path, format=form)


def _errors(chart: Iterable[Metrics]) -> list[list[float]]:
    """How far each interval reaches below and above the mean."""
    ends = [(one.mrr, *(one.interval or (one.mrr, one.mrr))) for one in chart]
    below = [100 * max(0.0, mrr - low) for mrr, low, _ in ends]
    return [below, [100 * max(0.0, high - mrr) for mrr, _, high in ends]]
