"""The commands `nqe queries`: showing, counting, import and export of query sets."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nqe.answering.open_graph import open_dataset
from nqe.cli import printing
from nqe.cli.options import JsonOption
from nqe.cli.sample import say_sizes
from nqe.errors import NqeError

if TYPE_CHECKING:
    from nqe.graph import Dataset
    from nqe.sampling import QueryTable

QueriesArgument = Annotated[
    str, typer.Argument(metavar="QUERIES", help="A folder made by `nqe sample`.")
]
GraphOption = Annotated[
    str | None, typer.Option("--graph", help="Where the graph is now, if it was moved.")
]


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    queries = typer.Typer(help="Show, count, import and export query sets.", no_args_is_help=True)
    queries.command()(show)
    queries.command()(stats)
    queries.command("import")(import_)
    queries.command()(export)
    app.add_typer(queries, name="queries")


def show(
    queries: QueriesArgument,
    split: Annotated[str, typer.Option("--split", help="train, valid or test.")] = "test",
    shape: Annotated[str | None, typer.Option("--shape", help="Show only this shape.")] = None,
    count: Annotated[
        int, typer.Option("--count", min=1, help="The number of queries to show.")
    ] = 5,
    graph: GraphOption = None,
) -> None:
    """Show queries as text, with their plans and answers (Python: nqe.sampling.load_queries).

    Example: nqe queries show atlas.queries --shape 2in --count 3
    """
    from nqe.cli.print_row_queries import show_row_queries
    from nqe.sampling import load_queries, load_row_queries
    from nqe.sampling.row_storage import has_rows

    dataset = _open_graph_of(queries, graph)
    if has_rows(queries):
        show_row_queries(load_row_queries(queries, split), dataset.vocabulary, split, shape, count)
        return
    show_queries(load_queries(queries, split), dataset, split, shape, count)


def show_queries(
    table: QueryTable, dataset: Dataset, split: str, shape: str | None, count: int
) -> None:
    """Print queries of a split with their plans and answers."""
    from nqe.query.drawing import draw_text
    from nqe.query.shapes import parse_shape

    wanted = shape and parse_shape(shape).name
    rows = [row for row, name in enumerate(table.shape) if wanted in (None, name)]
    if not rows:
        printing.note(f"no {split} queries of shape {shape}")
    for row in rows[:count]:
        plan = table.plans.plan(row)
        printing.heading(f"{split} {row}, shape {table.shape[row]}")
        printing.say(str(plan.query(dataset.vocabulary)))
        printing.say_lines(draw_text(plan, dataset.vocabulary))
        printing.say(f"easy ({len(table.easy[row])}): {_name_some(table.easy[row], dataset)}")
        if split != "train":
            printing.say(f"hard ({len(table.hard[row])}): {_name_some(table.hard[row], dataset)}")
            links = ("unknown" if n < 0 else str(n) for n in table.missing[row][:8].tolist())
            printing.say(f"missing links: {', '.join(links)}")


def stats(
    queries: QueriesArgument,
    plot: Annotated[
        str | None, typer.Option("--plot", help="Draw the distributions into this file.")
    ] = None,
    graph: GraphOption = None,
    as_json: JsonOption = False,
) -> None:
    """Count queries by shape, arity, slot and missing links.

    Python: nqe.sampling.query_statistics.count_queries.

    Example: nqe queries stats atlas.queries
    """
    from nqe.cli.print_query_statistics import print_query_statistics
    from nqe.files import new_file
    from nqe.sampling.query_statistics import count_queries
    from nqe.sampling.query_statistics import plot as draw_plot
    from nqe.sampling.row_storage import has_rows

    if has_rows(queries):
        _print_row_statistics(queries, plot, as_json)
        return
    splits = count_queries(queries)
    if plot is not None:
        with new_file(Path(plot)) as temporary:
            draw_plot(splits, temporary)
        printing.note(f"{plot}: written")
    if as_json:
        printing.json_block([vars(one) for one in splits])
    elif plot is None:
        print_query_statistics(splits, _open_graph_of(queries, graph).vocabulary)


def _print_row_statistics(queries: str, plot: str | None, as_json: bool) -> None:
    from nqe.cli.print_row_queries import print_row_statistics
    from nqe.sampling.row_statistics import count_row_queries

    if plot is not None:
        raise NqeError(
            f"{queries}: its queries are no trees, of which there are no plots; leave out --plot"
        )
    splits = count_row_queries(queries)
    if as_json:
        printing.json_block([vars(one) for one in splits])
    else:
        print_row_statistics(splits)


def import_(
    source: Annotated[
        str,
        typer.Argument(
            metavar="FOLDER",
            help="A folder with the NQE paper's JSON, or with Query2Box or BetaE files.",
        ),
    ],
    output: Annotated[str, typer.Option("-o", "--output", help="The query set to write.")],
    graph: Annotated[
        str,
        typer.Option(
            "--graph", help="For NQE JSON its graph; for Query2Box and BetaE the graph to write."
        ),
    ],
) -> None:
    """Import query files of other programs (Python: nqe.sampling.exchange).

    Example: nqe queries import fb15k-237/ -o fb.queries --graph fb.graph

    Query2Box and BetaE files contain their graph as well; it is rebuilt and written to --graph.
    Their pickles can run no code: only plain containers are loaded.
    """
    from nqe.sampling import QuerySet, save_queries
    from nqe.sampling.exchange import read_nqe_json, read_tuple_queries
    from nqe.sampling.storage import check_output

    check_output(output)
    if (Path(source) / "tasks").is_dir():
        dataset = open_dataset(graph)
        tables = read_nqe_json(Path(source), dataset.vocabulary)
    else:
        _check_graph_output(graph, output)
        dataset, tables = read_tuple_queries(Path(source))
        dataset.save(graph)
        printing.say(f"{graph}: {dataset!r}")
    save_queries(QuerySet.about(dataset, tables), output, graph)
    say_sizes(output, tables)


def export(
    queries: QueriesArgument,
    output: Annotated[str, typer.Option("-o", "--output", help="The folder to write.")],
    form: Annotated[
        str,
        typer.Option(
            "--form", help="nqe-json (the NQE paper's) or betae (for atoms without qualifiers)."
        ),
    ] = "nqe-json",
    graph: GraphOption = None,
) -> None:
    """Export a query set for other programs (Python: nqe.sampling.exchange).

    Example: nqe queries export atlas.queries -o atlas.nqe-json
    """
    from nqe.sampling import load_queries
    from nqe.sampling.exchange import write_betae, write_nqe_json
    from nqe.sampling.storage import read_manifest

    dataset = _open_graph_of(queries, graph)
    tables = {split: load_queries(queries, split) for split in read_manifest(queries)["splits"]}
    if form == "betae":
        write_betae(dataset, tables, Path(output))
    elif form == "nqe-json":
        write_nqe_json(tables, dataset.vocabulary, Path(output))
    else:
        raise NqeError(f"unknown form '{form}'; choose one of nqe-json, betae")
    printing.note(f"{output}: written")


def _check_graph_output(graph: str, output: str) -> None:
    """Refuse a graph that could not be written, or that lies in the folder of the query set."""
    from nqe.graph.storage import check_output

    check_output(Path(graph))
    one, other = (Path(os.path.realpath(place)) for place in (graph, output))
    if one.is_relative_to(other) or other.is_relative_to(one):
        raise NqeError(f"{output}: not apart from the graph {graph}; choose two other folders")


def _open_graph_of(queries: str, graph: str | None) -> Dataset:
    """Open the graph of a query set: the given one, or the one it was sampled from; checked."""
    from nqe.sampling import row_storage, storage

    rows = row_storage.has_rows(queries)
    read = row_storage.read_row_manifest if rows else storage.read_manifest
    place = graph or read(queries)["dataset"]
    if place is None:
        raise NqeError(f"{queries}: does not say where its graph is; name it with --graph")
    dataset = open_dataset(place)
    (row_storage.check_row_graph if rows else storage.check_graph)(queries, dataset)
    return dataset


def _name_some(entities: Any, dataset: Dataset) -> str:
    """Return the names of the first entities."""
    names = dataset.vocabulary.entities
    shown = ", ".join(names.name(entity) for entity in entities[:8].tolist())
    return shown + (", …" if len(entities) > 8 else "")
