"""Commands about questions: plan, sparql, shapes, shell."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nqe.cli import printing
from nqe.cli.choices import FactsOption, GraphArgument, JsonOption, open_dataset

if TYPE_CHECKING:
    from nqe.graph import Graph

QueryArgument = Annotated[str, typer.Argument(metavar="QUERY", help="A query, as ?x: p(?x, a).")]


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    app.command()(plan)
    app.command()(sparql)
    app.command()(shapes)
    app.command()(shell)


def plan(
    graph: GraphArgument,
    query: QueryArgument,
    svg: Annotated[str | None, typer.Option("--svg", help="Write a picture to this file.")] = None,
    mermaid: Annotated[bool, typer.Option("--mermaid", help="Print a Mermaid graph.")] = False,
) -> None:
    """Show the steps by which a query is answered (Python: nqe.bind).

    Example: nqe plan atlas '?x: borders(?x, ?y) and speaks(?y, German)' --mermaid
    """
    from nqe.files import new_file
    from nqe.query import bind
    from nqe.query.drawing import draw_mermaid, draw_text
    from nqe.query.svg import draw_svg

    vocabulary = open_dataset(graph).vocabulary
    bound = bind(query, vocabulary)
    if svg is not None:
        with new_file(Path(svg)) as temporary:
            temporary.write_text(draw_svg(bound, vocabulary), encoding="utf-8")
        printing.note(f"{svg}: written")
    if mermaid:
        printing.say(draw_mermaid(bound, vocabulary).rstrip())
    elif svg is None:
        printing.say(f"shape {bound.shape_name}")
        printing.say(draw_text(bound, vocabulary))
    for warning in bound.warnings:
        printing.note(f"nqe: note: {warning}")


def sparql(
    graph: GraphArgument,
    query: QueryArgument,
    model: Annotated[
        str, typer.Option("--model", help="wikidata (statement nodes) or rdf12 (annotations).")
    ] = "wikidata",
) -> None:
    """Write a query as SPARQL, to be run at an endpoint (Python: nqe.query.sparql.write_sparql).

    Example: nqe sparql atlas '?x: borders(?x, France)'
    """
    from nqe.query.binder import read_query
    from nqe.query.sparql import write_sparql

    vocabulary = open_dataset(graph).vocabulary
    printing.say(write_sparql(read_query(query).graph, vocabulary, model).rstrip())


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


def shell(graph: GraphArgument, facts: FactsOption = "all") -> None:
    """Ask questions one after another, with completion and history.

    Example: nqe shell atlas
    """
    from nqe.cli.shell import run_shell

    known: Graph = open_dataset(graph).known(facts)
    run_shell(known, graph)
