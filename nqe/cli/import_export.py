"""The commands that read and write graphs: import and export."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nqe.answering.open_graph import open_dataset
from nqe.cli import printing
from nqe.cli.options import FactsOption, PlaceArgument
from nqe.errors import NqeError
from nqe.text_format import STANDARD_STREAM

if TYPE_CHECKING:
    from nqe.readers import BadLines, EndpointQuery


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    app.command("import")(import_)
    app.command()(export)


# At most this many bad lines are printed.
SHOWN = 5
# After the name of a graph: the folder of the pages that an endpoint gave so far.
PAGES = ".pages"


def import_(
    output: Annotated[str, typer.Option("-o", "--output", help="The graph folder to write.")],
    sources: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[SRC…]",
            help="Files, `-`, a folder with train, valid and test, or sparql:URL.",
        ),
    ] = None,
    format: Annotated[
        str | None,
        typer.Option(
            "--format",
            help="statements, nary, table, wikidata, turtle, trig, n-triples, n-quads, rdf-xml; "
            "default: detected.",
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
        str | None,
        typer.Option(help="Wikidata, RDF: of labels, descriptions and aliases; default en."),
    ] = None,
    skip_bad: Annotated[
        bool, typer.Option("--skip-bad", help="Skip bad lines; keep them in bad_lines.tsv.")
    ] = False,
    subject: Annotated[
        str | None, typer.Option(help="A table's subject column: its name, or number if none.")
    ] = None,
    relation: Annotated[str | None, typer.Option(help="A table's relation column.")] = None,
    object: Annotated[str | None, typer.Option(help="A table's object column.")] = None,
    relation_name: Annotated[
        str | None, typer.Option(help="The relation of all rows of a table.")
    ] = None,
    qualifiers: Annotated[
        str | None,
        typer.Option(help="The columns of qualifiers, such as a,b, or none; default: all others."),
    ] = None,
    no_header: Annotated[
        bool, typer.Option("--no-header", help="A table's first line is a row; columns are 1, 2, …")
    ] = False,
    columns: Annotated[
        str | None, typer.Option(help="The names of the columns of a table without a header.")
    ] = None,
    missing: Annotated[
        str | None, typer.Option(help="Texts that mean an empty cell of a table, such as NaN,NULL.")
    ] = None,
    mapping: Annotated[
        str | None,
        typer.Option("--mapping", help="A TOML file that says what columns of which files mean."),
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
    query: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="sparql:URL: a file with a SELECT or CONSTRUCT query."),
    ] = None,
    page_size: Annotated[
        int | None,
        typer.Option(min=1, help="sparql:URL: rows to ask for at once; default 10,000."),
    ] = None,
) -> None:
    """Read facts and save them as a graph folder (Python: nqe.read, Dataset.save).

    Example: nqe import wd50k/ -o wd50k.graph --labels labels.tsv

    gzip, bzip2, xz and zstd files are decompressed. Files named train, valid (or dev) and test
    become those splits, all others train. The labels.tsv in a folder is used unless --labels is
    given. Without SRC, all files of the mapping are read. sparql:https://host/sparql is an
    endpoint, which --query is put to page by page; after a failure, the same command goes on
    where it stopped.
    """
    from nqe.cli.print_graph import note_empty_marks, note_leakage, say_saved
    from nqe.cli.progress import ProgressBar
    from nqe.graph.storage import check_output
    from nqe.readers import BadLines, Columns, LeftOut, LiteralPolicy, WikidataPolicy, read

    policy = LiteralPolicy(literals) if literals else None
    meaning = Columns(
        subject,
        relation,
        object,
        relation_name,
        _parse_qualifiers(qualifiers),
        header=not no_header,
        names=_split_names("columns", columns),
        missing=frozenset(_split_names("missing", missing) or ()),
    )
    wikidata = WikidataPolicy(
        deprecated,
        external_ids,
        _split_names("keep-relations", keep_relations),
        _split_names("keep-classes", keep_classes),
    )
    asked = _load_query(query, page_size, output)
    check_output(Path(output))
    bad, left_out = BadLines(skip=skip_bad), LeftOut()
    with ProgressBar("facts") as progress:
        dataset = read(
            sources or [],
            format=format,
            labels=labels,
            limit=limit,
            columns=meaning,
            mapping=mapping,
            literals=policy,
            language=language,
            wikidata=wikidata,
            query=asked,
            left_out=left_out,
            bad=bad,
            progress=progress,
        )
    dataset.save(output, bad.to_tsv() if bad.count else None)
    if asked is not None:
        asked.clear()
    _note_bad_lines(bad, output)
    kept = (policy or LiteralPolicy()).describe(dataset)
    languages = left_out.describe_languages(dataset, language)
    for told in filter(None, (wikidata.describe(language), left_out.describe(), languages, kept)):
        printing.note(told)
    say_saved(output, dataset)
    note_empty_marks(dataset)
    note_leakage(dataset)


def _load_query(path: str | None, page_size: int | None, output: str) -> EndpointQuery | None:
    """The query for an endpoint, whose pages are kept beside the output until that is written."""
    from nqe.readers import EndpointQuery
    from nqe.readers.sparql_source import PAGE_SIZE

    if path is None:
        if page_size is not None:
            raise NqeError(
                "--page-size is for SPARQL endpoints; give --query FILE, or leave it out"
            )
        return None
    return EndpointQuery(
        EndpointQuery.load(path),
        page_size or PAGE_SIZE,
        folder=Path(f"{output.rstrip('/')}{PAGES}"),
        tell=printing.note,
        name=path,
    )


def _parse_qualifiers(text: str | None) -> tuple[tuple[str, str], ...] | None:
    """The columns of qualifiers with the names of their attributes; None if none are named."""
    if text is not None and text.strip() == "none":
        return ()
    names = _split_names("qualifiers", text)
    return None if names is None else tuple((name, name) for name in names)


def _split_names(option: str, text: str | None) -> tuple[str, ...] | None:
    """The names in a list with commas; None if it is not given."""
    if text is None:
        return None
    names = tuple(name.strip() for name in text.split(","))
    if "" in names:
        raise NqeError(f"--{option} {text:.100}: an empty name; write names with commas between")
    return names


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
