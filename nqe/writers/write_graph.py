"""Writes graphs for other tools: chooses the format, compresses, writes one file or a folder."""

from __future__ import annotations

import bz2
import gzip
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from itertools import islice
from pathlib import Path
from typing import IO, cast

import pyarrow as pa

from nqe.errors import NqeError, choose
from nqe.files import new_file, new_folder
from nqe.graph.dataset import Dataset
from nqe.graph.graph import Graph
from nqe.graph.splits import SPLITS
from nqe.text_format import LABELS_FILE, STANDARD_STREAM
from nqe.writers import labels, rdf, statements, table

# The formats of text, by how to list their lines.
LINES: dict[str, Callable[[Graph], Iterator[str]]] = {
    "statements": statements.list_lines,
    "csv": partial(table.list_lines, separator=","),
    "tsv": partial(table.list_lines, separator="\t"),
    **rdf.RDF_FORMS,
}
PARQUET = "parquet"
ENDINGS = {
    "statements": ".txt",
    "csv": ".csv",
    "tsv": ".tsv",
    PARQUET: ".parquet",
    "rdf-1.2": ".nt",
    "wikidata-rdf": ".nt",
}
README = "nqe-export.txt"
# The files that an export may write, which the next one may replace.
_CONTENTS = (README, LABELS_FILE, *(f"{split}.*" for split in SPLITS))
EXPORT_NOTE = "Written by `nqe export`; this folder may be replaced by the next export.\n"

# Lines to write at once.
BLOCK = 1_000

Opener = Callable[[Path], AbstractContextManager[IO[bytes]]]


def _zstd(path: Path) -> IO[bytes]:
    return cast(IO[bytes], pa.CompressedOutputStream(pa.OSFile(str(path), "wb"), "zstd"))


def _plain(path: Path) -> IO[bytes]:
    return path.open("wb")


@contextmanager
def _gzip(path: Path) -> Iterator[IO[bytes]]:
    # Without name and time, so that the same graph is always written as the same bytes.
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
    """Write facts to a file, to standard output (`-`), or as a folder with one file per split.

    A name without an ending is a folder. Without `format`, a file's ending decides. A fact that
    the source states several times is written as often.
    """
    path = Path(target)
    if format is not None:
        choose(ENDINGS, format, "format")
    if str(target) == STANDARD_STREAM:
        _write_stream(dataset.known(facts), format or "statements", sys.stdout.buffer)
    elif path.suffix and not path.is_dir() and not str(target).endswith("/"):
        _write_file(dataset.known(facts), path, format or _detect_format(path))
    else:
        if format in rdf.RDF_FORMS:
            raise NqeError(f"{path}: RDF goes to one file for all facts; end the name in .nt")
        _write_folder(dataset, path, format or "statements", facts)


def _write_file(graph: Graph, path: Path, format: str) -> None:
    """One graph in one file, compressed if its ending says so."""
    with new_file(path) as temporary, _COMPRESSED.get(path.suffix, _plain)(temporary) as stream:
        _write_stream(graph, format, stream)


def _write_folder(dataset: Dataset, folder: Path, format: str, facts: str) -> None:
    """One file per split and the labels; importing the folder gives the same data set again."""
    listed = [name.strip() for name in facts.split(",")]
    names = list(dataset.splits) if listed == ["all"] else listed
    graphs = {name: dataset.split(name) for name in names}
    with new_folder(folder, README, contents=_CONTENTS) as temporary:
        for name, graph in graphs.items():
            with (temporary / f"{name}{ENDINGS[format]}").open("wb") as stream:
                _write_stream(graph, format, stream)
        described = "".join(labels.list_lines(dataset.vocabulary))
        if described:
            (temporary / LABELS_FILE).write_text(described, encoding="utf-8")
        (temporary / README).write_text(EXPORT_NOTE, encoding="utf-8")


def _detect_format(path: Path) -> str:
    """The format that a file's ending stands for."""
    formats = {ending: format for format, ending in ENDINGS.items()}
    suffixes = [suffix for suffix in path.suffixes if suffix not in _COMPRESSED]
    if not suffixes or suffixes[-1] not in formats:
        raise NqeError(
            f"{path}: the ending stands for no format; end the name in {', '.join(formats)}, "
            "or give --format"
        )
    return formats[suffixes[-1]]


def _write_stream(graph: Graph, format: str, stream: IO[bytes]) -> None:
    if format == PARQUET:
        table.write_parquet(graph, stream)
        return
    lines = choose(LINES, format, "format")(graph)
    while text := "".join(islice(lines, BLOCK)):
        stream.write(text.encode("utf-8"))
