"""The fingerprint of a data set: a hash of its ids and facts that ignores their order in files."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256

import numpy as np

from nqe.graph.fact_columns import Facts
from nqe.graph.vocabulary import Vocabulary


def compute_fingerprint(vocabulary: Vocabulary, splits: Mapping[str, Facts]) -> str:
    """A short hash; as facts are canonical, equal contents have equal bytes."""
    digest = sha256()
    for names in (vocabulary.entities, vocabulary.relations):
        digest.update(f"{names.kind} {len(names)}\n".encode())
        digest.update("\n".join(names.ids).encode())
    for name, facts in splits.items():
        digest.update(f"\n{name} {len(facts)}\n".encode())
        for column in facts:
            digest.update(np.ascontiguousarray(column, dtype="<i8").data)
    return digest.hexdigest()[:32]
