"""Saved graphs: loading gives what was saved, and damage is noticed."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
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
from tampering import change_json, sign_again

from nqe.errors import StorageError
from nqe.folders import OpenFolder
from nqe.graph import Dataset, Description, Fact
from nqe.graph.fingerprint import compute_fingerprint
from nqe.graph.storage import KIND

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
    assert manifest["version"] == 2
    assert (manifest["entities"], manifest["relations"]) == (4, 3)
    assert manifest["fingerprint"] == Dataset.of(FACTS).fingerprint
    assert manifest["splits"] == {
        "train": {"facts": 2, "qualifiers": 3},
        "test": {"facts": 1, "qualifiers": 1},
    }
    size = (saved / "train.parquet").stat().st_size
    digest = sha256((saved / "train.parquet").read_bytes()).hexdigest()
    assert manifest["files"]["train.parquet"] == {"bytes": size, "sha256": digest}
    assert sorted(manifest["files"]) == [
        "entities.parquet",
        "index.bin",
        "relations.parquet",
        "test.parquet",
        "train.parquet",
    ]


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
    return lambda folder: change_json(folder / "manifest.json", **changes)


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
    "a newer version": change_manifest(version=3),
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
    "facts that are not in order": change_column("train.parquet", "object", [2, 1]),
    "a fact that is stated 0 times": change_column("train.parquet", "count", [2, 0]),
    "no qualifiers for a fact": change_column("train.parquet", "qualifiers", [[], None]),
    "a gap in the qualifiers": change_column("train.parquet", "qualifiers", [[], [None]]),
    "an id that is missing": change_column("entities.parquet", "id", ["a", None, "c", "d"]),
    "an id that stands twice": change_column("entities.parquet", "id", ["a", "b", "b", "d"]),
    "ids in another order": change_column("entities.parquet", "id", ["d", "c", "b", "a"]),
    "an id with an escape": change_column("entities.parquet", "id", ["a", "b", "c\x1b", "d"]),
    "an id with a space": change_column("entities.parquet", "id", ["a", "b", "c\u00a0", "d"]),
    "an empty id": change_column("entities.parquet", "id", ["", "b", "c", "d"]),
    "other ids": change_column("entities.parquet", "id", ["a", "b", "c", "e"]),
    "other numbers": change_column("entities.parquet", "entity", [0, 1, 3, 2]),
    "an alias that is missing": change_column("entities.parquet", "aliases", [[None], [], [], []]),
    "another fingerprint": change_manifest(fingerprint="f00d"),
    "a fingerprint that is none": change_manifest(fingerprint=7),
    "a split that is a path": change_manifest(splits={"../train": {"facts": 2, "qualifiers": 3}}),
    "files as a list": change_manifest(files=["train.parquet"]),
    "no list of files": change_manifest(files=None),
}


@pytest.mark.parametrize("digests", ["old digests", "new digests"])
@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES.keys())
def test_a_damaged_older_or_foreign_folder_is_reported_in_one_sentence(
    saved: Path, damage: Callable[[Path], object], digests: str
) -> None:
    damage(saved)
    if digests == "new digests":
        sign_again(saved)
    with pytest.raises(StorageError, match=r"^\S*graph\S*: [^\n]*; [^\n]+$"):
        Dataset.load(saved)


@pytest.mark.parametrize("file", ["entities", "relations", "train", "test"])
def test_a_file_cut_short_anywhere_is_noticed(saved: Path, file: str) -> None:
    path = saved / f"{file}.parquet"
    whole = path.read_bytes()
    for size in np.linspace(0, len(whole) - 1, 25).astype(int).tolist():
        path.write_bytes(whole[:size])
        with pytest.raises(StorageError, match=r"damaged, or changed after nqe wrote it; import"):
            Dataset.load(saved)
        sign_again(saved)
        with pytest.raises(StorageError, match="damaged graph folder"):
            Dataset.load(saved)


@pytest.mark.parametrize("file", ["train.parquet", "entities.parquet", "manifest.json"])
def test_a_flipped_bit_is_noticed_or_harmless(saved: Path, file: str) -> None:
    whole = Dataset.load(saved)
    path = saved / file
    content = path.read_bytes()
    for place in range(0, len(content), 3):
        changed = (
            content[:place] + bytes([content[place] ^ (1 << place % 8)]) + content[place + 1 :]
        )
        path.write_bytes(changed)
        with pytest.raises(StorageError) if file != "manifest.json" else suppress(StorageError):
            loaded = Dataset.load(saved)
            assert loaded == whole
            assert loaded.vocabulary == whole.vocabulary


@pytest.mark.parametrize("file", ["entities.parquet", "train.parquet"])
def test_a_damaged_file_with_a_fitting_digest_is_a_storage_error(saved: Path, file: str) -> None:
    whole = (saved / file).read_bytes()
    for place in range(0, len(whole), 40):
        (saved / file).write_bytes(whole[:place] + bytes(30) + whole[place + 30 :])
        sign_again(saved)
        with suppress(StorageError):  # zeros may stand where they change nothing
            Dataset.load(saved)


def test_changed_labels_are_noticed(saved: Path) -> None:
    change_column("entities.parquet", "label", ["Beta", None, None, None])(saved)
    with pytest.raises(StorageError, match=r"entities\.parquet: damaged, or changed"):
        Dataset.load(saved)
    sign_again(saved)
    assert Dataset.load(saved).vocabulary.entities.labels[0] == "Beta"


def test_a_folder_of_the_first_version_is_read_and_compared_with_its_fingerprint(
    saved: Path,
) -> None:
    manifest = json.loads((saved / "manifest.json").read_text(encoding="utf-8"))
    first = {key: manifest[key] for key in manifest if key not in ("files", "digest")}
    (saved / "manifest.json").write_text(json.dumps(first | {"version": 1}), encoding="utf-8")
    assert Dataset.load(saved) == Dataset.of(FACTS)
    change_column("train.parquet", "object", [1, 2])(saved)
    with pytest.raises(StorageError, match="the fingerprint of its files and of its manifest"):
        Dataset.load(saved)


def test_a_folder_is_not_replaced_if_that_deletes_files_of_others(saved: Path) -> None:
    (saved / "mynotes.txt").write_text("years of work")
    (saved / ".DS_Store").touch()
    with pytest.raises(StorageError, match=r"would delete mynotes\.txt, which nqe did not write"):
        Dataset.of(FACTS).save(saved)
    (saved / "mynotes.txt").unlink()
    Dataset.of(FACTS).save(saved)


SWAPS = """
import sys
from nqe.graph import Dataset, Fact

# Graphs with the same counts, so that only their content tells them apart.
one, other = (
    Dataset.of({"train": [Fact(f"{name}{n}", "r", f"{name}{n + 1}") for n in order]})
    for name, order in (("a", range(200)), ("b", [0, *range(2, 201)]))
)
print(one.fingerprint, other.fingerprint, flush=True)
while True:
    for dataset in (one, other):
        dataset.save("graph")
"""


def test_a_folder_that_is_swapped_while_it_is_read_is_never_mixed(tmp_path: Path) -> None:
    writer = subprocess.Popen(
        [sys.executable, "-c", SWAPS], cwd=tmp_path, stdout=subprocess.PIPE, text=True
    )
    try:
        assert writer.stdout is not None
        known = set(writer.stdout.readline().split())
        while not (tmp_path / "graph").exists():
            assert writer.poll() is None
        seen = [Dataset.load(tmp_path / "graph") for _ in range(150)]
    finally:
        writer.kill()
        writer.communicate()
    # What the manifest says was compared with the content; here with the content alone.
    found = {compute_fingerprint(one.vocabulary, one.splits) for one in seen}
    assert found == known


def test_a_folder_that_is_replaced_and_put_back_while_it_is_read_is_read_again(
    saved: Path,
) -> None:
    own, other = Dataset.load(saved), Dataset.of({"train": FACTS["test"], "test": FACTS["train"]})
    attempts: list[OpenFolder] = []

    def load(opened: OpenFolder) -> bytes:
        attempts.append(opened)
        if len(attempts) > 1:
            return opened.read_bytes("train.parquet")
        other.save(saved)
        try:
            return opened.read_bytes("train.parquet")
        finally:
            own.save(saved)

    assert KIND.read(saved, load) == (saved / "train.parquet").read_bytes()
    assert len(attempts) == 2


def test_a_folder_that_is_not_there_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match=r"no such folder\); make one with `nqe import`"):
        Dataset.load(tmp_path / "nothing")
