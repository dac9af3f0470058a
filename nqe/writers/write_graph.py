"""Writing graphs for other tools: statements and tables, one file or a folder of splits."""

from __future__ import annotations

import bz2
import gzip
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from itertools import islice
from pathlib import Path
from typing import IO, Any, cast

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from nqe.errors import NqeError, choose
from nqe.files import new_file, new_folder
from nqe.graph.dataset import Dataset
from nqe.graph.fact import Fact
from nqe.graph.graph import Graph
from nqe.graph.vocabulary import Names
from nqe.readers.cells import join
from nqe.readers.labels import ALIAS_SEPARATOR
from nqe.readers.read_dataset import LABELS
from nqe.readers.source import STDIN
from nqe.writers.rdf import RDF_FORMS

ENDINGS = {
    "statements": ".txt",
    "csv": ".csv",
    "tsv": ".tsv",
    "parquet": ".parquet",
    "rdf-1.2": ".nt",
    "wikidata-rdf": ".nt",
}
MAIN = ("subject", "relation", "object")
README = "nqe-export.txt"
EXPORT_NOTE = "Written by `nqe export`; this folder may be replaced by the next export.\n"

# So many lines are put together at a time.
ROWS = 1_000

Opener = Callable[[Path], AbstractContextManager[IO[bytes]]]


def _zstd(path: Path) -> IO[bytes]:
    return cast(IO[bytes], pa.CompressedOutputStream(pa.OSFile(str(path), "wb"), "zstd"))


def _plain(path: Path) -> IO[bytes]:
    return path.open("wb")


@contextmanager
def _gzip(path: Path) -> Iterator[IO[bytes]]:
    # Without name and time, so that the same graph is always the same bytes.
    with path.open("wb") as file, gzip.GzipFile("", "wb", fileobj=file, mtime=0) as stream:
        yield cast(IO[bytes], stream)


_COMPRESSED: dict[str, Opener] = {
    ".gz": _gzip,
    ".bz2": partial(bz2.BZ2File, mode="wb"),
    ".zst": _zstd,
}


def write(
    dataset: Dataset, target: str | Path, *, format: str | None = None, facts: str = "all"
) -> None:
    """Write facts to a file (by its ending), to `-`, or, without an ending, a folder of splits.

    A fact stated several times is written as often, so that reading it again counts the same.
    """
    path = Path(target)
    if format is not None:
        choose(ENDINGS, format, "format")
    if str(target) == STDIN:
        _write_stream(dataset.known(facts), format or "statements", sys.stdout.buffer)
    elif path.suffix and not path.is_dir() and not str(target).endswith("/"):
        _write_file(dataset.known(facts), path, format or _format_of(path))
    else:
        if format in RDF_FORMS:
            raise NqeError(f"{path}: RDF goes to one file for all facts; end the name in .nt")
        _write_folder(dataset, path, format or "statements", facts)


def _write_file(graph: Graph, path: Path, format: str) -> None:
    """One graph in one file, compressed as its ending says."""
    with new_file(path) as temporary, _COMPRESSED.get(path.suffix, _plain)(temporary) as stream:
        _write_stream(graph, format, stream)


def _write_folder(dataset: Dataset, folder: Path, format: str, facts: str) -> None:
    """A file a split and the labels; importing the folder gives the same data set again."""
    listed = [name.strip() for name in facts.split(",")]
    names = list(dataset.splits) if listed == ["all"] else listed
    graphs = {name: dataset.split(name) for name in names}
    with new_folder(folder, README) as temporary:
        for name, graph in graphs.items():
            with (temporary / f"{name}{ENDINGS[format]}").open("wb") as stream:
                _write_stream(graph, format, stream)
        kinds = (dataset.vocabulary.entities, dataset.vocabulary.relations)
        labels = "".join(line for kind in kinds for line in _label_lines(kind))
        if labels:
            (temporary / LABELS).write_text(labels, encoding="utf-8")
        (temporary / README).write_text(EXPORT_NOTE, encoding="utf-8")


def _format_of(path: Path) -> str:
    """The format that a file's ending means."""
    endings = {ending: format for format, ending in ENDINGS.items()}
    suffixes = [suffix for suffix in path.suffixes if suffix not in _COMPRESSED]
    if not suffixes or suffixes[-1] not in endings:
        raise NqeError(
            f"{path}: the ending tells no format; end it in {', '.join(endings)}, or say --format"
        )
    return endings[suffixes[-1]]


def _write_stream(graph: Graph, format: str, stream: IO[bytes]) -> None:
    if format == "parquet":
        parquet.write_table(_parquet_table(graph), stream)
        return
    if format in RDF_FORMS:
        lines = RDF_FORMS[format](graph)
    else:
        separator = "\t" if format == "tsv" else ","
        stated = map(_statement, _as_stated(graph))
        rows = stated if format == "statements" else _table_rows(graph)
        lines = (join(row, separator) + "\n" for row in rows)
    while text := "".join(islice(lines, ROWS)):
        stream.write(text.encode("utf-8"))


def _as_stated(graph: Graph) -> Iterator[Fact]:
    for row, count in enumerate(graph.facts.count.tolist()):
        fact = graph.fact(row)
        for _ in range(count):
            yield fact


def _statement(fact: Fact) -> list[str]:
    pairs = (text for pair in fact.qualifiers for text in pair)
    return [fact.subject, fact.relation, fact.object, *pairs]


def _most_values(graph: Graph) -> dict[str, int]:
    """Each attribute in use, with the most values that one fact has of it."""
    facts = graph.facts
    keys = facts.qualifier_fact * graph.relation_count + facts.attribute
    unique, counts = np.unique(keys, return_counts=True)
    attributes = unique % max(graph.relation_count, 1)
    most = np.zeros(graph.relation_count, dtype=np.int64)
    np.maximum.at(most, attributes, counts)
    names = graph.vocabulary.relations.ids
    return {names[attribute]: int(most[attribute]) for attribute in np.flatnonzero(most).tolist()}


def _table_rows(graph: Graph) -> Iterator[list[str]]:
    """A header and a row a fact; an attribute has as many columns as a fact has values of it."""
    header = [name for name, count in _most_values(graph).items() for _ in range(count)]
    first = {name: header.index(name) for name in header}
    yield [*MAIN, *header]
    for fact in _as_stated(graph):
        cells = [""] * len(header)
        place = dict(first) if fact.qualifiers else first
        for attribute, value in fact.qualifiers:
            cells[place[attribute]] = value
            place[attribute] += 1
        yield [fact.subject, fact.relation, fact.object, *cells]


def _parquet_table(graph: Graph) -> Any:
    """A column an attribute; of lists where a fact has several values of one."""
    facts = list(_as_stated(graph))
    columns = [
        (name, pa.array([getattr(fact, name) for fact in facts], pa.string())) for name in MAIN
    ]
    columns += [
        (name, _attribute_cells(facts, name, several=count > 1))
        for name, count in _most_values(graph).items()
    ]
    return pa.Table.from_arrays(
        [cells for _, cells in columns], names=[name for name, _ in columns]
    )


def _attribute_cells(facts: Sequence[Fact], name: str, *, several: bool) -> Any:
    values = [[value for a, value in fact.qualifiers if a == name] or None for fact in facts]
    if several:
        return pa.array(values, pa.list_(pa.string()))
    return pa.array([cell and cell[0] for cell in values], pa.string())


def _label_lines(names: Names) -> Iterator[str]:
    for number, name in enumerate(names.ids):
        label, description = names.labels[number] or "", names.descriptions[number] or ""
        aliases = names.aliases.get(number, ())
        joined = ALIAS_SEPARATOR.join(alias for alias in aliases if ALIAS_SEPARATOR not in alias)
        if label or description or aliases:
            yield "\t".join((name, label, description, joined)).rstrip("\t") + "\n"
        # A second line for an id adds an alias, whatever is in it.
        yield from (f"{name}\t{alias}\n" for alias in aliases if ALIAS_SEPARATOR in alias)
