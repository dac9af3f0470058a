"""Prints the statistics of a graph, and the facts of an entity, as tables."""

from __future__ import annotations

from collections.abc import Sequence

from nqe.cli.printing import heading, note, say, table
from nqe.graph.dataset import Dataset
from nqe.graph.entity_facts import EntityFacts, LabelledFact
from nqe.graph.leakage import measure_leakage
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
LEAKAGE_COLUMNS = (
    "split",
    "facts",
    "repeated",
    "other qualifiers",
    "duplicate relation",
    "inverse relation",
)
LEAKS = {
    "repeated": "{:,} stand there too",
    "other_qualifiers": "{:,} differ in qualifiers alone",
    "duplicate": "{:,} follow by a duplicate relation",
    "inverse": "{:,} follow by an inverse relation",
}
EMPTY_MARKS = ("NaN", "nan", "NaT", "<NA>", "N/A", "n/a", "#N/A", "NULL", "null", "None", "none")
"""What tools write into the empty cells of tables."""
TWIN_KINDS = {False: "duplicate", True: "inverse"}


def print_statistics(numbers: Statistics) -> None:
    """Print everything that `nqe stats` counts."""
    heading("Graph")
    table(("what", "count"), _list_totals(numbers))
    heading("Splits")
    table(SPLIT_COLUMNS, [tuple(vars(split).values()) for split in numbers.splits])
    if numbers.leakage:
        heading("Held-out facts that are not new")
        table(LEAKAGE_COLUMNS, [tuple(vars(split).values()) for split in numbers.leakage])
    if numbers.twins:
        heading("Inverse and duplicate relations")
        rows = [
            (one.relation, one.other, TWIN_KINDS[one.inverse], one.pairs) for one in numbers.twins
        ]
        table(("relation", "other", "kind", "pairs of entities"), rows)
    heading("Arities")
    table(("entities in a fact", "facts"), list(numbers.arities.items()))
    heading("Most frequent relations")
    _print_frequencies(numbers.main_relations, "facts")
    if numbers.attributes:
        heading("Most frequent attributes")
        _print_frequencies(numbers.attributes, "qualifiers")
    heading("Most connected entities")
    _print_frequencies(numbers.degrees.most, "slots")


def say_saved(output: str, dataset: Dataset) -> None:
    """Say what was saved: the sizes of a data set, and its fingerprint."""
    sizes = ", ".join(f"{name} {len(facts):,}" for name, facts in dataset.splits.items())
    names = dataset.vocabulary
    say(
        f"{output}: {sizes} facts; {len(names.entities):,} entities, "
        f"{len(names.relations):,} relations; fingerprint {dataset.fingerprint}"
    )


def note_leakage(dataset: Dataset) -> None:
    """Warn of held-out facts that are not new."""
    for split in measure_leakage(dataset):
        if not split.total:
            continue
        known = dataset.known_splits(split.split).replace(",", " and ")
        reasons = {text: getattr(split, key) for key, text in LEAKS.items()}
        told = ", ".join(text.format(count) for text, count in reasons.items() if count)
        note(
            f"nqe: note: {split.total:,} of {split.facts:,} {split.split} facts are not new to "
            f"{known}: {told}; see `nqe stats`"
        )


def note_empty_marks(dataset: Dataset) -> None:
    """Warn of entities whose ids are what tools write into empty cells."""
    names = dataset.vocabulary.entities
    for mark in EMPTY_MARKS:
        number = names.number(mark)
        if number is None or names.labels[number]:
            continue
        slots = ((one.subject, one.object, one.value) for one in dataset.splits.values())
        count = sum(int((slot == number).sum()) for three in slots for slot in three)
        note(
            f"nqe: note: '{mark}' was read as an entity, in {count:,} place(s); if it stands for "
            f"an empty cell of a table, give --missing '{mark}'"
        )


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
