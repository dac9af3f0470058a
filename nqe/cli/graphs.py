"""Commands about graphs: import, stats, show, find, export."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nqe.answering.open_graph import open_dataset
from nqe.cli import printing
from nqe.cli.options import FactsOption, GraphArgument, JsonOption


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    app.command("import")(import_)
    app.command()(stats)
    app.command()(show)
    app.command()(find)
    app.command()(export)


def import_(
    sources: Annotated[
        list[str],
        typer.Argument(metavar="SRC…", help="Files, `-`, or a folder with train, valid and test."),
    ],
    output: Annotated[str, typer.Option("-o", "--output", help="The graph folder to write.")],
    format: Annotated[
        str | None,
        typer.Option("--format", help="statements, nary or table; told by the content if absent."),
    ] = None,
    labels: Annotated[
        str | None,
        typer.Option("--labels", help="TSV of id, label[, description[, aliases a|b]]."),
    ] = None,
    limit: Annotated[
        int | None, typer.Option("--limit", min=1, help="Facts to read of each file.")
    ] = None,
    skip_bad: Annotated[
        bool, typer.Option("--skip-bad", help="Pass over bad lines; keep them in bad_lines.tsv.")
    ] = False,
    subject: Annotated[str, typer.Option(help="A table's subject column.")] = "subject",
    relation: Annotated[str, typer.Option(help="A table's relation column.")] = "relation",
    object: Annotated[str, typer.Option(help="A table's object column.")] = "object",
) -> None:
    """Read facts and save them as a graph folder (Python: nqe.read, Dataset.save).

    Example: nqe import wd50k/ -o wd50k.graph --labels labels.tsv

    gzip, bzip2 and zstd files are read as they are. Files named train, valid (or dev) and test
    become those splits, all others train. A folder's own labels.tsv is used if there is one.
    """
    from nqe.cli.progress import ProgressBar
    from nqe.graph.storage import check_output
    from nqe.readers import BadLines, Columns, read

    check_output(Path(output))
    bad = BadLines(skip=skip_bad)
    columns = Columns(subject, relation, object)
    with ProgressBar("facts") as progress:
        dataset = read(
            sources,
            format=format,
            labels=labels,
            limit=limit,
            columns=columns,
            bad=bad,
            progress=progress,
        )
    extra = {BAD_LINES: bad.to_tsv()} if bad.count else {}
    dataset.save(output, extra)
    for where, line in bad.kept[:5]:
        printing.note(f"{where}: {line.problem}")
    if bad.count:
        kept = "" if len(bad.kept) == bad.count else f" for the first {len(bad.kept):,}"
        printing.note(f"{bad.count:,} bad line(s) passed over; see {output}/{BAD_LINES}{kept}")
    sizes = ", ".join(f"{name} {len(facts):,}" for name, facts in dataset.splits.items())
    names = dataset.vocabulary
    printing.say(
        f"{output}: {sizes} facts; {len(names.entities):,} entities, "
        f"{len(names.relations):,} relations; fingerprint {dataset.fingerprint}"
    )


BAD_LINES = "bad_lines.tsv"


def stats(
    graph: GraphArgument,
    top: Annotated[int, typer.Option("--top", min=1, help="Length of the lists.")] = 10,
    as_json: JsonOption = False,
) -> None:
    """Count facts, arities, qualifiers, relations, degrees and splits (Python: nqe.statistics).

    Example: nqe stats atlas
    """
    from nqe.cli.tables import print_statistics
    from nqe.graph.statistics import statistics

    numbers = statistics(open_dataset(graph), top)
    if as_json:
        printing.json_block(numbers)
    else:
        print_statistics(numbers)


def show(
    graph: GraphArgument,
    entity: Annotated[str, typer.Argument(metavar="ENTITY", help="An id or a label.")],
    facts: FactsOption = "all",
    limit: Annotated[int, typer.Option("--limit", min=1, help="Facts to show of each slot.")] = 20,
    as_json: JsonOption = False,
) -> None:
    """Show an entity's facts with labels, from every slot (Python: Graph.mentions).

    Example: nqe show atlas Switzerland
    """
    from nqe.cli.tables import print_entity
    from nqe.graph.entity_facts import portrait

    dataset = open_dataset(graph)
    shown = portrait(dataset.known(facts), dataset.vocabulary.entities.resolve(entity))
    if as_json:
        printing.json_block(shown)
    else:
        print_entity(shown, limit)


def find(
    graph: GraphArgument,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="Part of a name, or how it sounds.")],
    limit: Annotated[int, typer.Option("--limit", min=1, help="Names to show of each kind.")] = 10,
    as_json: JsonOption = False,
) -> None:
    """Find entities and relations by id, label, prefix, part or spelling (Python: Names.search).

    Example: nqe find atlas 'new y'
    """
    from nqe.graph.entity_facts import found_names

    vocabulary = open_dataset(graph).vocabulary
    found = found_names(vocabulary, text, limit)
    if as_json:
        printing.json_block([vars(name) for name in found])
    elif found:
        rows = [(name.kind, name.id, name.label, name.description, name.how) for name in found]
        printing.table(("kind", "id", "label", "description", "found by"), rows)
    else:
        printing.note(f"nothing in {graph} is called anything like '{text}'")


def export(
    graph: GraphArgument,
    output: Annotated[
        str, typer.Option("-o", "--output", help="A file, a folder for all splits, or -.")
    ],
    format: Annotated[
        str | None,
        typer.Option(
            "--format",
            help="statements, csv, tsv, parquet, wikidata-rdf or rdf-1.2; else by the ending.",
        ),
    ] = None,
    facts: FactsOption = "all",
) -> None:
    """Write facts as statements or tables for other tools (Python: nqe.write).

    Example: nqe export atlas -o atlas.parquet

    A name without an ending is a folder with a file a split and the labels; importing it gives
    the same graph. Endings .gz, .bz2 and .zst compress.
    """
    from nqe.writers import write

    write(open_dataset(graph), output, format=format, facts=facts)
    if output != "-":
        printing.note(f"{output}: written")
