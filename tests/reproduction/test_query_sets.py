"""The query set of a benchmark: sampled once, with many one-hop queries, and recognized."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from small_experiments import COUNTS, SHAPES, TINY, TOWNS

from nqe.errors import NqeError
from nqe.reproduction.query_sets import BenchmarkQueries, use_queries
from nqe.reproduction.rows import NFOL
from nqe.sampling import load_queries, sample, save_queries


@pytest.fixture(scope="module")
def queries(tmp_path_factory: pytest.TempPathFactory) -> BenchmarkQueries:
    return use_queries(TOWNS, NFOL, TINY, tmp_path_factory.mktemp("queries"), place="towns")


def test_training_has_more_one_hop_queries_than_others(queries: BenchmarkQueries) -> None:
    counts = Counter(load_queries(queries.folder, "train").shape)
    assert counts == {"1p": COUNTS.one_hop, "2i": COUNTS.train, "2in": COUNTS.train}


def test_test_queries_are_those_of_the_benchmark(queries: BenchmarkQueries) -> None:
    plain = sample(TOWNS, TINY.sampling(NFOL), workers=1).splits["test"]
    assert queries.load_test().plans == plain.plans
    assert Counter(plain.shape) == dict.fromkeys(SHAPES, COUNTS.test)


def test_a_set_is_sampled_once(queries: BenchmarkQueries) -> None:
    before = {path: path.stat().st_mtime_ns for path in queries.folder.iterdir()}
    again = use_queries(TOWNS, NFOL, TINY, queries.folder.parent)
    assert again == queries
    assert {path: path.stat().st_mtime_ns for path in queries.folder.iterdir()} == before


def test_its_digest_is_the_same_wherever_it_and_its_graph_are(
    queries: BenchmarkQueries, tmp_path: Path
) -> None:
    again = use_queries(TOWNS, NFOL, TINY, tmp_path, place="elsewhere/towns")
    assert again.digest == queries.digest


def test_its_digest_differs_for_other_queries(queries: BenchmarkQueries, tmp_path: Path) -> None:
    fewer = replace(TINY, counts={NFOL: replace(COUNTS, one_hop=30)})
    assert use_queries(TOWNS, NFOL, fewer, tmp_path).digest != queries.digest


def test_a_given_set_of_the_benchmark_is_used(queries: BenchmarkQueries, tmp_path: Path) -> None:
    settings = replace(TINY.sampling(NFOL), test=2, seed=5)
    save_queries(sample(TOWNS, settings, workers=1), tmp_path / "mine")
    found = use_queries(TOWNS, NFOL, TINY, tmp_path, given=tmp_path / "mine")
    assert found.folder == tmp_path / "mine"
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]
    assert found.digest != queries.digest


def test_a_given_set_that_is_not_of_the_benchmark_is_refused(tmp_path: Path) -> None:
    settings = replace(TINY.sampling(NFOL), match="open", train=1, valid=1, test=1)
    save_queries(sample(TOWNS, settings, workers=1), tmp_path / "mine")
    with pytest.raises(NqeError, match=r"mine: not queries of wd50k-nfol \(match is open, not"):
        use_queries(TOWNS, NFOL, TINY, tmp_path, given=tmp_path / "mine")


def test_a_given_set_that_lacks_a_shape_is_refused(tmp_path: Path) -> None:
    settings = replace(TINY.sampling(NFOL), shapes=("1p",))
    save_queries(sample(TOWNS, settings, workers=1), tmp_path / "mine")
    with pytest.raises(NqeError, match="mine: has no train queries of 2i, 2in; give another"):
        use_queries(TOWNS, NFOL, TINY, tmp_path, given=tmp_path / "mine")
