"""Where training queries come from: passes over a table, and the graph itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st
from toy_dataset import settings, town_queries, towns

from nqe.errors import NqeError
from nqe.graph import Dataset
from nqe.graph.pattern import Kind
from nqe.query.plan import Op
from nqe.sampling import QueryTable, sample
from nqe.sampling.one_hop import closed_queries
from nqe.settings import SamplingSettings, TrainSettings
from nqe.training.query_sources import (
    GraphSource,
    Place,
    Source,
    TableSource,
    check_numbers,
    graph_source,
    query_table,
    source_of,
)
from nqe.training.validation import validation_of

DATASET = towns()
CLOSED = closed_queries(DATASET.splits["train"])
SAMPLED = sample(
    DATASET, SamplingSettings(shapes=("1p", "2i", "2in"), train=20, valid=0, test=0), workers=1
).splits["train"]
SHAPES = ("1p", "2p", "2in", "2u")
TRAIN: TrainSettings = settings(batch=20).train


def keys(table: QueryTable) -> list[tuple[bytes, ...]]:
    """What tells queries and their answers apart, a row each."""
    return [
        tuple(getattr(table, name)[row].tobytes() for name in ("steps", "slots", "easy"))
        for row in range(len(table))
    ]


def some(source: Source, count: int, place: Place | None = None) -> list[tuple[QueryTable, Place]]:
    return list(islice(source.batches(place or Place()), count))


@examples(max_examples=25)
@given(batch=st.integers(1, 70), by_shape=st.booleans(), seed=st.integers(0, 9), at=st.data())
def test_batches_of_a_table_are_the_same_from_any_place_on(
    batch: int, by_shape: bool, seed: int, at: st.DataObject
) -> None:
    source = TableSource(SAMPLED, batch, by_shape, seed)
    count = 2 * source.epoch_batches + 1
    whole = some(source, count)
    start = at.draw(st.integers(0, count - 1))
    place = whole[start - 1][1] if start else Place()
    rest = some(source, count - start, Place.of_json(vars(place)))
    assert [keys(table) for table, _ in rest] == [keys(table) for table, _ in whole[start:]]
    assert [one for _, one in rest] == [one for _, one in whole[start:]]


@examples(max_examples=25)
@given(batch=st.integers(1, 70), by_shape=st.booleans(), seed=st.integers(0, 9))
def test_an_epoch_of_a_table_sees_every_query_once(batch: int, by_shape: bool, seed: int) -> None:
    source = TableSource(SAMPLED, batch, by_shape, seed)
    epoch = some(source, source.epoch_batches)
    assert epoch[-1][1] == Place(1)
    assert all(0 < len(table) <= batch for table, _ in epoch)
    seen = Counter(key for table, _ in epoch for key in keys(table))
    assert seen == Counter(keys(SAMPLED))


def test_batches_by_shape_hold_one_shape_and_come_in_any_order() -> None:
    source = TableSource(SAMPLED, 7, True, 0)
    shapes = [set(table.shape) for table, _ in some(source, source.epoch_batches)]
    assert all(len(one) == 1 for one in shapes)
    order = [name for one in shapes for name in one]
    assert order != sorted(order)


def test_epochs_and_seeds_differ() -> None:
    def order(seed: int, epoch: int) -> list[tuple[bytes, ...]]:
        return keys(some(TableSource(SAMPLED, 60, False, seed), 1, Place(epoch))[0][0])

    assert order(0, 0) == order(0, 0)
    assert order(0, 0) != order(0, 1)
    assert order(0, 0) != order(1, 0)


def test_a_place_past_the_end_of_an_epoch_means_the_next_one() -> None:
    source = TableSource(SAMPLED, 60, False, 0)
    assert some(source, 1, Place(0, 5))[0][1] == Place(2)


@pytest.fixture(scope="module")
def one_hop() -> Iterator[GraphSource]:
    once = replace(TRAIN, answers_power=0.0)
    with graph_source(DATASET, ["1p"], once, Place()) as source:
        yield source


def test_an_epoch_of_a_graph_sees_every_closed_query_once_and_a_share_of_open_ones(
    one_hop: GraphSource,
) -> None:
    epoch = [table for table, _ in some(one_hop, one_hop.epoch_batches)]
    closed = [table.plans.closed == 1 for table in epoch]
    seen = Counter(
        key
        for table, rows in zip(epoch, closed, strict=True)
        for key in keys(table.take(np.flatnonzero(rows)))
    )
    assert seen == Counter(keys(CLOSED))
    share = 1 - np.concatenate(closed).mean()
    assert share == pytest.approx(0.1, abs=0.01)


def test_epochs_of_a_graph_have_new_open_queries_and_begin_at_any_place(
    one_hop: GraphSource,
) -> None:
    whole = some(one_hop, 2 * one_hop.epoch_batches)
    assert keys(whole[0][0]) != keys(whole[one_hop.epoch_batches][0])
    for start in (1, one_hop.epoch_batches, one_hop.epoch_batches + 3):
        rest = some(one_hop, len(whole) - start, whole[start - 1][1])
        assert [keys(one) for one, _ in rest] == [keys(one) for one, _ in whole[start:]]


def test_a_query_comes_as_often_as_the_power_of_its_answers() -> None:
    chosen = replace(TRAIN, open_share=0.0, answers_power=0.5)
    epochs = 30
    seen: Counter[tuple[bytes, ...]] = Counter()
    with graph_source(DATASET, ["1p"], chosen, Place()) as source:
        for table, _ in some(source, epochs * source.epoch_batches):
            seen.update(keys(table))
    root = np.sqrt(CLOSED.easy.lengths)
    wanted = epochs * len(CLOSED) * root / root.sum()
    counts = np.array([seen[key] for key in keys(CLOSED)])
    assert counts.sum() == epochs * len(CLOSED)
    # Each epoch gives a query what is right, rounded down or up.
    assert np.abs(counts - wanted).max() < epochs
    for answers in np.unique(CLOSED.easy.lengths):
        alike = CLOSED.easy.lengths == answers
        spread = 4 * np.sqrt(epochs / 4 / alike.sum())
        assert counts[alike].mean() == pytest.approx(wanted[alike].mean(), abs=spread)


@pytest.mark.parametrize(("share", "closed"), [(0.0, {1}), (1.0, {0})])
def test_all_queries_may_be_closed_or_open(share: float, closed: set[int]) -> None:
    with graph_source(DATASET, ["1p"], replace(TRAIN, open_share=share), Place()) as source:
        tables = [table for table, _ in some(source, source.epoch_batches)]
    assert {int(one) for table in tables for one in table.plans.closed} == closed


@pytest.fixture(scope="module")
def drawn() -> tuple[GraphSource, list[tuple[QueryTable, Place]], list[QueryTable]]:
    """A source of several shapes, its first batches, and batches of one shape each."""
    with graph_source(DATASET, list(SHAPES), TRAIN, Place()) as source:
        first = some(source, 9)
        alone = replace(source, settings=replace(TRAIN, batching="by-shape"))
        return source, first, [table for table, _ in some(alone, 40)]


Drawn = tuple[GraphSource, list[tuple[QueryTable, Place]], list[QueryTable]]


def test_shapes_have_their_shares_of_every_batch(drawn: Drawn) -> None:
    total: Counter[str] = Counter()
    for table, _ in drawn[1]:
        counts = Counter(table.shape)
        assert counts["1p"] == 10
        assert {counts[name] for name in SHAPES[1:]} <= {3, 4}
        total += counts
    assert [total[name] for name in SHAPES] == [90, 30, 30, 30]


def test_drawn_queries_go_on_where_they_were(drawn: Drawn) -> None:
    first = drawn[1]
    saved = Place.of_json(vars(first[3][1]))
    assert saved.streams is not None
    with graph_source(DATASET, list(SHAPES), replace(TRAIN, workers=2), saved) as source:
        rest = some(source, 5, saved)
    assert [keys(table) for table, _ in rest] == [keys(table) for table, _ in first[4:]]
    assert [place for _, place in rest] == [place for _, place in first[4:]]


def test_batches_by_shape_from_a_graph_have_one_shape_by_the_shares(drawn: Drawn) -> None:
    tables = drawn[2]
    assert all(len(set(table.shape)) == 1 and len(table) == 20 for table in tables)
    counts = Counter(table.shape[0] for table in tables)
    assert 10 <= counts["1p"] <= 30
    assert set(counts) == set(SHAPES)


def test_a_share_of_nothing_leaves_one_hop_queries_out(drawn: Drawn) -> None:
    source = replace(drawn[0], settings=replace(TRAIN, one_hop_share=0.0))
    assert source.epoch_batches == len(CLOSED) // 20


def test_the_facts_to_train_on_can_be_those_of_several_splits() -> None:
    counts = {}
    for facts in ("train", "train,valid", "all"):
        chosen = replace(TRAIN, facts=facts, open_share=0.0)
        with graph_source(DATASET, ["1p"], chosen, Place()) as source:
            counts[facts] = len(source.closed)
    assert counts["train"] < counts["train,valid"] < counts["all"]


@pytest.mark.parametrize(
    ("facts", "sentence"),
    [
        ("train,dev", "there is no dev split; the data set has train, valid, test"),
        ("none", "train.facts is 'none', which has no facts; name other splits"),
        ("", "no split is named; the data set has"),
    ],
)
def test_facts_that_are_not_there_are_told(facts: str, sentence: str) -> None:
    with (
        pytest.raises(NqeError, match=sentence),
        source_of(DATASET, None, replace(TRAIN, facts=facts), Place()),
    ):
        pass


def test_a_split_without_facts_is_told() -> None:
    nothing = DATASET.splits["train"].take(np.zeros(0, dtype=np.int64))
    hollow = Dataset(DATASET.vocabulary, {"train": nothing, "valid": DATASET.splits["valid"]})
    with (
        pytest.raises(NqeError, match="which has no facts; name other splits"),
        source_of(hollow, None, TRAIN, Place()),
    ):
        pass


def test_a_query_set_without_a_wanted_shape_or_split_is_told(tmp_path: Path) -> None:
    folder = str(town_queries(DATASET, tmp_path / "q", "1p", "2i", train=5))
    assert set(query_table(DATASET, folder, "train", ["2i"]).shape) == {"2i"}
    with pytest.raises(NqeError, match="no train queries of shape 3p; sample some, or name"):
        query_table(DATASET, folder, "train", ["1p", "3p"])
    with pytest.raises(NqeError, match="no test queries; the set has train, valid"):
        query_table(DATASET, folder, "test")


@pytest.mark.parametrize("change", ["anchor", "answer", "relation", "attribute", "negative"])
def test_numbers_that_the_graph_does_not_have_are_told(change: str) -> None:
    table = SAMPLED.take(np.arange(len(SAMPLED)))
    plans, values = table.plans, table.easy.values
    attributes = np.flatnonzero(plans.attribute >= 0)
    anchors = np.flatnonzero(plans.kind == Kind.KNOWN)
    match change:
        case "anchor":
            plans.filler[anchors[-1]] = 76
        case "answer":
            values[3] = 99
        case "relation":
            plans.relation[plans.op == Op.PROJECTION] = 6
        case "attribute":
            plans.attribute[attributes[-1]] = 7
        case _:
            values[0] = -1
    kind = "relation" if change in ("relation", "attribute") else "entity"
    with pytest.raises(NqeError, match=rf"q: {kind} number -?\d+ is not one of the graph's"):
        check_numbers(table, DATASET.vocabulary, "q")
    check_numbers(SAMPLED, DATASET.vocabulary, "q")


@pytest.mark.parametrize("facts", ["train,valid", "all", "valid"])
def test_facts_that_are_learnt_are_not_validated_on(facts: str) -> None:
    assert validation_of(DATASET, None, replace(TRAIN, facts=facts)) is None


def test_validation_queries_are_as_many_as_wanted_and_always_the_same(tmp_path: Path) -> None:
    one, other = (validation_of(DATASET, None, TRAIN) for _ in range(2))
    assert one is not None
    assert other is not None
    assert keys(one) == keys(other)
    few = validation_of(DATASET, None, replace(TRAIN, valid_queries=5))
    assert few is not None
    assert len(few) == 5
    assert (few.hard.lengths > 0).all()
    folder = str(town_queries(DATASET, tmp_path / "q", "1p", "2i", train=5))
    of_set = validation_of(DATASET, folder, replace(TRAIN, shapes=()))
    assert of_set is not None
    assert Counter(of_set.shape) == {"1p": 10, "2i": 10}


def test_without_validation_facts_or_queries_there_is_no_validation(tmp_path: Path) -> None:
    bare = Dataset(DATASET.vocabulary, {"train": DATASET.splits["train"]})
    assert validation_of(bare, None, TRAIN) is None
    folder = str(town_queries(DATASET, tmp_path / "q", "2i", train=5))
    assert validation_of(DATASET, folder, replace(TRAIN, shapes=("1p",))) is None


@pytest.mark.parametrize("share", [0.999, 1.0])
def test_an_epoch_of_open_queries_alone_has_no_empty_batches(share: float) -> None:
    dataset = towns()
    settings = TrainSettings(open_share=share, batch=8, shapes=("1p",))
    with graph_source(dataset, ["1p"], settings, Place()) as source:
        batches = source.batches(Place())
        sizes = [len(next(batches)[0]) for _ in range(source.epoch_batches)]
    assert min(sizes) > 0
