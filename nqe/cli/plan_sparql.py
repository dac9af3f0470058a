"""The commands `nqe plan`, `nqe sparql` and `nqe shapes`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nqe.cli import printing
from nqe.cli.options import JsonOption, PlaceArgument, QueryArgument


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    app.command()(plan)
    app.command()(sparql)
    app.command()(shapes)


def plan(
    place: PlaceArgument,
    query: QueryArgument,
    svg: Annotated[
        str | None, typer.Option("--svg", help="Draw the plan to this SVG file.")
    ] = None,
    mermaid: Annotated[
        bool, typer.Option("--mermaid", help="Print the plan as a Mermaid flowchart.")
    ] = False,
) -> None:
    """Show the steps that answer a query (Python: nqe.bind).

    Example: nqe plan atlas '?x: borders(?x, ?y) and speaks(?y, German)' --mermaid
    """
    from nqe.answering.open_graph import open_dataset
    from nqe.files import new_file
    from nqe.query.plan_views import view_plan

    view = view_plan(query, open_dataset(place).vocabulary)
    if svg is not None:
        with new_file(Path(svg)) as temporary:
            temporary.write_text(view.svg, encoding="utf-8")
        printing.note(f"{svg}: written")
    if mermaid:
        printing.say_lines(view.mermaid.rstrip())
    elif svg is None:
        printing.say_lines(view.text)
    printing.note_warnings(view.notes)


def sparql(
    place: PlaceArgument,
    query: QueryArgument,
    model: Annotated[
        str, typer.Option("--model", help="wikidata (statement nodes) or rdf12 (annotations).")
    ] = "wikidata",
) -> None:
    """Write a query as SPARQL for an endpoint (Python: nqe.query.sparql.write_sparql).

    Example: nqe sparql atlas '?x: borders(?x, France)'
    """
    from nqe.answering.open_graph import open_dataset
    from nqe.query.binder import read_query
    from nqe.query.readings import describe_readings
    from nqe.query.sparql import write_sparql

    vocabulary, graph = open_dataset(place).vocabulary, read_query(query).graph
    printing.write_data(write_sparql(graph, vocabulary, model).rstrip())
    printing.note_warnings(describe_readings(graph, vocabulary))


def shapes(as_json: JsonOption = False) -> None:
    """List the 16 shapes of the paper and their trees (Python: nqe.SHAPES).

    Example: nqe shapes
    """
    from nqe.query.shapes import NEGATIVE, SHAPES

    if as_json:
        printing.json_block(SHAPES)
        return
    rows = [(name, tree, "negation" if name in NEGATIVE else "") for name, tree in SHAPES.items()]
    printing.table(("shape", "tree", ""), rows)
