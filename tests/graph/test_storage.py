"""Saved graphs: loading gives what was saved, and damage is noticed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet
from strategies import wild_datasets, wild_ids

from nqe.errors import StorageError
from nqe.graph import Dataset, Description, Fact

FACTS = {
    "train": [
        Fact("a", "r", "b", (("q", "c"), ("q", "c"), ("p", "d"))),
        Fact("a", "r", "b"),
        Fact("a", "r", "b"),
    ],
    "test": [Fact("d", "r", "a", (("p", "b"),))],
}
described = st.builds(
    Description, st.none() | wild_ids, st.none() | wild_ids, st.lists(wild_ids).map(tuple)
)


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    folder = tmp_path / "graph"
    Dataset.of(FACTS).describe({"a": Description("Alpha", "first", ("A",))}).save(folder)
    return folder


@settings(max_examples=40)
@given(wild_datasets(), st.data())
def test_a_loaded_data_set_equals_the_saved_one(dataset: Dataset, data: st.DataObject) -> None:
    known = [*dataset.vocabulary.entities.ids, *dataset.vocabulary.relations.ids]
    about = data.draw(st.dictionaries(st.sampled_from(known), described))
    dataset = dataset.describe(about)
    with TemporaryDirectory() as folder:
        dataset.save(Path(folder) / "graph")
        loaded = Dataset.load(Path(folder) / "graph")
    assert loaded == dataset
    assert list(loaded.splits) == list(dataset.splits)
    for name, facts in dataset.splits.items():
        assert loaded.splits[name].equals(facts)
    assert loaded.vocabulary == dataset.vocabulary


def test_empty_and_missing_splits_stay_empty_and_missing(tmp_path: Path) -> None:
    dataset = Dataset.of({"train": [Fact("a", "r", "b")], "valid": []})
    dataset.save(tmp_path / "graph")
    loaded = Dataset.load(tmp_path / "graph")
    assert list(loaded.splits) == ["train", "valid"]
    assert len(loaded.split("valid")) == 0
    assert loaded == dataset


def test_the_folder_is_parquet_that_other_tools_read(saved: Path) -> None:
    entities = parquet.read_table(saved / "entities.parquet").to_pylist()
    assert entities[0] == {
        "entity": 0,
        "id": "a",
        "label": "Alpha",
        "description": "first",
        "aliases": ["A"],
    }
    relations = {
        row["relation"]: row["id"]
        for row in parquet.read_table(saved / "relations.parquet").to_pylist()
    }
    facts = parquet.read_table(saved / "train.parquet").to_pylist()
    assert [row["count"] for row in facts] == [2, 1]
    pairs = [(relations[q["attribute"]], q["value"]) for q in facts[1]["qualifiers"]]
    assert pairs == [("p", 3), ("q", 2), ("q", 2)]


def test_the_manifest_has_version_counts_and_fingerprint(saved: Path) -> None:
    manifest = json.loads((saved / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["format"] == "nqe-graph"
    assert manifest["version"] == 1
    assert (manifest["entities"], manifest["relations"]) == (4, 3)
    assert manifest["fingerprint"] == Dataset.of(FACTS).fingerprint
    assert manifest["splits"] == {
        "train": {"facts": 2, "qualifiers": 3},
        "test": {"facts": 1, "qualifiers": 1},
    }


def test_saving_again_replaces_the_whole_folder(saved: Path) -> None:
    other = Dataset.of({"valid": [Fact("x", "y", "z")]})
    other.save(saved)
    assert Dataset.load(saved) == other
    assert not (saved / "train.parquet").exists()
    assert [path.name for path in saved.parent.iterdir()] == ["graph"]


def test_a_folder_with_a_manifest_of_something_else_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text('{"name": "my web page"}')
    (tmp_path / "index.html").touch()
    with pytest.raises(StorageError, match="the folder holds other files"):
        Dataset.of(FACTS).save(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["index.html", "manifest.json"]


def change_manifest(**changes: Any) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        path = folder / "manifest.json"
        manifest = json.loads(path.read_text(encoding="utf-8")) | changes
        path.write_text(json.dumps(manifest), encoding="utf-8")

    return change


def change_column(file: str, column: str, values: Any) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        table = parquet.read_table(folder / file)
        place = table.schema.get_field_index(column)
        table = table.set_column(place, column, pa.array(values, table.schema.field(column).type))
        parquet.write_table(table, folder / file)

    return change


def drop_column(file: str, column: str) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        parquet.write_table(parquet.read_table(folder / file).drop_columns(column), folder / file)

    return change


DAMAGES: dict[str, Callable[[Path], object]] = {
    "no manifest": lambda folder: (folder / "manifest.json").unlink(),
    "a manifest that is not JSON": lambda folder: (folder / "manifest.json").write_text("{"),
    "a manifest in Latin-1": lambda folder: (folder / "manifest.json").write_bytes(b'{"\xe4": 1}'),
    "a manifest that is a list": lambda folder: (folder / "manifest.json").write_text("[]"),
    "someone else's manifest": change_manifest(format="web-app"),
    "an older version": change_manifest(version=0),
    "a newer version": change_manifest(version=2),
    "other counts of facts": change_manifest(splits={"train": {"facts": 3}, "test": {"facts": 1}}),
    "other counts of entities": change_manifest(entities=5),
    "no splits": change_manifest(splits=None),
    "splits without counts": change_manifest(splits={"train": {}, "test": {}}),
    "splits as a list": change_manifest(splits=["train", "test"]),
    "splits as numbers": change_manifest(splits={"train": 2, "test": 1}),
    "a split that is not there": change_manifest(splits={"valid": {"facts": 1}}),
    "a missing file": lambda folder: (folder / "entities.parquet").unlink(),
    "an empty file": lambda folder: (folder / "train.parquet").write_bytes(b""),
    "a text for a file": lambda folder: (folder / "train.parquet").write_text("a,r,b"),
    "a missing column": drop_column("train.parquet", "object"),
    "no ids": drop_column("entities.parquet", "id"),
    "an entity that is none": change_column("train.parquet", "object", [1, 99]),
    "a negative entity": change_column("train.parquet", "object", [1, -1]),
    "a gap in a column": change_column("train.parquet", "subject", [0, None]),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES.keys())
def test_a_damaged_older_or_foreign_folder_is_reported_in_one_sentence(
    saved: Path, damage: Callable[[Path], object]
) -> None:
    damage(saved)
    with pytest.raises(StorageError, match=r"^\S*graph\S*: [^\n]*; [^\n]+$"):
        Dataset.load(saved)


@pytest.mark.parametrize("file", ["entities", "relations", "train", "test"])
def test_a_file_cut_short_anywhere_is_noticed(saved: Path, file: str) -> None:
    path = saved / f"{file}.parquet"
    whole = path.read_bytes()
    for size in np.linspace(0, len(whole) - 1, 25).astype(int).tolist():
        path.write_bytes(whole[:size])
        with pytest.raises(StorageError, match="damaged graph folder"):
            Dataset.load(saved)


def test_a_flipped_byte_is_noticed_or_harmless(saved: Path) -> None:
    whole = Dataset.load(saved)
    path = saved / "train.parquet"
    content = path.read_bytes()
    noticed = 0
    places = range(0, len(content), 3)
    for place in places:
        path.write_bytes(content[:place] + bytes([content[place] ^ 0x55]) + content[place + 1 :])
        try:
            assert Dataset.load(saved) == whole
        except StorageError:
            noticed += 1
    assert noticed > len(places) / 3


def test_a_folder_that_is_not_there_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match=r"no such folder\); make one with `nqe import`"):
        Dataset.load(tmp_path / "nothing")
