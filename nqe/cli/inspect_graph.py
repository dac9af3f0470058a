"""The commands that show what is in a graph: stats, show and find."""

from __future__ import annotations

from typing import Annotated

import typer

from nqe.answering.open_graph import open_dataset
from nqe.cli import printing
from nqe.cli.options import FactsOption, JsonOption, PlaceArgument


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    app.command()(stats)
    app.command()(show)
    app.command()(find)


def stats(
    graph: PlaceArgument,
    top: Annotated[int, typer.Option("--top", min=1, help="Length of the lists.")] = 10,
    as_json: JsonOption = False,
) -> None:
    """Count facts, arities, relations, degrees and splits (Python: nqe.compute_statistics).

    Example: nqe stats atlas
    """
    from nqe.cli.print_graph import print_statistics
    from nqe.graph.statistics import compute_statistics

    numbers = compute_statistics(open_dataset(graph), top)
    if as_json:
        printing.json_block(numbers)
    else:
        print_statistics(numbers)


def show(
    graph: PlaceArgument,
    entity: Annotated[str, typer.Argument(metavar="ENTITY", help="An id or a label.")],
    facts: FactsOption = "all",
    limit: Annotated[int, typer.Option("--limit", min=1, help="Facts to show per slot.")] = 20,
    as_json: JsonOption = False,
) -> None:
    """Show the facts that an entity is in, with labels, by slot (Python: Graph.mentions).

    Example: nqe show atlas Switzerland
    """
    from nqe.cli.print_graph import print_entity
    from nqe.graph.entity_facts import collect_entity_facts
    from nqe.query.readings import describe_reading

    dataset = open_dataset(graph)
    names = dataset.vocabulary.entities
    number = names.resolve(entity)
    found = collect_entity_facts(dataset.known(facts), number)
    if as_json:
        printing.json_block(found)
    else:
        print_entity(found, limit)
    printing.note_warnings(describe_reading(names, entity))


def find(
    graph: PlaceArgument,
    text: Annotated[
        str, typer.Argument(metavar="TEXT", help="A name, part of one, or a similar spelling.")
    ],
    limit: Annotated[int, typer.Option("--limit", min=1, help="Names to show per kind.")] = 10,
    as_json: JsonOption = False,
) -> None:
    """Find entities and relations by id, label, prefix, part or spelling (Python: Names.search).

    Example: nqe find atlas 'new y'
    """
    from nqe.graph.name_search import find_names

    vocabulary = open_dataset(graph).vocabulary
    found = find_names(vocabulary, text, limit)
    if as_json:
        printing.json_block([vars(name) for name in found])
    elif found:
        rows = [(name.kind, name.id, name.label, name.description, name.how) for name in found]
        printing.table(("kind", "id", "label", "description", "found by"), rows)
    else:
        printing.note(f"no name in {graph} is like '{text}'")
