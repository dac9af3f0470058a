"""What the commands `nqe reproduce` share: options, and the tables that they write and show."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Protocol

import typer

from nqe.cli import printing
from nqe.cli.print_report import print_sheets

TABLES = "tables"
"""The folder of tables and plots in the output folder."""

OutputOption = Annotated[
    str,
    typer.Option(
        "-o", "--output", help="The folder of queries, runs, results and tables; may exist."
    ),
]
RowsOption = Annotated[
    str | None,
    typer.Option("--rows", help="Only these rows, such as NQE,NQE-1p; all of the table if unset."),
]
SeedsOption = Annotated[
    int, typer.Option("--seeds", min=1, max=100, help="Repeat every row with this many seeds.")
]
TimeOption = Annotated[
    str | None,
    typer.Option("--time-budget", help="Train each row for this long, such as 10m or 1.5h."),
]
ResultsOption = Annotated[
    str | None,
    typer.Option("--results", help="The folder of results; by default `results` in the output."),
]


class Reproduced(Protocol):
    """An experiment: which benchmark it is, and where its results are."""

    @property
    def benchmark(self) -> str:
        """The name of the benchmark."""
        ...

    @property
    def output(self) -> Path:
        """The output folder."""
        ...

    @property
    def results_folder(self) -> Path:
        """The folder of results."""
        ...


def write_tables(experiment: Reproduced, answers: str = "both") -> list[Path]:
    """Write the tables and plots of all results that there are of a benchmark."""
    from nqe.reproduction.report_files import write_files
    from nqe.reproduction.results import load_results

    found = load_results(experiment.results_folder, experiment.benchmark)
    return write_files(experiment.output / TABLES, experiment.benchmark, found, answers)


def show_tables(experiment: Reproduced, answers: str = "both") -> None:
    """Write the tables, and print the first one."""
    from nqe.reproduction.report_files import build_page
    from nqe.reproduction.results import load_results
    from nqe.reproduction.tables import leave_out_not_run

    paths = write_tables(experiment, answers)
    found = load_results(experiment.results_folder, experiment.benchmark)
    sheet, *_ = build_page(experiment.benchmark, found, answers).sheets
    print_sheets([leave_out_not_run(sheet)], "table")
    for path in paths:
        printing.note(f"{path}: written")
