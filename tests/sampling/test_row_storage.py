"""Query sets beyond trees on disk: what is read is what was written, and damage is reported."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tampering import change_json, sign_again

import nqe
from nqe.errors import NqeError, StorageError
from nqe.graph import Dataset, Fact
from nqe.sampling import (
    PATTERNS,
    RowQuerySet,
    load_queries,
    load_row_queries,
    sample_rows,
    save_queries,
    save_row_queries,
)
from nqe.sampling.row_storage import check_row_graph, has_rows, read_row_manifest
from nqe.sampling.storage import read_manifest
from nqe.settings import SamplingSettings

ATLAS = nqe.demo_dataset()


@pytest.fixture(scope="module")
def sampled() -> RowQuerySet:
    settings = SamplingSettings(shapes=tuple(PATTERNS), match="any", valid=1, test=2)
    return sample_rows(ATLAS, settings)


@pytest.fixture
def folder(sampled: RowQuerySet, tmp_path: Path) -> Path:
    save_row_queries(sampled, tmp_path / "queries", "atlas")
    return tmp_path / "queries"


def test_a_query_set_is_read_as_it_was_written(sampled: RowQuerySet, folder: Path) -> None:
    assert has_rows(folder)
    for split, queries in sampled.splits.items():
        read = load_row_queries(folder, split)
        assert len(read) == len(queries)
        for one, other in zip(read, queries, strict=True):
            assert (one.pattern, one.query) == (other.pattern, other.query)
            for name in ("easy", "hard", "missing", "missing_of_targets"):
                assert np.array_equal(getattr(one, name), getattr(other, name))
    manifest = read_row_manifest(folder)
    assert manifest["splits"]["test"] == {"queries": 16, "patterns": dict.fromkeys(PATTERNS, 2)}
    assert manifest["settings"]["shapes"] == list(PATTERNS)


def test_the_graph_is_compared_with_that_of_the_queries(folder: Path) -> None:
    check_row_graph(folder, ATLAS)
    other = Dataset.of({"train": [Fact("a", "r", "b")]})
    with pytest.raises(NqeError, match="sampled from another graph"):
        check_row_graph(folder, other)


def test_what_takes_trees_refuses_the_folder_in_one_sentence(folder: Path) -> None:
    for read in (read_manifest, lambda one: load_queries(one, "test")):
        with pytest.raises(NqeError, match="its queries are no trees, which only") as caught:
            read(folder)
        assert str(caught.value).count("\n") == 0


def test_a_split_that_is_not_there_is_named(folder: Path) -> None:
    with pytest.raises(NqeError, match="no train queries; the set has valid, test"):
        load_row_queries(folder, "train")


def test_a_set_of_one_kind_does_not_replace_one_of_the_other(folder: Path) -> None:
    trees = nqe.sample(ATLAS, SamplingSettings(shapes=("1p",), train=0, valid=0, test=1), workers=1)
    with pytest.raises(NqeError):
        save_queries(trees, folder)
    assert has_rows(folder)


def put(name: str, value: Any) -> Callable[[dict[str, Any]], None]:
    return lambda line: line.update({name: value})


def repeat_row(line: dict[str, Any]) -> None:
    line["hard"].append(line["hard"][-1])


@pytest.mark.parametrize(
    ("damage", "what"),
    [
        (put("query", "?x: p(?x"), "query 0: "),
        (put("query", "?x: p(a, b) and q(?x, c)"), "has no variable"),
        (put("query", "count ?x: p(?x, c)"), "it asks for something else than entities"),
        (put("query", "?r: ?r(a, ?x)"), "it asks for something else than entities"),
        (put("query", 7), "its pattern or its query is no text"),
        (put("hard", [[10**9]]), "a number in its hard rows is out of range"),
        (put("easy", [[-1]]), "a number in its easy rows is out of range"),
        (put("easy", [[1, 2]]), "a row has not 1 numbers, one per target"),
        (put("easy", [3]), "its rows are no lists of whole numbers"),
        (put("easy", [[2], [1]]), "its easy rows are not in ascending order, each once"),
        (repeat_row, "its hard rows are not in ascending order, each once"),
        (lambda line: line.update(easy=line["hard"]), "a row is easy and hard"),
        (put("missing", []), "there are not as many numbers of missing links as hard rows"),
        (lambda line: line.update(missing=[99] * len(line["hard"])), "is not from 0 to"),
        (lambda line: line.pop("missing"), "its entries are not pattern, query"),
    ],
)
def test_wrong_lines_are_reported_with_the_number_of_the_query(
    damage: Callable[[dict[str, Any]], None], what: str, folder: Path
) -> None:
    path = folder / "test.jsonl"
    first, *others = path.read_text(encoding="utf-8").splitlines()
    line = json.loads(first)
    damage(line)
    path.write_text("\n".join([json.dumps(line), *others]), encoding="utf-8")
    sign_again(folder)
    with pytest.raises(StorageError, match=re.escape(what)) as caught:
        load_row_queries(folder, "test")
    assert "query 0: " in str(caught.value)
    assert "sample the queries again" in str(caught.value)


@pytest.mark.parametrize("content", ["", "{", '"text"\n', "[" * 100_000])
def test_a_file_of_something_else_is_reported(content: str, folder: Path) -> None:
    (folder / "test.jsonl").write_text(content)
    sign_again(folder)
    with pytest.raises(StorageError, match="damaged"):
        load_row_queries(folder, "test")


def test_a_file_that_is_no_text_is_reported(folder: Path) -> None:
    (folder / "test.jsonl").write_bytes(b"\xff\xfe")
    sign_again(folder)
    with pytest.raises(StorageError, match="damaged"):
        load_row_queries(folder, "test")


@pytest.mark.parametrize(
    "changes",
    [
        {"splits": {"test": {"queries": "many", "patterns": {}}}},
        {"splits": {"test": {"queries": 1, "patterns": 3}}},
        {"splits": {"other": {"queries": 1, "patterns": {}}}},
        {"refused": {"test": 1}},
    ],
)
def test_a_manifest_of_another_form_is_reported(changes: dict[str, Any], folder: Path) -> None:
    change_json(folder / "manifest.json", **changes)
    sign_again(folder)
    with pytest.raises(StorageError, match="damaged"):
        read_row_manifest(folder)
