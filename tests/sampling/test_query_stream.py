"""The endless stream of training queries: the same whoever draws them, from any place on."""

from __future__ import annotations

from concurrent.futures import Future
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nqe.errors import NqeError
from nqe.graph import Dataset, Fact
from nqe.query import execute
from nqe.sampling import sampler
from nqe.sampling.block_sampler import Block
from nqe.sampling.query_stream import AHEAD, Stream, streaming
from nqe.sampling.query_table import QueryTable, concatenate
from nqe.sampling.sampler import Task, Workshop
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


class Inline:
    """Makes blocks when they are asked for, in this process."""

    def __init__(self, dataset: Dataset = DATASET, settings: SamplingSettings = SETTINGS) -> None:
        self.workshop = Workshop(dataset, settings)
        self.tasks: list[Task] = []
        self.made: dict[Task, Block] = {}

    def submit(self, _: object, task: Task) -> Future[Block]:
        self.tasks.append(task)
        if task not in self.made:
            self.made[task] = self.workshop.make(task)
        future: Future[Block] = Future()
        future.set_result(self.made[task])
        return future


INLINE = Inline()


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampler, "TRIES", 12)


def stream_of(pool: Inline, places: dict[str, Any] | None = None) -> Stream:
    return Stream(cast(Any, pool), SHAPES, places)


def assert_same(one: QueryTable, other: QueryTable) -> None:
    assert one.shape == other.shape
    assert one.answer_count.tolist() == other.answer_count.tolist()
    assert one.plans == other.plans
    for name in ("easy", "hard", "missing"):
        mine, theirs = getattr(one, name), getattr(other, name)
        assert np.array_equal(mine.offset, theirs.offset), name
        assert np.array_equal(mine.values, theirs.values), name


takes = st.lists(st.tuples(st.sampled_from(SHAPES), st.integers(0, 25)), min_size=1, max_size=8)


@given(before=takes, after=takes)
@settings(max_examples=25)
def test_a_stream_goes_on_from_the_places_of_another(
    before: list[tuple[str, int]], after: list[tuple[str, int]]
) -> None:
    whole, first = stream_of(INLINE), stream_of(INLINE)
    for shape, count in before:
        assert_same(whole.take(shape, count), first.take(shape, count))
    second = stream_of(INLINE, first.places())
    for shape, count in after:
        assert_same(second.take(shape, count), whole.take(shape, count))
    assert second.places() == whole.places()


@given(counts=st.lists(st.integers(0, 20), min_size=1, max_size=6))
@settings(max_examples=20)
def test_it_makes_no_difference_in_what_portions_queries_are_taken(counts: list[int]) -> None:
    portions = stream_of(INLINE)
    taken = concatenate([portions.take("2i", count) for count in counts])
    assert_same(taken, stream_of(INLINE).take("2i", sum(counts)))


def test_every_query_has_its_shape_and_its_answers_in_the_train_split() -> None:
    stream, graph = stream_of(INLINE), DATASET.known("train")
    for shape in SHAPES:
        table = stream.take(shape, 40)
        assert set(table.shape) == {shape}
        assert len(table) == 40
        for row in range(0, 40, 7):
            plan = table.plans.plan(row)
            assert plan.shape_name == shape
            assert table.easy[row].tolist() == execute(plan, graph).answers.tolist()


def test_blocks_are_drawn_a_little_ahead_and_each_once() -> None:
    pool = Inline()
    stream = stream_of(pool)
    assert pool.tasks == []
    stream.take("2i", 1)
    assert [task.number for task in pool.tasks] == list(range(AHEAD))
    stream.take("2i", 60)
    numbers = [task.number for task in pool.tasks]
    assert numbers == list(range(len(numbers)))
    assert stream.places()["2i"][0] + AHEAD >= len(numbers) - 1
    assert stream.places()["2p"] == [0, 0]


def test_a_shape_that_is_never_found_is_told() -> None:
    lonely = Dataset.of({"train": [Fact("a", "r", "b")]})
    settings = SamplingSettings(shapes=("2i",))
    stream = Stream(cast(Any, Inline(lonely, settings)), ("2i",))
    with pytest.raises(NqeError, match="no query of shape 2i is found in the graph; leave it out"):
        stream.take("2i", 1)


def test_a_shape_that_no_fact_can_hold_is_told_before_anything_starts() -> None:
    triples = Dataset.of({"train": [Fact("a", "r", "b"), Fact("b", "r", "c")]})
    with (
        pytest.raises(NqeError, match="no fact has enough slots for the shape 3cp; leave it out"),
        streaming(triples, SamplingSettings(shapes=("3cp",)), workers=1),
    ):
        pass


# Workers are processes of their own, which a changed size of blocks would not reach.
def test_workers_draw_what_one_process_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    alone = stream_of(Inline())
    with streaming(DATASET, SETTINGS, workers=2) as stream:
        for shape, count in (("2p", 30), ("2in", 5), ("2p", 11)):
            assert_same(stream.take(shape, count), alone.take(shape, count))
        places = stream.places()
    assert places == alone.places()
