"""SPARQL endpoints as sources: which name is one, and what to ask it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from urllib.parse import urlsplit

from nqe.errors import InputError
from nqe.readers.columns import Columns
from nqe.readers.sparql_pages import remove_pages
from nqe.readers.sparql_query import CONSTRUCT, SparqlQuery, parse_query

PREFIX = "sparql:"
PAGE_SIZE = 10_000
"""Solutions to ask for at once: as many as widespread endpoints give at most."""
LARGEST_QUERY = 1 << 20
"""The most bytes that a query may have."""


def is_endpoint(name: str) -> bool:
    """Whether the name of a source is that of a SPARQL endpoint."""
    return name.startswith(PREFIX)


def _ignore(_: str) -> None:
    """Tell nobody."""


def check_address(url: str) -> None:
    """Refuse what is no address of the web."""
    try:
        parts = urlsplit(url)
        is_address = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        is_address = False
    if not is_address or not url.isascii() or not url.isprintable() or " " in url:
        raise InputError(f"{url:.200}: no address of the web; write sparql:https://host/sparql")
    if parts.username is not None or parts.fragment:
        what = "a password" if parts.username is not None else "a part after #"
        raise InputError(f"{parts.hostname}: the address has {what}; write it without")


@dataclass(frozen=True)
class EndpointQuery:
    """What to ask a SPARQL endpoint, and how."""

    text: str
    """A SELECT or CONSTRUCT query."""
    page_size: int = PAGE_SIZE
    folder: Path | None = None
    """Where pages are kept until `clear` is called, so that the same query goes on after a failure;
    without it they are kept in a temporary folder."""
    tell: Callable[[str], None] = _ignore
    """Gets sentences about waits, and about what a result in pages may lack."""
    wait: Callable[[float], None] = time.sleep
    name: str = "the query"
    """What errors call it, such as the name of its file."""

    def __post_init__(self) -> None:
        if self.page_size < 1:
            raise InputError(f"a page size of {self.page_size}; ask for 1 row or more")
        _ = self.parsed

    @classmethod
    def load(cls, path: str | Path) -> str:
        """The text in a file of a query."""
        try:
            with Path(path).open("rb") as file:
                content = file.read(LARGEST_QUERY + 1)
            text = content.decode("utf-8-sig")
        except FileNotFoundError:
            raise InputError(f"{path}: no such file; name a file with a SPARQL query") from None
        except (OSError, ValueError) as error:
            raise InputError(f"{path}: cannot be read ({error}); give a text in UTF-8") from error
        if len(content) > LARGEST_QUERY:
            raise InputError(f"{path}: more than {LARGEST_QUERY >> 20} MB; name a SPARQL query")
        return text

    @cached_property
    def parsed(self) -> SparqlQuery:
        """The parts of the query."""
        try:
            return parse_query(self.text)
        except InputError as error:
            raise InputError(f"{self.name}: {error}") from error

    def check(self, name: str, format: str | None, columns: Columns, language: str | None) -> None:
        """Refuse an address that is none, and options that fit another kind of query."""
        check_address(name.removeprefix(PREFIX))
        if format not in (None, "table"):
            raise InputError(f"{name}: an endpoint chooses its format itself; leave out --format")
        if self.parsed.form == CONSTRUCT:
            if columns.are_given:
                raise InputError(
                    f"{name}: a CONSTRUCT gives RDF, which has no columns; leave out the options "
                    "about columns, or write a SELECT"
                )
        elif language is not None:
            raise InputError(
                f"{name}: a SELECT gives a table, which has no languages to choose from; leave out "
                "--language, and FILTER in the query"
            )
        elif not columns.has_header:
            raise InputError(
                f"{name}: a SELECT names its columns itself; leave out --no-header and --columns"
            )

    def clear(self) -> None:
        """Remove the pages that are kept."""
        if self.folder is not None:
            remove_pages(self.folder)


def check_query(names: Sequence[str], query: EndpointQuery | str | None) -> None:
    """Refuse an endpoint without a query, and a query without an endpoint."""
    endpoints = [name for name in names if is_endpoint(name)]
    if endpoints and query is None:
        raise InputError(
            f"{endpoints[0]}: an endpoint needs a query; give --query FILE with a SELECT or "
            "CONSTRUCT in it"
        )
    if query is not None and not endpoints:
        raise InputError(
            "--query is for SPARQL endpoints, and no source is one; name one, such as "
            f"{PREFIX}https://host/sparql, or leave it out"
        )
