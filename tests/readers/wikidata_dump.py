"""A hand-written dump of Wikidata: what its tests read, and how to write entities."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

Json = dict[str, Any]
GREGORIAN = "http://www.wikidata.org/entity/Q1985727"
JULIAN = "http://www.wikidata.org/entity/Q1985786"
METRE = "http://www.wikidata.org/entity/Q11573"


def item(name: str) -> Json:
    """The value that names an entity."""
    kind = {"Q": "item", "P": "property"}[name[0]]
    value = {"entity-type": kind, "numeric-id": int(name[1:]), "id": name}
    return {"type": "wikibase-entityid", "value": value}


def text(written: str) -> Json:
    return {"type": "string", "value": written}


def labelled(written: str, language: str) -> Json:
    return {"type": "monolingualtext", "value": {"text": written, "language": language}}


def time(written: str, precision: int = 11, calendar: str = GREGORIAN) -> Json:
    value = {"time": written, "precision": precision, "calendarmodel": calendar}
    return {"type": "time", "value": value}


def quantity(amount: str, unit: str = "1") -> Json:
    return {"type": "quantity", "value": {"amount": amount, "unit": unit}}


def place(latitude: float | None, longitude: float, globe: str = "Q2") -> Json:
    iri = f"http://www.wikidata.org/entity/{globe}"
    value = {"latitude": latitude, "longitude": longitude, "precision": 0.01, "globe": iri}
    return {"type": "globecoordinate", "value": value}


def snak(relation: str, value: Json | str, datatype: str | None = None) -> Json:
    """A snak with a value, or of a kind without one: `somevalue`, `novalue`."""
    kind = value if isinstance(value, str) else "value"
    found = {"snaktype": kind, "property": relation, "datatype": datatype}
    return found if isinstance(value, str) else found | {"datavalue": value}


def statement(
    main: Json, qualifiers: Iterable[Json] = (), rank: str = "normal", **more: Any
) -> Json:
    by_property: dict[str, list[Json]] = {}
    for pair in qualifiers:
        by_property.setdefault(pair["property"], []).append(pair)
    named = {"qualifiers": by_property} if by_property else {}
    return {"mainsnak": main, "type": "statement", "rank": rank} | named | more


def terms(**texts: str) -> Any:
    """Labels or descriptions by language; as Wikidata does, an array if there are none."""
    return {
        code.replace("_", "-"): {"language": code.replace("_", "-"), "value": written}
        for code, written in texts.items()
    } or []


def entity(
    name: str, statements: Iterable[Json] = (), labels: Any = None, kind: str = "item", **more: Any
) -> Json:
    claims: dict[str, list[Json]] = {}
    for one in statements:
        claims.setdefault(one["mainsnak"]["property"], []).append(one)
    begin = {"type": kind, "id": name, "labels": labels or [], "descriptions": [], "aliases": []}
    return begin | {"claims": claims or [], "sitelinks": {}} | more


def dump(*entities: Json) -> str:
    """A dump as Wikidata publishes it: an array with one entity per line."""
    return "[\n" + ",\n".join(json.dumps(one) for one in entities) + "\n]\n"


CURIE = entity(
    "Q7186",
    [
        statement(snak("P31", item("Q5"))),
        statement(
            snak("P166", item("Q38104")),
            [
                snak("P585", time("+1903-00-00T00:00:00Z", 9), "time"),
                snak("P1706", item("Q37463")),
                snak("P1706", item("Q41269")),
            ],
            rank="preferred",
            references=[{"hash": "0", "snaks": {"P854": []}}],
        ),
        statement(snak("P569", time("+1867-11-07T00:00:00Z"), "time")),
        statement(snak("P214", text("76353174"), "external-id")),
        statement(snak("P103", item("Q9288")), rank="deprecated"),
    ],
    terms(en="Marie Curie", de="Marie Curie", pl="Maria Skłodowska-Curie"),
    descriptions=terms(en="physicist and chemist", pl="fizyczka i chemiczka"),
    aliases={"en": [{"language": "en", "value": "Madame Curie"}]},
)
PARIS = entity(
    "Q90",
    [
        statement(snak("P31", item("Q515"))),
        statement(
            snak("P1082", quantity("+2102650")), [snak("P585", time("+2023-01-01T00:00:00Z"))]
        ),
        statement(snak("P625", place(48.856944444444, 2.351388888889))),
        statement(snak("P2044", quantity("+28.5", METRE))),
    ],
    terms(fr="Paris", mul="Paris"),
)
METRE_ITEM = entity("Q11573", labels=terms(en="metre"))
PRIZE = entity("Q38104", labels=terms(en="Nobel Prize in Physics", de="Nobelpreis für Physik"))
AWARDED = entity("P166", labels=terms(en="award received"), kind="property", datatype="x")
SMALL = dump(CURIE, PARIS, METRE_ITEM, PRIZE, AWARDED)
