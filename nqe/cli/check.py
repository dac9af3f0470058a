"""The command `nqe check`: compare a folder with what was written."""

from __future__ import annotations

from typing import Annotated

import typer

from nqe.cli import printing

FOUND = 2


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command()(check)


def check(
    folder: Annotated[
        str,
        typer.Argument(
            metavar="FOLDER", help="A graph, a query set, a RUN, a checkpoint or rules."
        ),
    ],
) -> None:
    """Check every file of a folder that nqe wrote (Python: nqe.check).

    Example: nqe check atlas.run

    Every file is compared with its digest, and everything in the folder is loaded once. Problems
    are listed, and then the exit code is 2.
    """
    from nqe.answering import check as check_folder

    checked = check_folder(folder)
    for problem in checked.problems:
        printing.note(f"nqe: {problem}")
    if checked.problems:
        raise typer.Exit(FOUND)
    printing.say(f"{folder}: a {checked.noun}; {checked.files:,} file(s) are as nqe wrote them")
    if not checked.has_digests:
        printing.note(
            "nqe: note: parts were written by an older nqe, which kept no digests of files; "
            "there, only the content could be checked"
        )
