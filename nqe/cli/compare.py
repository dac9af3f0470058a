"""The command `nqe compare`: the results of several runs side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nqe.cli.options import FormatOption, JsonOption, check_format
from nqe.cli.print_report import print_comparison


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command()(compare)


def compare(
    runs: Annotated[
        list[str], typer.Argument(metavar="RUN...", help="Runs evaluated with `nqe evaluate`.")
    ],
    report: Annotated[
        str | None,
        typer.Option("--report", help="The name of the report, such as test-atlas.queries."),
    ] = None,
    published: Annotated[
        bool, typer.Option("--published", help="Add the published results of the benchmark.")
    ] = False,
    benchmark: Annotated[
        str | None,
        typer.Option(
            "--benchmark", help="Add the published results of this benchmark, such as wd50k-nfol."
        ),
    ] = None,
    measure: Annotated[
        str,
        typer.Option(
            "--measure",
            help="mrr, hits@1, hits@3, hits@10, mean_rank, adjusted_mean_rank or "
            "adjusted_mean_rank_index.",
        ),
    ] = "mrr",
    form: FormatOption = "table",
    as_json: JsonOption = False,
) -> None:
    """Compare the results of runs, optionally with published ones (Python: nqe.compare).

    Example: nqe compare atlas.run other.run --measure hits@3
    """
    from nqe.evaluation.comparison import compare as compare_reports
    from nqe.evaluation.report_storage import load_shared_reports

    form = check_format(form, as_json)
    reports = load_shared_reports([Path(run) for run in dict.fromkeys(runs)], report)
    sheet = compare_reports(
        reports,
        measure=measure,
        published=published or benchmark is not None,
        benchmark=benchmark,
    )
    print_comparison(sheet, form)
