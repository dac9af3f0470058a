"""How statistics and entities look when printed."""

from __future__ import annotations

from collections.abc import Sequence

from nqe.cli.printing import Cell, heading, say, table
from nqe.graph.entity_facts import LabelledFact, Portrait
from nqe.graph.statistics import Frequency, Statistics
from nqe.graph.vocabulary import Vocabulary
from nqe.sampling.query_statistics import SplitStatistics


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


def print_query_report(
    reports: Sequence[SplitStatistics], vocabulary: Vocabulary, top: int = 10
) -> None:
    """The distributions of every split of a query set."""
    for one in reports:
        heading(f"{one.split}: {one.queries:,} queries")
        most = sorted({links for counts in one.missing.values() for links in counts})
        columns = (
            "shape",
            "queries",
            "answers",
            "hard",
            *("unknown" if n < 0 else f"{n} missing" for n in most),
        )
        rows: list[tuple[Cell, ...]] = [
            (
                name,
                count,
                one.answers[name],
                one.hard_answers[name],
                *(one.missing[name].get(links, 0) for links in most),
            )
            for name, count in one.shapes.items()
        ]
        table(columns, rows)
        table(("entities in an atom", "atoms"), list(one.arities.items()))
        table(("slot asked for", "queries"), list(one.asked.items()))
        used = sorted(one.relations.items(), key=lambda pair: -pair[1])
        say(f"{len(used):,} of {len(vocabulary.relations):,} relations stand in atoms, most often")
        names = vocabulary.relations
        rows_of = [(names.ids[n], names.labels[n], count) for n, count in used[:top]]
        table(("id", "label", "atoms"), rows_of)
        if one.refused:
            table(("drawn and not taken", "walks"), list(one.refused.items()))
        if one.also_in_training is not None:
            say(f"{one.also_in_training:,} are the same formula as a training query")
