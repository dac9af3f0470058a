"""Downloads over HTTP: continued where they stopped, and tried again when a connection drops."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from socket import gaierror
from typing import cast
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from nqe.errors import InputError
from nqe.files import raise_storage_errors
from nqe.progress import NoProgress, Progress
from nqe.version import VERSION

CHUNK = 1 << 16
"""Bytes to read at once; an attempt that brings fewer has failed."""
TIMEOUT = 30.0
"""Seconds without an answer after which a connection counts as dropped."""
WAITS = (1.0, 2.0, 5.0, 10.0)
"""Seconds to wait before another attempt, after one, two, … failures in a row."""
LONGEST_WAIT = 60.0
"""The most seconds that a server may ask to wait."""
LARGEST = 1 << 30
"""The most bytes that a download may have."""
PARTIAL = ".part"
"""Ends the name of a file that is not complete yet."""
_VERSION = ".version"
"""Ends the name of the file that says of which version a partial file is a part."""
_PASSING = {
    HTTPStatus.REQUEST_TIMEOUT,
    HTTPStatus.TOO_MANY_REQUESTS,
    HTTPStatus.INTERNAL_SERVER_ERROR,
    HTTPStatus.BAD_GATEWAY,
    HTTPStatus.SERVICE_UNAVAILABLE,
    HTTPStatus.GATEWAY_TIMEOUT,
}


class DownloadError(InputError):
    """A file could not be downloaded."""


class _Failure(Exception):
    """An attempt that another one may make good."""

    def __init__(self, reason: str, seconds: float = 0.0) -> None:
        super().__init__(reason)
        self.seconds = seconds


@dataclass(frozen=True)
class Download:
    """A file to download, and the partial file that holds what has come of it."""

    address: str
    partial: Path
    is_verified: bool = False
    """Whether its checksum is known, so that a wrongly continued file is noticed."""

    @property
    def size(self) -> int:
        """How many bytes have come."""
        return self.partial.stat().st_size if self.partial.exists() else 0

    @property
    def version(self) -> str:
        """What the server called the version of which the partial file is a part, if anything."""
        return self._version_file.read_text("utf-8") if self._version_file.exists() else ""

    def begin(self, version: str) -> None:
        """Start over, with this version of the file."""
        self.discard()
        self._version_file.write_text(version, "utf-8")

    def discard(self) -> None:
        """Remove what has come."""
        self.partial.unlink(missing_ok=True)
        self._version_file.unlink(missing_ok=True)

    def finish(self, target: Path) -> None:
        """Give the complete file its name."""
        self.partial.replace(target)
        self._version_file.unlink(missing_ok=True)

    @property
    def _version_file(self) -> Path:
        return self.partial.with_name(self.partial.name + _VERSION)


def check_address(address: str) -> None:
    """Refuse an address that is not of HTTP."""
    if not re.match(r"https?://[^/\s]", address):
        raise InputError(
            f"{address:.200}: not an address to download from; begin it with https:// or http://"
        )


def download(
    what: Download,
    progress: Progress | None = None,
    wait: Callable[[float], None] = time.sleep,
) -> None:
    """Complete the partial file; several failed attempts in a row are an error."""
    check_address(what.address)
    failures, furthest = 0, what.size
    while True:
        try:
            with raise_storage_errors(what.partial):
                _attempt(what, progress or NoProgress())
            return
        except _Failure as failure:
            failures = 1 if what.size >= furthest + CHUNK else failures + 1
            furthest = max(furthest, what.size)
            if failures > len(WAITS):
                raise DownloadError(f"{what.address}: cannot be reached ({failure})") from failure
            wait(max(WAITS[failures - 1], failure.seconds))


def _attempt(what: Download, progress: Progress) -> None:
    """Get what is missing, or all of it if the server does not send a part."""
    if what.size and not what.version and not what.is_verified:
        what.discard()  # nobody could tell whether the rest is of the same version
    asked = what.size
    with _open(_make_request(what)) as response:
        if response.status == HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
            if response.headers.get("Content-Range") == f"bytes */{asked}":
                return
            what.discard()
            raise _Failure("it is shorter than what has come")
        start = _find_start(response, asked)
        if not start:
            what.begin(_find_version(response))
        _append(what, response, start, progress)


def _make_request(what: Download) -> Request:
    request = Request(what.address, headers={"User-Agent": f"nqe/{VERSION}"})
    if what.size:
        request.add_header("Range", f"bytes={what.size}-")
        if what.version:
            request.add_header("If-Range", what.version)
    return request


@contextmanager
def _open(request: Request) -> Iterator[HTTPResponse]:
    """The server's answer; an error is a failure if another attempt makes sense."""
    with _raise_failures(request.full_url):
        try:
            response = cast(HTTPResponse, urlopen(request, timeout=TIMEOUT))
        except HTTPError as error:
            if error.code != HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
                with error:
                    raise _refuse(request.full_url, error) from error
            response = cast(HTTPResponse, error)
    with response:
        yield response


def _append(what: Download, response: HTTPResponse, start: int, progress: Progress) -> None:
    """Append what the server sends to the partial file."""
    length = response.headers.get("Content-Length", "")
    total = start + int(length) if length.isdecimal() else None
    progress.start(what.address.rpartition("/")[2], total)
    size = start
    with what.partial.open("ab") as file:
        while chunk := _read(response):
            size += len(chunk)
            if max(size, total or 0) > LARGEST:
                what.discard()
                raise DownloadError(f"{what.address}: has more than {LARGEST >> 20:,} MB")
            file.write(chunk)
            progress.update(size, (size - start) // 1000)
    if total is not None and size < total:
        raise _Failure(f"the connection dropped after {size:,} of {total:,} bytes")


def _read(response: HTTPResponse) -> bytes:
    with _raise_failures(response.url):
        return response.read1(CHUNK)


@contextmanager
def _raise_failures(address: str) -> Iterator[None]:
    """Raise errors of the network as failures."""
    try:
        yield
    except URLError as error:
        if isinstance(error.reason, gaierror):  # most likely there is no network at all
            raise DownloadError(
                f"{address}: cannot be reached ({error.reason.strerror})"
            ) from error
        raise _Failure(str(error.reason)) from error
    except (OSError, HTTPException) as error:
        raise _Failure(str(error) or type(error).__name__) from error


def _find_start(response: HTTPResponse, asked: int) -> int:
    """The place of the first byte that the server sends: the one asked for, or 0."""
    if response.status != HTTPStatus.PARTIAL_CONTENT:
        return 0
    found = re.match(r"bytes (\d+)-", response.headers.get("Content-Range", ""))
    if found is None or int(found[1]) != asked:
        raise DownloadError(f"{response.url}: the server sends another part than asked for")
    return asked


def _find_version(response: HTTPResponse) -> str:
    """What identifies the version of a file for certain: its ETag, or else its time."""
    tag: str = response.headers.get("ETag", "")
    # A weak tag does not say that the bytes are the same.
    version: str = tag if tag.startswith('"') else response.headers.get("Last-Modified", "")
    return version if version.isprintable() else ""


def _refuse(address: str, error: HTTPError) -> Exception:
    """What a server's error means: another attempt, or the end."""
    told = f"the server answers {error.code} ({error.reason})"
    if error.code in _PASSING:
        return _Failure(told, _read_delay(error))
    return DownloadError(f"{address}: {told}")


def _read_delay(error: HTTPError) -> float:
    """The seconds that a server asks to wait; 0 if it names none, or a date."""
    text = error.headers.get("Retry-After", "")
    return min(float(text), LONGEST_WAIT) if text.isdecimal() else 0.0
