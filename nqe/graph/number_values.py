"""Numbers of any size with a unit, and bands of numbers."""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from dataclasses import dataclass
from decimal import Decimal
from typing import ClassVar

from nqe.errors import InputError

LONGEST_NUMBER = 400
"""The most characters of a number."""
BAND_SIGN = ".."
_NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,4})?")
# Numbers with more digits than this before or after the point are written with an exponent.
_MOST_DIGITS = 21
# The bounds of bands, times the power of ten that a number's first digit has.
_BAND_STEPS = tuple(map(Decimal, ("-10", "-5", "-2", "-1", "-0.5", "1", "2", "5", "10")))
# Numbers from this many digits on are shown in groups of three.
_GROUPED_FROM = 10_000


@dataclass(frozen=True, slots=True)
class Number:
    """A number, or a band of all numbers from `value` to below `until`, with a unit if any."""

    kind: ClassVar[str] = "number"
    value: Decimal
    unit: str | None = None
    until: Decimal | None = None

    def __post_init__(self) -> None:
        for number in (self.value, self.until):
            if number is not None and not math.isfinite(float(number)):
                raise InputError(f"{number!s:.60} is too large or no number; leave it out")
        if self.until is not None and self.until <= self.value:
            raise InputError(f"a band from {self.value} to {self.until}; the second must be larger")
        if self.unit is not None and (not self.unit or self.unit != self.unit.strip()):
            raise InputError(f"the unit '{self.unit}' is empty or has outer spaces; change it")

    @property
    def lexical(self) -> str:
        """The canonical form: 12.5, 12.5 kg, 6.02e+23, 100..200 km (a band)."""
        until = "" if self.until is None else BAND_SIGN + write_decimal(self.until)
        return f"{write_decimal(self.value)}{until}{self._unit_part}"

    @property
    def shown(self) -> str:
        """The form that people write: 12.5 kg, 8,336,817, 100 to 200 km."""
        return self.show_in(self.unit)

    def show_in(self, unit: str | None) -> str:
        """The form that people write, with another name of the unit."""
        until = "" if self.until is None else f" to {_show_decimal(self.until)}"
        return f"{_show_decimal(self.value)}{until}{f' {unit}' if unit else ''}"

    @property
    def bounds(self) -> tuple[float, float]:
        """The number twice, or the bounds of a band."""
        return float(self.value), float(self.value if self.until is None else self.until)

    @property
    def sort_key(self) -> tuple[Decimal, Decimal]:
        """Orders numbers by value; the unit does not count."""
        return self.value, self.value if self.until is None else self.until

    def widen(self) -> Number:
        """The band of a number: its bounds are 1, 2 and 5 times a power of ten; 0 has none."""
        if self.until is not None or not self.value:
            return self
        bounds = [step.scaleb(self.value.adjusted()) for step in _BAND_STEPS]
        place = bisect_right(bounds, self.value)
        return make_number(bounds[place - 1], self.unit, bounds[place])

    @property
    def _unit_part(self) -> str:
        return f" {self.unit}" if self.unit else ""


def make_number(value: Decimal, unit: str | None = None, until: Decimal | None = None) -> Number:
    """A number whose decimals are in lowest terms, so that equal numbers are equal values."""
    return Number(_reduce(value), unit, None if until is None else _reduce(until))


def parse_number(text: str, unit: str | None = None) -> Number:
    """The number that a text such as `12.5`, `-1.25E1`, `12.5 kg` or `100..200 km` stands for.

    `unit` is that of a number which is written without one.
    """
    written, _, own_unit = text.partition(" ")
    low, sign, high = written.partition(BAND_SIGN)
    until = _parse_decimal(high, text) if sign else None
    number = make_number(_parse_decimal(low, text), own_unit.strip() or unit or None, until)
    if unit and number.unit != unit:
        raise InputError(f"'{text:.60}' has another unit than {unit:.60}; convert it")
    return number


def write_decimal(number: Decimal) -> str:
    """The canonical form of a number in lowest terms."""
    if -_MOST_DIGITS < number.adjusted() < _MOST_DIGITS:
        return f"{number:f}"
    return f"{number:e}"


def _parse_decimal(written: str, text: str) -> Decimal:
    if len(written) > LONGEST_NUMBER or not _NUMBER.fullmatch(written):
        raise InputError(f"'{text:.60}' is no number; write digits, and a point before decimals")
    return Decimal(written)


def _reduce(number: Decimal) -> Decimal:
    """The same number without zeros at its end; Decimal.normalize would round it."""
    sign, digits, exponent = number.as_tuple()
    if not isinstance(exponent, int):
        raise InputError(f"{number} is not a finite number; leave it out")
    last = max((place for place, digit in enumerate(digits) if digit), default=None)
    if last is None:
        return Decimal(0)
    return Decimal((sign, digits[: last + 1], exponent + len(digits) - last - 1))


def _show_decimal(number: Decimal) -> str:
    written = write_decimal(number)
    return f"{number:,f}" if "e" not in written and abs(number) >= _GROUPED_FROM else written
