"""JSON files that nqe writes: they carry a digest of their content, and all numbers are finite."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from nqe.errors import StorageError

DIGEST = "digest"
MAX_BYTES = 1 << 28
"""A longer file is not one of ours; it is refused before it is read."""


def render_document(path: Path, content: Mapping[str, Any]) -> str:
    """The text of a document with its digest; numbers that are not finite are refused."""
    try:
        signed = {**content, DIGEST: compute_digest(content)}
    except ValueError as error:
        raise StorageError(
            f"{path}: not written, as a number in it is not finite; find out what made it so"
        ) from error
    text = json.dumps(signed, indent=2, ensure_ascii=False) + "\n"
    try:
        text.encode()
    except UnicodeEncodeError:  # a path that is no UTF-8
        text = json.dumps(signed, indent=2) + "\n"
    return text


def parse_document(data: bytes) -> dict[str, Any]:
    """The content of a JSON object; a ValueError says what is wrong with it.

    Call `check_digest` when the format and its version are known to be right.
    """
    try:
        content = json.loads(data.decode("utf-8"), parse_float=_parse_float, parse_constant=_refuse)
    except RecursionError:
        raise ValueError("nested too deep") from None
    if not isinstance(content, dict):
        raise ValueError("not a JSON object")
    return content


def check_digest(content: Mapping[str, Any], *, required: bool = True) -> None:
    """Raise a ValueError if a document was changed after it was written."""
    if DIGEST not in content:
        if required:
            raise ValueError("its digest is missing")
    elif content[DIGEST] != compute_digest(content):
        raise ValueError("its content does not fit its digest, so it was changed or damaged")


def read_document_bytes(path: Path) -> bytes:
    """The bytes of a document, unless they are too many; raises OSError or ValueError."""
    with path.open("rb") as file:
        data = file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise ValueError(f"longer than {MAX_BYTES:,} bytes")
    return data


def compute_digest(content: Mapping[str, Any]) -> str:
    """A hash of a document without its digest, the same for every layout and order of keys."""
    content = {key: value for key, value in content.items() if key != DIGEST}
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return sha256(text.encode("ascii")).hexdigest()


def _parse_float(text: str) -> float:
    number = float(text)
    return number if math.isfinite(number) else _refuse(text)


def _refuse(text: str) -> float:
    raise ValueError(f"{text} is not a finite number")
