"""Sources of training queries: epochs over a query table, and queries drawn from a graph."""

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
from toy_dataset import keys, settings, town_queries, towns

from nqe.errors import NqeError
from nqe.graph import Dataset
from nqe.graph.arrays import Booleans
from nqe.graph.pattern import Kind
from nqe.query.exact import execute
from nqe.query.plan import Op
from nqe.sampling import QueryTable, sample
from nqe.sampling.one_hop import make_closed_queries
from nqe.settings import SamplingSettings, TrainSettings
from nqe.training import query_sources
from nqe.training.query_sources import (
    GraphSource,
    Position,
    QuerySource,
    TableSource,
    check_numbers,
    load_checked_queries,
    open_graph_source,
    open_source,
)

DATASET = towns()
CLOSED = make_closed_queries(DATASET.splits["train"])
SAMPLED = sample(
    DATASET, SamplingSettings(shapes=("1p", "2i", "2in"), train=20, valid=0, test=0), workers=1
).splits["train"]
SHAPES = ("1p", "2p", "2in", "2u")
WIDE = {f"And({', '.join(['P()'] * parts)})" for parts in range(4, 17)}
TRAIN: TrainSettings = settings(batch=20).train


def take(
    source: QuerySource, count: int, position: Position | None = None
) -> list[tuple[QueryTable, Position]]:
    """Return the first batches from a position on, each with the position after it."""
    return list(islice(source.batches(position or Position()), count))


@examples(max_examples=25)
@given(batch=st.integers(1, 70), by_shape=st.booleans(), seed=st.integers(0, 9), at=st.data())
def test_batches_of_a_table_are_the_same_from_any_position_on(
    batch: int, by_shape: bool, seed: int, at: st.DataObject
) -> None:
    source = TableSource(SAMPLED, batch, by_shape, seed)
    count = 2 * source.epoch_batches + 1
    whole = take(source, count)
    start = at.draw(st.integers(0, count - 1))
    position = whole[start - 1][1] if start else Position()
    rest = take(source, count - start, Position.of_json(vars(position)))
    assert [keys(table) for table, _ in rest] == [keys(table) for table, _ in whole[start:]]
    assert [one for _, one in rest] == [one for _, one in whole[start:]]


@examples(max_examples=25)
@given(batch=st.integers(1, 70), by_shape=st.booleans(), seed=st.integers(0, 9))
def test_an_epoch_of_a_table_has_every_query_once(batch: int, by_shape: bool, seed: int) -> None:
    source = TableSource(SAMPLED, batch, by_shape, seed)
    epoch = take(source, source.epoch_batches)
    assert epoch[-1][1] == Position(1)
    assert all(0 < len(table) <= batch for table, _ in epoch)
    seen = Counter(key for table, _ in epoch for key in keys(table))
    assert seen == Counter(keys(SAMPLED))


def test_batches_by_shape_have_one_shape_each_and_come_in_random_order() -> None:
    source = TableSource(SAMPLED, 7, True, 0)
    shapes = [set(table.shape) for table, _ in take(source, source.epoch_batches)]
    assert all(len(one) == 1 for one in shapes)
    order = [name for one in shapes for name in one]
    assert order != sorted(order)


def test_epochs_and_seeds_differ() -> None:
    def order(seed: int, epoch: int) -> list[tuple[bytes, ...]]:
        return keys(take(TableSource(SAMPLED, 60, False, seed), 1, Position(epoch))[0][0])

    assert order(0, 0) == order(0, 0)
    assert order(0, 0) != order(0, 1)
    assert order(0, 0) != order(1, 0)


def test_a_position_after_the_end_of_an_epoch_means_the_next_epoch() -> None:
    source = TableSource(SAMPLED, 60, False, 0)
    assert take(source, 1, Position(0, 5))[0][1] == Position(2)


def closed_queries(table: QueryTable) -> Booleans:
    """Whether the atom of each one-hop query is closed."""
    closed: Booleans = table.plans.closed[table.plans.targets] == 1
    return closed


def without_any(table: QueryTable) -> Booleans:
    """Whether each one-hop query has an entity in every slot that is not asked for."""
    plain: Booleans = table.plans.step_counts == 1
    return plain


@pytest.fixture(scope="module")
def one_hop() -> Iterator[GraphSource]:
    once = replace(TRAIN, answers_power=0.0)
    with open_graph_source(DATASET, ["1p"], once, Position()) as source:
        yield source


def test_an_epoch_of_a_graph_has_every_closed_query_once_and_a_share_of_open_ones(
    one_hop: GraphSource,
) -> None:
    epoch = [table for table, _ in take(one_hop, one_hop.epoch_batches)]
    closed = [closed_queries(table) for table in epoch]
    plain = [
        np.flatnonzero(rows & without_any(table)) for table, rows in zip(epoch, closed, strict=True)
    ]
    seen = Counter(
        key for table, rows in zip(epoch, plain, strict=True) for key in keys(table.take(rows))
    )
    assert not seen - Counter(keys(CLOSED))
    assert seen.total() == pytest.approx(0.95 * len(CLOSED), abs=10)
    assert 1 - np.concatenate(closed).mean() == pytest.approx(0.1, abs=0.01)


def test_epochs_of_a_graph_have_new_open_queries_and_begin_at_any_position(
    one_hop: GraphSource,
) -> None:
    whole = take(one_hop, 2 * one_hop.epoch_batches)
    assert keys(whole[0][0]) != keys(whole[one_hop.epoch_batches][0])
    for start in (1, one_hop.epoch_batches, one_hop.epoch_batches + 3):
        rest = take(one_hop, len(whole) - start, whole[start - 1][1])
        assert [keys(one) for one, _ in rest] == [keys(one) for one, _ in whole[start:]]


def test_a_query_occurs_in_proportion_to_a_power_of_its_number_of_answers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    chosen = replace(TRAIN, open_share=0.0, answers_power=0.5)
    epochs = 30
    seen: Counter[tuple[bytes, ...]] = Counter()
    monkeypatch.setattr(query_sources, "_ANY_SHARE", 0.0)
    with open_graph_source(DATASET, ["1p"], chosen, Position()) as source:
        for table, _ in take(source, epochs * source.epoch_batches):
            seen.update(keys(table))
    root = np.sqrt(CLOSED.easy.lengths)
    wanted = epochs * len(CLOSED) * root / root.sum()
    counts = np.array([seen[key] for key in keys(CLOSED)])
    assert counts.sum() == epochs * len(CLOSED)
    # In each epoch the number of occurrences is rounded down or up.
    assert np.abs(counts - wanted).max() < epochs
    for answers in np.unique(CLOSED.easy.lengths):
        same = CLOSED.easy.lengths == answers
        spread = 4 * np.sqrt(epochs / 4 / same.sum())
        assert counts[same].mean() == pytest.approx(wanted[same].mean(), abs=spread)


@pytest.mark.parametrize(("share", "closed"), [(0.0, {1}), (1.0, {0})])
def test_all_one_hop_queries_can_be_closed_or_open(share: float, closed: set[int]) -> None:
    with open_graph_source(DATASET, ["1p"], replace(TRAIN, open_share=share), Position()) as source:
        tables = [table for table, _ in take(source, source.epoch_batches)]
    assert {int(one) for table in tables for one in closed_queries(table)} == closed


def test_some_one_hop_queries_have_any_and_the_answers_of_the_exact_engine(
    one_hop: GraphSource,
) -> None:
    tables = [table for table, _ in take(one_hop, one_hop.epoch_batches)]
    queries = sum(map(len, tables))
    with_any = [table.take(np.flatnonzero(~without_any(table))) for table in tables]
    assert sum(map(len, with_any)) == pytest.approx(0.05 * queries, abs=1)
    graph = DATASET.known("train")
    for table in with_any:
        for row in range(len(table)):
            found = execute(table.plans.plan(row), graph).answers
            assert found.tolist() == table.easy[row].tolist()


@pytest.mark.parametrize(
    ("shapes", "changes", "expected"),
    [
        (("1p", "2p", "2i"), {}, True),
        (("2i",), {}, True),
        (("1p", "2p", "2u"), {}, False),
        (("1p", "2i"), {"open_share": 1.0}, False),
        (("1p", "2i"), {"batching": "by-shape"}, False),
        (("1p", "2i"), {"one_hop_share": 1.0}, False),
    ],
)
def test_wide_conjunctions_are_drawn_if_shapes_have_conjunctions_of_closed_atoms(
    shapes: tuple[str, ...], changes: dict[str, object], expected: bool
) -> None:
    chosen = replace(TRAIN, batch=60, **changes)
    with open_graph_source(DATASET, shapes, chosen, Position()) as source:
        tables = [table for table, _ in take(source, 6)]
        again = take(source, 1, replace(take(source, 5)[-1][1], streams=None))
    wide = [name for table in tables for name in table.shape if name not in shapes]
    assert bool(wide) == expected
    assert set(wide) <= WIDE
    assert [name for name in again[0][0].shape if name in WIDE] == [
        name for name in tables[5].shape if name in WIDE
    ]


@pytest.fixture(scope="module")
def drawn() -> tuple[GraphSource, list[tuple[QueryTable, Position]], list[QueryTable]]:
    """A source of several shapes, its first batches, and batches with one shape each."""
    with open_graph_source(DATASET, list(SHAPES), TRAIN, Position()) as source:
        first = take(source, 9)
        by_shape = replace(source, settings=replace(TRAIN, batching="by-shape"))
        return source, first, [table for table, _ in take(by_shape, 40)]


Drawn = tuple[GraphSource, list[tuple[QueryTable, Position]], list[QueryTable]]


def test_every_batch_has_equal_parts_of_the_sampled_shapes(drawn: Drawn) -> None:
    total: Counter[str] = Counter()
    for table, _ in drawn[1]:
        counts = Counter(table.shape)
        assert len(table) == 20
        assert counts["1p"] == 10
        assert {counts[name] for name in SHAPES[1:]} <= {3, 4}
        total += counts
    wide = sum(count for name, count in total.items() if name not in SHAPES)
    assert wide <= 6
    assert sum(total[name] for name in SHAPES[1:]) == 90 - wide
    assert {total[name] for name in SHAPES[1:]} <= {28, 29, 30}


def test_sampled_queries_continue_from_a_saved_position(drawn: Drawn) -> None:
    first = drawn[1]
    saved = Position.of_json(vars(first[3][1]))
    assert saved.streams is not None
    with open_graph_source(DATASET, list(SHAPES), replace(TRAIN, workers=2), saved) as source:
        rest = take(source, 5, saved)
    assert [keys(table) for table, _ in rest] == [keys(table) for table, _ in first[4:]]
    assert [after for _, after in rest] == [after for _, after in first[4:]]


def test_batches_by_shape_from_a_graph_have_one_shape_each(drawn: Drawn) -> None:
    tables = drawn[2]
    assert all(len(set(table.shape)) == 1 and len(table) == 20 for table in tables)
    counts = Counter(table.shape[0] for table in tables)
    assert 10 <= counts["1p"] <= 30
    assert set(counts) == set(SHAPES)


def test_a_one_hop_share_of_zero_leaves_one_hop_queries_out(drawn: Drawn) -> None:
    source = replace(drawn[0], settings=replace(TRAIN, one_hop_share=0.0))
    assert source.epoch_batches == len(CLOSED) // 20


def test_the_facts_to_train_on_can_be_those_of_several_splits() -> None:
    counts = {}
    for facts in ("train", "train,valid", "all"):
        chosen = replace(TRAIN, facts=facts, open_share=0.0)
        with open_graph_source(DATASET, ["1p"], chosen, Position()) as source:
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
def test_splits_that_do_not_exist_or_have_no_facts_are_errors(facts: str, sentence: str) -> None:
    with (
        pytest.raises(NqeError, match=sentence),
        open_source(DATASET, None, replace(TRAIN, facts=facts), Position()),
    ):
        pass


def test_a_split_without_facts_is_an_error() -> None:
    nothing = DATASET.splits["train"].take(np.zeros(0, dtype=np.int64))
    empty = Dataset(DATASET.vocabulary, {"train": nothing, "valid": DATASET.splits["valid"]})
    with (
        pytest.raises(NqeError, match="which has no facts; name other splits"),
        open_source(empty, None, TRAIN, Position()),
    ):
        pass


def test_a_query_set_without_a_wanted_shape_or_split_is_an_error(tmp_path: Path) -> None:
    folder = str(town_queries(DATASET, tmp_path / "q", "1p", "2i", train=5))
    assert set(load_checked_queries(DATASET, folder, "train", ["2i"]).shape) == {"2i"}
    with pytest.raises(NqeError, match="no train queries of shape 3p; sample some, or name"):
        load_checked_queries(DATASET, folder, "train", ["1p", "3p"])
    with pytest.raises(NqeError, match="no test queries; the set has train, valid"):
        load_checked_queries(DATASET, folder, "test")


@pytest.mark.parametrize("change", ["anchor", "answer", "relation", "attribute", "negative"])
def test_entities_and_relations_that_the_graph_lacks_are_errors(change: str) -> None:
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


@pytest.mark.parametrize("share", [0.999, 1.0])
def test_an_epoch_with_only_open_queries_has_no_empty_batches(share: float) -> None:
    chosen = TrainSettings(open_share=share, batch=8, shapes=("1p",))
    with open_graph_source(DATASET, ["1p"], chosen, Position()) as source:
        batches = source.batches(Position())
        sizes = [len(next(batches)[0]) for _ in range(source.epoch_batches)]
    assert min(sizes) > 0


def test_of_very_many_facts_each_epoch_has_other_closed_queries_from_any_position_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(query_sources, "MOST_FACTS", 10)
    monkeypatch.setattr(query_sources, "DRAWN", 25)
    with open_graph_source(DATASET, ["1p"], TRAIN, Position()) as source:
        assert len(source.closed) <= 25
        count = 2 * source.epoch_batches
        whole = take(source, count)
        again = take(source, count - 1, whole[0][1])
    assert [keys(table) for table, _ in again] == [keys(table) for table, _ in whole[1:]]
    epochs = [
        {key for table, _ in part for key in keys(table)}
        for part in (whole[: count // 2], whole[count // 2 :])
    ]
    assert epochs[0] != epochs[1]
    assert all(len(table) <= TRAIN.batch for table, _ in whole)
