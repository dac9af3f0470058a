"""Errors as problem documents (RFC 9457): one table from kinds of errors to replies."""

from __future__ import annotations

import re
from typing import Any

from starlette.responses import JSONResponse

from nqe.errors import (
    AmbiguousName,
    NameLookupError,
    NqeError,
    QueryError,
    QuerySyntaxError,
    TooManyBindings,
    UnknownName,
    WrongValue,
)
from nqe.server.wire import Problem

MEDIA_TYPE = "application/problem+json"
RETRY_SECONDS = 1


class ServerError(NqeError):
    """An error of the server's own; `status` is that of the reply."""

    status, kind, title = 400, "bad-request", "The request cannot be answered"


class Overloaded(ServerError):
    """Too much waits already."""

    kind, title = "overloaded", "Too much to do"

    def __init__(self, message: str, status: int) -> None:
        self.status = status
        super().__init__(f"{message}; ask again in a moment")


class TimedOut(ServerError):
    """A request took too long."""

    status, kind, title = 503, "timed-out", "Not answered in time"

    def __init__(self, seconds: float) -> None:
        super().__init__(f"not answered within {seconds:g} seconds; ask less at once, or later")


class NotReady(ServerError):
    """The graph or the model is not there yet."""

    status, kind, title = 503, "not-ready", "Not ready yet"


class TooMuch(ServerError):
    """A request is beyond a limit."""

    status, kind, title = 422, "beyond-a-limit", "More than the server takes"


class Malformed(ServerError):
    """A request is not of the form that its route takes."""

    status, kind, title = 422, "malformed", "The request is malformed"


class TooLarge(TooMuch):
    """The body of a request has too many bytes."""

    status = 413


class NotFound(ServerError):
    """There is nothing at this place."""

    status, kind, title = 404, "not-found", "Nothing there"


class Forbidden(ServerError):
    """The server does not do this."""

    status, kind, title = 403, "forbidden", "Not allowed"


class Unauthorized(ServerError):
    """The token is missing or wrong."""

    status, kind, title = 401, "unauthorized", "A token is needed"


# The first kind that an error is of says how it is told.
_KINDS: tuple[tuple[type[NqeError], int, str, str], ...] = (
    (QuerySyntaxError, 400, "query-syntax", "The query is not understood"),
    (UnknownName, 400, "unknown-name", "No such name"),
    (AmbiguousName, 400, "ambiguous-name", "A name stands for several"),
    (NameLookupError, 400, "name", "A name is not understood"),
    (TooManyBindings, 422, "too-many-facts", "The question looks at too many facts"),
    (QueryError, 400, "query", "The query has no meaning"),
    (NqeError, 400, "bad-request", "The request cannot be answered"),
)


def describe_problem(error: NqeError, text: str | None = None) -> Problem:
    """The problem document of an error; `text` is that of the query, to point into."""
    if isinstance(error.__cause__, NameLookupError):
        error = error.__cause__  # which knows the name and what may have been meant
    if isinstance(error, ServerError):
        status, kind, title = error.status, error.kind, error.title
    else:
        found = next(row for row in _KINDS if isinstance(error, row[0]))
        _, status, kind, title = found
    return Problem(
        type=f"urn:nqe:{kind}",
        title=title,
        status=status,
        detail=str(error).split("\n", maxsplit=1)[0],
        names=_list_names(error),
        **_find_place(error, text),
    )


def to_response(problem: Problem) -> JSONResponse:
    """The reply that tells a problem."""
    headers = {"Retry-After": str(RETRY_SECONDS)} if problem.status in (429, 503) else {}
    if problem.status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    return JSONResponse(
        problem.model_dump(exclude_none=True), problem.status, headers, media_type=MEDIA_TYPE
    )


def _list_names(error: NqeError) -> list[str] | None:
    if isinstance(error, UnknownName):
        return list(error.nearest) or None
    return list(error.candidates[:8]) if isinstance(error, AmbiguousName) else None


def _find_place(error: NqeError, text: str | None) -> dict[str, Any]:
    """Where in the text of a query the error lies, if that can be told."""
    if isinstance(error, QuerySyntaxError):
        return {"line": error.line, "column": error.column, "length": 1}
    if text is None or not isinstance(error, UnknownName | AmbiguousName | WrongValue):
        return {}
    # As it is written there: in quotes, or with _ for spaces.
    escaped = re.sub(r'(["\\])', r"\\\1", error.text)
    name = "[ _]".join(map(re.escape, re.split("[ _]", error.text)))
    found = re.search(rf'"{re.escape(escaped)}"|(?<![\w?]){name}(?!\w)', text)
    if found is None:
        return {}
    before = text[: found.start()]
    return {
        "line": before.count("\n") + 1,
        "column": found.start() - before.rfind("\n"),
        "length": found.end() - found.start(),
    }
