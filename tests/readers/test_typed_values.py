"""Typed values of RDF, Wikidata and tables become the ids of literals."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest

from nqe.errors import InputError
from nqe.readers.typed_values import RDF, XSD, read_cell, read_value, read_wikidata_time

JULIAN = "http://www.wikidata.org/entity/Q1985786"


@pytest.mark.parametrize(
    ("lexical", "type", "name"),
    [
        ("1903-06-01", "date", "1903-06-01^^time"),
        ("1903-06-01Z", "date", "1903-06-01^^time"),
        ("1903-06-01T00:00:00Z", "dateTime", "1903-06-01^^time"),
        ("1903-06-01T12:00:00-01:00", "dateTime", "1903-06-01T13:00:00^^time"),
        ("1903", "gYear", "1903^^time"),
        ("-0043", "gYear", "0044 BCE^^time"),
        ("12000", "gYear", "+12000^^time"),
        ("1903-06", "gYearMonth", "1903-06^^time"),
        ("+0012", "integer", "12^^number"),
        ("12.50", "decimal", "12.5^^number"),
        ("1.25E1", "double", "12.5^^number"),
        (" 7\n", "unsignedByte", "7^^number"),
        ("1", "boolean", "true^^text"),
        ("false", "boolean", "false^^text"),
        (" a ", "string", "\\u0020a ^^text"),
        ("P1Y", "duration", "P1Y^^text"),
    ],
)
def test_values_of_xsd_types_are_literals(lexical: str, type: str, name: str) -> None:
    assert read_value(lexical, XSD + type) == name


def test_kinds_can_be_named_and_have_units_and_languages() -> None:
    assert read_value("1903", "time") == "1903^^time"
    assert read_value("+12.50", "number", unit="Q11573") == "12.5 Q11573^^number"
    assert read_value("12.5 kg", "number") == "12.5 kg^^number"
    assert read_value("Paris", language="FR") == "Paris^^text@fr"
    assert read_value("Paris", RDF + "langString", language="en-GB") == "Paris^^text@en-gb"


@pytest.mark.parametrize(
    ("lexical", "type"),
    [("soon", "date"), ("190X", "gYear"), ("many", "integer"), ("NaN", "double")],
)
def test_a_value_that_does_not_fit_its_type_is_refused(lexical: str, type: str) -> None:
    with pytest.raises(InputError, match=f"'{lexical}' is no"):
        read_value(lexical, XSD + type)


@pytest.mark.parametrize(
    ("time", "precision", "name"),
    [
        ("+1903-06-01T00:00:00Z", 11, "1903-06-01^^time"),
        ("+1903-06-00T00:00:00Z", 10, "1903-06^^time"),
        ("+1903-06-00T00:00:00Z", 11, "1903-06^^time"),
        ("+1903-00-00T00:00:00Z", 9, "1903^^time"),
        ("+1903-01-01T00:00:00Z", 9, "1903^^time"),
        ("+00000001903-01-01T00:00:00Z", 9, "1903^^time"),
        ("-0044-03-00T00:00:00Z", 10, "0044-03 BCE^^time"),
        ("+1903-00-00T00:00:00Z", 8, "190X^^time"),
        ("-0044-00-00T00:00:00Z", 8, "004X BCE^^time"),
        ("+1750-00-00T00:00:00Z", 7, "17XX^^time"),
        ("+1800-00-00T00:00:00Z", 7, "17XX^^time"),
        ("+1801-00-00T00:00:00Z", 7, "18XX^^time"),
        ("-0100-00-00T00:00:00Z", 7, "00XX BCE^^time"),
        ("+2000-00-00T00:00:00Z", 6, "1XXX^^time"),
        ("-13798000000-00-00T00:00:00Z", 3, "13798XXXXXX BCE^^time"),
        ("-4600000000-00-00T00:00:00Z", 0, "4XXXXXXXXX BCE^^time"),
    ],
)
def test_times_of_wikidata_keep_their_precision(time: str, precision: int, name: str) -> None:
    assert read_wikidata_time(time, precision) == name


def test_a_day_of_the_julian_calendar_is_converted_and_a_year_is_not() -> None:
    assert read_wikidata_time("+1582-10-05T00:00:00Z", 11, JULIAN) == "1582-10-15^^time"
    assert read_wikidata_time("-0044-03-15T00:00:00Z", 11, JULIAN) == "0044-03-13 BCE^^time"
    assert read_wikidata_time("+1500-02-29T00:00:00Z", 11, JULIAN) == "1500-03-10^^time"
    assert read_wikidata_time("+1582-00-00T00:00:00Z", 9, JULIAN) == "1582^^time"


@pytest.mark.parametrize(
    ("time", "precision", "calendar"),
    [
        ("1903", 9, ""),
        ("+1903-06-01T00:00:00Z", 14, ""),
        ("+0000-00-00T00:00:00Z", 7, ""),
        ("+1903-02-29T00:00:00Z", 11, ""),
        ("+1903-02-29T00:00:00Z", 11, JULIAN),
        ("+1903-13-01T00:00:00Z", 11, JULIAN),
    ],
)
def test_what_is_no_time_of_wikidata_is_refused(time: str, precision: int, calendar: str) -> None:
    with pytest.raises(InputError):
        read_wikidata_time(time, precision, calendar)


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (1903, "1903^^number"),
        (12.5, "12.5^^number"),
        (1e-7, "0.0000001^^number"),
        (Decimal("1.50"), "1.5^^number"),
        (True, "true^^text"),
        (date(1903, 6, 1), "1903-06-01^^time"),
        (datetime(1903, 6, 1), "1903-06-01^^time"),
        (datetime(1903, 6, 1, 12, tzinfo=UTC), "1903-06-01T12:00:00^^time"),
        (datetime(1903, 6, 1, 1, tzinfo=timezone(timedelta(hours=2))), "1903-05-31T23:00:00^^time"),
        ("1903", "1903"),
    ],
)
def test_cells_with_types_are_literals_and_texts_are_not(value: Any, name: str) -> None:
    assert read_cell(value) == name
