"""The `nqe` program: all groups of commands put together."""

from __future__ import annotations

from typing import Annotated

import typer

from nqe.cli import (
    answering,
    asking,
    demo,
    evaluations,
    import_export,
    inspect_graph,
    questions,
    samples,
    training,
)
from nqe.version import VERSION

HELP = """Answer logical questions over incomplete graphs of statements with qualifiers.

Exit codes: 0 done, 1 part of a batch failed, 2 wrong input or usage, 130 interrupted,
141 nobody reads the output."""

app = typer.Typer(
    name="nqe",
    help=HELP,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"nqe {VERSION}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """Options of the program itself."""


import_export.add_to(app)
inspect_graph.add_to(app)
asking.add_to(app)
questions.add_to(app)
samples.add_to(app)
training.add_to(app)
evaluations.add_to(app)
answering.add_to(app)
demo.add_to(app)
