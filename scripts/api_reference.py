"""Writes docs/api.md from the server's OpenAPI document: `python scripts/api_reference.py`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nqe.server.app import create_app
from nqe.server.service import Service
from nqe.server.state import State

PAGE = Path(__file__).resolve().parents[1] / "docs" / "api.md"
HEAD = """# The API

Written by `scripts/api_reference.py` from the OpenAPI document of the server, which is at
`/openapi.json`. [Serving](serving.md) says how to use it.
"""


def load_nothing(_: State) -> Service:
    """Only the document is wanted."""
    raise AssertionError("nothing is served")


def render() -> str:
    """The page."""
    document = create_app(load=load_nothing).openapi()
    schemas = document["components"]["schemas"]
    lines = [HEAD, "## Routes\n"]
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            lines += _describe_route(method.upper(), path, operation)
    lines.append("## Types\n")
    for name in sorted(_find_used(document)):
        lines += _describe_type(name, schemas[name])
    return "\n".join(lines).rstrip() + "\n"


def _describe_route(method: str, path: str, operation: dict[str, Any]) -> Iterator[str]:
    yield f"### {method} {path}\n"
    yield f"{operation['summary']}. {operation.get('description', '')}\n"
    rows = [
        (
            f"`{one['name']}`",
            _show(one["schema"]),
            "yes" if one.get("required") else "",
            one.get("description", ""),
        )
        for one in operation.get("parameters", [])
    ]
    if rows:
        yield from _table(("parameter", "type", "required", "meaning"), rows)
    body = operation.get("requestBody", {}).get("content", {}).get("application/json")
    if body:
        yield f"Takes {_show(body['schema'])}.\n"
    replies = operation["responses"]
    for status, reply in replies.items():
        for media, content in reply.get("content", {}).items():
            if status == "200":
                told = _show(content.get("schema", {}))
                yield f"Gives {told}.\n" if media == "application/json" else f"Gives {media}.\n"
    wrong = ", ".join(status for status in replies if status != "200")
    if wrong:
        yield f"Problems: {wrong}.\n"


def _describe_type(name: str, schema: dict[str, Any]) -> Iterator[str]:
    yield f"### {name}\n"
    if "description" in schema:
        yield " ".join(schema["description"].split()) + "\n"
    required = schema.get("required", [])
    rows = [
        (
            f"`{field}`",
            _show(one),
            "yes" if field in required else "",
            " ".join(one.get("description", "").split()),
        )
        for field, one in schema.get("properties", {}).items()
    ]
    if rows:
        yield from _table(("field", "type", "required", "meaning"), rows)


def _table(columns: tuple[str, ...], rows: list[tuple[str, ...]]) -> Iterator[str]:
    yield f"| {' | '.join(columns)} |"
    yield "|---" * len(columns) + "|"
    for row in rows:
        yield f"| {' | '.join(row)} |"
    yield ""


def _show(schema: dict[str, Any]) -> str:
    """A type in words."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    for key in ("anyOf", "oneOf"):
        if key in schema:
            return " or ".join(dict.fromkeys(map(_show, schema[key])))
    if "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema["enum"])
    if "const" in schema:
        return f"`{schema['const']}`"
    kind = schema.get("type", "anything")
    if kind == "array":
        items = schema.get("items") or {"anyOf": schema.get("prefixItems", [{}])}
        return f"list of {_show(items)}"
    return str(kind)


def _find_used(document: dict[str, Any]) -> set[str]:
    """The types that routes use, and those that they use in turn."""
    schemas = document["components"]["schemas"]
    found: set[str] = set()
    waiting = [document["paths"]]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            name = str(one.get("$ref", "")).rpartition("/")[2]
            if name and name not in found:
                found.add(name)
                waiting.append(schemas[name])
            waiting += one.values()
        elif isinstance(one, list):
            waiting += one
    return found & schemas.keys() - {"HTTPValidationError", "ValidationError"}


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
