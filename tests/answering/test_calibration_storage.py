"""Calibrations on disk: saving and loading, older and newer files, damaged files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from answering_cases import odd_calibration, odd_curve
from tampering import sign_again

from nqe.answering.calibration import Calibration
from nqe.answering.calibration_storage import (
    CALIBRATION_FILE,
    CALIBRATIONS,
    load_calibration,
    save_calibration,
)
from nqe.errors import StorageError


def test_a_calibration_is_the_same_after_saving_and_loading(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    second.mkdir()
    save_calibration(odd_calibration(), first)
    loaded = load_calibration(first)
    assert loaded is not None
    save_calibration(loaded, second)
    assert (first / CALIBRATION_FILE).read_bytes() == (second / CALIBRATION_FILE).read_bytes()
    for curve, before in ((loaded.facts, odd_curve(5)), (loaded.alone, odd_curve(6))):
        assert curve.answers.dtype == curve.own.dtype == np.float32
        assert curve.to_json() == before.to_json()


def test_a_checkpoint_without_a_calibration_has_none(tmp_path: Path) -> None:
    assert load_calibration(tmp_path) is None


def test_a_file_names_its_format_kind_and_version(tmp_path: Path) -> None:
    data = saved_data(tmp_path)
    curves = ["facts", "alone", "facts_questions", "alone_questions"]
    assert list(data) == [
        "format",
        "kind",
        "version",
        "weights",
        *curves,
        "missing",
        "join",
        "rules",
        "digest",
    ]
    assert (data["format"], data["kind"], data["version"]) == ("nqe-calibration", "bent", 6)


def test_a_file_from_before_formats_had_a_version_is_refused(tmp_path: Path) -> None:
    data = saved_data(tmp_path)
    older = {"facts": data["facts"], "alone": data["alone"]}
    (tmp_path / CALIBRATION_FILE).write_text(json.dumps(older), encoding="utf-8")
    with pytest.raises(StorageError, match="format version 1, but this nqe reads 6; calibrate"):
        load_calibration(tmp_path)


@pytest.mark.parametrize("version", [1, 3, 5])
def test_another_version_is_refused_with_the_command_that_rebuilds_it(
    tmp_path: Path, version: int
) -> None:
    write(tmp_path, saved_data(tmp_path) | {"version": version})
    with pytest.raises(StorageError) as caught:
        load_calibration(tmp_path)
    assert f"format version {version}, but this nqe reads 6;" in str(caught.value)
    assert str(caught.value).endswith(f"with `nqe calibrate {tmp_path}`")


def test_an_unknown_kind_is_refused_with_the_known_ones(tmp_path: Path) -> None:
    write(tmp_path, saved_data(tmp_path) | {"kind": "isotonic"})
    with pytest.raises(
        StorageError,
        match=r"unknown kind of calibration 'isotonic'; this nqe reads bent, so .*`nqe cal",
    ):
        load_calibration(tmp_path)


def test_another_kind_is_added_by_listing_its_class(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Doubled(Calibration):
        kind = "doubled"

    monkeypatch.setitem(CALIBRATIONS, "doubled", Doubled)
    save_calibration(Doubled(odd_curve(5), odd_curve(6)), tmp_path)
    assert isinstance(load_calibration(tmp_path), Doubled)


DAMAGES = (
    "cut",
    "less",
    "more",
    "odd",
    "flat",
    "text",
    "format",
    "nan",
    "infinite",
    "huge",
    "cold",
)


@pytest.mark.parametrize("digests", ["old digests", "new digests"])
@pytest.mark.parametrize("damage", ["", "{", "[]", "{}", '"x"', "\xff", "no answers", *DAMAGES])
def test_a_damaged_calibration_is_reported(tmp_path: Path, damage: str, digests: str) -> None:
    data = saved_data(tmp_path)
    path = tmp_path / CALIBRATION_FILE
    facts = data["facts"]
    less = {name: value for name, value in facts.items() if name != "stated"}
    others = {
        "cut": path.read_text(encoding="utf-8")[:40],
        "less": json.dumps(data | {"facts": less}),
        "odd": json.dumps(data | {"facts": facts | {"own": facts["own"][1:]}}),
        "flat": json.dumps(data | {"facts": facts | {"own": [1], "answers": [1]}}),
        "text": json.dumps(data | {"facts": facts | {"stated": "x"}}),
        "more": json.dumps(data | {"alone": data["alone"] | {"own": [[1], [2, 3]]}}),
        "format": json.dumps(data | {"format": "nqe-graph"}),
        "nan": json.dumps(data | {"facts": facts | {"stated": float("nan")}}),
        "infinite": json.dumps(data | {"facts": facts | {"stated": 7}}).replace(": 7", ": 1e999"),
        "huge": json.dumps(data | {"facts": facts | {"own": [[1e300] * 3] * len(facts["own"])}}),
        "cold": json.dumps(data | {"facts": facts | {"temperature": 0}}),
        "no answers": json.dumps(
            data | {"facts": facts | {"answers": [[0] * 3] * len(facts["own"])}}
        ),
    }
    path.write_bytes(others.get(damage, damage).encode("latin-1"))
    if digests == "new digests":
        sign_again(path)
    with pytest.raises(
        StorageError, match=r"calibration\.json: damaged \(.*\); calibrate the model again with `"
    ):
        load_calibration(tmp_path)


def saved_data(folder: Path) -> dict[str, Any]:
    """Save a calibration, and return the data of its file."""
    save_calibration(odd_calibration(), folder)
    data: dict[str, Any] = json.loads((folder / CALIBRATION_FILE).read_text(encoding="utf-8"))
    return data


def write(folder: Path, data: dict[str, Any]) -> None:
    (folder / CALIBRATION_FILE).write_text(json.dumps(data), encoding="utf-8")
