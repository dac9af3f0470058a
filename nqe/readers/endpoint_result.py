"""The result of a query to a SPARQL endpoint as a file, received or already there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit

from nqe.progress import Progress
from nqe.readers.columns import Columns
from nqe.readers.sparql_client import Client, Unavailable
from nqe.readers.sparql_download import Download
from nqe.readers.sparql_pages import Progressed, StoredPages, hold_folder
from nqe.readers.sparql_source import PREFIX, EndpointQuery
from nqe.readers.sparql_table import find_layout


@dataclass(frozen=True)
class EndpointResult:
    """The whole result of a query in a file."""

    path: Path
    form: str
    header: Sequence[str]
    """The names of the columns of a SELECT."""


@contextmanager
def open_result(
    name: str, query: EndpointQuery, columns: Columns, number: int, progress: Progress
) -> Iterator[EndpointResult]:
    """Receive the result of a query; the file is there within the block.

    `number` distinguishes several endpoints of one import.
    """
    url = name.removeprefix(PREFIX)
    progress.start(urlsplit(url).hostname or url, None)
    with _open_folder(query.folder) as folder:
        stored = StoredPages(folder, number, Progressed(url, query.text, query.page_size))
        _tell_start(stored, query)
        download = Download(
            query.parsed,
            Client(url, query.tell, query.wait),
            stored,
            lambda header: _check_header(name, header, columns),
        )
        with _say_how_to_go_on(stored, query):
            download.run(progress)
        if told := download.describe():
            query.tell(told)
        yield EndpointResult(stored.path, query.parsed.form, stored.state.header)


@contextmanager
def _open_folder(folder: Path | None) -> Iterator[Path]:
    if folder is None:
        with TemporaryDirectory(prefix="nqe-sparql-") as temporary:
            yield Path(temporary)
    else:
        with hold_folder(folder):
            yield folder


def _check_header(name: str, header: Sequence[str], columns: Columns) -> None:
    find_layout(name, header, columns)


def _tell_start(stored: StoredPages, query: EndpointQuery) -> None:
    """Tell what of an interrupted import is of use."""
    if stored.is_fresh_start:
        query.tell(f"{query.folder}: pages of another query or address; starting afresh")
    elif stored.state.pages:
        query.tell(f"{query.folder}: going on after page {stored.state.pages:,}")


@contextmanager
def _say_how_to_go_on(stored: StoredPages, query: EndpointQuery) -> Iterator[None]:
    """Say after a failure that the pages are kept."""
    try:
        yield
    except Unavailable as error:
        again = f"run the same command to go on after page {stored.state.pages:,}"
        kept = query.folder is not None and stored.state.pages
        raise Unavailable(f"{error}; {again if kept else 'try again later'}") from error
    except KeyboardInterrupt:
        if query.folder is not None and stored.state.pages:
            query.tell(f"{query.folder}: {stored.state.pages:,} page(s) are kept, to go on with")
        raise
