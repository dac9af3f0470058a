"""The commands that read and write graphs: import and export."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nqe.answering.open_graph import open_dataset
from nqe.cli import printing
from nqe.cli.options import FactsOption, PlaceArgument
from nqe.text_format import MAIN_COLUMNS, STANDARD_STREAM

if TYPE_CHECKING:
    from nqe.readers import BadLines


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    app.command("import")(import_)
    app.command()(export)


# At most this many bad lines are printed.
SHOWN = 5


def import_(
    sources: Annotated[
        list[str],
        typer.Argument(metavar="SRC…", help="Files, `-`, or a folder with train, valid and test."),
    ],
    output: Annotated[str, typer.Option("-o", "--output", help="The graph folder to write.")],
    format: Annotated[
        str | None,
        typer.Option(
            "--format",
            help="statements, nary, table, turtle, trig, n-triples, n-quads, rdf-xml; default: "
            "detected.",
        ),
    ] = None,
    labels: Annotated[
        str | None,
        typer.Option("--labels", help="TSV of id, label[, description[, aliases a|b]]."),
    ] = None,
    limit: Annotated[
        int | None, typer.Option("--limit", min=1, help="Read this many facts from each file.")
    ] = None,
    literals: Annotated[
        str | None,
        typer.Option("--literals", help="Times, numbers and texts: skip, keep or bands."),
    ] = None,
    language: Annotated[
        str, typer.Option("--language", help="The language of labels and descriptions in RDF.")
    ] = "en",
    skip_bad: Annotated[
        bool, typer.Option("--skip-bad", help="Skip bad lines; keep them in bad_lines.tsv.")
    ] = False,
    subject: Annotated[str, typer.Option(help="A table's subject column.")] = MAIN_COLUMNS[0],
    relation: Annotated[str, typer.Option(help="A table's relation column.")] = MAIN_COLUMNS[1],
    object: Annotated[str, typer.Option(help="A table's object column.")] = MAIN_COLUMNS[2],
) -> None:
    """Read facts and save them as a graph folder (Python: nqe.read, Dataset.save).

    Example: nqe import wd50k/ -o wd50k.graph --labels labels.tsv

    gzip, bzip2 and zstd files are decompressed. Files named train, valid (or dev) and test become
    those splits, all others train. The labels.tsv in a folder is used unless --labels is given.
    """
    from nqe.cli.progress import ProgressBar
    from nqe.graph.storage import check_output
    from nqe.readers import BadLines, Columns, LeftOut, LiteralPolicy, read

    policy = LiteralPolicy(literals) if literals else None
    check_output(Path(output))
    bad, left_out = BadLines(skip=skip_bad), LeftOut()
    with ProgressBar("facts") as progress:
        dataset = read(
            sources,
            format=format,
            labels=labels,
            limit=limit,
            columns=Columns(subject, relation, object),
            literals=policy,
            language=language,
            left_out=left_out,
            bad=bad,
            progress=progress,
        )
    dataset.save(output, bad.to_tsv() if bad.count else None)
    _note_bad_lines(bad, output)
    if told := left_out.describe():
        printing.note(told)
    if told := (policy or LiteralPolicy()).describe(dataset):
        printing.note(told)
    sizes = ", ".join(f"{name} {len(facts):,}" for name, facts in dataset.splits.items())
    names = dataset.vocabulary
    printing.say(
        f"{output}: {sizes} facts; {len(names.entities):,} entities, "
        f"{len(names.relations):,} relations; fingerprint {dataset.fingerprint}"
    )


def _note_bad_lines(bad: BadLines, output: str) -> None:
    """Print the first bad lines, how many there are, and where to see them."""
    if not bad.count:
        return
    for place, line in bad.kept[:SHOWN]:
        printing.note(f"{place}: {line.problem}")
    from nqe.graph.storage import BAD_LINES

    kept = "" if len(bad.kept) == bad.count else f" for the first {len(bad.kept):,}"
    printing.note(f"{bad.count:,} bad line(s) skipped; see {output}/{BAD_LINES}{kept}")


def export(
    graph: PlaceArgument,
    output: Annotated[
        str, typer.Option("-o", "--output", help="A file, a folder for all splits, or `-`.")
    ],
    format: Annotated[
        str | None,
        typer.Option(
            "--format",
            help="statements, csv, tsv, parquet, wikidata-rdf, rdf-1.2; default: by the ending.",
        ),
    ] = None,
    facts: FactsOption = "all",
) -> None:
    """Write facts as statements, tables or RDF for other tools (Python: nqe.write).

    Example: nqe export atlas -o atlas.parquet

    A name without an ending is a folder with one file per split and the labels; importing it gives
    the same graph. A file whose name ends in .gz, .bz2 or .zst is compressed.
    """
    from nqe.writers import write

    write(open_dataset(graph), output, format=format, facts=facts)
    if output != STANDARD_STREAM:
        printing.note(f"{output}: written")
