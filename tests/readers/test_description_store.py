"""Descriptions that wait in a file until it is known which ids the facts name."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from nqe.errors import StorageError
from nqe.graph import Dataset, Description, Fact
from nqe.readers import BadLines, DescribedId, Record
from nqe.readers.description_store import DescriptionStore
from nqe.readers.record_collector import RecordCollector
from nqe.readers.source import Source


def described(name: str, *labels: str) -> DescribedId:
    return DescribedId(name, Description(labels[0], None, labels[1:]))


def test_what_is_set_aside_comes_back_if_it_is_wanted() -> None:
    store = DescriptionStore(most=2)
    store.add(described("a", "Alpha", "A\n"))
    store.add(described("b", "Beta"))
    assert store.is_full
    store.set_aside(lambda name: name == "b")
    assert list(store) == ["b"]
    store.add(described("a", "another"))
    store.set_aside(lambda name: name == "b")
    store.add(described("c", "Gamma"))
    store.restore(lambda name: name != "c")
    assert store == {"a": Description("Alpha", None, ("A\n", "another")), "b": Description("Beta")}
    assert not store.are_aside


def test_the_store_is_full_again_only_when_it_has_doubled() -> None:
    store = DescriptionStore(most=2)
    for name in "abcdef":
        store.add(described(name, name))
    store.set_aside(lambda name: name != "a")
    assert not store.is_full
    for name in "ghijk":
        store.add(described(name, name))
    assert store.is_full


def test_the_memory_holds_the_descriptions_of_the_graph_alone(tmp_path: Path) -> None:
    """Many ids are described before any is named; some are named later, one only as a unit."""
    count, held = 1_000, []
    collector = RecordCollector(BadLines(), descriptions=DescriptionStore(most=10))

    def list_records() -> Iterator[tuple[int, Record]]:
        for number in range(count):
            yield number, described(f"Q{number}", f"label {number}")
            held.append(len(collector.descriptions))
        yield count, Fact("Q3", "P1", "Q990")
        yield count, Fact("Q3", "P2", "5 Q7^^number")
        yield count, described("Q3", "later")

    (tmp_path / "dump").touch()
    with Source(str(tmp_path / "dump")) as source:
        collector.collect(source, list_records())
    dataset = collector.describe(Dataset(*collector.builder.finish()))
    assert max(held) <= 10
    names = dataset.vocabulary.entities
    assert [names.label_of(name) for name in ("Q3", "Q990", "5 Q7^^number")] == [
        "label 3",
        "label 990",
        "5 label 7",
    ]
    assert names.aliases == {names.number("Q3"): ("later",)}


def test_a_full_disk_is_told_in_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("this system has no file that is always full")
    monkeypatch.setattr(tempfile, "TemporaryFile", partial(Path("/dev/full").open, "wb"))
    store = DescriptionStore(most=1)
    for number in range(5_000):
        store.add(described(f"Q{number}", f"label {number * 7919}"))
    with pytest.raises(StorageError, match=r"set aside in .*; name another folder in the variable"):
        store.set_aside(lambda _: False)
    assert not store.are_aside
