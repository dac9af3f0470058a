"""Asks a SPARQL endpoint over HTTP: waits when it is told to, and tries again after failures."""

from __future__ import annotations

import gzip
import http.client
import re
import ssl
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from email.message import Message
from email.utils import parsedate_to_datetime
from html import unescape
from textwrap import shorten
from typing import IO, Any, TypeVar
from urllib.error import HTTPError, URLError
from urllib.parse import urlencode, urljoin, urlsplit
from urllib.request import HTTPRedirectHandler, OpenerDirector, Request, build_opener

from nqe.errors import InputError
from nqe.version import VERSION

TIMEOUT = 180.0
"""Seconds to wait for the next bytes of an answer."""
LARGEST_PAGE = 64 << 20
"""The most bytes that an answer may have, after decompression."""
TRIES = 5
"""How often a page is asked for that fails without a word about when to ask again."""
TOLD_TRIES = 30
"""How often a page is asked for if the endpoint says each time when to ask again."""
FIRST_WAIT = 1.0
"""Seconds to wait after the first failure; twice as many after each further one."""
LONGEST_WAIT = 3600.0
"""The most seconds to wait at once; if told to wait longer, the import stops."""

_LONGEST_ADDRESS = 2_000
"""Characters of an address; a longer query is sent by POST."""
_MESSAGE_SIZE = 1 << 16
_CHUNK = 1 << 20
_TEMPORARY = frozenset((408, 425, 429))
"""Statuses below 500 after which the same request may succeed."""
_METHOD_KEPT = frozenset((301, 302, 307, 308))
_MARKUP = re.compile(r"(?s)<(script|style|head)\b.*?</\1>|<[^<>]*>")
_REASON = re.compile(r"[\w.]*(Exception|Error)\b: *[^\n]+")

Result = TypeVar("Result")


@dataclass(frozen=True)
class Answer:
    """What an endpoint answered."""

    media_type: str
    body: bytes


class Unavailable(InputError):
    """An endpoint did not answer, however often it was asked; it may do so later."""


class TemporaryFailure(Exception):
    """An answer failed in a way that may be over when it is asked for again."""

    def __init__(self, reason: str, told: float | None = None) -> None:
        super().__init__(reason)
        self.told = told
        """The seconds that the endpoint asks to wait."""


@dataclass(frozen=True)
class Client:
    """Asks one endpoint."""

    url: str
    tell: Callable[[str], None]
    """Gets a sentence about each wait."""
    wait: Callable[[float], None]
    """Waits some seconds."""

    def ask(self, query: str, accept: str, read: Callable[[Answer], Result]) -> Result:
        """What `read` makes of the answer to a query; what it finds cut short is asked for again.

        `read` raises TemporaryFailure for such an answer.
        """
        failures = 0
        while True:
            try:
                return read(self._send(query, accept))
            except TemporaryFailure as failure:
                failures += 1
                self._back_off(failure, failures)

    def _back_off(self, failure: TemporaryFailure, failures: int) -> None:
        told = failure.told
        if failures >= (TRIES if told is None else TOLD_TRIES):
            raise Unavailable(f"{self.url}: {failure} ({failures} times in a row)")
        seconds = FIRST_WAIT * 2 ** (failures - 1) if told is None else told
        if seconds > LONGEST_WAIT:
            raise Unavailable(f"{self.url}: {failure}, and asks to wait {seconds:,.0f} seconds")
        self.tell(f"{self.url}: {failure}; asking again in {seconds:,.0f} s")
        self.wait(seconds)

    def _send(self, query: str, accept: str) -> Answer:
        try:
            with _make_opener().open(self._make_request(query, accept), timeout=TIMEOUT) as answer:
                return _read_answer(answer, self.url)
        except HTTPError as error:
            with error:
                raise self._explain_status(error) from error
        except (OSError, http.client.HTTPException, EOFError, zlib.error) as error:
            raise self._explain_failure(error) from error

    def _make_request(self, query: str, accept: str) -> Request:
        form = urlencode({"query": query})
        headers = {
            "Accept": accept,
            "Accept-Encoding": "gzip",
            "User-Agent": f"nqe/{VERSION} (knowledge graph import)",
        }
        address = f"{self.url}{'&' if urlsplit(self.url).query else '?'}{form}"
        if len(address) <= _LONGEST_ADDRESS:
            return Request(address, headers=headers)
        return Request(self.url, data=form.encode(), headers=headers)

    def _explain_status(self, error: HTTPError) -> Exception:
        """What a status other than success means."""
        message = _read_message(error)
        reason = f"{error.code} {error.reason or ''}".strip() + (message and f": {message}")
        if error.code >= 500 or error.code in _TEMPORARY:
            return TemporaryFailure(reason, _read_wait(error.headers))
        advice = "correct the query" if error.code == 400 else "check the address"
        return InputError(f"{self.url}: {reason}; {advice}")

    def _explain_failure(self, error: Exception) -> Exception:
        """What a broken connection means."""
        cause = error.reason if isinstance(error, URLError) else error
        if isinstance(cause, ssl.SSLCertVerificationError):
            return InputError(
                f"{self.url}: its certificate is not trusted ({cause.verify_message}); "
                "check the address"
            )
        if isinstance(cause, TimeoutError):
            return TemporaryFailure(f"no answer within {TIMEOUT:.0f} s")
        return TemporaryFailure(f"the connection failed ({cause!s:.200})")


class _Redirects(HTTPRedirectHandler):
    """Follows redirects within the web; a query that is sent by POST is sent so again."""

    # What Python 3.11 does not know yet.
    http_error_308 = HTTPRedirectHandler.http_error_302

    def redirect_request(
        self,
        req: Request,
        fp: IO[bytes],  # noqa: ARG002
        code: int,
        msg: str,  # noqa: ARG002
        headers: Message,  # noqa: ARG002
        newurl: str,
    ) -> Request | None:
        """The next request; None leads to an error with the status of the redirect."""
        address = urljoin(req.full_url, newurl)
        if urlsplit(address).scheme not in ("http", "https"):
            return None
        data: Any = req.data if code in _METHOD_KEPT else None
        kept = {key: value for key, value in req.header_items() if not key.startswith("Content-")}
        kept.pop("Host", None)
        return Request(address, data=data, headers=kept, unverifiable=True)


def _make_opener() -> OpenerDirector:
    return build_opener(_Redirects)


def _read_answer(answer: http.client.HTTPResponse, url: str) -> Answer:
    """A complete answer; one that is only a part of the result is a failure."""
    headers = answer.headers
    if answer.status != http.client.OK or headers.get("X-SQL-State"):  # as Virtuoso tells it
        told = headers.get("X-SQL-Message") or answer.reason
        raise TemporaryFailure(f"it gave only a part of the result ({told:.200})")
    body = _read_body(answer, headers.get("Content-Encoding", "identity").lower(), url)
    return Answer(headers.get_content_type(), body)


def _read_body(answer: http.client.HTTPResponse, encoding: str, url: str) -> bytes:
    if encoding not in ("gzip", "x-gzip", "identity"):
        raise InputError(f"{url}: an answer in the encoding {encoding:.60}; ask another endpoint")
    stream: Any = answer if encoding == "identity" else gzip.GzipFile(fileobj=answer)
    parts, size = [], 0
    while chunk := stream.read(_CHUNK):
        parts.append(chunk)
        size += len(chunk)
        if size > LARGEST_PAGE:
            raise InputError(
                f"{url}: a page of more than {LARGEST_PAGE >> 20} MB; give a smaller --page-size"
            )
    if answer.length:  # Python tells no missing bytes to who reads in parts
        raise TemporaryFailure(f"the answer was cut short ({answer.length:,} bytes are missing)")
    return b"".join(parts)


def _read_message(error: HTTPError) -> str:
    """What an endpoint says about an error, in one line."""
    try:
        text = error.read(_MESSAGE_SIZE).decode("utf-8", errors="replace")
    except (OSError, http.client.HTTPException):
        return ""
    if "html" in error.headers.get_content_type():
        text = unescape(_MARKUP.sub(" ", text))
    found = _REASON.search(text)  # in a trace of many lines, after the query
    return shorten(found[0] if found else text, 300, placeholder=" …")


def _read_wait(headers: Message) -> float | None:
    """The seconds that an endpoint asks to wait; None if it does not say."""
    written = (headers.get("Retry-After") or "").strip()
    if written.isdecimal():
        return float(written[:12])
    until, now = _read_date(written), _read_date(headers.get("Date") or "")
    if until is None:
        return None
    return max((until - (now or datetime.now(UTC))).total_seconds(), 0.0)


def _read_date(written: str) -> datetime | None:
    try:
        found = parsedate_to_datetime(written)
    except (ValueError, TypeError):
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)
