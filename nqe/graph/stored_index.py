"""The index of a graph folder: all that is needed to answer questions, as arrays to be mapped.

It holds the facts of all splits together, each once, with their index, the split of each fact, and
the names with what finds them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from nqe.documents import compute_digest
from nqe.folders import FILES, OpenFolder, describe_files
from nqe.graph.array_file import Array, read_arrays, write_arrays
from nqe.graph.fact_columns import Facts, concatenate
from nqe.graph.index import Index
from nqe.graph.stored_names import from_arrays, to_arrays
from nqe.graph.vocabulary import ENTITY, Names, Vocabulary

INDEX_FILE = "index.bin"
"""The file of the index; an entry of the manifest says where in it the arrays stand."""
_ENTRY, _ARRAYS, _OF = "index", "arrays", "of"
_COLUMNS = ("subject", "relation", "object", "offset", "attribute", "value", "count")
_INDEX = ("pairs", "keys", "rows")
_NAMES = ("entities", "relations")


@dataclass(frozen=True, eq=False)
class StoredIndex:
    """What an index holds."""

    vocabulary: Vocabulary
    splits: Mapping[str, Facts]
    index: Index
    """The index of the facts of all splits."""


def build_arrays(vocabulary: Vocabulary, splits: Mapping[str, Facts]) -> dict[str, Array]:
    """The arrays of an index; what cannot have one is a ValueError."""
    facts, members = _join(splits)
    index = Index.of(facts, len(vocabulary.entities), len(vocabulary.relations))
    arrays: dict[str, Array] = {name: getattr(facts, name) for name in _COLUMNS}
    arrays |= {"qualifier_count": facts.qualifier_count}
    arrays |= {name: getattr(index, name) for name in _INDEX}
    if len(splits) > 1:
        arrays["splits"] = members
        arrays |= {f"count.{name}": one.count for name, one in splits.items()}
    for part in _NAMES:
        names = to_arrays(getattr(vocabulary, part))
        arrays |= {f"{part}.{name}": array for name, array in names.items()}
    return arrays


def write_index(
    folder: Path, manifest: Mapping[str, Any], vocabulary: Vocabulary, splits: Mapping[str, Facts]
) -> dict[str, Any]:
    """Write the index of a folder whose other files are written; gives the manifest's entry."""
    entry = {_ARRAYS: write_arrays(folder / INDEX_FILE, build_arrays(vocabulary, splits))}
    return {_ENTRY: entry | {_OF: _sign(manifest, entry, describe_files(folder))}}


def has_index(folder: OpenFolder) -> bool:
    """Whether a folder has an index that was made from the files that it has."""
    entry = folder.manifest.get(_ENTRY)
    if not folder.is_signed or not folder.has(INDEX_FILE) or not isinstance(entry, dict):
        return False
    return entry.get(_OF) == _sign(folder.manifest, entry, folder.manifest[FILES])


def load_index(folder: OpenFolder, splits: Sequence[str]) -> StoredIndex:
    """Map the index of a folder that has one, and these splits."""
    arrays = _map_arrays(folder)
    entities, relations = folder.manifest["entities"], folder.manifest["relations"]
    vocabulary = Vocabulary(
        from_arrays(ENTITY, entities, _select(arrays, "entities")),
        _decode(from_arrays("relation", relations, _select(arrays, "relations"))),
    )
    facts = Facts(*(arrays[name] for name in _COLUMNS))
    facts.__dict__["qualifier_count"] = arrays["qualifier_count"]
    index = Index(facts, entities, relations, *(arrays[name] for name in _INDEX))
    if len(splits) == 1:
        return StoredIndex(vocabulary, {splits[0]: facts}, index)
    counts = {name: arrays[f"count.{name}"] for name in splits}
    return StoredIndex(vocabulary, StoredSplits(facts, arrays["splits"], counts), index)


def compare_index(folder: OpenFolder, vocabulary: Vocabulary, splits: Mapping[str, Facts]) -> None:
    """Raise a ValueError if the index of a folder is not that of these names and facts."""
    own, made = _map_arrays(folder), build_arrays(vocabulary, splits)
    if own.keys() != made.keys() or any(
        own[name].tobytes() != made[name].tobytes() for name in made
    ):
        raise ValueError("the index is not that of its facts")


def _map_arrays(folder: OpenFolder) -> dict[str, Array]:
    return read_arrays(folder.map_bytes(INDEX_FILE), folder.manifest[_ENTRY][_ARRAYS])


def _sign(manifest: Mapping[str, Any], entry: Mapping[str, Any], files: Mapping[str, Any]) -> str:
    """A hash of all that an index belongs to: the files, and what the manifest says of them."""
    about = {key: manifest[key] for key in ("fingerprint", "entities", "relations", "splits")}
    return compute_digest({**about, _ARRAYS: entry.get(_ARRAYS), FILES: files})


class StoredSplits(Mapping[str, Facts]):
    """The splits of the facts of an index, each taken from them when it is first used."""

    def __init__(self, facts: Facts, members: Array, counts: Mapping[str, Array]) -> None:
        self._facts, self._members, self._counts = facts, members, counts
        self._taken: dict[str, Facts] = {}

    def __getitem__(self, name: str) -> Facts:
        if name not in self._taken:
            bit = 1 << list(self._counts).index(name) if name in self._counts else 0
            if not bit:
                raise KeyError(name)
            facts = self._facts.take(np.flatnonzero(self._members & bit))
            self._taken[name] = replace(facts, count=self._counts[name])
        return self._taken[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._counts)

    def __len__(self) -> int:
        return len(self._counts)

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (dict(self),)


def _join(splits: Mapping[str, Facts]) -> tuple[Facts, Array]:
    """The facts of all splits, each once, and which splits have it: bit i is that of split i."""
    tables = list(splits.values())
    if len(tables) == 1:
        return tables[0], np.ones(len(tables[0]), np.uint8)
    marked = [replace(one, count=np.full(len(one), 1 << i)) for i, one in enumerate(tables)]
    facts = concatenate(marked).to_canonical()
    members, counts = facts.count.astype(np.uint8), np.zeros(len(facts), np.int64)
    for i, one in enumerate(tables):
        counts[np.flatnonzero(members & (1 << i))] += one.count
    return replace(facts, count=counts), members


def _select(arrays: Mapping[str, Array], part: str) -> dict[str, Array]:
    """The arrays of one part, by their names in it."""
    start = f"{part}."
    return {name[len(start) :]: one for name, one in arrays.items() if name.startswith(start)}


def _decode(names: Names) -> Names:
    """Names as plain lists, which are quicker if there are few."""
    return Names(
        names.kind,
        list(names.ids),
        list(names.labels),
        list(names.descriptions),
        dict(names.aliases),
    )
