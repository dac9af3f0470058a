"""Literals in a vocabulary: which entities are literals, their values, names and storage."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet
from tampering import sign_again

from nqe.errors import AmbiguousName, StorageError, UnknownName
from nqe.graph import Dataset, Description, Fact, Names
from nqe.graph.name_search import find_names

FACTS = [
    Fact("Curie", "born", "1867-11-07^^time"),
    Fact("Curie", "award", "Nobel", (("year", "1903^^time"),)),
    Fact("Curie", "name", "Marie\nCurie^^text@fr".replace("\n", "\\u000a")),
    Fact("Paris", "height", "35 Q11573^^number"),
    Fact("Paris", "streets", "1903^^number"),
    Fact("Paris", "founded", "0052 BCE^^time"),
]
DATASET = Dataset.of({"train": FACTS})
NAMES = DATASET.vocabulary.entities


def number(name: str) -> int:
    found = NAMES.number(name)
    assert found is not None
    return found


def test_a_vocabulary_knows_the_kind_and_the_value_of_its_literals() -> None:
    literals = NAMES.literals
    assert literals is not None
    assert literals.count() == {"time": 3, "number": 2, "text": 1}
    assert literals.value[number("1903^^number")] == 1903
    times = sorted(literals.find("time").tolist(), key=literals.value.__getitem__)
    assert [NAMES.name(time) for time in times] == ["52 BCE", "7 November 1867", "1903"]
    assert literals.until[number("1903^^time")] - literals.value[number("1903^^time")] == 365
    assert np.isnan(literals.value[[number("Curie"), *literals.find("text").tolist()]]).all()


def test_a_vocabulary_without_literals_has_no_columns() -> None:
    assert Names.of("entity", ["Curie", "a^^b"]).literals is None
    assert Names.of("relation", ["1903^^time"]).literals is None


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("1867-11-07^^time", "1867-11-07^^time"),
        ("1867-11-07", "1867-11-07^^time"),
        ("7 November 1867", "1867-11-07^^time"),
        ("52 BCE", "0052 BCE^^time"),
        ("-0051", "0052 BCE^^time"),
        ("35.0 Q11573", "35 Q11573^^number"),
        ("Marie\nCurie", "Marie\\u000aCurie^^text@fr"),
    ],
)
def test_a_literal_is_found_by_id_by_what_is_shown_and_as_people_write_it(
    text: str, name: str
) -> None:
    assert NAMES.ids[NAMES.resolve(text)] == name


def test_a_text_that_two_literals_are_written_like_is_ambiguous() -> None:
    with pytest.raises(
        AmbiguousName, match=r"1903 \(1903\^\^number\); 1903 \(1903\^\^time\)"
    ) as told:
        NAMES.resolve("1903")
    assert "names 2 entities" in str(told.value)
    with pytest.raises(UnknownName):
        NAMES.resolve("1904")


def test_a_search_finds_literals_as_people_write_them() -> None:
    [found] = [hit for hit in find_names(DATASET.vocabulary, "1867-11-07", 5) if hit.how == "label"]
    assert (found.id, found.label) == ("1867-11-07^^time", "7 November 1867")


def test_the_label_of_a_unit_is_shown_in_numbers() -> None:
    described = DATASET.describe({"Q11573": Description("metre")}).vocabulary.entities
    assert described.name(number("35 Q11573^^number")) == "35 metre"
    assert described.resolve("35 metre") == described.resolve("35 Q11573")
    assert described.literals is NAMES.literals


def test_literals_are_saved_and_loaded(tmp_path: Path) -> None:
    DATASET.save(tmp_path / "graph")
    loaded = Dataset.load(tmp_path / "graph").vocabulary.entities
    assert loaded == NAMES
    assert loaded.literals is not None
    assert NAMES.literals is not None
    for column in ("kind", "value", "until"):
        np.testing.assert_array_equal(
            getattr(loaded.literals, column), getattr(NAMES.literals, column)
        )
    rows = parquet.read_table(tmp_path / "graph" / "literals.parquet").to_pylist()
    assert [row["entity"] for row in rows] == sorted(row["entity"] for row in rows)
    assert {
        "entity": number("1903^^number"),
        "kind": "number",
        "value": 1903,
        "until": 1903,
    } in rows
    assert [row["value"] for row in rows if row["kind"] == "text"] == [None]


def test_a_graph_without_literals_has_no_file_of_them(tmp_path: Path) -> None:
    Dataset.of({"train": FACTS[:2]}).save(tmp_path / "graph")
    Dataset.of({"train": [Fact("a", "r", "b")]}).save(tmp_path / "graph")
    assert not (tmp_path / "graph" / "literals.parquet").exists()
    assert Dataset.load(tmp_path / "graph").vocabulary.entities.literals is None


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda rows: rows[1:], "not those of the entities"),
        (lambda rows: [rows[0] | {"kind": "colour"}, *rows[1:]], "unknown kind"),
        (lambda rows: [rows[0] | {"until": None}, *rows[1:]], "half a value"),
        (lambda rows: [rows[0] | {"entity": None}, *rows[1:]], "not those of the entities"),
        (lambda rows: [{"entity": row["entity"]} for row in rows], "damaged"),
    ],
)
def test_literals_that_do_not_fit_the_entities_are_noticed(
    tmp_path: Path, change: Callable[[list[dict[str, Any]]], list[dict[str, Any]]], told: str
) -> None:
    DATASET.save(tmp_path / "graph")
    path = tmp_path / "graph" / "literals.parquet"
    rows = parquet.read_table(path).to_pylist()
    parquet.write_table(pa.Table.from_pylist(change(rows)), path)
    with pytest.raises(StorageError, match="changed after nqe wrote it"):
        Dataset.load(tmp_path / "graph")
    sign_again(tmp_path / "graph")
    with pytest.raises(StorageError, match=told):
        Dataset.load(tmp_path / "graph")


def test_a_label_of_ones_own_replaces_what_a_literal_is_shown_as() -> None:
    about = {"1903^^time": Description("the year of the prize", None, ("nineteen three",))}
    named = DATASET.describe(about).describe({"1903^^time": Description("1903 CE")})
    names = named.vocabulary.entities
    assert names.name(number("1903^^time")) == "the year of the prize"
    assert names.aliases[number("1903^^time")] == ("nineteen three", "1903 CE")
    kept = DATASET.describe({"1903^^time": Description(None, "a year")}).vocabulary.entities
    assert kept.full_name(number("1903^^time")) == "1903 (1903^^time), a year"


def test_a_name_of_an_entity_goes_before_a_text_that_reads_alike() -> None:
    facts = [
        Fact("Q31", "category", "Belgium^^text"),
        Fact("Q31", "name", "Kingdom of Belgium^^text@en"),
        Fact("Q2", "name", "Man^^text"),
        Fact("Q1", "code", "MAN^^text"),
    ]
    described = {
        "Q31": Description("Belgium", None, ("Kingdom of Belgium",)),
        "Q3": Description("Man"),
    }
    names = Dataset.of({"train": [*facts, Fact("Q3", "r", "Q1")]}).describe(described)
    meant = {
        text: names.vocabulary.entities.ids[names.vocabulary.entities.resolve(text)]
        for text in ("Belgium", "Kingdom of Belgium", "belgium", "Man", "MAN", "Belgium^^text")
    }
    assert meant == {
        "Belgium": "Q31",
        "Kingdom of Belgium": "Q31",
        "belgium": "Q31",
        "Man": "Q3",
        "MAN": "MAN^^text",
        "Belgium^^text": "Belgium^^text",
    }
