"""Who sends a request, for the limits of one client."""

from __future__ import annotations

from starlette.requests import Request


def client_of(request: Request) -> str:
    """The address of the client."""
    return request.client.host if request.client else ""
