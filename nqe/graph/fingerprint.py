"""The fingerprint of a data set's content: ids and facts, whatever their order in the source."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256

from nqe.graph.fact_columns import Facts
from nqe.graph.vocabulary import Vocabulary


def fingerprint(vocabulary: Vocabulary, splits: Mapping[str, Facts]) -> str:
    """A short hash; facts are canonical, so that equal content is equal bytes."""
    digest = sha256()
    for names in (vocabulary.entities, vocabulary.relations):
        digest.update(f"{names.kind} {len(names)}\n".encode())
        digest.update("\n".join(names.ids).encode())
    for name, facts in splits.items():
        digest.update(f"\n{name} {len(facts)}\n".encode())
        for column in facts:
            digest.update(column.astype("<i8").tobytes())
    return digest.hexdigest()[:32]
