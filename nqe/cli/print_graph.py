"""Prints the statistics of a graph, and the facts of an entity, as tables."""

from __future__ import annotations

from collections.abc import Sequence

from nqe.cli.printing import heading, say, table
from nqe.graph.entity_facts import EntityFacts, LabelledFact
from nqe.graph.statistics import Frequency, Statistics

SPLIT_COLUMNS = (
    "split",
    "facts",
    "with qualifiers",
    "qualifiers",
    "entities",
    "relations",
    "repeats",
)


def print_statistics(numbers: Statistics) -> None:
    """Print everything that `nqe stats` counts."""
    heading("Graph")
    table(("what", "count"), _list_totals(numbers))
    heading("Splits")
    table(SPLIT_COLUMNS, [tuple(vars(split).values()) for split in numbers.splits])
    heading("Arities")
    table(("entities in a fact", "facts"), list(numbers.arities.items()))
    heading("Most frequent relations")
    _print_frequencies(numbers.main_relations, "facts")
    if numbers.attributes:
        heading("Most frequent attributes")
        _print_frequencies(numbers.attributes, "qualifiers")
    heading("Most connected entities")
    _print_frequencies(numbers.degrees.most, "slots")


def print_entity(entity: EntityFacts, limit: int) -> None:
    """Print an entity and at most `limit` of its facts per slot."""
    heading(f"{entity.label} ({entity.id})" if entity.label else entity.id)
    if entity.description:
        say(entity.description)
    if entity.aliases:
        say("also: " + ", ".join(entity.aliases))
    _print_facts("As subject", entity.as_subject, limit)
    _print_facts("As object", entity.as_object, limit)
    _print_facts("As a qualifier's value", entity.as_value, limit)


def _list_totals(numbers: Statistics) -> list[tuple[str, int | float | str]]:
    return [
        ("facts", numbers.facts),
        ("  with qualifiers", numbers.with_qualifiers),
        ("qualifiers", numbers.qualifiers),
        ("entities", numbers.entities),
        ("  labelled", numbers.labelled_entities),
        *((f"  {kind}s", count) for kind, count in numbers.literals.items() if count),
        ("relations", numbers.relations),
        ("  labelled", numbers.labelled_relations),
        ("mean slots per entity", round(numbers.degrees.mean, 2)),
        ("median slots per entity", numbers.degrees.median),
        ("fingerprint", numbers.fingerprint),
    ]


def _print_frequencies(rows: Sequence[Frequency], counted: str) -> None:
    table(("id", "label", counted), [(row.id, row.label, row.count) for row in rows])


def _print_facts(title: str, facts: Sequence[LabelledFact], limit: int) -> None:
    if not facts:
        return
    heading(f"{title}: {len(facts):,}")
    rows = [_make_row(fact) for fact in facts[:limit]]
    table(("subject", "relation", "object", "qualifiers"), rows)
    if len(facts) > limit:
        say(f"… and {len(facts) - limit:,} more (--limit)")


def _make_row(fact: LabelledFact) -> tuple[str, str, str, str]:
    pairs = ", ".join(f"{attribute}: {value}" for attribute, value in fact.labels.qualifiers)
    return fact.labels.subject, fact.labels.relation, fact.labels.object, pairs
