"""The published data sets, if they are available."""

from __future__ import annotations

from pathlib import Path

import pytest

from nqe.graph import Dataset
from nqe.graph.statistics import compute_statistics
from nqe.readers import read
from nqe.writers import write

pytestmark = pytest.mark.xdist_group("real data")


def stated(dataset: Dataset) -> list[int]:
    """How many lines each split had."""
    return [int(facts.count.sum()) for facts in dataset.splits.values()]


@pytest.fixture(scope="module")
def wd50k(shared_data: Path) -> Dataset:
    return read(shared_data / "wd50k")


def test_wd50k_has_the_published_counts(wd50k: Dataset) -> None:
    assert stated(wd50k) == [166_435, 23_913, 46_159]
    assert len(wd50k.vocabulary.entities) == 47_155
    assert len(wd50k.vocabulary.relations) == 531
    arities = compute_statistics(wd50k).arities
    assert (min(arities), max(arities)) == (2, 67)


def test_wd50k_has_the_labels_of_its_file(wd50k: Dataset, shared_data: Path) -> None:
    text = (shared_data / "wd50k" / "labels.tsv").read_text(encoding="utf-8")
    given = dict(line.split("\t") for line in text.splitlines())
    for names in (wd50k.vocabulary.entities, wd50k.vocabulary.relations):
        assert list(names.labels) == [given.get(name) for name in names.ids]
    assert all(wd50k.vocabulary.relations.labels)


def test_wd50k_saved_and_exported_is_the_same(wd50k: Dataset, tmp_path: Path) -> None:
    wd50k.save(tmp_path / "graph")
    assert Dataset.load(tmp_path / "graph") == wd50k
    write(wd50k, tmp_path / "out")
    assert read(tmp_path / "out") == wd50k


def test_wd50k_100_has_the_published_counts_and_a_qualifier_in_every_fact(
    shared_data: Path,
) -> None:
    dataset = read(shared_data / "wd50k_100")
    assert stated(dataset) == [22_738, 3_279, 5_297]
    assert (dataset.graph.facts.qualifier_count > 0).all()


def test_both_formats_of_jf17k_are_the_same_data_set(shared_data: Path) -> None:
    folder = shared_data / "jf17k"
    lines, statements = read(folder, format="nary"), read(folder, format="statements")
    assert stated(lines) == [61_104, 15_275, 24_568]
    assert lines == statements
    assert len(lines.vocabulary.entities) == 28_645
    main = {relation for facts in lines.splits.values() for relation in facts.relation.tolist()}
    assert len(main) == 322
