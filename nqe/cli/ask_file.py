"""`nqe ask --file`: answer every query of a file, and print or write the answers."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nqe.cli import printing
from nqe.errors import NqeError, StorageError
from nqe.files import new_file
from nqe.shown_text import dump_json

if TYPE_CHECKING:
    from nqe.answering.answerer import Outcome
    from nqe.cli.print_answers import AnswerPrinter

Line = tuple[int, str]
Row = tuple[int, dict[str, Any]]


def print_file(printer: AnswerPrinter, file: str) -> int:
    """Print the answers of every query of a file; returns the number of failed queries."""
    failed = 0
    for number, query, outcome in _answer_lines(printer, _read_queries(file)):
        try:
            if not printer.as_json:
                printing.heading(query)
            printer.print(query, outcome)
        except NqeError as error:
            failed += 1
            if printer.as_json:
                printing.json_line(_make_failed_row(query, error))
            printing.note_error(f"{file}:{number}: ", error)
    return failed


def write_file(printer: AnswerPrinter, file: str, output: str) -> int:
    """Write the answers of every query to a file; returns the number of failed queries.

    The file appears only when it is complete.
    """
    from nqe.cli.progress import ProgressBar

    path = check_output(output)
    lines = list(_read_queries(file))
    failed = 0
    with (
        new_file(path) as temporary,
        WRITERS[path.suffix](temporary) as write,
        ProgressBar("queries") as progress,
    ):
        progress.start("answering", len(lines))
        for done, (number, query, outcome) in enumerate(_answer_lines(printer, lines), start=1):
            write((number, _make_row(printer, query, outcome)))
            progress.update(done, done)
            if isinstance(outcome, NqeError):
                failed += 1
                printing.note_error(f"{file}:{number}: ", outcome)
    answered = len(lines) - failed
    printing.note(f"{output}: written, {answered:,} of {len(lines):,} queries answered")
    return failed


def _make_row(printer: AnswerPrinter, query: str, outcome: Outcome) -> dict[str, Any]:
    if isinstance(outcome, NqeError):
        return _make_failed_row(query, outcome)
    return printer.to_json(query, outcome)


def _make_failed_row(query: str, error: NqeError) -> dict[str, Any]:
    return {"query": query, "error": str(error), "listed": 0}


def check_output(output: str) -> Path:
    """Return the file to write answers to; refuse an unknown format before any work is done."""
    path = Path(output)
    if path.suffix not in WRITERS:
        raise NqeError(
            f"{output}: not a known format of answers; end the name in {', '.join(WRITERS)}"
        )
    if path.is_dir():
        raise StorageError(f"{output}: a folder; choose another name for the file")
    return path


def _read_queries(file: str) -> Iterator[Line]:
    """Yield the queries of a file with their line numbers; lines that begin with # are comments."""
    from nqe.readers.source import Source

    with Source(file) as source:
        for number, line in source.lines():
            if not line.lstrip().startswith("#"):
                yield number, line


def _answer_lines(
    printer: AnswerPrinter, lines: Iterable[Line]
) -> Iterator[tuple[int, str, Outcome]]:
    """Yield line number, query and outcome of every query, answered in batches."""
    rest = iter(lines)
    while batch := list(islice(rest, printer.batch_size)):
        outcomes = printer.answer([query for _, query in batch])
        for (number, query), outcome in zip(batch, outcomes, strict=True):
            yield number, query, outcome


Write = Callable[[Row], None]


@contextmanager
def _write_json_lines(path: Path) -> Iterator[Write]:
    with path.open("w", encoding="utf-8") as stream:

        def write(row: Row) -> None:
            stream.write(dump_json(row[1]) + "\n")

        yield write


COLUMNS = {
    "query": "int64",
    "text": "string",
    "rank": "int64",
    "variable": "string",
    "entity": "string",
    "label": "string",
    "count": "int64",
    "probability": "float64",
    "score": "float64",
    "known": "bool",
    "seen": "bool",
    "elsewhere": "bool",
    "mode": "string",
    "listed": "int64",
    "stated_count": "int64",
    "likely_count": "int64",
    "warnings": "string",
    "error": "string",
}
"""The columns of a table of answers, with their types."""
OF_QUERY = ("mode", "listed", "stated_count", "likely_count", "warnings", "error")
"""The columns that are the same in all rows of a query."""


@contextmanager
def _write_csv(path: Path) -> Iterator[Write]:
    """Write a header and the rows of each query; a cell without a value is empty."""
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, COLUMNS, lineterminator="\n")
        writer.writeheader()

        def write(row: Row) -> None:
            writer.writerows(map(_spell_truth_values, _answer_rows(*row)))

        yield write


def _spell_truth_values(row: dict[str, Any]) -> dict[str, Any]:
    """Write true and false as JSON and pyarrow do."""
    return {name: str(v).lower() if isinstance(v, bool) else v for name, v in row.items()}


@contextmanager
def _write_parquet(path: Path) -> Iterator[Write]:
    """Write the rows of each query in groups."""
    import pyarrow as pa
    from pyarrow import parquet

    schema = pa.schema([(name, pa.type_for_alias(kind)) for name, kind in COLUMNS.items()])
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
    """Yield one row per answer of a query; one without answers, or with an error, has one row."""
    head = {"query": number, "text": row["query"], **{key: row.get(key) for key in OF_QUERY}}
    head["warnings"] = "; ".join(row.get("warnings", ())) or None
    is_empty = True
    for rank, cells in _list_answers(row):
        is_empty = False
        yield {**head, "rank": rank, **cells}
    if is_empty:
        yield head


def _list_answers(row: dict[str, Any]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the cells of each answer with its rank; a row of several targets has several."""
    for rank, answer in enumerate(row.get("answers", ()), start=1):
        yield rank, answer
    for rank, one in enumerate(row.get("rows", ()), start=1):
        shared = {key: one.get(key) for key in ("count", "probability", "known")}
        if not one["row"]:
            yield rank, shared
        for variable, cell in zip(row["targets"], one["row"], strict=True):
            name = cell.get("entity") or cell.get("relation")
            yield rank, {"variable": variable, "entity": name, "label": cell["label"], **shared}


WRITERS: dict[str, Callable[[Path], AbstractContextManager[Write]]] = {
    ".jsonl": _write_json_lines,
    ".csv": _write_csv,
    ".parquet": _write_parquet,
}
ROW_GROUP = 50_000
