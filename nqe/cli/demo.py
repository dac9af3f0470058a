"""`nqe demo`: the main job on the embedded graph, in one go."""

from __future__ import annotations

from typing import Annotated

import typer

from nqe.cli import printing

ENTITY = "Switzerland"


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command()(demo)


def demo(
    output: Annotated[
        str, typer.Option("-o", "--output", help="The graph folder to write.")
    ] = "atlas.graph",
) -> None:
    """Build the embedded graph, count it, and show one of its entities.

    Example: nqe demo -o atlas.graph
    """
    from nqe.cli.tables import print_entity, print_statistics
    from nqe.demo import demo_dataset
    from nqe.graph.portrait import portrait
    from nqe.graph.statistics import statistics

    dataset = demo_dataset()
    dataset.save(output)
    printing.note(f"atlas, a graph of the world, is now in {output}")
    print_statistics(statistics(dataset))
    graph = dataset.graph
    print_entity(portrait(graph, graph.vocabulary.entities.resolve(ENTITY)), limit=12)
    printing.note(f"\nNow look around: nqe show {output} Japan, nqe find {output} 'new y'")
