"""Facts that are added to a data set: always known, and folded into train on request."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import wild_facts

from nqe.errors import InputError, NqeError, StorageError
from nqe.graph import Dataset, Fact
from nqe.graph.added_facts import add_facts, fold_added
from nqe.graph.fact_log import FactLog
from nqe.graph.vocabulary import Description

BASE = Dataset.of({"train": [Fact("b", "r", "c")], "test": [Fact("c", "r", "b")]})
NEW = [Fact("a", "r", "b", (("since", "1903-06-01^^time"),)), Fact("b", "r", "c")]


@given(st.tuples(wild_facts(), wild_facts()))
def test_added_facts_are_known_as_if_they_had_been_there(
    lists: tuple[list[Fact], list[Fact]],
) -> None:
    facts, more = lists
    dataset = add_facts(Dataset.of({"train": facts}), more)
    assert set(dataset.graph) == {*facts, *more}
    assert set(dataset.known("train")) == {*facts, *more}
    assert not len(dataset.known("none"))
    assert fold_added(dataset) == Dataset.of({"train": [*facts, *more]})


def test_old_names_keep_their_numbers_and_new_ones_come_last() -> None:
    dataset = add_facts(BASE, NEW)
    before, after = BASE.vocabulary.entities, dataset.vocabulary.entities
    assert list(after.ids[: len(before)]) == list(before.ids)
    assert list(after.ids[len(before) :]) == ["a", "1903-06-01^^time"]
    assert after.labels[-1] == "1 June 1903"
    assert BASE.vocabulary.relations.ids == ["r"]


def test_labels_and_splits_stay_when_facts_are_folded() -> None:
    described = BASE.describe({"b": Description("Bee", "an insect", ("Biene",))})
    folded = fold_added(add_facts(described, NEW))
    names = folded.vocabulary.entities
    number = names.resolve("Biene")
    assert (names.ids[number], names.labels[number], names.descriptions[number]) == (
        "b",
        "Bee",
        "an insect",
    )
    assert set(folded.split("test")) == {Fact("c", "r", "b")}
    assert set(folded.split("train")) == {Fact("b", "r", "c"), *NEW}


def test_added_facts_must_be_folded_before_they_are_saved(tmp_path: Path) -> None:
    with pytest.raises(NqeError, match="fold them into train"):
        add_facts(BASE, NEW).save(tmp_path / "graph")
    fold_added(add_facts(BASE, NEW)).save(tmp_path / "graph")
    assert Dataset.load(tmp_path / "graph") == fold_added(add_facts(BASE, NEW))


@pytest.fixture
def log(tmp_path: Path) -> FactLog:
    return FactLog(tmp_path / "added.jsonl", BASE.fingerprint)


def reopen(log: FactLog) -> FactLog:
    again = FactLog(log.path, log.fingerprint)
    again.read()
    return again


def test_a_log_gives_back_what_was_added_and_not_taken_back(log: FactLog) -> None:
    with log.hold():
        assert log.add(NEW) == [1, 2]
        assert log.take_back(1) == NEW[0]
        assert log.add(NEW[:1]) == [3]
    assert reopen(log).facts == log.facts == {2: NEW[1], 3: NEW[0]}


def test_others_read_what_is_appended(log: FactLog) -> None:
    with log.hold():
        other = reopen(log)
        assert not other.read()
        log.add(NEW[:1])
        assert other.read()
        assert other.facts == {1: NEW[0]}


@pytest.mark.parametrize("torn", [b'{"add": 2, "fa', b'{"remove": 1}', b"\xff\xfe"])
def test_what_a_killed_process_left_half_written_counts_for_nothing(
    log: FactLog, torn: bytes
) -> None:
    with log.hold():
        log.add(NEW[:1])
    with log.path.open("ab") as file:
        file.write(torn)
    again = reopen(log)
    assert again.facts == {1: NEW[0]}
    with again.hold():
        assert again.add(NEW[1:]) == [2]
    assert reopen(log).facts == {1: NEW[0], 2: NEW[1]}


def test_a_log_of_another_graph_or_format_is_refused(log: FactLog) -> None:
    with log.hold():
        pass
    with pytest.raises(StorageError, match="adds facts to another graph"):
        FactLog(log.path, "other").read()
    log.path.write_text(json.dumps({"format": "x"}) + "\n", encoding="utf-8")
    with pytest.raises(StorageError, match="not a log of added facts"):
        reopen(log)


def test_a_damaged_line_says_where(log: FactLog) -> None:
    with log.hold():
        log.add(NEW[:1])
    place = log.path.stat().st_size
    with log.path.open("ab") as file:
        file.write(b"{}\n")
    with pytest.raises(StorageError, match=rf"damaged at byte {place:,} "):
        reopen(log)


def test_a_fact_that_no_graph_can_hold_is_not_logged(log: FactLog) -> None:
    with log.hold():
        with pytest.raises(InputError, match="control character"):
            log.add([NEW[0], Fact("a\x07", "r", "b")])
        with pytest.raises(NqeError, match="no added fact has the number 7"):
            log.take_back(7)
    assert not reopen(log).facts
