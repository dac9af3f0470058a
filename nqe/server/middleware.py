"""What every request passes: the log, headers, the token and the limit of the body."""

from __future__ import annotations

import hmac
import time
from collections.abc import Callable, Mapping
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from nqe.server.metrics import Metrics
from nqe.server.problems import TooLarge, Unauthorized, describe_problem, to_response

OPEN = ("/healthz", "/readyz")
"""What may be asked without a token, besides the page's own files."""
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}


class SecurityHeaders:
    """Adds the headers that keep browsers from doing more than the page needs."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, with headers added to the reply."""

        async def add(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
                if scope["path"].startswith("/v1/"):
                    headers.setdefault("Cache-Control", "no-store")
            await send(message)

        await self.app(scope, receive, add if scope["type"] == "http" else send)


class TokenCheck:
    """Lets requests through that carry the token; all of them, if there is none."""

    def __init__(self, app: ASGIApp, token: str | None) -> None:
        self.app, self.token = app, token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] == "http" and not self._may_pass(scope):
            error = Unauthorized("send the server's token as `Authorization: Bearer TOKEN`")
            await to_response(describe_problem(error))(scope, receive, send)
            return
        await self.app(scope, receive, send)

    def _may_pass(self, scope: Scope) -> bool:
        path = scope["path"]
        if self.token is None or path in OPEN or not path.startswith(("/v1/", "/metrics")):
            return True
        given = Headers(scope=scope).get("authorization", "")
        wanted = f"Bearer {self.token}"
        return hmac.compare_digest(given.encode(), wanted.encode())


class BodyLimit:
    """Refuses bodies that are too large, whatever the client says about their length."""

    def __init__(self, app: ASGIApp, most: int) -> None:
        self.app, self.most = app, most

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] != "http" or scope["method"] in ("GET", "HEAD", "OPTIONS"):
            await self.app(scope, receive, send)
            return
        length = Headers(scope=scope).get("content-length", "")
        body = b""
        more = not (length.isdigit() and int(length) > self.most)
        is_large = not more
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                return
            body += message.get("body", b"")
            more = message.get("more_body", False)
            if len(body) > self.most:
                is_large, more = True, False
        if is_large:
            error = TooLarge(f"the body has more than {self.most:,} bytes; ask less at once")
            await to_response(describe_problem(error))(scope, receive, send)
            return
        await self.app(scope, _replay(body, receive), send)


def _replay(body: bytes, receive: Receive) -> Receive:
    """What gives a body that was read already, and then what comes after it."""
    pending: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return pending.pop() if pending else await receive()

    return replay


class RequestLog:
    """Counts every request, and writes a line about it."""

    def __init__(
        self, app: ASGIApp, metrics: Metrics, write: Callable[[dict[str, Any]], None] | None
    ) -> None:
        self.app, self.metrics, self.write = app, metrics, write

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and note its status and time."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started, status = time.perf_counter(), 499  # as the client left, unless a reply begins

        async def note(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self.app(scope, receive, note)
        finally:
            seconds = time.perf_counter() - started
            self.metrics.count_request(_name_route(scope), status, seconds)
            if self.write is not None:
                self.write(_describe(scope, status, seconds))


def _name_route(scope: Mapping[str, Any]) -> str:
    """The route that a request was for, of which there are few; not its path, of which many."""
    route = scope.get("route")
    return getattr(route, "path", "other")


def _describe(scope: Mapping[str, Any], status: int, seconds: float) -> dict[str, Any]:
    client = scope.get("client")
    return {
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "method": scope["method"],
        "path": scope["path"],
        "status": status,
        "milliseconds": round(seconds * 1_000, 2),
        "client": client[0] if client else None,
    }
