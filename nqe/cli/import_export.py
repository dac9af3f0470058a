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
        typer.Option("--format", help="statements, nary, table or wikidata; default: detected."),
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
    skip_bad: Annotated[
        bool, typer.Option("--skip-bad", help="Skip bad lines; keep them in bad_lines.tsv.")
    ] = False,
    language: Annotated[
        str | None, typer.Option(help="Wikidata: of labels, descriptions and aliases; default en.")
    ] = None,
    deprecated: Annotated[
        bool, typer.Option("--deprecated", help="Wikidata: take deprecated statements too.")
    ] = False,
    external_ids: Annotated[
        bool, typer.Option("--external-ids", help="Wikidata: take ids in other databases too.")
    ] = False,
    keep_relations: Annotated[
        str | None, typer.Option(help="Wikidata: take only these relations, such as P31,P166.")
    ] = None,
    keep_classes: Annotated[
        str | None,
        typer.Option(help="Wikidata: take only statements about instances of these, such as Q5."),
    ] = None,
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
    from nqe.readers import BadLines, Columns, LiteralPolicy, WikidataPolicy, read

    policy = LiteralPolicy(literals) if literals else None
    wikidata = WikidataPolicy(
        deprecated, external_ids, _split_ids(keep_relations), _split_ids(keep_classes)
    )
    check_output(Path(output))
    bad = BadLines(skip=skip_bad)
    with ProgressBar("facts") as progress:
        dataset = read(
            sources,
            format=format,
            labels=labels,
            limit=limit,
            columns=Columns(subject, relation, object),
            literals=policy,
            language=language,
            wikidata=wikidata,
            bad=bad,
            progress=progress,
        )
    dataset.save(output, bad.to_tsv() if bad.count else None)
    _note_bad_lines(bad, output)
    for told in (wikidata.describe(), (policy or LiteralPolicy()).describe(dataset)):
        if told:
            printing.note(told)
    sizes = ", ".join(f"{name} {len(facts):,}" for name, facts in dataset.splits.items())
    names = dataset.vocabulary
    printing.say(
        f"{output}: {sizes} facts; {len(names.entities):,} entities, "
        f"{len(names.relations):,} relations; fingerprint {dataset.fingerprint}"
    )


def _split_ids(text: str | None) -> list[str] | None:
    """The ids in a list with commas; None if it is not given."""
    return None if text is None else [name.strip() for name in text.split(",")]


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
