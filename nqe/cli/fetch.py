"""The command `nqe fetch`: public data sets, downloaded, verified and imported."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from nqe.cli import printing
from nqe.cli.options import refuse_options
from nqe.errors import choose

if TYPE_CHECKING:
    from nqe.readers.data_sets import DataSet
    from nqe.readers.fetch_dataset import Fetched


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command()(fetch)


def fetch(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="A data set; without it, all are listed.")
    ] = None,
    folder: Annotated[
        str | None, typer.Option("--from", help="Take the files from this folder.")
    ] = None,
    mirror: Annotated[
        str | None,
        typer.Option("--mirror", help="Download URL/NAME/FILE; default: NQE_MIRROR, if set."),
    ] = None,
) -> None:
    """Download a public data set and import it (Python: nqe.fetch).

    Example: nqe fetch wd50k

    Files are compared with their checksums and kept in the folder NQE_HOME, by default in your
    cache folder; a download that was interrupted is continued. The path that is printed is a graph.
    """
    from nqe.readers.data_sets import DATA_SETS

    if name is None:
        refuse_options("without a name", "name a data set", mirror=mirror, **{"from": folder})
        _list_data_sets()
        return
    if folder is not None:
        refuse_options("with --from", mirror=mirror)
    _fetch(name, choose(DATA_SETS, name, "data set"), folder, mirror)


def _fetch(name: str, data_set: DataSet, folder: str | None, mirror: str | None) -> None:
    from nqe.cli.print_graph import note_leakage, say_saved
    from nqe.cli.progress import ProgressBar
    from nqe.readers.fetch_dataset import fetch_data_set

    printing.note(f"{data_set.title}; {data_set.origin}; licence: {data_set.licence}")
    with ProgressBar("kB") as progress:
        fetched = fetch_data_set(name, folder=folder, mirror=mirror, progress=progress)
    say_saved(str(fetched.path), fetched.dataset)
    if fetched.was_there:
        printing.note("it was in the cache already")
    else:
        _note_checksums(data_set, fetched)
        note_leakage(fetched.dataset)
    printing.note(f"next: nqe shell {fetched.path}, or nqe train {fetched.path} -o {name}.run")


def _note_checksums(data_set: DataSet, fetched: Fetched) -> None:
    """Say whether the files are as published."""
    if data_set.is_verified:
        printing.note("the files have the known checksums")
    else:
        printing.note(
            "nqe: note: no checksums of this set are known, so its files could not be verified; "
            f"those of this time are recorded in {fetched.checksums}"
        )


def _list_data_sets() -> None:
    """Print the known data sets, and which of them are in the cache."""
    from nqe.readers.data_sets import DATA_SETS
    from nqe.readers.fetch_dataset import CachePlace

    rows = [
        (
            name,
            one.facts,
            f"{one.megabytes:.1f}" if one.megabytes else None,
            one.licence,
            "known" if one.is_verified else "recorded",
            "yes" if CachePlace.of(name).is_filled else "",
        )
        for name, one in DATA_SETS.items()
    ]
    printing.table(("name", "facts", "MB", "licence", "checksums", "cached"), rows)
    printing.note(f"the cache is {CachePlace.of('').folder}; `nqe fetch NAME` fetches a set")
