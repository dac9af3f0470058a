"""How statistics and entities look when printed."""

from __future__ import annotations

from collections.abc import Sequence

from nqe.cli.printing import heading, say, table
from nqe.graph.portrait import LabelledFact, Portrait
from nqe.graph.statistics import Frequency, Statistics


def print_statistics(numbers: Statistics) -> None:
    """Everything `nqe stats` counts."""
    heading("Graph")
    table(("what", "count"), _totals(numbers))
    heading("Splits")
    columns = ("split", "facts", "with qualifiers", "qualifiers", "entities", "relations", "again")
    table(columns, [tuple(vars(split).values()) for split in numbers.splits])
    heading("Arities")
    table(("entities in a fact", "facts"), list(numbers.arities.items()))
    heading("Most frequent relations")
    _frequencies(numbers.main_relations, "facts")
    if numbers.attributes:
        heading("Most frequent attributes")
        _frequencies(numbers.attributes, "qualifiers")
    heading("Most connected entities")
    _frequencies(numbers.degrees.most, "places")


def print_entity(shown: Portrait, limit: int) -> None:
    """An entity and its facts from every slot."""
    heading(f"{shown.label} ({shown.id})" if shown.label else shown.id)
    if shown.description:
        say(shown.description)
    if shown.aliases:
        say("also: " + ", ".join(shown.aliases))
    _facts("As subject", shown.as_subject, limit)
    _facts("As object", shown.as_object, limit)
    _facts("As a qualifier's value", shown.as_value, limit)


def _totals(numbers: Statistics) -> list[tuple[str, int | float | str]]:
    return [
        ("facts", numbers.facts),
        ("  with qualifiers", numbers.with_qualifiers),
        ("qualifiers", numbers.qualifiers),
        ("entities", numbers.entities),
        ("  labelled", numbers.labelled_entities),
        ("relations", numbers.relations),
        ("  labelled", numbers.labelled_relations),
        ("mean places of an entity", round(numbers.degrees.mean, 2)),
        ("median places of an entity", numbers.degrees.median),
        ("fingerprint", numbers.fingerprint),
    ]


def _frequencies(rows: Sequence[Frequency], counted: str) -> None:
    table(("id", "label", counted), [(row.id, row.label, row.count) for row in rows])


def _facts(title: str, facts: Sequence[LabelledFact], limit: int) -> None:
    if not facts:
        return
    heading(f"{title}: {len(facts):,}")
    table(("subject", "relation", "object", "qualifiers"), [_row(fact) for fact in facts[:limit]])
    if len(facts) > limit:
        say(f"… and {len(facts) - limit:,} more (--limit)")


def _row(fact: LabelledFact) -> tuple[str, str, str, str]:
    pairs = ", ".join(f"{attribute}: {value}" for attribute, value in fact.labels.qualifiers)
    return fact.labels.subject, fact.labels.relation, fact.labels.object, pairs
