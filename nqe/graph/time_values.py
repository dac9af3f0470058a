"""Times with a precision, from a billion years to a second, in the proleptic Gregorian calendar."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import ClassVar

from nqe.errors import InputError
from nqe.graph.calendar_days import count_days, count_month_days, to_date

LONGEST_YEAR = 12
"""The most digits of a year, so that the sort keys of all times are exact to the day."""
MOST_UNKNOWN = 9
"""The longest span is a billion years, as in Wikidata."""
_DAY_SECONDS = 86_400
_WRITTEN = re.compile(
    r"(?P<sign>[+-]?)(?P<digits>[0-9]*)(?P<unknown>X*)"
    r"(-(?P<month>[0-9]{2})(-(?P<day>[0-9]{2}))?)?"
    r"([T ](?P<clock>[0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,9})?)?))?"
    r"(?P<zone>Z|[+-][0-9]{2}:[0-9]{2})?(?P<bce> BCE)?"
)
_CLOCK = re.compile(r"([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]{0,8}[1-9])?")
_MIDNIGHT = "00:00:00"
_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_ENDINGS = {1: "st", 2: "nd", 3: "rd"}
_EXPECTED = "write YYYY, YYYY-MM or YYYY-MM-DD"


@dataclass(frozen=True, slots=True)
class Time:
    """A second, day, month, year, decade, century or longer span of time."""

    kind: ClassVar[str] = "time"
    year: int
    """As people count it, in the common era or before it; unknown digits are zeros."""
    month: int | None = None
    day: int | None = None
    clock: str | None = None
    """Hours, minutes and seconds in UTC, such as 12:30:00; never midnight, which is the day."""
    bce: bool = False
    unknown_digits: int = 0
    """How many of the year's last digits are unknown: 1 for a decade, 2 for a century."""

    def __post_init__(self) -> None:
        if not (self._is_span() if self.unknown_digits else self._is_date()):
            raise InputError(f"{self.lexical} is no time of the calendar; {_EXPECTED}")

    @classmethod
    def of(
        cls, year: int, month: int | None = None, day: int | None = None, clock: str | None = None
    ) -> Time:
        """A time in an astronomical year: 0 is 1 BCE, -1 is 2 BCE."""
        return cls(year if year > 0 else 1 - year, month, day, clock, bce=year <= 0)

    @property
    def lexical(self) -> str:
        """The canonical form: 1903-06-01, 1903, 190X (a decade), 0044 BCE, +12000."""
        known = str(self.year // 10**self.unknown_digits)
        digits = known.zfill(4 - self.unknown_digits) + "X" * self.unknown_digits
        sign = "+" if len(digits) > 4 and not self.bce else ""
        rest = "".join(f"-{part:02}" for part in (self.month, self.day) if part is not None)
        clock = f"T{self.clock}" if self.clock else ""
        return f"{sign}{digits}{rest}{clock}{' BCE' if self.bce else ''}"

    @property
    def shown(self) -> str:
        """The form that people write: 1 June 1903, June 1903, 1903, 1900s, 20th century."""
        era = " BCE" if self.bce else ""
        if self.unknown_digits:
            return _show_span(self.year, self.unknown_digits) + era
        day = f"{self.day} " if self.day else ""
        month = f"{_MONTHS[self.month - 1]} " if self.month else ""
        clock = f", {self.clock} UTC" if self.clock else ""
        return f"{day}{month}{self.year}{era}{clock}"

    @property
    def bounds(self) -> tuple[float, float]:
        """When it begins and when it has ended, in days; the second of a moment is its length."""
        if self.month is None:
            first, last = self._years
            return float(count_days(first)), float(count_days(last + 1))
        year = self._years[0]
        begin = count_days(year, self.month, self.day or 1)
        if self.day is None:
            return float(begin), float(begin + count_month_days(year, self.month))
        if self.clock is None:
            return float(begin), float(begin + 1)
        seconds = _count_seconds(self.clock)
        unit = Decimal((0, (1,), int(seconds.as_tuple().exponent)))
        return (
            float(begin + seconds / _DAY_SECONDS),
            float(begin + (seconds + unit) / _DAY_SECONDS),
        )

    @property
    def sort_key(self) -> tuple[float, float]:
        """Orders times by their beginning; of those that begin together, the longest is first."""
        begin, end = self.bounds
        return begin, -end

    def widen(self, unknown_digits: int) -> Time:
        """The decade (1), century (2) or longer span that the time is in."""
        if unknown_digits <= self.unknown_digits:
            return self
        year = self.year // 10**unknown_digits * 10**unknown_digits
        return Time(year, bce=self.bce, unknown_digits=unknown_digits)

    @property
    def _years(self) -> tuple[int, int]:
        """The astronomical years of its beginning and its end."""
        first, last = max(self.year, 1), self.year + 10**self.unknown_digits - 1
        return (1 - last, 1 - first) if self.bce else (first, last)

    def _is_span(self) -> bool:
        alone = self.month is None and self.day is None and self.clock is None
        is_round = self.year >= 0 and self.year % 10**self.unknown_digits == 0
        return alone and is_round and self._fits() and 0 < self.unknown_digits <= MOST_UNKNOWN

    def _is_date(self) -> bool:
        if self.year < 1 or not self._fits():
            return False
        if self.month is None or self.day is None:
            is_month = self.month is None or 1 <= self.month <= 12
            return is_month and self.day is None and self.clock is None
        return (
            1 <= self.month <= 12
            and 1 <= self.day <= count_month_days(self._years[0], self.month)
            and (self.clock is None or _is_clock(self.clock))
        )

    def _fits(self) -> bool:
        return len(str(self.year)) <= LONGEST_YEAR


def parse_time(text: str) -> Time:
    """The time that a text such as `1903-06-01`, `+12000`, `190X` or `0044 BCE` stands for.

    A year without a sign has at most four digits, so that 19030601 is not taken for one. Signed
    years are astronomical, as in ISO 8601: -0043 is 44 BCE.
    """
    found = _WRITTEN.fullmatch(text)
    if found and not (found["sign"] or found["bce"]):
        length = len(found["digits"] + found["unknown"])
        if length > 4:
            raise InputError(
                f"'{text:.60}' begins with a year of {length} digits; write YYYY-MM-DD for a date, "
                "and + before a year of more than 4 digits"
            )
    return _make_time(found, text)


def parse_xsd_time(text: str) -> Time:
    """The time that the lexical form of an xsd:date, dateTime, gYear or gYearMonth stands for.

    Years are astronomical. A time of day is converted to UTC; the zone of a date is dropped.
    """
    found = _WRITTEN.fullmatch(text)
    return _make_time(None if found and (found["bce"] or found["unknown"]) else found, text)


def _make_time(found: re.Match[str] | None, text: str) -> Time:
    """The time of a text, and of its parts if it is written as one."""
    if found is None or not found["digits"] + found["unknown"]:
        raise InputError(f"'{text:.60}' is no time; {_EXPECTED}")
    unknown = len(found["unknown"])
    if len(found["digits"]) + unknown > LONGEST_YEAR:
        raise InputError(f"'{text:.60}' has a year of more than {LONGEST_YEAR} digits; shorten it")
    year = int(found["digits"] or 0) * 10**unknown
    month, day = (int(found[part]) if found[part] else None for part in ("month", "day"))
    bce = bool(found["bce"])
    if found["sign"] and (bce or (unknown and found["sign"] == "-")):
        raise InputError(f"'{text:.60}' is no time; write 0044 BCE without a sign")
    if found["sign"] == "-" or not (year or unknown or bce):
        year, bce = 1 + year, True
    date = Time(year, month, day, bce=bce, unknown_digits=unknown)
    return _add_clock(date, found["clock"], found["zone"] or "Z", text) if found["clock"] else date


def _add_clock(date: Time, clock: str, zone: str, text: str) -> Time:
    """The moment in UTC. Midnight is read as the day, as many tools write dates like that."""
    full = clock if clock.count(":") == 2 else f"{clock}:00"
    at_end = re.fullmatch(r"24:00:00(\.0+)?", full)
    if date.month is None or date.day is None or not (at_end or _is_time_of_day(full)):
        raise InputError(f"'{text:.60}' is no time of a day; write YYYY-MM-DDThh:mm:ss")
    seconds = _count_seconds(full)
    if zone != "Z":
        seconds -= int(f"{zone[0]}1") * (3_600 * int(zone[1:3]) + 60 * int(zone[4:]))
    days = int(seconds // _DAY_SECONDS) - (seconds < 0)  # decimals are divided towards zero
    begin = count_days(date._years[0], date.month, date.day)
    return Time.of(*to_date(begin + days), _write_clock(seconds - days * _DAY_SECONDS))


def _is_time_of_day(clock: str) -> bool:
    return bool(_CLOCK.fullmatch(clock.rstrip("0").rstrip(".") if "." in clock else clock))


def _is_clock(clock: str) -> bool:
    """Whether a time of day is in its canonical form."""
    return bool(_CLOCK.fullmatch(clock)) and clock != _MIDNIGHT


def _count_seconds(clock: str) -> Decimal:
    hours, minutes, seconds = clock.split(":")
    return 3_600 * int(hours) + 60 * int(minutes) + Decimal(seconds)


def _write_clock(seconds: Decimal) -> str | None:
    """The canonical form of a time of day; None for midnight."""
    whole = int(seconds)
    fraction = f"{seconds - whole:f}".partition(".")[2].rstrip("0")
    clock = f"{whole // 3_600:02}:{whole // 60 % 60:02}:{whole % 60:02}"
    clock += f".{fraction}" if fraction else ""
    return None if clock == _MIDNIGHT else clock


def _show_span(year: int, unknown_digits: int) -> str:
    match unknown_digits:
        case 1:
            return f"{year}s"
        case 2 | 3:
            number = year // 10**unknown_digits + 1
            teen = number % 100 in (11, 12, 13)
            ending = "th" if teen else _ENDINGS.get(number % 10, "th")
            return f"{number}{ending} {'century' if unknown_digits == 2 else 'millennium'}"
        case _:
            return f"about {year:,}"
