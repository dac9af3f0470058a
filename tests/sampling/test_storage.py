"""Query sets on disk: what is saved is loaded again, and damage is reported."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from nqe import demo_dataset
from nqe.errors import StorageError
from nqe.graph.pattern import Kind
from nqe.graph.ragged import Ragged
from nqe.query.plan import Op
from nqe.sampling import QuerySet, load_queries, read_queries, sample, save_queries
from nqe.settings import SamplingSettings


@pytest.fixture(scope="module")
def sampled() -> QuerySet:
    return sample(demo_dataset(), SamplingSettings(train=5, valid=2, test=2), workers=1)


def test_what_is_saved_is_loaded_again(sampled: QuerySet, tmp_path: Path) -> None:
    save_queries(sampled, tmp_path / "queries")
    for split, table in sampled.splits.items():
        read = load_queries(tmp_path / "queries", split)
        assert read.shape == table.shape
        assert read.plans == table.plans
        for name in ("easy", "hard", "missing"):
            assert np.array_equal(getattr(read, name).values, getattr(table, name).values)
            assert np.array_equal(getattr(read, name).offset, getattr(table, name).offset)
        assert sum(len(part) for part in read_queries(tmp_path / "queries", split)) == len(table)


@pytest.mark.parametrize("part", ["easy", "relation", "filler"])
def test_a_negative_number_is_reported_as_damage(
    sampled: QuerySet, tmp_path: Path, part: str
) -> None:
    table = sampled.splits["train"].take(np.arange(3))
    plans = table.plans
    place = {
        "easy": 0,
        "relation": int((plans.op == Op.PROJECTION).argmax()),
        "filler": int((plans.kind == Kind.KNOWN).argmax()),
    }[part]
    values = (table.easy.values if part == "easy" else getattr(plans, part)).copy()
    values[place] = -2
    damaged = (
        replace(table, easy=Ragged(table.easy.offset, values))
        if part == "easy"
        else replace(table, plans=replace(plans, **{part: values}))
    )
    save_queries(replace(sampled, splits={"train": damaged}), tmp_path / "queries")
    with pytest.raises(StorageError, match=r"train\.parquet: damaged \(.* -2 .*is out of range\)"):
        load_queries(tmp_path / "queries", "train")
