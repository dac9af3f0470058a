"""Days of the proleptic Gregorian and Julian calendars, for years of any size.

Years are astronomical: 0 is 1 BCE, -1 is 2 BCE. Days count from 1 March of the year 0, Gregorian.
"""

from __future__ import annotations

# Between the two calendars' 1 March of the year 0.
_JULIAN_DIFFERENCE = -2
_LENGTHS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)

Date = tuple[int, int, int]
"""Year, month and day."""


def count_days(year: int, month: int = 1, day: int = 1) -> int:
    """The number of a day in the Gregorian calendar."""
    year -= month < 3  # a year that begins in March has the leap day at its end
    leap_days = year // 4 - year // 100 + year // 400
    return 365 * year + leap_days + _count_days_since_march(month) + day - 1


def to_date(number: int) -> Date:
    """The date of a day in the Gregorian calendar; the inverse of `count_days`."""
    cycle, rest = divmod(number, 146_097)  # of 400 years
    of_cycle = (rest - rest // 1_460 + rest // 36_524 - rest // 146_096) // 365
    rest -= 365 * of_cycle + of_cycle // 4 - of_cycle // 100
    place = (5 * rest + 2) // 153  # months since March
    month = place + 3 if place < 10 else place - 9
    return 400 * cycle + of_cycle + (month < 3), month, rest - (153 * place + 2) // 5 + 1


def convert_julian(year: int, month: int, day: int) -> Date:
    """The Gregorian date of a day that is given in the Julian calendar."""
    year -= month < 3
    days = 365 * year + year // 4 + _count_days_since_march(month) + day - 1
    return to_date(days + _JULIAN_DIFFERENCE)


def count_month_days(year: int, month: int, *, julian: bool = False) -> int:
    """How many days a month has."""
    is_leap = year % 4 == 0 and (julian or year % 100 != 0 or year % 400 == 0)
    return 28 if month == 2 and not is_leap else _LENGTHS[month - 1]


def _count_days_since_march(month: int) -> int:
    return (153 * ((month + 9) % 12) + 2) // 5
