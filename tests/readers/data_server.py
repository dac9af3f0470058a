"""An HTTP server on localhost that drops connections, ignores ranges, and answers with errors."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

# A proxy of the machine cannot reach this server.
WITHOUT_PROXY = {"no_proxy": "127.0.0.1"}
os.environ.update(WITHOUT_PROXY)


class DataServer(ThreadingHTTPServer):
    """Serves files from memory; what goes wrong is set by its attributes."""

    def __init__(self, files: dict[str, bytes] | None = None) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.files = files or {}
        """The content by path, which begins with a slash."""
        self.drops: list[int] = []
        """The next answers end after so many bytes, though more are announced."""
        self.errors: list[tuple[int, dict[str, str]]] = []
        """The next answers are errors: a code and headers."""
        self.takes_ranges = True
        self.has_tags = True
        self.weak = ""
        """What stands before a tag; `W/` makes it a weak one."""
        self.requests: list[tuple[str, str | None]] = []
        """The path of each request, and the range it asked for."""

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    server: DataServer
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        asked = self.headers.get("Range")
        self.server.requests.append((self.path, asked))
        content = self.server.files.get(self.path)
        if self.server.errors:
            self.answer(*self.server.errors.pop(0))
        elif content is None:
            self.answer(404, {})
        else:
            self.send_content(content, asked)

    def send_content(self, content: bytes, asked: str | None) -> None:
        tag = f'{self.server.weak}"{sha256(content).hexdigest()[:8]}"'
        headers = {"ETag": tag} if self.server.has_tags else {}
        condition = self.headers.get("If-Range")
        if not asked or not self.server.takes_ranges or condition not in (None, tag):
            self.answer(200, headers, content)
            return
        start = int(asked.removeprefix("bytes=").removesuffix("-"))
        if start >= len(content):
            self.answer(416, {"Content-Range": f"bytes */{len(content)}"})
            return
        headers["Content-Range"] = f"bytes {start}-{len(content) - 1}/{len(content)}"
        self.answer(206, headers, content[start:])

    def answer(self, code: int, headers: dict[str, str], body: bytes = b"") -> None:
        self.send_response(code)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body[: self.server.drops.pop(0)] if self.server.drops else body)
        self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def serve(files: dict[str, bytes] | None = None) -> Iterator[DataServer]:
    """A server that runs within the block."""
    with DataServer(files) as server:
        thread = Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
