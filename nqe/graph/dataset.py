"""A data set: a graph in splits over one vocabulary."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from nqe.errors import NqeError
from nqe.graph import storage
from nqe.graph.builder import DatasetBuilder
from nqe.graph.fact import Fact
from nqe.graph.fact_columns import Facts, empty
from nqe.graph.fingerprint import fingerprint
from nqe.graph.graph import Graph, union
from nqe.graph.vocabulary import Description, Vocabulary

SPLITS = ("train", "valid", "test")


@dataclass(frozen=True, eq=False)
class Dataset:
    """The splits that exist, each a graph over the same vocabulary."""

    vocabulary: Vocabulary
    splits: Mapping[str, Facts]

    def __post_init__(self) -> None:
        unknown = [name for name in self.splits if name not in SPLITS]
        if unknown:
            raise NqeError(f"unknown split '{unknown[0]}'; splits are {', '.join(SPLITS)}")
        ordered = {name: self.splits[name] for name in SPLITS if name in self.splits}
        object.__setattr__(self, "splits", ordered)

    @classmethod
    def of(cls, splits: Mapping[str, Iterable[Fact]]) -> Dataset:
        """A data set of facts written in words."""
        builder = DatasetBuilder()
        for name, facts in splits.items():
            collector = builder.split(name)
            for fact in facts:
                collector.add(fact)
        return cls(*builder.finish())

    @classmethod
    def of_graphs(cls, graphs: Mapping[str, Graph]) -> Dataset:
        """A data set whose splits are graphs over one vocabulary."""
        vocabularies = [graph.vocabulary for graph in graphs.values()]
        if not vocabularies:
            raise NqeError("a data set needs at least one split")
        if not all(vocabulary.same_ids(vocabularies[0]) for vocabulary in vocabularies):
            raise NqeError(
                "the splits have different vocabularies; import their sources in one `nqe import`"
            )
        return cls(vocabularies[0], {name: graph.facts for name, graph in graphs.items()})

    @cached_property
    def graph(self) -> Graph:
        """All facts of all splits."""
        return self.known("all")

    @cached_property
    def fingerprint(self) -> str:
        """Tells whether two data sets have the same ids and facts; labels do not count."""
        return fingerprint(self.vocabulary, self.splits)

    def split(self, name: str) -> Graph:
        """One split as a graph."""
        if name not in self.splits:
            raise NqeError(f"there is no {name} split; the data set has {self._has()}")
        return Graph(self.vocabulary, self.splits[name])

    def known(self, facts: str) -> Graph:
        """The facts named as everywhere: 'train,valid', 'all' or 'none'."""
        match facts.strip():
            case "none":
                return Graph(self.vocabulary, empty())
            case "all":
                names = list(self.splits)
            case listed:
                names = [name.strip() for name in listed.split(",") if name.strip()]
                if not names:
                    raise NqeError(f"no split is named; the data set has {self._has()}")
        if not names:
            return Graph(self.vocabulary, empty())
        return union([self.split(name) for name in dict.fromkeys(names)])

    def describe(self, descriptions: Mapping[str, Description]) -> Dataset:
        """The same data set with labels, descriptions and aliases added."""
        return Dataset(self.vocabulary.describe(descriptions), self.splits)

    def save(self, folder: str | Path, extra: Mapping[str, str] | None = None) -> None:
        """Write it as a folder of Parquet; what was there before stays until all is written."""
        storage.save(Path(folder), self.vocabulary, self.splits, self.fingerprint, extra or {})

    @classmethod
    def load(cls, folder: str | Path) -> Dataset:
        """Read a folder that `save` wrote."""
        return cls(*storage.load(Path(folder)))

    def __repr__(self) -> str:
        sizes = ", ".join(f"{name} {len(facts):,}" for name, facts in self.splits.items())
        names = self.vocabulary
        counts = f"{len(names.entities):,} entities, {len(names.relations):,} relations"
        return f"<Dataset of {counts}; facts: {sizes or 'none'}>"

    def __eq__(self, other: object) -> bool:
        """Whether both have the same ids and the same facts in the same splits."""
        if not isinstance(other, Dataset):
            return NotImplemented
        return self.fingerprint == other.fingerprint

    __hash__ = None  # type: ignore[assignment]

    def _has(self) -> str:
        return ", ".join(self.splits) or "no splits"
