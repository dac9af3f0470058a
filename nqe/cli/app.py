"""The `nqe` program: registers all commands."""

from __future__ import annotations

from typing import Annotated

import typer

from nqe.cli import (
    ask,
    calibrate,
    check,
    compact,
    compare,
    demo,
    evaluate,
    explain,
    fetch,
    import_export,
    inspect_graph,
    plan_sparql,
    queries,
    reproduce,
    rules,
    sample,
    score_suggest,
    serve,
    shell,
    split,
    train,
)
from nqe.version import VERSION

HELP = """Answer logical questions over incomplete graphs of statements with qualifiers.

Exit codes: 0 success, 1 part of a batch failed, 2 wrong input or usage, 130 interrupted,
141 the output pipe was closed, 143 terminated."""

app = typer.Typer(
    name="nqe",
    help=HELP,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"nqe {VERSION}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """Options of the program itself."""


# In the order in which `nqe --help` lists them.
for group in (
    fetch,
    import_export,
    inspect_graph,
    split,
    check,
    ask,
    explain,
    shell,
    score_suggest,
    plan_sparql,
    sample,
    queries,
    rules,
    train,
    calibrate,
    evaluate,
    compare,
    reproduce,
    serve,
    compact,
    demo,
):
    group.add_to(app)
