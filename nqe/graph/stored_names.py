"""The names of entities or relations as arrays of a mapped file."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from nqe.graph.array_file import Array
from nqe.graph.folded_names import FoldedNames
from nqe.graph.literal_columns import LiteralColumns
from nqe.graph.stored_texts import (
    SparseTexts,
    StoredAliases,
    StoredIds,
    StoredTexts,
    encode_texts,
)
from nqe.graph.vocabulary import Names

_LITERALS = ("kind", "value", "until")


def to_arrays(names: Names) -> dict[str, Array]:
    """All that `from_arrays` needs."""
    texts, numbers = names.all_names
    described = [(n, text) for n, text in enumerate(names.descriptions) if text is not None]
    description_offset, description_bytes = encode_texts(text for _, text in described)
    offset, data = encode_texts(texts)
    literals = names.literals
    return {
        "name_offset": offset,
        "name_bytes": data,
        "name_owner": np.asarray(numbers, np.int32),
        "folded_checksum": names.folded.checksums,
        "folded_name": np.asarray(names.folded.places, np.int32),
        "description_offset": description_offset,
        "description_bytes": description_bytes,
        "described": np.array([number for number, _ in described], np.int32),
        "label_count": np.array([sum(map(bool, names.labels))]),
        **({f"literal_{one}": getattr(literals, one) for one in _LITERALS} if literals else {}),
    }


def from_arrays(kind: str, count: int, arrays: Mapping[str, Array]) -> Names:
    """The names of so many entities or relations, whose texts are decoded when they are used."""
    texts = StoredTexts(arrays["name_offset"], arrays["name_bytes"])
    owner, labelled = arrays["name_owner"], count + int(arrays["label_count"][0])
    descriptions = StoredTexts(arrays["description_offset"], arrays["description_bytes"])
    literals = [arrays[f"literal_{one}"] for one in _LITERALS if f"literal_{one}" in arrays]
    names = Names(
        kind,
        StoredIds(arrays["name_offset"][: count + 1], arrays["name_bytes"]),
        SparseTexts(count, owner[count:labelled], texts.cut(count, labelled)),
        SparseTexts(count, arrays["described"], descriptions),
        StoredAliases(owner[labelled:], texts.cut(labelled, len(texts))),
        LiteralColumns(*literals) if literals else None,
    )
    folded = FoldedNames(texts, arrays["folded_checksum"], arrays["folded_name"])
    names.__dict__.update(all_names=(texts, owner), folded=folded)
    return names
