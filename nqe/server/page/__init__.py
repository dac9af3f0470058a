"""The page: static files that the server sends as they are."""

from __future__ import annotations

from importlib.resources import files
from pathlib import PurePath

from fastapi import FastAPI
from fastapi.responses import Response

TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
_SCRIPTS = (
    *("page", "theme", "routes", "api", "start", "token", "dom", "words", "charts", "markdown"),
    *("ask", "names", "editor", "query_text", "builder", "builder_model", "combobox"),
    *("answers", "rows", "comparison", "filters", "snippets"),
    *("reasoning", "plan", "plan_layout", "reasons", "steps"),
    *("entity", "relation", "relations", "graph", "model"),
)
FILES = {
    "": "index.html",
    **{name: name for name in ("page.css", "ask.css", "browse.css", "favicon.svg")},
    **{f"{name}.js": f"{name}.js" for name in _SCRIPTS},
}
"""The page's addresses, each with its file; no other file can be asked for."""


def add_page(app: FastAPI) -> None:
    """Add a route for each of the page's files."""
    folder = files(__package__)
    for address, name in FILES.items():
        content = (folder / name).read_bytes()
        _add_file(app, f"/{address}", content, TYPES[PurePath(name).suffix])


def _add_file(app: FastAPI, address: str, content: bytes, media_type: str) -> None:
    @app.get(address, include_in_schema=False)
    async def send() -> Response:
        return Response(content, media_type=media_type, headers={"Cache-Control": "no-cache"})
