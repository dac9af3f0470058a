"""Values of settings: checks of their ranges, and their conversion from and to text and JSON."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Any

from nqe.errors import NqeError


def check_at_least(name: str, value: float, least: float) -> None:
    """Refuse a value below the least one, and infinity."""
    if not least <= value < math.inf:
        raise NqeError(f"setting {name} is {value}; it must be {least} or more")


def check_above(name: str, value: float, limit: float) -> None:
    """Refuse a value that is not above the limit, and infinity."""
    if not limit < value < math.inf:
        raise NqeError(f"setting {name} is {value}; it must be more than {limit}")


def check_fraction(name: str, value: float, *, below_one: bool = False) -> None:
    """Refuse a value that is not from 0 to 1, or not below 1 if it must be."""
    if not 0 <= value <= 1 or (value == 1 and below_one):
        allowed = "from 0 to below 1" if below_one else "from 0 to 1"
        raise NqeError(f"setting {name} is {value}; it must be a fraction {allowed}")


def check_choice(name: str, value: str, allowed: Sequence[str]) -> None:
    """Refuse a value that is not one of the allowed ones."""
    if value not in allowed:
        raise NqeError(f"setting {name} is '{value}'; choose one of {', '.join(allowed)}")


def convert(name: str, value: Any, kind: str, where: str) -> Any:
    """A value as the type of its setting, which is written as in a dataclass: 'int | None'."""
    if value is None and kind.endswith("None"):
        return None
    accepted, to_type, wanted = _TYPES[kind.removesuffix(" | None")]
    if not isinstance(value, accepted) or (isinstance(value, bool) and bool not in accepted):
        raise NqeError(f"{where}: setting {name} is {value!r}; give {wanted}")
    return to_type(value)


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
