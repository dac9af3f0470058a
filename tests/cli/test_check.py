"""`nqe check`: every file of a folder is compared with what was written."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from helpers import nqe
from small_runs import write_run
from tampering import change_json, sign_again

from nqe.answering import check, open_dataset
from nqe.answering.calibration import SLOT_KINDS, Calibration
from nqe.answering.calibration_storage import load_calibration, save_calibration
from nqe.errors import StorageError
from nqe.graph import Dataset, Fact
from nqe.sampling import sample, save_queries
from nqe.settings import SamplingSettings

DATASET = Dataset.of(
    {"train": [Fact(f"e{n}", f"r{n % 3}", f"e{n * 7 % 20}", (("q", "e1"),)) for n in range(20)]}
)


@pytest.fixture
def graph(tmp_path: Path) -> Path:
    DATASET.save(tmp_path / "graph")
    return tmp_path / "graph"


@pytest.fixture
def run(tmp_path: Path) -> Path:
    run = write_run(tmp_path / "run", DATASET, seed=1)
    save_calibration(sized(len(DATASET.vocabulary.relations)), run / "best")
    (run / "metrics.jsonl").write_text('{"step": 1}\n')
    return run


def sized(relations: int) -> Calibration:
    """A calibration for a model with this many relations."""
    return Calibration.plain(np.ones((relations, SLOT_KINDS), dtype=np.float32))


@pytest.fixture
def queries(tmp_path: Path) -> Path:
    few = SamplingSettings(shapes=("1p",), train=5, valid=0, test=0)
    save_queries(sample(DATASET, few, workers=1), tmp_path / "queries")
    return tmp_path / "queries"


@pytest.mark.parametrize("name", ["graph", "run", "queries"])
def test_what_was_written_passes(name: str, request: pytest.FixtureRequest) -> None:
    folder: Path = request.getfixturevalue(name)
    done = nqe("check", folder.name, cwd=folder.parent)
    assert done.code == 0, done.err
    assert "file(s) are as nqe wrote them" in done.out


def cut(name: str) -> Callable[[Path], object]:
    return lambda folder: (folder / name).write_bytes((folder / name).read_bytes()[:-2])


@pytest.mark.parametrize(
    ("name", "damage", "sentence"),
    [
        ("graph", cut("train.parquet"), r"train\.parquet: damaged, or changed after nqe wrote it"),
        ("queries", cut("train.parquet"), r"train\.parquet: damaged, or changed"),
        ("run", cut("best/model.safetensors"), r"model\.safetensors: damaged, or changed"),
        ("run", cut("best/README.md"), None),
        ("run", cut("best/calibration.json"), r"calibration\.json: damaged"),
        ("run", cut("metrics.jsonl"), None),
        ("run", lambda run: (run / "metrics.jsonl").write_text("{\n"), "metrics.jsonl: damaged"),
        ("run", lambda run: (run / "best/config.json").unlink(), "best: not a checkpoint"),
    ],
)
def test_damage_is_listed_with_exit_code_2(
    name: str,
    damage: Callable[[Path], object],
    sentence: str | None,
    request: pytest.FixtureRequest,
) -> None:
    folder: Path = request.getfixturevalue(name)
    damage(folder)
    problems = check(folder).problems
    if sentence is None:  # a last line of metrics may be cut off, and people may edit the card
        assert problems == ()
        return
    assert len(problems) == 1
    with pytest.raises(StorageError, match=sentence):
        raise StorageError(problems[0])


def test_the_command_lists_problems_and_exits_with_2(graph: Path) -> None:
    for name in ("train.parquet", "entities.parquet"):
        cut(name)(graph)
    done = nqe("check", "graph", cwd=graph.parent)
    assert done.code == 2
    assert [line.split(":")[1].strip() for line in done.err.splitlines()] == [
        "graph/entities.parquet",
        "graph/train.parquet",
    ]


def test_content_that_cannot_be_used_is_noticed_behind_fitting_digests(graph: Path) -> None:
    change_json(graph / "manifest.json", fingerprint="f00d")
    sign_again(graph)
    (problem,) = check(graph).problems
    assert "the fingerprint of its files and of its manifest differ" in problem


def test_a_calibration_of_another_model_is_noticed(run: Path, tmp_path: Path) -> None:
    other = write_run(tmp_path / "other", DATASET, seed=2)
    (other / "best" / "calibration.json").write_bytes(
        (run / "best" / "calibration.json").read_bytes()
    )
    with pytest.raises(StorageError, match="it is that of another model"):
        load_calibration(other / "best")
    save_calibration(sized(1), run / "best")
    with pytest.raises(StorageError, match="it is for 1 relations, but the model has 4"):
        load_calibration(run / "best")


def test_a_calibration_that_is_no_file_is_noticed(run: Path) -> None:
    path = run / "best" / "calibration.json"
    path.unlink()
    assert load_calibration(run / "best") is None
    path.symlink_to("nowhere")
    with pytest.raises(StorageError, match=r"calibration\.json: damaged"):
        load_calibration(run / "best")
    path.unlink()
    path.mkdir()
    with pytest.raises(StorageError, match=r"calibration\.json: damaged"):
        load_calibration(run / "best")


def test_a_run_with_the_manifest_of_another_one_is_noticed(run: Path, tmp_path: Path) -> None:
    facts = {"train": [Fact("e1", "r1", "e2")]}
    other = write_run(tmp_path / "other", Dataset.of(facts), seed=2)
    (run / "manifest.json").write_bytes((other / "manifest.json").read_bytes())
    with pytest.raises(StorageError, match="run: its checkpoint is of another training"):
        open_dataset(run)
    (problem,) = check(run).problems
    assert "is of another training" in problem


def test_folders_of_older_versions_are_checked_as_far_as_they_can_be(graph: Path) -> None:
    manifest = json.loads((graph / "manifest.json").read_text(encoding="utf-8"))
    first = {key: manifest[key] for key in manifest if key not in ("files", "digest")}
    (graph / "manifest.json").write_text(json.dumps(first | {"version": 1}), encoding="utf-8")
    done = nqe("check", "graph", cwd=graph.parent)
    assert done.code == 0
    assert "older nqe, which kept no digests" in done.err


@pytest.mark.parametrize("name", ["nothing", "empty"])
def test_a_place_that_nqe_did_not_write_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "empty").mkdir()
    done = nqe("check", name, cwd=tmp_path)
    assert done.code == 2
    assert f"{name}: not a graph folder" in done.err


def test_a_null_character_in_a_path_that_was_read_is_one_sentence(run: Path) -> None:
    change_json(run / "best" / "config.json", dataset="\0")
    sign_again(run / "best")
    with pytest.raises(StorageError, match=r"no longer exists|not a graph folder"):
        open_dataset(run / "best")
