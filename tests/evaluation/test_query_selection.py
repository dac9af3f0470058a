"""Selecting the queries to evaluate: by split, by shape, and a few of each."""

from __future__ import annotations

import pytest

import nqe
from nqe.errors import NqeError
from nqe.evaluation.query_selection import QuerySelection
from nqe.sampling import sample, save_queries
from nqe.settings import SamplingSettings

TREE = "And(P(P()), P(), Not(P()))"


@pytest.fixture(scope="module")
def queries(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("selected") / "atlas.queries"
    settings = SamplingSettings(shapes=("1p", "2in", TREE), train=1, valid=2, test=3)
    save_queries(sample(nqe.demo_dataset(), settings, workers=1), folder, "atlas")
    return str(folder)


def test_a_whole_split_is_selected_unless_a_part_is_asked_for(queries: str) -> None:
    whole = QuerySelection(queries)
    assert whole.is_whole_split
    assert sorted(whole.load().shape) == sorted(["1p", "2in", TREE] * 3)
    assert len(QuerySelection(queries, "valid").load()) == 6


def test_shapes_may_be_names_or_trees_and_the_first_queries_of_each_are_taken(
    queries: str,
) -> None:
    selection = QuerySelection(queries, shapes=("P()", TREE), limit=2)
    assert not selection.is_whole_split
    table, whole = selection.load(), QuerySelection(queries).load()
    assert sorted(table.shape) == sorted(["1p", TREE] * 2)
    first = [row for row, shape in enumerate(whole.shape) if shape == "1p"][:2]
    mine = [row for row, shape in enumerate(table.shape) if shape == "1p"]
    assert [whole.plans.plan(row) for row in first] == [table.plans.plan(row) for row in mine]


def test_shapes_that_the_split_does_not_have_are_refused(queries: str) -> None:
    with pytest.raises(NqeError, match=r"no queries of shapes 3p, 2u; the split has .*1p"):
        QuerySelection(queries, shapes=("3p", "2u")).load()
    with pytest.raises(NqeError, match="no dev queries; the set has train, valid, test"):
        QuerySelection(queries, "dev").load()


def test_a_selection_says_which_queries_it_takes(queries: str) -> None:
    about = QuerySelection(queries).describe()
    assert about["queries"] == queries
    assert about["benchmark"] is None
    assert about["fingerprint"] == nqe.demo_dataset().fingerprint
    assert about["digest"] == QuerySelection(queries, "valid", limit=1).describe()["digest"]
