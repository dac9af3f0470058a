"""The version of the sampler: other queries from the same settings need another number."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import nqe
from nqe.sampling import PATTERNS, sample, sample_rows
from nqe.settings import SamplingSettings
from nqe.version import SAMPLER_VERSION

SETTINGS = SamplingSettings(shapes=("1p", "2p", "3cp", "pin"), train=4, valid=3, test=3, seed=7)
ROW_SETTINGS = SamplingSettings(shapes=tuple(PATTERNS), match="any", valid=2, test=2, seed=7)
DIGESTS = {1: "f86a50a2b89066ad"}
"""The digest of the queries that each version of the sampler draws from the atlas."""
ROW_DIGESTS = {1: "37eb85b3256195e6"}
"""The same for queries that are no trees."""


def digest_queries() -> str:
    """A digest of the texts and answers of all queries, in their order."""
    atlas = nqe.demo_dataset()
    lines = [
        f"{split} {table.plans.plan(row).query(atlas.vocabulary)} {easy.tolist()} {hard.tolist()}"
        for split, table in sample(atlas, SETTINGS, workers=1).splits.items()
        for row, (easy, hard) in enumerate(zip(table.easy, table.hard, strict=True))
    ]
    return digest(lines)


def digest_row_queries() -> str:
    """The same for queries that are no trees."""
    splits = sample_rows(nqe.demo_dataset(), ROW_SETTINGS).splits
    return digest(
        f"{split} {one.query} {one.easy.tolist()} {one.hard.tolist()} {one.missing.tolist()}"
        for split, queries in splits.items()
        for one in queries
    )


def digest(lines: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


def test_a_sampler_that_draws_other_queries_has_another_version() -> None:
    found, expected = digest_queries(), DIGESTS[SAMPLER_VERSION]
    of_rows, expected_of_rows = digest_row_queries(), ROW_DIGESTS[SAMPLER_VERSION]
    assert (found, of_rows) == (expected, expected_of_rows), (
        "the sampler draws other queries than before: raise SAMPLER_VERSION in nqe/version.py, "
        "and add the new digest here"
    )
