"""Collects the records of all sources: facts by split, descriptions by id, bad lines."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import assert_never

from nqe.errors import InputError
from nqe.graph.builder import DatasetBuilder
from nqe.graph.dataset import Dataset
from nqe.graph.fact import Fact
from nqe.graph.literal_columns import list_units
from nqe.progress import NoProgress, Progress
from nqe.readers.bad_lines import BadLines
from nqe.readers.description_store import DescriptionStore
from nqe.readers.left_out import LeftOut
from nqe.readers.literal_policy import LiteralPolicy
from nqe.readers.records import BadLine, DescribedId, Records, Skipped
from nqe.readers.source import Source

# Progress is reported once per this many records.
STRIDE = 2_000


@dataclass(eq=False)
class RecordCollector:
    """What was read so far."""

    bad: BadLines
    builder: DatasetBuilder = field(default_factory=DatasetBuilder)
    descriptions: DescriptionStore = field(default_factory=DescriptionStore)
    literals: LiteralPolicy = field(default_factory=LiteralPolicy)
    left_out: LeftOut = field(default_factory=LeftOut)
    facts: int = 0
    """How many facts were added."""
    described: int = 0
    """How many records described an id."""
    file_count: int = 0

    def collect(
        self,
        source: Source,
        records: Records,
        split: str = "train",
        limit: int | None = None,
        progress: Progress | None = None,
    ) -> int:
        """Take the records of a source, and return the number of facts among them.

        Reading stops after `limit` facts.
        """
        progress, count = progress or NoProgress(), 0
        self.file_count += 1
        add, change = self.builder.split(split).add, self.literals.apply
        for place, (number, record) in enumerate(records, start=1):
            if place % STRIDE == 0:
                progress.update(source.position, count)
            match record:
                case Fact():
                    try:
                        fact = change(record) if change else record
                        if fact is None:
                            continue
                        add(fact)
                    except InputError as error:  # an id in it is refused
                        bad = BadLine(str(error), str(record))
                        self.bad.report(source.name, number, bad)
                        continue
                    count += 1
                    if count == limit:
                        break
                case DescribedId():
                    self._add_description(record)
                case Skipped():
                    self.left_out.add(record)
                case BadLine():
                    self.bad.report(source.name, number, record)
                case _:
                    assert_never(record)
        progress.update(source.position, count)
        self.facts += count
        return count

    def count_others(self) -> int:
        """How many records were of use but no facts: descriptions, statements to leave out."""
        return self.described + self.literals.statements.total()

    def describe(self, dataset: Dataset) -> Dataset:
        """A data set with the descriptions that were collected of its ids."""
        if self.descriptions.are_aside:
            names = dataset.vocabulary
            units = list_units(names.entities.ids, names.entities.literals)
            self.descriptions.restore(
                lambda name: (
                    names.entities.number(name) is not None
                    or names.relations.number(name) is not None
                    or name in units
                )
            )
        return dataset.describe(self.descriptions) if self.descriptions else dataset

    def _add_description(self, described: DescribedId) -> None:
        self.described += 1
        self.descriptions.add(described)
        if self.descriptions.is_full:
            self.descriptions.set_aside(self.builder.is_named)
