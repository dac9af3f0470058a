"""A SPARQL endpoint on localhost: pyoxigraph answers, and faults can be switched on."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, urlsplit

from pyoxigraph import QueryResultsFormat, QuerySolutions, RdfFormat, Store

RESULTS = "application/sparql-results+json"
N_TRIPLES = "application/n-triples"
TURTLE = "text/turtle"
XML = "application/rdf+xml"
FORMATS = {N_TRIPLES: RdfFormat.N_TRIPLES, TURTLE: RdfFormat.TURTLE, XML: RdfFormat.RDF_XML}
_LIMIT = re.compile(r"LIMIT (\d+) (OFFSET \d+)\s*\Z")


@dataclass(frozen=True)
class Reply:
    """An HTTP response."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    cut: int | None = None
    """After so many bytes of the body, the connection is closed."""


HTML = Reply(200, b"<html><body>Welcome</body></html>", {"Content-Type": "text/html"})
BUSY = Reply(429, b"too many requests", {"Retry-After": "7"})


def fail(status: int, message: str = "", **headers: str) -> Reply:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Reply(status, message.encode(), {"Content-Type": "text/plain", **named})


@dataclass
class Endpoint:
    """What a test sees of the server, and what it tells it to do."""

    store: Store
    url: str = ""
    faults: dict[int, Reply | int] = field(default_factory=dict)
    """Replies by the number of the request, from 1; a number cuts the right answer short."""
    always: Reply | None = None
    """The reply to every request that has no fault of its own."""
    cap: int | None = None
    """The most solutions on a page, whatever is asked for."""
    ignores_limits: bool = False
    rdf: str = N_TRIPLES
    compress: bool = False
    queries: list[str] = field(default_factory=list)
    methods: list[str] = field(default_factory=list)
    agents: list[str] = field(default_factory=list)

    @property
    def source(self) -> str:
        return f"sparql:{self.url}"

    def reply(self, query: str) -> Reply:
        """What is sent for a query."""
        self.queries.append(query)
        fault = self.faults.get(len(self.queries), self.always)
        if isinstance(fault, Reply):
            return fault
        right = self._answer(query)
        return right if fault is None else Reply(right.status, right.body, right.headers, fault)

    def _answer(self, query: str) -> Reply:
        try:
            found: Any = self.store.query(self._limit(query))
        except SyntaxError as error:
            return fail(400, f"Malformed query: {error.msg}")
        if isinstance(found, QuerySolutions):
            body, kind = found.serialize(format=QueryResultsFormat.JSON), RESULTS
        else:
            body, kind = found.serialize(format=FORMATS[self.rdf]), self.rdf
        headers = {"Content-Type": kind}
        if self.compress:
            return Reply(200, gzip.compress(body), {**headers, "Content-Encoding": "gzip"})
        return Reply(200, body, headers)

    def _limit(self, query: str) -> str:
        if self.ignores_limits:
            return _LIMIT.sub("", query)
        if self.cap is None:
            return query
        cap = self.cap
        return _LIMIT.sub(lambda found: f"LIMIT {min(int(found[1]), cap)} {found[2]}", query)


@contextmanager
def serve(turtle: str, path: str = "/sparql") -> Iterator[Endpoint]:
    """An endpoint over a graph that is written in Turtle."""
    store = Store()
    store.load(turtle.encode(), RdfFormat.TURTLE)
    endpoint = Endpoint(store)

    class Handler(_Handler):
        served = endpoint

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    endpoint.url = f"http://127.0.0.1:{server.server_port}{path}"
    thread = Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield endpoint
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    served: Endpoint

    def do_GET(self) -> None:
        self._send(urlsplit(self.path).query)

    def do_POST(self) -> None:
        size = int(self.headers["Content-Length"])
        self._send(self.rfile.read(size).decode())

    def log_message(self, format: str, *args: object) -> None:
        """Print nothing."""

    def _send(self, form: str) -> None:
        self.served.methods.append(self.command)
        self.served.agents.append(self.headers["User-Agent"])
        reply = self.served.reply(parse_qs(form)["query"][0])
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(reply.body)))
        self.end_headers()
        self.wfile.write(reply.body[: reply.cut])
