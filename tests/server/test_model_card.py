"""What is known about a model: the reliability that calibrating measured."""

from __future__ import annotations

from pathlib import Path

import pytest

from nqe.documents import render_document
from nqe.errors import StorageError
from nqe.run_folders import RELIABILITY_FILE
from nqe.server.model_card import read_reliability

ALL = {"error": 0.1, "brier": 0.2, "base_brier": 0.25, "bins": []}


def write(folder: Path, **content: object) -> Path:
    path = folder / RELIABILITY_FILE
    path.write_text(render_document(path, content), encoding="utf-8")
    return path


def test_the_reliability_over_all_shapes_is_read_without_the_place_of_the_model(
    tmp_path: Path,
) -> None:
    shapes = {"1p": ALL | {"error": 0.3}, "all": ALL}
    path = write(tmp_path, checkpoint="a.run", split="test", before=shapes, after=shapes)
    assert read_reliability(path) == {"split": "test", "before": ALL, "after": ALL}


def test_a_model_whose_reliability_was_not_measured_has_none(tmp_path: Path) -> None:
    assert read_reliability(tmp_path / RELIABILITY_FILE) is None


@pytest.mark.parametrize("content", ["{", "[]", '{"after": {}}'])
def test_a_damaged_file_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / RELIABILITY_FILE
    path.write_text(content)
    with pytest.raises(StorageError, match="run `nqe calibrate` again"):
        read_reliability(path)
