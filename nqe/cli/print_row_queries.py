"""Prints queries that are no trees with their rows, and statistics of a set of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from nqe.cli import printing
from nqe.cli.printing import Cell

if TYPE_CHECKING:
    from nqe.graph.arrays import Integers
    from nqe.graph.vocabulary import Vocabulary
    from nqe.sampling import RowQuery
    from nqe.sampling.row_statistics import RowSplitStatistics

_SHOWN = 8
"""The most rows that are shown."""


def show_row_queries(
    queries: Sequence[RowQuery],
    vocabulary: Vocabulary,
    split: str,
    pattern: str | None,
    count: int,
) -> None:
    """Print queries of a split with their rows in labels."""
    from nqe.query.labelled import label_query

    chosen = [
        (place, one)
        for place, one in enumerate(queries)
        if pattern is None or one.pattern == pattern.strip()
    ]
    if not chosen:
        printing.note(f"no {split} queries of pattern {pattern}")
    for place, one in chosen[:count]:
        printing.heading(f"{split} {place}, pattern {one.pattern}")
        printing.say(one.query.text)
        printing.say(label_query(one.query, vocabulary).text)
        printing.say(f"easy ({len(one.easy)}): {_name_some(one.easy, vocabulary)}")
        printing.say(f"hard ({len(one.hard)}): {_name_some(one.hard, vocabulary)}")
        links = one.missing[:_SHOWN].tolist()
        printing.say(f"missing links: {', '.join(map(str, links))}")


def print_row_statistics(splits: Sequence[RowSplitStatistics]) -> None:
    """Print the distributions of every split."""
    for split in splits:
        printing.heading(f"{split.split}: {split.queries:,} queries")
        _print_patterns(split)
        if split.refused:
            printing.table(("drawn and not taken", "walks"), list(split.refused.items()))


def _print_patterns(split: RowSplitStatistics) -> None:
    links = sorted({number for counts in split.missing.values() for number in counts})
    rows: list[tuple[Cell, ...]] = [
        (
            pattern,
            count,
            split.rows[pattern],
            split.hard_rows[pattern],
            *(split.missing[pattern].get(number, 0) for number in links),
        )
        for pattern, count in split.patterns.items()
    ]
    missing = (f"{number} missing" for number in links)
    printing.table(("pattern", "queries", "rows", "hard", *missing), rows)


def _name_some(rows: Integers, vocabulary: Vocabulary) -> str:
    """The names of the entities in the first rows."""
    names = vocabulary.entities
    shown = [" · ".join(map(names.name, row)) for row in rows[:_SHOWN].tolist()]
    return ", ".join(shown) + (", …" if len(rows) > _SHOWN else "")
