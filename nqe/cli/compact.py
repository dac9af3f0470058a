"""The command `nqe compact`: fold facts that a server added into the graph."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nqe.answering.open_graph import open_dataset
from nqe.cli.options import GraphArgument
from nqe.errors import NqeError


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command()(compact)


def compact(
    graph: GraphArgument,
    log: Annotated[
        str, typer.Argument(metavar="FILE", help="The file that `nqe serve --writable` wrote.")
    ],
    output: Annotated[
        str | None,
        typer.Option("-o", "--output", help="The graph folder to write; default: GRAPH itself."),
    ] = None,
) -> None:
    """Fold the facts that a server added into the train split of a graph, and end their file.

    Example: nqe compact wd50k.graph added.jsonl

    Stop the server first. A RUN that was trained on GRAPH then needs --graph.
    """
    from nqe.cli.print_graph import say_saved
    from nqe.graph.added_facts import add_facts, fold_added
    from nqe.graph.fact_log import FactLog
    from nqe.graph.storage import check_output

    path = Path(log)
    if not path.is_file():
        raise NqeError(f"{log}: no such file; name the one that `nqe serve --writable` wrote")
    place = output or graph
    if output is None and not Path(graph).is_dir():
        raise NqeError(f"{graph}: is embedded and cannot be replaced; name a folder with -o")
    check_output(Path(place))
    dataset = open_dataset(graph)
    added = FactLog(path, dataset.fingerprint)
    with added.hold():
        folded = fold_added(add_facts(dataset, list(added.facts.values())))
        folded.save(place)
        path.unlink()
    say_saved(place, folded)
