"""Values of settings: checks of their ranges, and their conversion from and to text and JSON."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Any

from nqe.errors import NqeError

LARGEST = 2**63 - 1
"""The largest number that a setting may have; arrays, tensors and seeds hold no larger ones."""


def check_at_least(name: str, value: float, least: float, most: float = LARGEST) -> None:
    """Refuse a value below the least one or above the most, and not a number."""
    if not least <= value <= most:
        limit = f"at most {most:,}" if value > most else f"{least} or more"
        raise NqeError(f"setting {name} is {describe(value)}; it must be {limit}")


def check_above(name: str, value: float, limit: float) -> None:
    """Refuse a value that is not above the limit, and infinity."""
    if not limit < value < math.inf:
        raise NqeError(f"setting {name} is {describe(value)}; it must be more than {limit}")


def check_fraction(name: str, value: float, *, below_one: bool = False) -> None:
    """Refuse a value that is not from 0 to 1, or not below 1 if it must be."""
    if not 0 <= value <= 1 or (value == 1 and below_one):
        allowed = "from 0 to below 1" if below_one else "from 0 to 1"
        raise NqeError(f"setting {name} is {describe(value)}; it must be a fraction {allowed}")


def check_choice(name: str, value: str, allowed: Sequence[str]) -> None:
    """Refuse a value that is not one of the allowed ones."""
    if value not in allowed:
        raise NqeError(f"setting {name} is '{value:.100}'; choose one of {', '.join(allowed)}")


def describe(value: Any) -> str:
    """A value as an error message shows it; a long one is cut."""
    try:
        text = repr(value)
    except ValueError:  # Python writes no integers of thousands of digits.
        return "a number of thousands of digits"
    return text if len(text) <= 100 else text[:99] + "…"


def convert(name: str, value: Any, kind: str, where: str) -> Any:
    """A value as the type of its setting, which is written as in a dataclass: 'int | None'."""
    if value is None and kind.endswith("None"):
        return None
    accepted, to_type, wanted = _TYPES[kind.removesuffix(" | None")]
    if not isinstance(value, accepted) or (isinstance(value, bool) and bool not in accepted):
        raise NqeError(f"{where}: setting {name} is {describe(value)}; give {wanted}")
    try:
        return to_type(value)
    except (OverflowError, ValueError):
        raise NqeError(f"{where}: setting {name} is {describe(value)}; give {wanted}") from None


def to_json(settings: Any) -> dict[str, Any]:
    """The values of a section of settings as JSON data."""
    values = {setting.name: getattr(settings, setting.name) for setting in fields(settings)}
    return {k: list(v) if isinstance(v, tuple) else v for k, v in values.items()}


def split_list(text: str) -> tuple[str, ...]:
    """The parts of a list separated by commas; commas within brackets do not separate."""
    parts, depth = [""], 0
    for letter in text:
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if letter == "," and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    return tuple(part.strip() for part in parts if part.strip())


def _to_texts(value: Any) -> tuple[str, ...]:
    return split_list(value) if isinstance(value, str) else tuple(map(str, value))


# By type: what is accepted, how it is converted, and what to ask for instead of other values.
_TYPES: dict[str, tuple[tuple[type, ...], Callable[[Any], Any], str]] = {
    "bool": ((bool,), bool, "true or false"),
    "int": ((int,), int, "a whole number"),
    "float": ((int, float), float, "a number"),
    "str": ((str,), str, "text"),
    "tuple[str, ...]": ((str, list, tuple), _to_texts, "a list of names"),
}
