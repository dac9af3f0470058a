"""Prints the statistics of a query set as tables."""

from __future__ import annotations

from collections.abc import Sequence

from nqe.cli.printing import Cell, heading, say, table
from nqe.graph.vocabulary import Vocabulary
from nqe.sampling.query_statistics import SplitStatistics


def print_query_statistics(
    splits: Sequence[SplitStatistics], vocabulary: Vocabulary, top: int = 10
) -> None:
    """Print the distributions of every split; `top` is the length of the list of relations."""
    for split in splits:
        heading(f"{split.split}: {split.queries:,} queries")
        _print_shapes(split)
        table(("entities in an atom", "atoms"), list(split.arities.items()))
        table(("slot asked for", "queries"), list(split.asked.items()))
        _print_relations(split, vocabulary, top)
        if split.refused:
            table(("drawn and not taken", "walks"), list(split.refused.items()))
        if split.also_in_training is not None:
            say(f"{split.also_in_training:,} are the same formula as a training query")


def _print_shapes(split: SplitStatistics) -> None:
    links = sorted({number for counts in split.missing.values() for number in counts})
    missing = ("unknown" if number < 0 else f"{number} missing" for number in links)
    rows: list[tuple[Cell, ...]] = [
        (
            shape,
            count,
            split.answers[shape],
            split.hard_answers[shape],
            *(split.missing[shape].get(number, 0) for number in links),
        )
        for shape, count in split.shapes.items()
    ]
    table(("shape", "queries", "answers", "hard", *missing), rows)


def _print_relations(split: SplitStatistics, vocabulary: Vocabulary, top: int) -> None:
    names = vocabulary.relations
    used = sorted(split.relations.items(), key=lambda pair: -pair[1])
    say(f"{len(used):,} of {len(names):,} relations are in atoms; the most frequent are")
    rows = [(names.ids[number], names.labels[number], count) for number, count in used[:top]]
    table(("id", "label", "atoms"), rows)
