"""Results of SPARQL queries as lines to store: rows as JSON, triples as N-Triples.

The labels of blank nodes mean nothing beyond one answer, so those of each page get names of their
own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from nqe.errors import InputError, NqeError
from nqe.readers.sparql_client import Answer, TemporaryFailure

ROWS = "application/sparql-results+json"
"""What is asked for to a SELECT."""
TRIPLES = "application/n-triples, text/turtle;q=0.9, application/rdf+xml;q=0.5"
"""What is asked for to a CONSTRUCT."""
_JSON = (ROWS, "application/json")
_BLANK = re.compile(rb"_:[^\s<>]+")


@dataclass(frozen=True)
class Page:
    """The lines of one page of a result."""

    lines: list[bytes]
    header: tuple[str, ...] = ()
    """The names of the columns of rows."""

    def sketch(self) -> bytes:
        """A digest that two pages have in common if only their order and blank nodes differ."""
        lines = sorted(_BLANK.sub(b"_:", line) for line in self.lines)
        return blake2b(b"\n".join(lines), digest_size=16).digest()


def parse_rows(answer: Answer, page: int) -> Page:
    """The rows of a SELECT, each a JSON object with the terms of its columns."""
    _check_type(answer, _JSON)
    try:
        content = json.loads(answer.body)
        header = tuple(str(name) for name in content["head"]["vars"])
        rows = content["results"]["bindings"]
        lines = [json.dumps(_rename_cells(row, page)).encode() for row in rows]
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise TemporaryFailure(
            f"the answer is no complete result in JSON ({error!s:.100})"
        ) from error
    return Page(lines, header)


def _rename_cells(row: Mapping[str, Mapping[str, Any]], page: int) -> dict[str, Any]:
    return {name: _rename_cell(term, page) for name, term in row.items()}


def _rename_cell(term: Mapping[str, Any], page: int) -> Mapping[str, Any]:
    """A term whose parts are texts; only that of a triple has parts of its own."""
    kind, value = term["type"], term["value"]
    if kind == "triple":
        return {"type": kind, "value": value}
    if kind == "bnode":
        return {"type": kind, "value": f"_:p{page}-{str(value).removeprefix('_:')}"}
    return {name: str(part) for name, part in term.items()}


def parse_triples(answer: Answer, page: int) -> Page:
    """The triples of a CONSTRUCT, each as a line of N-Triples, once."""
    try:
        from nqe.readers import sparql_triples
    except ImportError as error:
        if error.name != "pyoxigraph":
            raise
        raise NqeError(
            "what a CONSTRUCT gives is read with pyoxigraph; install nqe with the extra `rdf`, "
            "or write a SELECT"
        ) from None
    _check_type(answer, sparql_triples.SYNTAXES)
    return Page(sparql_triples.list_lines(answer, page))


def _check_type(answer: Answer, expected: Iterable[str]) -> None:
    if answer.media_type not in expected:
        wanted = next(iter(expected))
        raise InputError(
            f"an answer of the type {answer.media_type:.60}, where {wanted} was asked for; "
            "check that the address is that of the endpoint, and not of a page about it"
        )


Parse = Callable[[Answer, int], Page]
