"""Presets of the experiments: the time of rows, their shapes and their graphs."""

from __future__ import annotations

from pathlib import Path

import pytest

from nqe.demo import demo_dataset
from nqe.errors import NqeError
from nqe.reproduction.graphs import open_graph
from nqe.reproduction.presets import PRESETS
from nqe.reproduction.rows import NFOL, QE
from nqe.sampling.presets import PRESETS as SAMPLING


def test_a_row_takes_ten_minutes_on_a_laptop_and_is_validated_every_minute() -> None:
    train = PRESETS["laptop"].settings.train
    assert (train.minutes, train.evaluate_minutes) == (10.0, 1.0)


def test_a_given_time_replaces_the_number_of_steps() -> None:
    train = PRESETS["quick"].with_minutes(120.0).settings.train
    assert (train.minutes, train.steps, train.evaluate_steps) == (120.0, None, None)
    assert train.evaluate_minutes == 5.0


@pytest.mark.parametrize("benchmark", [NFOL, QE])
def test_queries_are_sampled_like_the_benchmark_but_for_their_number(benchmark: str) -> None:
    ours, theirs = PRESETS["laptop"].sampling(benchmark), SAMPLING[benchmark]
    counts = {"train", "valid", "test"}
    same = ours.to_json().keys() - counts
    assert {name: ours.to_json()[name] for name in same} == {
        name: theirs.to_json()[name] for name in same
    }


def test_the_quick_preset_recognizes_atlas_and_the_others_do_not() -> None:
    fitting = [name for name, preset in PRESETS.items() if preset.fits(demo_dataset())]
    assert fitting == ["quick"]


@pytest.mark.parametrize(("name", "folder"), [("laptop", "wd50k_100"), ("full", "wd50k")])
def test_the_other_presets_recognize_their_graphs(
    shared_data: Path, name: str, folder: str
) -> None:
    lines = (shared_data / folder / "train.txt").read_text(encoding="utf-8").splitlines()
    assert len(set(lines)) == PRESETS[name].train_facts


def test_shapes_of_another_benchmark_are_refused() -> None:
    with pytest.raises(NqeError, match="2in is no shape of wd50k-qe; choose some of 1p, 2p"):
        PRESETS["laptop"].with_shapes(QE, ["1p", "2in"])


def test_the_published_files_of_a_graph_can_be_used_without_importing_them(tmp_path: Path) -> None:
    folder = tmp_path / "wd50k"
    folder.mkdir()
    (folder / "train.txt").write_text("Q1,P1,Q2\n")
    assert len(open_graph(str(folder)).splits["train"]) == 1
    assert open_graph("atlas") == demo_dataset()


def test_of_jf17k_the_n_ary_files_are_read(tmp_path: Path) -> None:
    folder = tmp_path / "jf17k"
    folder.mkdir()
    (folder / "train.txt").write_text(
        "".join(f"film.role\ta{number}\tb{number}\tc\n" for number in range(4))
    )
    (folder / "train.hyper.csv").write_text("a,film.role,b,film.role_2,c\n")
    assert len(open_graph(str(folder)).splits["train"]) == 4


def test_a_graph_that_is_not_there_is_refused() -> None:
    with pytest.raises(NqeError, match="nowhere: not a graph folder"):
        open_graph("nowhere")
