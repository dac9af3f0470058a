"""The page: static files that the server sends as they are."""

from __future__ import annotations

from importlib.resources import files

from fastapi import FastAPI
from fastapi.responses import Response

FILES = {
    "": ("index.html", "text/html; charset=utf-8"),
    "page.css": ("page.css", "text/css; charset=utf-8"),
    "page.js": ("page.js", "text/javascript; charset=utf-8"),
    "editor.js": ("editor.js", "text/javascript; charset=utf-8"),
    "favicon.svg": ("favicon.svg", "image/svg+xml"),
}
"""The page's addresses, each with its file and its type; no other file can be asked for."""


def add_page(app: FastAPI) -> None:
    """Add a route for each of the page's files."""
    folder = files(__package__)
    for address, (name, media_type) in FILES.items():
        path = folder / name
        if path.is_file():
            _add_file(app, f"/{address}", path.read_bytes(), media_type)


def _add_file(app: FastAPI, address: str, content: bytes, media_type: str) -> None:
    @app.get(address, include_in_schema=False)
    async def send() -> Response:
        return Response(content, media_type=media_type, headers={"Cache-Control": "no-cache"})
