"""Literals: their forms, their order, and their ids."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nqe.errors import InputError
from nqe.graph.builder import check_id
from nqe.graph.literals import Literal, Text, is_literal_id, list_readings, parse_id, to_id
from nqe.graph.number_values import Number, make_number, parse_number
from nqe.graph.time_values import Time, parse_time, parse_xsd_time

years = st.one_of(st.integers(-13_800_000_000, 13_800_000_000), st.integers(-60, 2100))


@st.composite
def times(draw: st.DrawFn) -> Time:
    year, precision = draw(years), draw(st.sampled_from(["span", "year", "month", "day", "clock"]))
    if precision == "span":
        return Time.of(year).widen(draw(st.integers(1, 9)))
    month, day = draw(st.integers(1, 12)), draw(st.integers(1, 28))
    clock = draw(st.times().map(lambda one: one.isoformat()))
    if precision == "clock":
        era = " BCE" if year <= 0 else ""
        return parse_time(f"{Time.of(year, month, day).lexical.removesuffix(era)}T{clock}{era}")
    parts = {"year": (), "month": (month,), "day": (month, day)}[precision]
    return Time.of(year, *parts)


decimals = st.one_of(
    st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**300), max_value=10**300),
    st.decimals(min_value=-1000, max_value=1000, places=2),
)
units = st.none() | st.text(st.characters(exclude_categories=("Cs",)), min_size=1).map(
    str.strip
).filter(bool)
numbers = st.builds(make_number, decimals, units)
texts = st.builds(
    Text,
    st.text(st.characters(exclude_categories=("Cs",))),
    st.sampled_from([None, "en", "en-gb", "zh-hans", "ar--rtl"]),
)
literals = st.one_of(times(), numbers, numbers.map(Number.widen), texts)


@given(literals)
def test_an_id_is_parsed_as_the_literal_that_it_was_written_for(literal: Literal) -> None:
    name = to_id(literal)
    assert parse_id(name) == literal
    assert is_literal_id(name)
    check_id(name, "entity")


@given(literals, literals)
def test_different_literals_have_different_ids(one: Literal, other: Literal) -> None:
    assert (to_id(one) == to_id(other)) == (one == other)


@given(st.lists(times(), min_size=2) | st.lists(numbers, min_size=2))
def test_the_column_to_sort_by_keeps_the_order_of_values(values: list[Time] | list[Number]) -> None:
    begins = [one.bounds[0] for one in sorted(values, key=lambda one: one.sort_key)]
    assert begins == sorted(begins)


@given(st.dates(), st.dates())
def test_days_have_the_order_and_the_distance_of_the_calendar(one: date, other: date) -> None:
    first, second = (parse_time(day.isoformat()).bounds for day in (one, other))
    assert second[0] - first[0] == (other - one).days
    assert first[1] - first[0] == 1


@given(times(), st.integers(1, 9))
def test_a_wider_span_contains_the_time(time: Time, digits: int) -> None:
    begin, end = time.bounds
    wide_begin, wide_end = time.widen(digits).bounds
    assert wide_begin <= begin < end <= wide_end


@given(numbers)
def test_a_band_contains_its_number(number: Number) -> None:
    band = number.widen()
    if number.value:
        assert band.until is not None
        assert band.value <= number.value < band.until
    assert band.widen() == band
    assert band.unit == number.unit


@pytest.mark.parametrize(
    ("written", "name", "shown"),
    [
        ("1903", "1903^^time", "1903"),
        ("1903-06", "1903-06^^time", "June 1903"),
        ("1903-06-01", "1903-06-01^^time", "1 June 1903"),
        ("1903-06-01T12:30:00Z", "1903-06-01T12:30:00^^time", "1 June 1903, 12:30:00 UTC"),
        ("1903-06-01 12:30", "1903-06-01T12:30:00^^time", "1 June 1903, 12:30:00 UTC"),
        ("1903-06-01T00:00:00Z", "1903-06-01^^time", "1 June 1903"),
        ("1903-06-01T01:00:00.50+02:00", "1903-05-31T23:00:00.5^^time",
         "31 May 1903, 23:00:00.5 UTC"),
        ("1903-12-31T24:00:00", "1904-01-01^^time", "1 January 1904"),
        ("476", "0476^^time", "476"),
        ("0000", "0001 BCE^^time", "1 BCE"),
        ("-0043-03-13", "0044-03-13 BCE^^time", "13 March 44 BCE"),
        ("44 BCE", "0044 BCE^^time", "44 BCE"),
        ("+12000", "+12000^^time", "12000"),
        ("190X", "190X^^time", "1900s"),
        ("19XX", "19XX^^time", "20th century"),
        ("10XX", "10XX^^time", "11th century"),
        ("1XXX", "1XXX^^time", "2nd millennium"),
        ("004X BCE", "004X BCE^^time", "40s BCE"),
        ("13798XXXXXX BCE", "13798XXXXXX BCE^^time", "about 13,798,000,000 BCE"),
    ],
)  # fmt: skip
def test_times_are_written_in_one_form_and_shown_in_another(
    written: str, name: str, shown: str
) -> None:
    time = parse_time(written)
    assert (to_id(time), time.shown) == (name, shown)


@pytest.mark.parametrize(
    ("written", "name", "shown"),
    [
        ("12.50", "12.5^^number", "12.5"),
        ("+12", "12^^number", "12"),
        ("-0.0", "0^^number", "0"),
        ("1.25E1", "12.5^^number", "12.5"),
        (".5", "0.5^^number", "0.5"),
        ("8336817", "8336817^^number", "8,336,817"),
        ("1903", "1903^^number", "1903"),
        ("6.02E23", "6.02e+23^^number", "6.02e+23"),
        ("12.5 kg", "12.5 kg^^number", "12.5 kg"),
        ("100..200 square metre", "100..200 square metre^^number", "100 to 200 square metre"),
    ],
)
def test_numbers_are_written_in_one_form_and_shown_in_another(
    written: str, name: str, shown: str
) -> None:
    number = parse_number(written)
    assert (to_id(number), number.shown) == (name, shown)


@pytest.mark.parametrize(
    ("value", "band"),
    [
        ("0", "0"),
        ("1", "1..2"),
        ("1.99", "1..2"),
        ("2", "2..5"),
        ("9.9 kg", "5..10 kg"),
        ("12345", "10000..20000"),
        ("0.03", "0.02..0.05"),
        ("-3", "-5..-2"),
        ("-5", "-5..-2"),
        ("-10", "-10..-5"),
    ],
)
def test_the_bands_of_numbers_have_bounds_of_1_2_and_5(value: str, band: str) -> None:
    assert parse_number(value).widen().lexical == band


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("some text", "some text^^text"),
        ("", "^^text"),
        (" a\nb ", "\\u0020a\\u000ab ^^text"),
        ("C:\\new", "C:\\\\new^^text"),
        ("1903^^time", "1903^^time^^text"),
    ],
)
def test_texts_keep_every_character(text: str, name: str) -> None:
    assert to_id(Text(text)) == name
    assert to_id(Text(text, "en")) == f"{name}@en"
    assert parse_id(name) == Text(text)


@pytest.mark.parametrize(
    "written",
    ["", "x", "1903-13", "1903-02-29", "1903-6-1", "1903-00", "19030601", "190306",
     "1903-06-01T25:00", "1903T12:00", "1903-06-01T12:00:60", "-190X", "190X-06", "-44 BCE",
     "1" * 13 + " BCE", "XXXXXXXXXXX BCE"],
)  # fmt: skip
def test_what_is_no_time_is_refused(written: str) -> None:
    with pytest.raises(InputError):
        parse_time(written)


@pytest.mark.parametrize("written", ["", "x", "1,000", "1e999", "NaN", "inf", "9" * 500, "5..2"])
def test_what_is_no_number_is_refused(written: str) -> None:
    with pytest.raises(InputError):
        parse_number(written)


def test_what_is_no_text_is_refused() -> None:
    with pytest.raises(InputError, match="half a character"):
        Text("\ud800")
    with pytest.raises(InputError, match="no language"):
        Text("a", "EN us")


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("1903-6-1^^time", "is no time"),
        ("+1903^^time", "write '1903^^time'"),
        ("12.50^^number", "write '12.5^^number'"),
        ("many^^number", "is no number"),
        ("a\\b^^text", "stands alone"),
        ("1903^^time@en", "has no language"),
    ],
)
def test_an_id_that_only_looks_like_a_literal_is_refused(name: str, told: str) -> None:
    with pytest.raises(InputError, match="written") as error:
        check_id(name, "entity")
    assert told in str(error.value)
    check_id(name, "relation")


@pytest.mark.parametrize("name", ["Q42", "1903", "a^^b", "^^", "1903^^xsd:gYear", "1903^^time "])
def test_other_ids_are_no_literals(name: str) -> None:
    assert parse_id(name) is None
    assert not is_literal_id(name)


def test_a_text_has_every_reading_that_it_can_have() -> None:
    assert list(list_readings("1903")) == ["1903^^time", "1903^^number", "1903^^text"]
    assert list(list_readings("12.50 kg")) == ["12.5 kg^^number", "12.50 kg^^text"]


def test_xsd_times_may_have_long_years_and_zones() -> None:
    assert parse_xsd_time("12000") == Time(12000)
    assert parse_xsd_time("1903-06-01+02:00") == Time(1903, 6, 1)
    assert parse_xsd_time("-0043") == Time(44, bce=True)
    for other in ("190X", "0044 BCE"):
        with pytest.raises(InputError):
            parse_xsd_time(other)


def test_of_times_that_begin_together_the_longest_is_first() -> None:
    written = ["1900-01-01T00:00:01", "1900-01-01", "1900-01", "1900", "190X", "19XX"]
    ordered = sorted(map(parse_time, written), key=lambda time: time.sort_key)
    assert [time.lexical for time in ordered] == list(reversed(written))


def test_numbers_differ_by_unit_and_sort_by_value() -> None:
    assert make_number(Decimal(1), "kg") != make_number(Decimal(1))
    assert make_number(Decimal(1), "kg").sort_key == make_number(Decimal("1.0")).sort_key
