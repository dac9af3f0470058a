"""The index of a graph folder: it gives what an index built in memory gives, or is not used."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from slow_matching import match_by_brute_force
from strategies import patterns, wild_datasets, wild_ids
from tampering import change_json, sign_again

from nqe.answering import check
from nqe.errors import NqeError, StorageError
from nqe.graph import Dataset, Description, Fact, Graph, Names, stored_index
from nqe.graph.stored_index import INDEX_FILE, build_arrays
from nqe.graph.stored_texts import StoredIds

FACTS = {
    "train": [
        Fact("a", "r", "b", (("q", "c"), ("p", "d"))),
        Fact("a", "r", "b"),
        Fact("b", "r", "c", (("q", "1903^^time"),)),
    ],
    "valid": [Fact("b", "r", "c"), Fact("a", "r", "b")],
    "test": [],
}
NAMES = {"a": Description("Alpha", "first", ("A", "ALPHA")), "c": Description(None, "third")}
SEVERAL = settings(max_examples=40)


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    folder = tmp_path / "graph"
    Dataset.of(FACTS).describe(NAMES).save(folder)
    return folder


def is_mapped(dataset: Dataset) -> bool:
    return isinstance(dataset.vocabulary.entities.ids, StoredIds)


def save_and_load(dataset: Dataset) -> Dataset:
    with TemporaryDirectory() as folder:
        dataset.save(Path(folder) / "graph")
        loaded = Dataset.load(Path(folder) / "graph")
    assert is_mapped(loaded)
    return loaded


@SEVERAL
@given(wild_datasets(), st.data())
def test_a_mapped_index_matches_what_an_index_in_memory_matches(
    dataset: Dataset, data: st.DataObject
) -> None:
    loaded = save_and_load(dataset)
    for facts in ("all", *dataset.splits):
        own, mapped = dataset.known(facts), loaded.known(facts)
        assert mapped == own
        if not own.entity_count:
            continue
        asked = data.draw(st.lists(patterns(own.entity_count, own.relation_count), max_size=4))
        for pattern, together in zip(asked, mapped.answers_many(asked), strict=True):
            answers, rows = match_by_brute_force(own, pattern)
            assert mapped.answers(pattern).members.tolist() == answers
            assert together.members.tolist() == answers
            assert mapped.matches(pattern).tolist() == rows


def look_up(names: Names, text: str) -> object:
    try:
        return names.resolve(text), names.find_namesakes(text)
    except NqeError as error:
        return str(error)


described = st.builds(
    Description, st.none() | wild_ids, st.none() | wild_ids, st.lists(wild_ids).map(tuple)
)


@SEVERAL
@given(wild_datasets(), st.data())
def test_mapped_names_mean_what_names_in_memory_mean(dataset: Dataset, data: st.DataObject) -> None:
    known = [*dataset.vocabulary.entities.ids, *dataset.vocabulary.relations.ids]
    about = data.draw(st.dictionaries(st.sampled_from(known), described)) if known else {}
    dataset = dataset.describe(about)
    own, mapped = dataset.vocabulary.entities, save_and_load(dataset).vocabulary.entities
    said = [text for one in about.values() for text in (one.label, *one.aliases) if text]
    for text in [*known, *said, *map(str.swapcase, said), data.draw(wild_ids)]:
        assert mapped.number(text) == own.number(text)
        assert look_up(mapped, text) == look_up(own, text)
        assert mapped.search(text, 3) == own.search(text, 3)
    for number in range(len(own)):
        assert mapped.full_name(number) == own.full_name(number)
        assert mapped.aliases.get(number, ()) == own.aliases.get(number, ())
    assert mapped.id_order.tolist() == own.id_order.tolist()


def test_splits_keep_what_they_state_and_how_often(saved: Path) -> None:
    own, loaded = Dataset.of(FACTS), Dataset.load(saved)
    assert list(loaded.splits) == ["train", "valid", "test"]
    for name, facts in own.splits.items():
        assert loaded.splits[name].equals(facts)
    assert loaded.graph.facts.equals(own.graph.facts)
    assert loaded.held_out("valid").equals(own.held_out("valid"))
    with pytest.raises(NqeError, match="there is no other split"):
        loaded.known("other")


def test_values_of_literals_are_mapped_too(saved: Path) -> None:
    own, mapped = (
        dataset.vocabulary.entities.literals for dataset in (Dataset.of(FACTS), Dataset.load(saved))
    )
    assert own is not None
    assert mapped is not None
    assert mapped.count() == own.count()
    assert np.array_equal(mapped.value, own.value, equal_nan=True)


def test_a_loaded_data_set_can_be_sent_to_other_processes(saved: Path) -> None:
    loaded = Dataset.load(saved)
    bare = Dataset(loaded.vocabulary, loaded.splits)
    sent = pickle.loads(pickle.dumps(bare))
    assert sent == loaded
    assert sent.vocabulary == loaded.vocabulary
    assert sent.vocabulary.entities.resolve("alpha") == 1


def test_a_graph_that_is_loaded_and_saved_again_is_the_same(saved: Path, tmp_path: Path) -> None:
    Dataset.load(saved).save(tmp_path / "again")
    one, other = (
        json.loads((f / "manifest.json").read_text()) for f in (saved, tmp_path / "again")
    )
    assert one == other


def test_a_loaded_graph_stays_as_it_was_when_its_folder_is_replaced(saved: Path) -> None:
    loaded = Dataset.load(saved)
    Dataset.of({"train": [Fact("x", "y", "z")]}).save(saved)
    assert loaded.splits["train"].equals(Dataset.of(FACTS).splits["train"])
    assert loaded.vocabulary.entities.resolve("Alpha") == 1


def test_a_folder_that_may_not_be_written_is_mapped(saved: Path) -> None:
    for path in (*saved.iterdir(), saved):
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        assert is_mapped(Dataset.load(saved))
    finally:
        saved.chmod(0o755)


def test_where_files_cannot_be_mapped_the_index_is_read(
    saved: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError("no such device")

    monkeypatch.setattr("nqe.folders.mmap.mmap", refuse)
    loaded = Dataset.load(saved)
    assert is_mapped(loaded)
    assert loaded.graph == Dataset.of(FACTS).graph


ASK = """
import sys
from nqe.graph import Dataset
graph = Dataset.load("graph").graph
print("ready", flush=True)
sys.stdin.readline()
print(sorted(map(str, graph)))
"""


def test_several_processes_read_one_folder_at_once(saved: Path) -> None:
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", ASK],
            cwd=saved.parent,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(3)
    ]
    try:
        for process in processes:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
        printed = {process.communicate("\n", timeout=60)[0] for process in processes}
    finally:
        for process in processes:
            process.kill()
    assert printed == {f"{sorted(map(str, Dataset.of(FACTS).graph))}\n"}


def flip(place: int) -> Callable[[Path], None]:
    def change(path: Path) -> None:
        content = bytearray(path.read_bytes())
        content[place % len(content)] ^= 1
        path.write_bytes(content)

    return change


CHANGES: dict[str, Callable[[Path], object]] = {
    "a bit at the beginning": flip(0),
    "a bit in the middle": flip(777),
    "a bit at the end": flip(-1),
    "cut short": lambda path: path.write_bytes(path.read_bytes()[:-64]),
    "longer": lambda path: path.write_bytes(path.read_bytes() + bytes(8)),
    "empty": lambda path: path.write_bytes(b""),
    "not there": lambda path: path.unlink(),
    "a folder": lambda path: (path.unlink(), path.mkdir()),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_changed_index_is_refused(saved: Path, change: Callable[[Path], object]) -> None:
    change(saved / INDEX_FILE)
    with pytest.raises(StorageError, match=r"index\.bin: [^\n]*; import the graph again$"):
        Dataset.load(saved)
    assert check(saved).problems


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_changed_index_that_is_signed_again_is_not_used(
    saved: Path, change: Callable[[Path], object]
) -> None:
    change(saved / INDEX_FILE)
    sign_again(saved, fingerprints=True)
    loaded = Dataset.load(saved)
    assert not is_mapped(loaded)
    assert loaded == Dataset.of(FACTS)


def test_the_index_of_another_graph_is_not_used(saved: Path, tmp_path: Path) -> None:
    other = {"train": FACTS["valid"], "valid": FACTS["train"], "test": []}
    Dataset.of(other).describe(NAMES).save(tmp_path / "other")
    (saved / INDEX_FILE).write_bytes((tmp_path / "other" / INDEX_FILE).read_bytes())
    with pytest.raises(StorageError, match=r"index\.bin: damaged, or changed"):
        Dataset.load(saved)
    sign_again(saved)
    assert not is_mapped(Dataset.load(saved))
    assert Dataset.load(saved) == Dataset.of(FACTS)


def test_an_index_that_does_not_follow_from_the_tables_is_a_problem_of_the_folder(
    saved: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert check(saved).problems == ()
    # What only a fault in nqe itself would do: a wrong index with fitting digests.
    with monkeypatch.context() as patch:
        patch.setattr(stored_index, "build_arrays", build_wrong_arrays)
        Dataset.of(FACTS).save(saved)
    [problem] = check(saved).problems
    assert "the index is not that of its facts" in problem


def build_wrong_arrays(*parts: Any) -> dict[str, Any]:
    arrays = build_arrays(*parts)
    return arrays | {"rows": arrays["rows"][::-1]}


def test_a_manifest_without_its_index_means_the_tables(saved: Path) -> None:
    change_json(saved / "manifest.json", index=None)
    sign_again(saved)
    assert not is_mapped(Dataset.load(saved))
    assert Dataset.load(saved) == Dataset.of(FACTS)


def test_names_that_are_not_in_order_get_no_index(tmp_path: Path) -> None:
    dataset = Dataset.of({"train": [Fact("a", "r", "b")]})
    names = dataset.vocabulary
    turned = type(names)(Names.of("entity", ["b", "a"]), names.relations)
    Dataset(turned, dataset.splits).save(tmp_path / "graph")
    assert not (tmp_path / "graph" / INDEX_FILE).exists()
    with pytest.raises(StorageError, match="ids are not in order"):
        Dataset.load(tmp_path / "graph")


def test_the_facts_of_all_splits_are_indexed_once(saved: Path) -> None:
    loaded = Dataset.load(saved)
    assert "index" in loaded.known("all").__dict__
    assert "index" not in Graph(loaded.vocabulary, loaded.splits["train"]).__dict__
    assert not loaded.graph.index.keys.flags.writeable
