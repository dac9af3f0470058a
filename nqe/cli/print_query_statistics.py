"""Prints the statistics of a query set as tables."""

from __future__ import annotations

from collections.abc import Sequence

from nqe.cli.printing import Cell, heading, say, table
from nqe.graph.vocabulary import Vocabulary
from nqe.sampling.query_statistics import SplitReport


def print_query_report(
    reports: Sequence[SplitReport], vocabulary: Vocabulary, top: int = 10
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
