"""What benchmarks reuse: only what was made from the same data, settings and versions."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from cache import Stamp, read_values, use_folder, use_values, why_unusable

STAMP = Stamp("f1", {"shapes": ["1p"], "train": {"minutes": 4}}, {"sampler": 1, "model": 1})
OTHERS = {
    "other data": (replace(STAMP, data="f2"), 'data was "f1" and is "f2"'),
    "other settings": (
        replace(STAMP, settings={"shapes": ["1p"], "train": {"minutes": 40}}),
        "settings.train.minutes was 4 and is 40",
    ),
    "a new setting": (
        replace(STAMP, settings={**STAMP.settings, "draw": "fact"}),
        'settings.draw was absent and is "fact"',
    ),
    "a newer sampler": (
        replace(STAMP, versions={"sampler": 2, "model": 1}),
        "versions.sampler was 1 and is 2",
    ),
}


class Maker:
    """Fills a folder, and counts how often."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.count = folder, 0

    def __call__(self) -> None:
        self.count += 1
        self.folder.mkdir()
        (self.folder / f"made{self.count}").touch()


@pytest.fixture
def maker(tmp_path: Path) -> Maker:
    """A folder that was made once."""
    maker = Maker(tmp_path / "queries")
    use_folder(maker.folder, STAMP, maker)
    return maker


def test_the_same_stamp_is_reused_without_a_word(
    maker: Maker, capsys: pytest.CaptureFixture[str]
) -> None:
    use_folder(maker.folder, STAMP, maker)
    assert maker.count == 1
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(("stamp", "reason"), OTHERS.values(), ids=OTHERS)
def test_another_stamp_is_refused_and_the_folder_made_again_with_the_reason(
    maker: Maker, capsys: pytest.CaptureFixture[str], stamp: Stamp, reason: str
) -> None:
    assert why_unusable(maker.folder, stamp) == reason
    use_folder(maker.folder, stamp, maker)
    assert [path.name for path in maker.folder.iterdir()] == ["made2"]
    assert capsys.readouterr().out == f"{maker.folder}: made again, because {reason}\n"
    assert why_unusable(maker.folder, stamp) is None


def test_a_folder_without_a_stamp_is_refused(maker: Maker) -> None:
    maker.folder.with_name("queries.stamp.json").unlink()
    assert why_unusable(maker.folder, STAMP) == "it has no stamp"
    use_folder(maker.folder, STAMP, maker)
    assert maker.count == 2


def test_a_stamp_without_its_folder_is_no_folder(maker: Maker) -> None:
    assert why_unusable(maker.folder.with_name("other"), STAMP) == "there is none"


def test_what_was_interrupted_goes_on_and_is_not_reused_before(tmp_path: Path) -> None:
    folder = tmp_path / "run"

    def interrupted() -> None:
        folder.mkdir()
        (folder / "half").touch()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        use_folder(folder, STAMP, interrupted)
    assert why_unusable(folder, STAMP) == "it was not finished"
    use_folder(folder, STAMP, (folder / "whole").touch)
    assert sorted(path.name for path in folder.iterdir()) == ["half", "whole"]
    assert why_unusable(folder, STAMP) is None


def test_values_are_kept_with_their_stamp(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "new" / "links.json"
    assert use_values(path, STAMP, lambda: {"mrr": 0.5}) == {"mrr": 0.5}
    assert use_values(path, STAMP, dict) == {"mrr": 0.5}
    other, reason = OTHERS["a newer sampler"]
    assert read_values(path, other) is None
    assert capsys.readouterr().out == f"{path}: not reused, because {reason}\n"
    assert use_values(path, other, lambda: {"mrr": 0.6}) == {"mrr": 0.6}
    path.write_text(json.dumps({"mrr": 0.7}))
    assert read_values(path, STAMP) is None
