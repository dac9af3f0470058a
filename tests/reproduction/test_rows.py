"""The rows of the paper's tables: which there are, what they change, and which are refused."""

from __future__ import annotations

from dataclasses import replace

import pytest

from nqe.errors import NqeError
from nqe.evaluation.published_results import BENCHMARKS
from nqe.query.shapes import SHAPES
from nqe.reproduction.presets import PRESETS, Preset, build_row_settings
from nqe.reproduction.rows import NFOL, QE, ROWS, Row, choose_rows, rows_of
from nqe.sampling.presets import CONJUNCTIVE
from nqe.settings import ModelSettings, RunSettings

LAPTOP = PRESETS["laptop"]


@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_every_published_row_has_one_of_ours_in_the_same_order(benchmark: str) -> None:
    names = [row.name for row in rows_of(benchmark)]
    assert names[: len(BENCHMARKS[benchmark])] == list(BENCHMARKS[benchmark])
    assert [name for name in names[len(BENCHMARKS[benchmark]) :] if "hybrid" not in name] == []


@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_every_row_can_express_all_shapes_of_its_benchmark(benchmark: str) -> None:
    shapes = LAPTOP.choose_shapes(benchmark)
    names = [row.name for row in rows_of(benchmark)]
    assert [row.name for row in choose_rows(benchmark, names, shapes)] == names


@pytest.mark.parametrize("row", ROWS.values(), ids=lambda row: row.name)
def test_a_row_differs_from_nqe_in_what_it_says_and_in_nothing_else(row: Row) -> None:
    own = build_row_settings(LAPTOP, row, 3).to_json()
    nqe = build_row_settings(LAPTOP, ROWS["NQE"], 3).to_json()
    told = [
        (section, name, value)
        for section, values in row.changes.items()
        for name, value in values.items()
    ]
    told.append(("train", "shapes", list(row.train_shapes)))
    for section, name, value in told:
        assert own[section][name] == value
        nqe[section][name] = value
    assert own == nqe


def test_starqe_has_no_settings_of_nqes_encoder() -> None:
    larger = replace(LAPTOP, settings=RunSettings(ModelSettings(width=64, layers=5, context=9)))
    model = build_row_settings(larger, ROWS["StarQE"], 0).model
    assert model == ModelSettings(kind="starqe", width=64, layers=3, dropout=0.3)


@pytest.mark.parametrize("preset", PRESETS.values(), ids=PRESETS)
def test_every_row_can_be_built_with_every_preset(preset: Preset) -> None:
    for row in ROWS.values():
        assert build_row_settings(preset, row, 1).train.seed == 1


def test_hybrid_rows_answer_by_the_runs_of_other_rows() -> None:
    hybrid = {name: row.run_row for name, row in ROWS.items() if "hybrid" in name}
    assert set(hybrid.values()) == {"NQE", "NQE-1p"}
    assert not any(ROWS[name].ranks_easy_answers for name in hybrid)


def test_names_of_rows_may_be_in_any_case_and_order() -> None:
    rows = choose_rows(NFOL, ["nqe", "NODEH-only"], tuple(SHAPES))
    assert [row.name for row in rows] == ["NodeH-only", "NQE"]


def test_a_row_that_cannot_express_a_shape_is_refused() -> None:
    with pytest.raises(NqeError, match=r"StarQE cannot express 2u, 2in, only 1p, .*; leave the r"):
        choose_rows(QE, ["StarQE"], ("1p", "2u", "2in"))


def test_a_row_of_another_benchmark_is_refused() -> None:
    with pytest.raises(NqeError, match="Logic-blind is no row of wd50k-qe; it belongs to wd50k-nf"):
        choose_rows(QE, ["Logic-blind"], CONJUNCTIVE)


def test_an_unknown_row_is_refused_with_those_of_the_benchmark() -> None:
    with pytest.raises(NqeError, match="unknown row 'NQ'; choose some of StarQE-1p, StarQE, NQE-1"):
        choose_rows(QE, ["NQ"], CONJUNCTIVE)
