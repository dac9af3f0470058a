"""The facts of the atlas about customs: languages, scripts, currencies, dates and numbers."""

from __future__ import annotations

import pickle
import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from babel import Locale, localedata
from babel.core import get_global
from babel.numbers import get_decimal_symbol, get_group_symbol

from nqe.demo.atlas_entities import (
    SHARE_BANDS,
    Entity,
    Fact,
    countries,
    country,
    currency,
    currency_unit,
    decade,
    find_band,
    language,
    qualifiers,
    script,
    separator,
    weekday,
    year,
)

# A language's customs count for a country where it is official or spoken by this percentage.
LEAST_SHARE = 10

STATUSES = {
    "official": Entity("status_official", "official", "language status"),
    "official_regional": Entity(
        "status_official_regional", "regionally official", "language status"
    ),
    "de_facto_official": Entity("status_de_facto_official", "de facto official", "language status"),
}
# By whether the currency is legal tender and whether its period has ended.
TENDERS = {
    (True, False): Entity("tender_current", "current legal tender", "currency status"),
    (True, True): Entity("tender_former", "former legal tender", "currency status"),
    (False, False): Entity(
        "tender_never_current", "in use but not legal tender", "currency status"
    ),
    (False, True): Entity(
        "tender_never_former", "formerly in use but not legal tender", "currency status"
    ),
}
CLOCKS = {
    True: Entity("clock_12_hour", "12-hour clock", "way of telling the time"),
    False: Entity("clock_24_hour", "24-hour clock", "way of telling the time"),
}
DATE_PARTS = {"d": "day", "M": "month", "y": "year"}


def list_custom_facts() -> Iterator[Fact]:
    """All facts about customs."""
    for code in countries():
        yield from list_language_facts(code)
        yield from list_currency_facts(code)
    yield from list_script_facts()
    yield from list_decimal_place_facts()
    yield from list_decade_facts()
    for name in sorted(localedata.locale_identifiers()):
        yield from list_locale_facts(Locale.parse(name))


def list_languages(code: str) -> Mapping[str, Mapping[str, Any]]:
    """The languages of a country by CLDR code, each with its share and its status."""
    rows = get_global("territory_languages").get(code, {})
    # A share of zero marks languages without speakers to count, such as Literary Chinese.
    return {
        tag: row
        for tag, row in sorted(rows.items())
        if row["population_percent"] > 0 or row["official_status"]
    }


def find_script_code(tag: str, territory: str) -> str:
    """The script in which a country writes a language, stated in the tag or else the likely one."""
    code, _, stated = tag.partition("_")
    likely = get_global("likely_subtags")
    full: str = likely.get(f"{code}_{territory}") or likely.get(code, f"{code}_Zzzz")
    return stated or full.split("_")[1]


def list_language_facts(code: str) -> Iterator[Fact]:
    """The languages of a country."""
    for tag, row in list_languages(code).items():
        tongue = language(tag.partition("_")[0])
        if tongue is None:
            continue
        circumstances = qualifiers(
            official_status=STATUSES.get(row["official_status"]),
            share_of_speakers=find_band(
                "share", "share of speakers", SHARE_BANDS, row["population_percent"]
            ),
            script=script(find_script_code(tag, code)),
        )
        yield Fact(country(code), "speaks", tongue, circumstances)


def list_script_facts() -> Iterator[Fact]:
    """The scripts of all spoken languages, each with the country that CLDR gives for it."""
    likely = get_global("likely_subtags")
    places = [(tag, code) for code in countries() for tag in list_languages(code)]
    tags = {tag for tag, _ in places}
    local = {f"{tag.partition('_')[0]}_{code}" for tag, code in places}
    for tag in sorted((tags | local) & set(likely)):
        code, written, territory = likely[tag].split("_")[:3]
        tongue = language(code)
        if tongue is not None and territory in countries():
            yield Fact(
                tongue, "written_in", script(written), qualifiers(in_country=country(territory))
            )


def list_currency_facts(code: str) -> Iterator[Fact]:
    """The currencies of a country, now and in the past."""
    for name, start, end, tender in get_global("territory_currencies").get(code, ()):
        circumstances = qualifiers(
            tender_status=TENDERS[tender, end is not None],
            start_year=year(start[0]) if start else None,
            end_year=year(end[0]) if end else None,
        )
        yield Fact(country(code), "currency", currency(name), circumstances)
        yield Fact(currency(name), "currency_unit", currency_unit(name))


def list_decimal_place_facts() -> Iterator[Fact]:
    """The decimal places in which current currencies are counted, in general and in cash."""
    rows = get_global("currency_fractions")
    current = {
        name
        for code in countries()
        for name, _, end, tender in get_global("territory_currencies").get(code, ())
        if tender and end is None
    }
    for name in sorted(current):
        places, _, cash_places, _ = rows.get(name, rows["DEFAULT"])
        in_cash = qualifiers(cash_decimal_places=decimal_places(cash_places))
        yield Fact(currency(name), "decimal_places", decimal_places(places), in_cash)


def decimal_places(count: int) -> Entity:
    """A number of digits after the decimal sign."""
    return Entity(f"decimal_places_{count}", f"{count} decimal places", "number of decimal places")


def list_decade_facts() -> Iterator[Fact]:
    """The decade of each year in which some currency began or ended."""
    periods = [
        row[1:3] for code in countries() for row in get_global("territory_currencies").get(code, ())
    ]
    for number in sorted({day[0] for period in periods for day in period if day}):
        yield Fact(year(number), "decade", decade(number))


def list_locale_facts(locale: Locale) -> Iterator[Fact]:
    """The facts that one CLDR locale states about its language, script and country."""
    yield from list_direction_facts(locale)
    if str(locale) == locale.language:
        yield from list_plural_facts(locale)
    if locale.territory in countries():
        yield from list_week_facts(locale)
        yield from list_format_facts(locale)


def list_direction_facts(locale: Locale) -> Iterator[Fact]:
    """The direction in which a script runs."""
    code = locale.script or find_script_code(locale.language, locale.territory or "")
    order = locale.character_order
    direction = Entity(f"direction_{order.replace('-', '_')}", order, "writing direction")
    yield Fact(script(code), "writing_direction", direction)


def list_plural_facts(locale: Locale) -> Iterator[Fact]:
    """The plural categories that a language distinguishes."""
    tongue = language(locale.language)
    if tongue is None:
        return
    for tag in sorted(locale.plural_form.tags):
        category = Entity(f"plural_{tag}", f"plural category {tag}", "plural category")
        yield Fact(tongue, "plural_category", category)


def list_week_facts(locale: Locale) -> Iterator[Fact]:
    """The week of the country of a locale."""
    # Babel lets a locale inherit the week of its parent locale's country, so that a country
    # must be read from its own data over the data of the world.
    week = {**load_own_data("root")["week_data"], **load_own_data(str(locale))["week_data"]}
    weekend = qualifiers(
        weekend_start=weekday(week["weekend_start"]), weekend_end=weekday(week["weekend_end"])
    )
    yield Fact(
        country(str(locale.territory)), "week_starts_on", weekday(week["first_day"]), weekend
    )


def list_format_facts(locale: Locale) -> Iterator[Fact]:
    """How the speakers of a language in a country write times, dates and numbers."""
    territory, tongue = str(locale.territory), language(locale.language)
    if not is_customary(locale):
        return
    where, within = country(territory), qualifiers(language=tongue)
    decimal = separator(get_decimal_symbol(locale, numbering_system="default"))
    group = separator(get_group_symbol(locale, numbering_system="default"))
    clock = CLOCKS["h" in letters(locale.time_formats["short"].pattern)]
    yield Fact(where, "clock", clock, within)
    yield Fact(where, "date_order", date_order(locale.date_formats["short"].pattern), within)
    with_group = within + qualifiers(grouping_separator=group)
    yield Fact(where, "decimal_separator", decimal, with_group)


def is_customary(locale: Locale) -> bool:
    """Whether CLDR records the formats of a locale, and its language matters in its country."""
    territory, code = str(locale.territory), locale.language
    row = get_global("territory_languages").get(territory, {}).get(code)
    if row is None or language(code) is None or not records_formats(code):
        return False
    usual_script = locale.script in (None, find_script_code(code, territory))
    return usual_script and bool(row["official_status"] or row["population_percent"] >= LEAST_SHARE)


@cache
def records_formats(code: str) -> bool:
    """Whether CLDR has formats of a language's own, instead of those of the root locale."""
    # CLDR keeps what the two written forms of Norwegian share under a common parent.
    own = load_own_data(get_global("parent_exceptions").get(code, code))
    return bool(own.get("date_formats") and own.get("time_formats"))


@cache
def load_own_data(name: str) -> Mapping[str, Any]:
    """The data of a locale alone, without what it inherits."""
    # The loader of Babel would answer from a cache that holds inherited data too.
    with open(localedata.resolve_locale_filename(name), "rb") as file:
        data: Mapping[str, Any] = pickle.load(file)
    return data


def letters(pattern: str) -> str:
    """The field letters of a CLDR date or time pattern, without its quoted text."""
    return re.sub(r"'[^']*'", "", pattern)


def date_order(pattern: str) -> Entity:
    """The order of day, month and year in a date pattern."""
    order = list(dict.fromkeys(letter for letter in letters(pattern) if letter in DATE_PARTS))
    name = "-".join(DATE_PARTS[letter] for letter in order)
    return Entity(f"order_{'_'.join(name.split('-'))}", name, "order of a date")
