"""The experiment on Query2Box's queries: what a model sees, which queries are asked, the rows."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from small_experiments import TOWNS
from toy_dataset import MODEL

from nqe.errors import NqeError
from nqe.graph import Dataset, Fact
from nqe.query import execute
from nqe.reproduction.field_tables import build_query2box_tables
from nqe.reproduction.query2box import (
    QUICK,
    RUNNERS,
    SHAPES,
    Query2Box,
    Query2BoxExperiment,
    choose_runners,
    close_atoms,
    reproduce_query2box,
)
from nqe.reproduction.results import HARD, HITS, Result
from nqe.sampling import sample
from nqe.settings import ModelSettings, SamplingSettings
from nqe.training import fit_weights

TINY = replace(QUICK, model=ModelSettings(**MODEL))
ROWS = ("embedding", "hybrid on train", "hybrid with rules on train")


def without_qualifiers(dataset: Dataset) -> Dataset:
    names = dataset.vocabulary
    return Dataset.of(
        {
            split: [
                Fact(
                    names.entities.ids[facts.subject[row]],
                    names.relations.ids[facts.relation[row]],
                    names.entities.ids[facts.object[row]],
                )
                for row in range(len(facts))
            ]
            for split, facts in dataset.splits.items()
        }
    )


@pytest.fixture(scope="module")
def data() -> Query2Box:
    dataset = without_qualifiers(TOWNS)
    settings = SamplingSettings(shapes=SHAPES, train=0, valid=3, test=3)
    return Query2Box.of(dataset, sample(dataset, settings, workers=1).splits)


@pytest.fixture(scope="module")
def output(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("query2box")


def small(data: Query2Box, output: Path, *rows: str, **changes: Any) -> Query2BoxExperiment:
    experiment = Query2BoxExperiment(data, "towns", output, "tiny", TINY, 2, rows=rows)
    return replace(experiment, **changes)


@pytest.fixture(scope="module")
def results(data: Query2Box, output: Path) -> dict[str, Result]:
    return {one.row: one for one in reproduce_query2box(small(data, output, *ROWS))}


def test_the_model_sees_no_test_facts(data: Query2Box) -> None:
    assert list(data.seen.splits) == ["train", "valid"]
    assert data.seen.vocabulary.same_ids(data.truth.vocabulary)


def test_every_shape_gets_as_many_queries_as_asked_for(data: Query2Box) -> None:
    assert Counter(data.draw("test", 1).shape) == dict.fromkeys(SHAPES, 1)
    assert data.draw("test", 1).plans == data.draw("test", 1).plans


def test_the_missing_links_of_drawn_queries_are_counted(data: Query2Box) -> None:
    assert data.draw("test", 2).missing.values.min() >= 1


def test_closed_atoms_have_the_same_answers_in_a_graph_of_triples() -> None:
    dataset = without_qualifiers(TOWNS)
    settings = SamplingSettings(shapes=("1p", "2p", "2i"), train=3, valid=0, test=0, match="open")
    table = sample(dataset, settings, workers=1).splits["train"]
    closed = close_atoms(table)
    assert not table.plans.closed.any()
    assert closed.plans.closed.any()
    assert replace(closed.plans, closed=table.plans.closed) == table.plans
    known = dataset.known("train")
    for row in range(len(table)):
        before, after = (execute(one.plans.plan(row), known).answers for one in (table, closed))
        assert np.array_equal(before, after)


def test_each_row_has_both_measures_of_nine_shapes(results: dict[str, Result]) -> None:
    assert list(results) == list(ROWS)
    for one in results.values():
        assert set(one.scores[HARD].values) == set(one.scores[HITS].values) == set(SHAPES)
        assert one.missing.values


def test_rows_share_a_run_and_differ_in_what_they_look_up(
    output: Path, results: dict[str, Result]
) -> None:
    assert [path.name for path in (output / "runs").iterdir()] == ["query2box-model-seed-0"]
    assert [one.facts for one in results.values()] == [None, "train", "train"]
    assert len({tuple(one.scores[HARD].values.values()) for one in results.values()}) == 3


def test_what_is_done_is_not_done_again(
    data: Query2Box, output: Path, results: dict[str, Result]
) -> None:
    before = {path: path.stat().st_mtime_ns for path in (output / "results").iterdir()}
    again = reproduce_query2box(small(data, output, *ROWS))
    assert [one.to_json() for one in again] == [one.to_json() for one in results.values()]
    assert {path: path.stat().st_mtime_ns for path in (output / "results").iterdir()} == before


def test_another_number_of_queries_is_refused(
    data: Query2Box, output: Path, results: dict[str, Result]
) -> None:
    assert results
    with pytest.raises(NqeError, match="computed from other queries; choose another folder"):
        reproduce_query2box(small(data, output, *ROWS, count=1))


def test_a_given_run_is_used_however_long_it_trained(data: Query2Box, tmp_path: Path) -> None:
    longer = replace(TINY, train=replace(TINY.train, steps=6))
    fit_weights(data.seen, tmp_path / "run", settings=longer, name="towns")
    given = small(data, tmp_path / "out", "embedding", given=[tmp_path / "run"])
    assert reproduce_query2box(given)[0].training.steps == 6
    assert not (tmp_path / "out" / "runs").exists()


def test_the_published_averages_stand_above_ours(results: dict[str, Result]) -> None:
    hits, mrr, *_ = build_query2box_tables("query2box", list(results.values()))
    assert [row[:2] for row in hits.rows[:3]] == [
        ("GQE (published)", 22.8),
        ("Query2Box (published)", 26.8),
        ("CQD-Beam (published)", 29.0),
    ]
    assert [str(row[0]) for row in mrr.rows] == [
        name if name in ROWS else f"{name}, not run yet" for name in RUNNERS
    ]


def test_an_unknown_row_is_refused() -> None:
    assert choose_runners(None) == list(RUNNERS)
    with pytest.raises(NqeError, match="unknown row 'hybrid'; choose some of embedding, hybrid wi"):
        choose_runners(["hybrid"])
