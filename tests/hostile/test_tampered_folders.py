"""Tampered folders: an error in one sentence, the same content, or one that differs as edited."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hostile_writing import Disks, Kills, Kinds, NoSmallDisk, Swaps, mount_small_disk
from saved_examples import Example, make_examples
from tampered_folders import TamperedFolders

KINDS = ("graph", "queries", "run", "checkpoint", "rules", "results")
CASES = 60
pytestmark = pytest.mark.xdist_group("tampered folders")


@pytest.fixture(scope="module")
def examples(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Example]:
    return make_examples(tmp_path_factory.mktemp("examples"))


@pytest.fixture(scope="module")
def kinds() -> Kinds:
    return Kinds()


@pytest.mark.parametrize("kind", KINDS)
def test_tampering_is_refused_harmless_or_differs_as_edited(
    kind: str, examples: dict[str, Example], tmp_path: Path
) -> None:
    tampered = TamperedFolders({kind: examples[kind]}, tmp_path / "work", seed=1)
    tampered.prepare()
    outcomes = [tampered.run(case) for case in range(CASES)]
    assert [one.detail for one in outcomes if one.verdict == "failed"] == []
    assert {"refused", "harmless"} <= {one.verdict for one in outcomes}


def test_every_file_is_tampered_with(examples: dict[str, Example], tmp_path: Path) -> None:
    tampered = TamperedFolders(examples, tmp_path / "work", seed=1)
    tampered.prepare()
    chosen = [tampered.choose(case) for case in range(8_000)]
    for kind, example in examples.items():
        assert {one.file for one in chosen if one.kind == kind} == set(example.list_files())
    assert sum(one.is_signed_again for one in chosen) == len(chosen) / 2


@pytest.mark.parametrize("name", ["graph", "checkpoint"])
def test_a_folder_that_is_replaced_is_never_loaded_as_a_mixture(
    name: str, kinds: Kinds, tmp_path: Path
) -> None:
    swaps = Swaps(kinds, name, tmp_path)
    with swaps.saving():
        outcomes = [swaps.run(case) for case in range(40)]
    assert [one.detail for one in outcomes if one.verdict != "harmless"] == []


def test_a_kill_while_saving_leaves_the_old_folder_or_the_new_one(
    kinds: Kinds, tmp_path: Path
) -> None:
    kills = Kills(kinds, tmp_path, seed=1)
    outcomes = [kills.run(case) for case in range(20)]
    assert [one.detail for one in outcomes if one.verdict != "harmless"] == []


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    try:
        with mount_small_disk(tmp_path / "disk", Disks.SIZE):
            yield tmp_path / "disk"
    except NoSmallDisk as error:
        pytest.skip(f"no small disk can be mounted here: {error}")


def test_a_full_disk_is_one_sentence_and_leaves_the_old_folder(kinds: Kinds, disk: Path) -> None:
    disks = Disks(kinds, disk, seed=1)
    outcomes = [disks.run(case) for case in range(20)]
    assert [one.detail for one in outcomes if one.verdict == "failed"] == []
    assert {one.verdict for one in outcomes} == {"refused", "harmless"}
