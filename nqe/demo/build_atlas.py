"""Builds the atlas, the embedded demo data set: a labelled graph of the world."""

from __future__ import annotations

import random
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path

from nqe.demo.atlas_customs import list_custom_facts
from nqe.demo.atlas_entities import Entity, Fact
from nqe.demo.atlas_places import list_place_facts

SEED = 20
HELD_OUT_SHARE = 0.1

RELATIONS = {
    "area": "relation of a country to the band of its area",
    "borders": "relation of a country to each neighbour",
    "calling_code": "relation of a country to its international calling code",
    "capital": "relation of a country to its capital city",
    "cash_decimal_places": "attribute of decimal places: how many remain in cash",
    "clock": "relation of a country to its way of telling the time",
    "continent": "relation of a country to its continent",
    "currency": "relation of a country to a currency it uses or used",
    "currency_unit": "relation of a currency to the unit it is named after",
    "date_order": "relation of a country to its order of day, month and year",
    "decade": "relation of a year to its decade",
    "decimal_places": "relation of a currency to the decimal places it is counted in",
    "decimal_separator": "relation of a country to the sign before its decimals",
    "distance": "attribute of a nearest city: the band of its distance",
    "end_year": "attribute of a currency's use: the year it ended",
    "grouping_separator": "attribute of a decimal separator: the sign between thousands beside it",
    "in_country": "attribute of a language's script: the country where it is so written",
    "language": "attribute of a country's format: the language it is used in",
    "latitude_zone": "attribute of a city's place: its zone between poles and equator",
    "located_in": "relation of a city or state to its country",
    "nearest_in_atlas": "relation of a city to the nearest other city of the atlas",
    "official_status": "attribute of a spoken language: its standing in law",
    "plural_category": "relation of a language to a plural category of its grammar",
    "population": "relation of a country, or attribute of a city, to the band of its inhabitants",
    "script": "attribute of a spoken language: the script it is written in there",
    "share_of_speakers": "attribute of a spoken language: how many of the people use it",
    "speaks": "relation of a country to a language used there",
    "standard_time": "relation of a time zone, or attribute of its use, to the time it keeps",
    "start_year": "attribute of a currency's use: the year it began",
    "state": "attribute of a city's place: its state of the United States",
    "tender_status": "attribute of a currency's use: whether it is or was legal tender",
    "time_zone": "relation of a country or city to a time zone",
    "week_starts_on": "relation of a country to the first day of its week",
    "weekend_end": "attribute of a country's week: the last day of the weekend",
    "weekend_start": "attribute of a country's week: the first day of the weekend",
    "writing_direction": "relation of a script to the direction it runs in",
    "written_in": "relation of a language to a script",
}


def main() -> None:
    """Write the atlas into the folder named on the command line, or beside this script."""
    named = sys.argv[1:2]
    folder = Path(named[0]) if named else Path(__file__).parent / "atlas"
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in make_files().items():
        (folder / name).write_text(text, encoding="utf-8", newline="\n")


def make_files() -> dict[str, str]:
    """The text of each file of the atlas, by name."""
    facts = find_largest_component(prune({*list_place_facts(), *list_custom_facts()}))
    files = {f"{name}.txt": join_statements(part) for name, part in split(facts).items()}
    return files | {"labels.tsv": join_labels(facts)}


def prune(facts: set[Fact]) -> set[Fact]:
    """The facts without entities that are in a single slot; removed until there are none."""
    while True:
        uses = Counter(entity for fact in facts for entity in fact.entities())
        kept = {
            drop_rare_values(fact, uses)
            for fact in facts
            if min(uses[fact.subject], uses[fact.object]) > 1
        }
        if kept == facts:
            return facts
        facts = kept


def drop_rare_values(fact: Fact, uses: Counter[Entity]) -> Fact:
    """A fact without the qualifiers whose values are in no other slot."""
    common = tuple((name, value) for name, value in fact.qualifiers if uses[value] > 1)
    return Fact(fact.subject, fact.relation, fact.object, common)


def find_largest_component(facts: set[Fact]) -> set[Fact]:
    """The facts of the largest connected part of the graph."""
    mentions: dict[Entity, set[Fact]] = defaultdict(set)
    for fact in facts:
        for entity in fact.entities():
            mentions[entity].add(fact)
    components = []
    left = set(facts)
    while left:
        component = find_connected(min(left), mentions)
        components.append(component)
        left -= component
    return max(components, key=len)


def find_connected(start: Fact, mentions: dict[Entity, set[Fact]]) -> set[Fact]:
    """All facts that a chain of shared entities connects with the first."""
    found, frontier = {start}, [start]
    while frontier:
        near = {other for entity in frontier.pop().entities() for other in mentions[entity]}
        frontier.extend(near - found)
        found |= near
    return found


def split(facts: set[Fact]) -> dict[str, list[Fact]]:
    """The facts in three splits; every id in valid and test also occurs in train."""
    shuffled = sorted(facts)
    random.Random(SEED).shuffle(shuffled)
    size = round(HELD_OUT_SHARE * len(shuffled))
    uses = Counter(word for fact in shuffled for word in set(fact.words()))
    held_out: list[Fact] = []
    train: list[Fact] = []
    for fact in shuffled:
        words = set(fact.words())
        if len(held_out) < 2 * size and all(uses[word] > 1 for word in words):
            uses.subtract(words)
            held_out.append(fact)
        else:
            train.append(fact)
    return {"train": train, "valid": held_out[:size], "test": held_out[size:]}


def join_statements(facts: Iterable[Fact]) -> str:
    """The facts as sorted lines of statements."""
    return join_lines(",".join(fact.words()) for fact in facts)


def join_labels(facts: set[Fact]) -> str:
    """The label and description of every entity and relation, as sorted lines."""
    labels = choose_labels({entity for fact in facts for entity in fact.entities()})
    entities = [(entity.id, label, entity.description) for entity, label in labels.items()]
    relations = [(name, name.replace("_", " "), text) for name, text in RELATIONS.items()]
    return join_lines("\t".join(row) for row in entities + relations)


def join_lines(rows: Iterable[str]) -> str:
    """The rows as sorted lines of a text."""
    return "".join(f"{row}\n" for row in sorted(rows))


def choose_labels(entities: set[Entity]) -> dict[Entity, str]:
    """A unique label for each entity: its name, with the first hint that makes it unique."""
    specificity = dict.fromkeys(entities, 0)
    while True:
        labels = {entity: make_label(entity, level) for entity, level in specificity.items()}
        bearers = Counter(text.casefold() for text in labels.values())
        vague = [
            entity
            for entity, level in specificity.items()
            if bearers[labels[entity].casefold()] > 1 and level < len(entity.hints)
        ]
        if not vague:
            return labels
        for entity in vague:
            specificity[entity] += 1


def make_label(entity: Entity, specificity: int) -> str:
    """The name of an entity, with the given one of its hints; 0 means none."""
    return f"{entity.name} ({entity.hints[specificity - 1]})" if specificity else entity.name


if __name__ == "__main__":
    main()
