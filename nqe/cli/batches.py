"""Many queries from a file: their answers printed, or written as JSON Lines or Parquet."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, Protocol

from nqe.cli import printing
from nqe.errors import NqeError, StorageError
from nqe.files import new_file

Line = tuple[int, str]
Row = tuple[int, dict[str, Any]]


class Asked(Protocol):
    """A graph or a model that answers queries and shows what it found."""

    @property
    def at_once(self) -> int:
        """So many queries are worked on together."""
        ...

    def answer(self, queries: list[str]) -> list[Any]:
        """What was found for each query, or the error that it is."""
        ...

    def print(self, found: Any) -> None:
        """Print it for a person."""
        ...

    def to_json(self, query: str, found: Any) -> dict[str, Any]:
        """It as a JSON object."""
        ...


def print_file(asked: Asked, file: str, as_json: bool) -> int:
    """Ask every line; a query in error does not stop the rest. Gives the number of those."""
    failed = 0
    for number, query, found in _found(asked, _lines(file)):
        try:
            _print(asked, query, found, as_json)
        except NqeError as error:
            failed += 1
            if as_json:
                printing.json_line({"query": query, "error": str(error)})
            printing.note(f"nqe: {file}:{number}: {error}")
    return failed


def _print(asked: Asked, query: str, found: Any, as_json: bool) -> None:
    if not as_json:
        printing.heading(query)
    if isinstance(found, NqeError):
        raise found
    if as_json:
        printing.json_line(asked.to_json(query, found))
    else:
        asked.print(found)


def write_file(asked: Asked, mode: str, file: str, output: str) -> int:
    """The same, into a file that is there only when all is written."""
    from nqe.cli.progress import ProgressBar

    path = check_output(output)
    lines = list(_lines(file))
    failed = 0
    with (
        new_file(path) as temporary,
        WRITERS[path.suffix](temporary) as write,
        ProgressBar("queries") as progress,
    ):
        progress.start("answering", len(lines))
        for done, (number, query, found) in enumerate(_found(asked, lines), start=1):
            failed += isinstance(found, NqeError)
            write((number, _row(asked, mode, query, found)))
            progress.update(done, done)
            if isinstance(found, NqeError):
                printing.note(f"nqe: {file}:{number}: {found}")
    answered = len(lines) - failed
    printing.note(f"{output}: written, {answered:,} of {len(lines):,} queries answered")
    return failed


def _row(asked: Asked, mode: str, query: str, found: Any) -> dict[str, Any]:
    if isinstance(found, NqeError):
        return {"query": query, "error": str(found)}
    return {"query": query, "mode": mode, "answers": asked.to_json(query, found)["answers"]}


def check_output(output: str) -> Path:
    """Where answers are to go; refused before any work is done."""
    path = Path(output)
    if path.suffix not in WRITERS:
        raise NqeError(
            f"{output}: answers of no known form; end the name in {' or '.join(WRITERS)}"
        )
    if path.is_dir():
        raise StorageError(f"{output}: a folder; choose another name for the file")
    return path


def _lines(file: str) -> Iterator[Line]:
    """The queries of a file, with the numbers of their lines."""
    from nqe.readers.source import Source

    with Source(file) as source:
        for number, line in source.lines():
            if not line.lstrip().startswith("#"):
                yield number, line


def _found(asked: Asked, lines: Iterable[Line]) -> Iterator[tuple[int, str, Any]]:
    """What is found for every query, some worked on together."""
    rest = iter(lines)
    while some := list(islice(rest, asked.at_once)):
        found = asked.answer([query for _, query in some])
        for (number, query), one in zip(some, found, strict=True):
            yield number, query, one


Write = Callable[[Row], None]


@contextmanager
def _json_lines(path: Path) -> Iterator[Write]:
    with path.open("w", encoding="utf-8") as stream:

        def write(row: Row) -> None:
            stream.write(json.dumps(row[1], ensure_ascii=False) + "\n")

        yield write


@contextmanager
def _parquet(path: Path) -> Iterator[Write]:
    """A row an answer; a query without answers has none, one in error has one that says so."""
    import pyarrow as pa
    from pyarrow import parquet

    schema = pa.schema(
        [
            ("query", pa.int64()),
            ("text", pa.string()),
            ("rank", pa.int64()),
            ("entity", pa.string()),
            ("label", pa.string()),
            ("probability", pa.float64()),
            ("score", pa.float64()),
            ("known", pa.bool_()),
            ("seen", pa.bool_()),
            ("mode", pa.string()),
            ("error", pa.string()),
        ]
    )
    with parquet.ParquetWriter(path, schema, compression="zstd") as writer:
        waiting: list[dict[str, Any]] = []

        def write(row: Row) -> None:
            waiting.extend(_answer_rows(*row))
            if len(waiting) >= ROW_GROUP:
                flush()

        def flush() -> None:
            writer.write_table(pa.Table.from_pylist(waiting, schema))
            waiting.clear()

        yield write
        flush()


def _answer_rows(number: int, row: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The answers of a query; those of a graph are certain, and no model has seen them."""
    head = {"query": number, "text": row["query"]}
    if "error" in row:
        yield {**head, "error": row["error"]}
    for rank, answer in enumerate(row.get("answers", ()), start=1):
        sure = {} if "score" in answer else {"probability": 1.0}
        yield {**head, "mode": row["mode"], "rank": rank, **sure, **answer}


WRITERS: dict[str, Callable[[Path], AbstractContextManager[Write]]] = {
    ".jsonl": _json_lines,
    ".parquet": _parquet,
}
ROW_GROUP = 50_000
