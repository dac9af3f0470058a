"""Results as files: what they hold, that nothing else is taken for one, and what may be mixed."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from small_experiments import result_of

from nqe.documents import render_document
from nqe.errors import NqeError, StorageError
from nqe.reproduction.results import (
    HARD,
    Scores,
    check_comparable,
    check_result,
    find_result,
    load_result,
    load_results,
    name_result,
    save_result,
)
from nqe.settings import RunSettings, TrainSettings

RESULT = replace(
    result_of("NQE", {"1p": 0.5, "2in": 0.25}),
    facts="train,valid",
    extra={"weights": [[1.0, 2.0, 3.0]]},
)


def test_reading_undoes_writing(tmp_path: Path) -> None:
    scored = {HARD: Scores({"1p": 0.5}, {"1p": (0.4, 0.6)}, {"1p": 20})}
    for result in (RESULT, replace(RESULT, row="NQE-1p", scores=scored, queries=None)):
        path = save_result(tmp_path, result)
        assert load_result(path).to_json() == result.to_json()
        assert load_result(path).settings == result.settings


def test_the_names_that_other_programs_read_stand_at_the_top(tmp_path: Path) -> None:
    data = json.loads(save_result(tmp_path, RESULT).read_text())
    assert data["mrr"] == {"1p": 0.5, "2in": 0.25}
    assert data["mrr_easy"] == {"1p": 0.25, "2in": 0.125}
    assert (data["row"], data["benchmark"], data["seed"]) == ("NQE", "wd50k-nfol", 0)
    assert data["machine"] == {"processor": "a processor", "cores": 2}
    assert (data["minutes"], data["steps"], data["commit"]) == (1.5, 1_234, "0123456789ab")


def test_the_name_of_a_file_has_no_spaces() -> None:
    assert name_result("wd50k-qe", "hybrid with rules on NQE-1p", 2) == (
        "wd50k-qe-hybrid-with-rules-on-nqe-1p-seed-2"
    )


def test_a_result_is_found_by_benchmark_row_and_seed(tmp_path: Path) -> None:
    save_result(tmp_path, RESULT)
    assert find_result(tmp_path, "wd50k-nfol", "NQE", 0) is not None
    assert find_result(tmp_path, "wd50k-nfol", "NQE", 1) is None
    assert find_result(tmp_path, "wd50k-qe", "NQE", 0) is None


def test_results_are_found_in_folders_within_a_folder(tmp_path: Path) -> None:
    save_result(tmp_path / "one" / "deep", RESULT)
    save_result(tmp_path / "two", replace(RESULT, benchmark="wd50k-qe"))
    assert len(load_results(tmp_path)) == 2
    assert [one.benchmark for one in load_results(tmp_path, "wd50k-qe")] == ["wd50k-qe"]


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ('"1p": 0.5', '"1p": 0.9', "its content does not fit its digest"),
        ('"version": 1', '"version": 9', "format version 9, not 1"),
        ("{", "", ""),
    ],
)
def test_a_changed_or_cut_off_file_is_refused(
    tmp_path: Path, old: str, new: str, problem: str
) -> None:
    path = save_result(tmp_path, RESULT)
    path.write_text(path.read_text().replace(old, new, 1))
    with pytest.raises(StorageError) as refused:
        load_result(path)
    assert str(refused.value).startswith(f"{path}: damaged ({problem}")
    assert "; restore it, or delete it so that the row is computed again" in str(refused.value)


def test_another_json_file_among_results_is_told(tmp_path: Path) -> None:
    save_result(tmp_path, RESULT)
    (tmp_path / "manifest.json").write_text('{"format": "nqe-queries"}')
    with pytest.raises(StorageError, match=r"manifest.json: not a result of `nqe reproduce`; move"):
        load_results(tmp_path)


@pytest.mark.parametrize(
    ("entry", "value"),
    [
        ("seed", "zero"),
        ("mrr", {"1p": "good"}),
        ("mrr", {}),
        ("curve", [[1]]),
        ("graph", {"name": "towns"}),
        ("machine", "fast"),
        ("settings", {"model": {"wide": 3}}),
        ("settings", []),
        ("missing", {"values": {"few": 0.5}, "intervals": {}, "counts": {}}),
    ],
)
def test_an_entry_of_another_type_is_refused(tmp_path: Path, entry: str, value: object) -> None:
    path = save_result(tmp_path, RESULT)
    data = json.loads(path.read_text()) | {entry: value}
    path.write_text(render_document(path, data))
    with pytest.raises(StorageError, match=r"-seed-0.json: damaged .*; restore it, or delete it"):
        load_result(path)


def test_a_setting_that_was_added_later_has_its_default() -> None:
    data = RESULT.to_json()
    del data["settings"]["model"]["context"]
    assert type(RESULT).from_json(data).settings == RESULT.settings


def test_other_settings_are_refused_by_name(tmp_path: Path) -> None:
    other = RunSettings(train=TrainSettings(rate=1e-4))
    check_result(tmp_path, RESULT, RESULT.settings, "q")
    with pytest.raises(NqeError, match=r"train.rate was 0.002 and is 0.0001.; choose another"):
        check_result(tmp_path, RESULT, other, "q")
    with pytest.raises(NqeError, match="computed from other queries; choose another folder"):
        check_result(tmp_path, RESULT, RESULT.settings, "other")


def test_a_copy_under_another_name_is_refused(tmp_path: Path) -> None:
    path = save_result(tmp_path, RESULT)
    (tmp_path / "copy.json").write_bytes(path.read_bytes())
    with pytest.raises(StorageError, match=r"copy.json: damaged .it is the result wd50k-nfol-nqe-"):
        load_results(tmp_path)


def test_the_same_result_twice_does_not_share_a_table() -> None:
    with pytest.raises(NqeError, match="tables: wd50k-nfol-nqe-seed-0 is there twice; remove one"):
        check_comparable([RESULT, RESULT], Path("tables"))


@pytest.mark.parametrize("changes", [{"queries": "other"}, {"preset": "full"}])
def test_results_on_different_queries_do_not_share_a_table(changes: dict[str, str]) -> None:
    check_comparable([RESULT, replace(RESULT, seed=1)], Path("tables"))
    with pytest.raises(NqeError, match=r"tables: .* were made from different queries or with dif"):
        check_comparable([RESULT, replace(RESULT, row="NQE-1p", **changes)], Path("tables"))
