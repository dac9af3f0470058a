"""A data set: splits over one vocabulary, and which facts are known and full for each split."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from nqe.errors import NqeError
from nqe.graph import storage
from nqe.graph.builder import DatasetBuilder
from nqe.graph.fact import Fact
from nqe.graph.fact_columns import Facts, concatenate
from nqe.graph.fingerprint import compute_fingerprint
from nqe.graph.graph import Graph
from nqe.graph.splits import ADDED, SPLITS
from nqe.graph.vocabulary import Description, Vocabulary


@dataclass(frozen=True, eq=False)
class Dataset:
    """The splits that exist, each a table of facts over the same vocabulary.

    This class is the one place that says which facts are known and which are full for a split.
    """

    vocabulary: Vocabulary
    splits: Mapping[str, Facts]

    def __post_init__(self) -> None:
        allowed = (*SPLITS, ADDED)
        unknown = [name for name in self.splits if name not in allowed]
        if unknown:
            raise NqeError(f"unknown split '{unknown[0]}'; splits are {', '.join(SPLITS)}")
        ordered = [name for name in allowed if name in self.splits]
        if list(self.splits) != ordered:
            object.__setattr__(self, "splits", {name: self.splits[name] for name in ordered})

    @classmethod
    def of(cls, splits: Mapping[str, Iterable[Fact]]) -> Dataset:
        """A data set of facts given by ids, by split."""
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
        return self._join(tuple(self.splits))

    @cached_property
    def fingerprint(self) -> str:
        """A hash that is equal exactly for equal ids and facts; labels do not count."""
        return compute_fingerprint(self.vocabulary, self.splits)

    def split(self, name: str) -> Graph:
        """One split as a graph."""
        return self._join((name,))

    def known(self, facts: str) -> Graph:
        """The facts of the splits that `facts` lists: 'train,valid', 'all' or 'none'.

        Added facts are always known, except with 'none'.
        """
        return self._join(self._read_names(facts))

    def count_missing(self, facts: str) -> float | None:
        """How many facts are not known for each one that is; None if all or none are known."""
        known = sum(len(self._facts(name)) for name in self._read_names(facts))
        missing = sum(map(len, self.splits.values())) - known
        return missing / known if missing and known else None

    def _read_names(self, facts: str) -> tuple[str, ...]:
        match facts.strip():
            case "none":
                return ()
            case "all":
                return tuple(self.splits)
            case text:
                names = [name.strip() for name in text.split(",") if name.strip()]
                if not names:
                    raise NqeError(f"no split is named; the data set has {self._split_names()}")
                added = (ADDED,) if ADDED in self.splits else ()
                return tuple(dict.fromkeys((*names, *added)))

    def known_splits(self, split: str) -> str:
        """The splits that are known when queries of a split are answered, as `known` reads them.

        For train this is train itself, as none of its facts are held out; for valid it is train,
        and for test train and valid. Splits that the data set lacks are left out.
        """
        return ",".join(self._first_splits(max(_place(split), 1))) or "none"

    def known_for(self, split: str) -> Graph:
        """The facts that are known when queries of a split are answered."""
        return self.known(self.known_splits(split))

    def full_for(self, split: str) -> Graph:
        """The known facts of a split and the split itself: what all its answers follow from."""
        return self._join(self._first_splits(_place(split) + 1))

    def held_out(self, split: str) -> Facts:
        """The facts of a split that are not known; a fact that stands in two splits is known."""
        return self._facts(split).subtract(self.known_for(split).facts)

    def describe(self, descriptions: Mapping[str, Description]) -> Dataset:
        """The same data set with labels, descriptions and aliases added."""
        return Dataset(self.vocabulary.describe(descriptions), self.splits)

    def save(self, folder: str | Path, bad_lines: str | None = None) -> None:
        """Write a folder of Parquet files with an index.

        An older folder stays until the new one is complete.

        `bad_lines` is a text about lines that were skipped, to be kept beside the facts. Added
        facts must be folded into a split first.
        """
        if ADDED in self.splits:
            raise NqeError("added facts are in no split that can be saved; fold them into train")
        storage.save(Path(folder), self.vocabulary, self.splits, self.fingerprint, bad_lines)

    @classmethod
    def load(cls, folder: str | Path) -> Dataset:
        """Read a folder that `save` wrote."""
        saved = storage.load(Path(folder))
        dataset = cls(saved.vocabulary, saved.splits)
        dataset.__dict__["fingerprint"] = saved.fingerprint  # known already: it was compared
        if saved.index is not None:
            graph = Graph.of_index(saved.vocabulary, saved.index)
            dataset._joined[tuple(dataset.splits)] = graph
        return dataset

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

    def _first_splits(self, count: int) -> tuple[str, ...]:
        return tuple(name for name in SPLITS[:count] if name in self.splits)

    @cached_property
    def _joined(self) -> dict[tuple[str, ...], Graph]:
        return {}

    def _join(self, names: tuple[str, ...]) -> Graph:
        """The facts of the given splits, each once; kept, so that its index is built once."""
        if names not in self._joined:
            tables = [self._facts(name) for name in names]
            facts = tables[0] if len(tables) == 1 else concatenate(tables).to_canonical()
            self._joined[names] = Graph(self.vocabulary, facts)
        return self._joined[names]

    def _facts(self, split: str) -> Facts:
        if split not in self.splits:
            raise NqeError(f"there is no {split} split; the data set has {self._split_names()}")
        return self.splits[split]

    def _split_names(self) -> str:
        return ", ".join(self.splits) or "no splits"


def _place(split: str) -> int:
    if split not in SPLITS:
        raise NqeError(f"unknown split '{split}'; splits are {', '.join(SPLITS)}")
    return SPLITS.index(split)
