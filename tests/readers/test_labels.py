"""Labels files."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers import ReadContent

from nqe.errors import InputError
from nqe.graph import Description
from nqe.readers import BadLines, read, read_labels


@pytest.fixture
def labels(tmp_path: Path) -> Path:
    return tmp_path / "names.tsv"


def test_columns_are_id_label_description_and_aliases(labels: Path) -> None:
    labels.write_text("Q1\tone\nQ2\ttwo\ta number\nQ3\tthree\t\tdrei|trois\nQ4\t\tnameless\n")
    assert read_labels(str(labels)) == {
        "Q1": Description("one"),
        "Q2": Description("two", "a number"),
        "Q3": Description("three", None, ("drei", "trois")),
        "Q4": Description(None, "nameless"),
    }


def test_a_second_line_for_an_id_adds_an_alias(labels: Path) -> None:
    labels.write_text("Q1\tone\nQ1\tunity\nQ1\tone\n")
    assert read_labels(str(labels)) == {"Q1": Description("one", None, ("unity",))}


@pytest.mark.parametrize("line", ["Q2", "Q2 two", "\ttwo"])
def test_a_line_without_id_or_label_is_reported(labels: Path, line: str) -> None:
    labels.write_text(f"Q1\tone\n{line}\n")
    with pytest.raises(InputError, match=r"names.tsv:2: no tab between an id and a label; add"):
        read_labels(str(labels))
    bad = BadLines(skip=True)
    assert list(read_labels(str(labels), bad)) == ["Q1"]
    assert bad.count == 1


def test_a_line_in_another_encoding_is_reported(labels: Path) -> None:
    labels.write_bytes(b"Q1\tone\nQ2\tZ\xfcrich\n")
    with pytest.raises(InputError, match=r"names.tsv:2: not UTF-8 text"):
        read_labels(str(labels))


def test_a_file_without_labels_is_reported(labels: Path) -> None:
    labels.write_text("\n")
    with pytest.raises(InputError, match=r"names.tsv: no labels in it; write an id, a tab"):
        read_labels(str(labels))


def test_labels_are_given_to_entities_and_relations(
    read_content: ReadContent, labels: Path
) -> None:
    labels.write_text("a\tAlpha\nr\tis related to\nz\tZeta\n")
    names = read_content("a,r,b\n", labels=labels).vocabulary
    assert names.entities.labels == ["Alpha", None]
    assert names.relations.labels == ["is related to"]


def test_a_folder_brings_its_own_labels_unless_others_are_given(
    tmp_path: Path, labels: Path
) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "train.txt").write_text("a,r,b\n")
    (folder / "labels.tsv").write_text("a\town\n")
    assert read(folder).vocabulary.entities.labels[0] == "own"
    labels.write_text("a\tother\n")
    assert read(folder, labels=labels).vocabulary.entities.labels[0] == "other"


def test_a_saved_graph_takes_labels_too(tmp_path: Path, read_content: ReadContent) -> None:
    read_content("a,r,b\n").save(tmp_path / "graph")
    (tmp_path / "names.tsv").write_text("b\tBeta\n")
    dataset = read(tmp_path / "graph", labels=tmp_path / "names.tsv")
    assert dataset.vocabulary.entities.labels == [None, "Beta"]
