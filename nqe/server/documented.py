"""What the OpenAPI document says about refused requests."""

from __future__ import annotations

from typing import Any

from nqe.server.problems import MEDIA_TYPE

_PROBLEM = {"content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}}
WRONG: dict[int | str, dict[str, Any]] = {
    400: {**_PROBLEM, "description": "The question is wrong."},
    401: {**_PROBLEM, "description": "The token is missing or wrong."},
    413: {**_PROBLEM, "description": "The body is too large."},
    422: {**_PROBLEM, "description": "The request is malformed, or beyond a limit."},
    429: {**_PROBLEM, "description": "This client has too much waiting."},
    503: {**_PROBLEM, "description": "Too much to do, too slow, or not ready."},
}
MISSING: dict[int | str, dict[str, Any]] = {
    404: {**_PROBLEM, "description": "There is nothing there."}
}


FORBIDDEN: dict[int | str, dict[str, Any]] = {
    403: {**_PROBLEM, "description": "The server takes no facts."}
}
