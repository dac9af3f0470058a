"""The endless stream of training queries: the same for any workers, from any position on."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nqe.errors import NqeError
from nqe.graph import Dataset, Fact
from nqe.query import execute
from nqe.sampling import worker
from nqe.sampling.block_sampler import Block
from nqe.sampling.query_stream import AHEAD, QueryStream, open_query_stream
from nqe.sampling.query_table import QueryTable, concatenate
from nqe.sampling.worker import Task, Worker
from nqe.sampling.worker_pool import InProcessPool, PendingBlock
from nqe.settings import SamplingSettings

SHAPES = ("2p", "2i", "2in")
SETTINGS = SamplingSettings(shapes=SHAPES, match="any", seed=4)
DATASET = Dataset.of(
    {
        "train": [
            Fact(f"e{n % 9}", f"r{n % 3}", f"e{n * 7 % 11}", (("q", f"e{n % 4}"),) * (n % 3))
            for n in range(40)
        ],
        "test": [Fact("e1", "r1", "e2")],
    }
)


class CachingWorker(Worker):
    """Makes each block once."""

    def __init__(self, dataset: Dataset, settings: SamplingSettings) -> None:
        super().__init__(dataset, settings)
        self.made: dict[Task, Block] = {}

    def run(self, task: Task) -> Block:
        if task not in self.made:
            self.made[task] = super().run(task)
        return self.made[task]


class RecordingPool(InProcessPool):
    """Remembers the tasks that were submitted."""

    def __init__(self, dataset: Dataset = DATASET, settings: SamplingSettings = SETTINGS) -> None:
        super().__init__(CachingWorker(dataset, settings))
        self.tasks: list[Task] = []

    def submit(self, task: Task) -> PendingBlock:
        self.tasks.append(task)
        return super().submit(task)


POOL = RecordingPool()


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "WALKS", 12)


def stream_of(pool: RecordingPool, positions: dict[str, Any] | None = None) -> QueryStream:
    return QueryStream(pool, SHAPES, positions)


def assert_same(one: QueryTable, other: QueryTable) -> None:
    assert one.shape == other.shape
    assert one.answer_count.tolist() == other.answer_count.tolist()
    assert one.plans == other.plans
    for name in ("easy", "hard", "missing"):
        left, right = getattr(one, name), getattr(other, name)
        assert np.array_equal(left.offset, right.offset), name
        assert np.array_equal(left.values, right.values), name


takes = st.lists(st.tuples(st.sampled_from(SHAPES), st.integers(0, 25)), min_size=1, max_size=8)


@given(before=takes, after=takes)
@settings(max_examples=25)
def test_a_stream_continues_from_the_positions_of_another(
    before: list[tuple[str, int]], after: list[tuple[str, int]]
) -> None:
    whole, first = stream_of(POOL), stream_of(POOL)
    for shape, count in before:
        assert_same(whole.take(shape, count), first.take(shape, count))
    second = stream_of(POOL, first.positions)
    for shape, count in after:
        assert_same(second.take(shape, count), whole.take(shape, count))
    assert second.positions == whole.positions


@given(counts=st.lists(st.integers(0, 20), min_size=1, max_size=6))
@settings(max_examples=20)
def test_the_size_of_the_portions_taken_makes_no_difference(counts: list[int]) -> None:
    portions = stream_of(POOL)
    taken = concatenate([portions.take("2i", count) for count in counts])
    assert_same(taken, stream_of(POOL).take("2i", sum(counts)))


def test_every_query_has_its_shape_and_its_answers_in_the_train_split() -> None:
    stream, graph = stream_of(POOL), DATASET.known("train")
    for shape in SHAPES:
        table = stream.take(shape, 40)
        assert set(table.shape) == {shape}
        assert len(table) == 40
        for row in range(0, 40, 7):
            plan = table.plans.plan(row)
            assert plan.shape_name == shape
            assert table.easy[row].tolist() == execute(plan, graph).answers.tolist()


def test_blocks_are_drawn_a_little_ahead_and_each_once() -> None:
    pool = RecordingPool()
    stream = stream_of(pool)
    assert pool.tasks == []
    stream.take("2i", 1)
    assert [task.number for task in pool.tasks] == list(range(AHEAD))
    stream.take("2i", 60)
    numbers = [task.number for task in pool.tasks]
    assert numbers == list(range(len(numbers)))
    assert stream.positions["2i"][0] + AHEAD >= len(numbers) - 1
    assert stream.positions["2p"] == [0, 0]


def test_a_shape_that_is_never_found_is_an_error() -> None:
    lonely = Dataset.of({"train": [Fact("a", "r", "b")]})
    settings = SamplingSettings(shapes=("2i",))
    stream = QueryStream(RecordingPool(lonely, settings), ("2i",))
    with pytest.raises(NqeError, match="no query of shape 2i was found in the graph; leave it out"):
        stream.take("2i", 1)


def test_a_shape_that_no_fact_can_hold_is_an_error_before_any_process_starts() -> None:
    triples = Dataset.of({"train": [Fact("a", "r", "b"), Fact("b", "r", "c")]})
    with (
        pytest.raises(NqeError, match="no fact has enough slots for the shape 3cp; leave it out"),
        open_query_stream(triples, SamplingSettings(shapes=("3cp",)), workers=1),
    ):
        pass


# The block size set by the fixture would not reach worker processes.
def test_workers_draw_what_one_process_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    alone = stream_of(RecordingPool())
    with open_query_stream(DATASET, SETTINGS, workers=2) as stream:
        for shape, count in (("2p", 30), ("2in", 5), ("2p", 11)):
            assert_same(stream.take(shape, count), alone.take(shape, count))
        positions = stream.positions
    assert positions == alone.positions
