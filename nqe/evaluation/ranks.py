"""Filtered ranks: count the wrong entities that score higher than, or the same as, each answer."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from nqe.errors import NqeError
from nqe.graph.arrays import Integers
from nqe.graph.ragged import Ragged, ranges

if TYPE_CHECKING:
    from torch import Tensor

Floats = npt.NDArray[np.float64]
ScoreArray = npt.NDArray[Any]

# For queries with up to this many answers, comparing all scores with each answer's score is
# faster than sorting them.
FEW_ANSWERS = 4
# At most this many scores are compared or sorted at once; they fit into the cache of one core.
CACHED_SCORES = 2**19


class Scores(Protocol):
    """The scores of all entities for a block of queries, computed a range of entities at a time."""

    def block(self, first: int, last: int) -> Tensor:
        """The scores of entities first to last - 1, (queries, last - first).

        The same call must return the same bits.
        """
        ...


@dataclass(frozen=True, eq=False)
class RankCounts:
    """The counts that the rank of each answer is computed from.

    Only wrong entities are counted: entities that are not an answer of the same query.
    """

    greater: Integers  # (answers,) wrong entities with a higher score
    equal: Integers  # (answers,) wrong entities with the same score


def optimistic(counts: RankCounts) -> Floats:
    """The best rank among entities of the same score."""
    return (1 + counts.greater).astype(np.float64)


def realistic(counts: RankCounts) -> Floats:
    """The mean rank among entities of the same score."""
    return 1.0 + counts.greater + counts.equal / 2


def pessimistic(counts: RankCounts) -> Floats:
    """The worst rank among entities of the same score."""
    return (1 + counts.greater + counts.equal).astype(np.float64)


TIES = {"realistic": realistic, "optimistic": optimistic, "pessimistic": pessimistic}
"""The policies for ties, by name: the rank of an answer among entities of the same score."""


def count_above(
    scores: Scores, answers: Ragged, correct: Ragged, entity_count: int, columns: int
) -> RankCounts:
    """Count the wrong entities above and level with each answer of each query.

    `correct` holds all right answers of each query, which are never counted. Scores are requested
    for `columns` entities at a time: once if that covers all entities, otherwise twice, first to
    look up the scores of the right answers and then to count.
    """
    own, own_correct, blocks = _look_up(scores, answers, correct, entity_count, columns)
    greater, at_least = _count_among_correct(answers, own, correct, own_correct)
    greater, at_least = -greater, -at_least
    for block in blocks:
        more_greater, more_at_least = _count_in_block(block, answers, own)
        greater += more_greater
        at_least += more_at_least
    return RankCounts(greater, at_least - greater)


def _look_up(
    scores: Scores, answers: Ragged, correct: Ragged, entity_count: int, columns: int
) -> tuple[Floats, Floats, Iterable[ScoreArray]]:
    """The scores of the answers and of all right answers, and the blocks of all scores."""
    query = np.concatenate([answers.owner, correct.owner])
    entity = np.concatenate([answers.values, correct.values])
    own = np.empty(len(entity))
    windows = [
        (first, min(first + columns, entity_count)) for first in range(0, entity_count, columns)
    ]
    only_block: list[ScoreArray] = []
    for first, last in windows:
        block = _read_block(scores, len(answers), first, last)
        inside = np.flatnonzero((entity >= first) & (entity < last))
        own[inside] = block[query[inside], entity[inside] - first]
        only_block = [block] if len(windows) == 1 else []
    again = (_read_block(scores, len(answers), first, last) for first, last in windows)
    own_answers, own_correct = np.split(own, [len(answers.values)])
    return own_answers, own_correct, only_block or again


def _read_block(scores: Scores, queries: int, first: int, last: int) -> ScoreArray:
    """The scores of a range of entities, after checking their shape and that none is NaN."""
    tensor = scores.block(first, last).detach().cpu()
    if tuple(tensor.shape) != (queries, last - first):
        raise NqeError(
            f"the scores of {queries} queries and {last - first} entities have the shape "
            f"{tuple(tensor.shape)}; return one row per query and one column per entity"
        )
    if tensor.element_size() < 4 or not tensor.is_floating_point():
        tensor = tensor.float()
    # The maximum of a tensor is NaN if any element is.
    if tensor.numel() and bool(tensor.amax().isnan()):
        raise NqeError(
            f"scores of entities {first} to {last - 1} are not numbers (NaN), so nothing can be "
            "ranked; train again at a lower rate or use an earlier checkpoint"
        )
    block: ScoreArray = tensor.numpy()
    return block


def _count_among_correct(
    answers: Ragged, own: Floats, correct: Ragged, own_correct: Floats
) -> tuple[Integers, Integers]:
    """Per answer, count the right answers of its query that score higher, and at least as high."""
    order = np.lexsort((own_correct, correct.owner))
    ends = correct.offset[1:][answers.owner]
    return _count_in_sorted_runs(own_correct[order], correct.offset[:-1][answers.owner], ends, own)


def _count_in_block(block: ScoreArray, answers: Ragged, own: Floats) -> tuple[Integers, Integers]:
    """Per answer, count the scores of its row that are higher, and at least as high."""
    greater = np.empty(len(own), dtype=np.int64)
    at_least = np.empty(len(own), dtype=np.int64)
    rows_at_once = max(1, CACHED_SCORES // max(1, block.shape[1]))
    for first in range(0, len(answers), rows_at_once):
        last = min(first + rows_at_once, len(answers))
        lengths = answers.lengths[first:last]
        part = slice(int(answers.offset[first]), int(answers.offset[last]))
        count = _count_by_comparing if lengths.max() <= FEW_ANSWERS else _count_by_sorting
        greater[part], at_least[part] = count(block[first:last], lengths, own[part])
    return greater, at_least


def _count_by_comparing(
    rows: ScoreArray, lengths: Integers, own: Floats
) -> tuple[Integers, Integers]:
    """Compare every score with one answer of every row at a time."""
    import torch

    row = np.repeat(np.arange(len(rows)), lengths)
    place = ranges(np.zeros_like(lengths), lengths)
    answers = np.full((len(rows), lengths.max()), np.nan, dtype=rows.dtype)  # (rows, answers)
    answers[row, place] = own
    scores = torch.from_numpy(rows)
    # Sums of floats are several times faster than sums of booleans, and exact up to 2**24.
    hits = torch.empty(rows.shape, dtype=torch.float32)
    counts = np.empty((2, *answers.shape), dtype=np.int64)
    for column in range(answers.shape[1]):
        answer = torch.from_numpy(answers[:, column : column + 1])  # (rows, 1)
        counts[0, :, column] = torch.gt(scores, answer, out=hits).sum(1).numpy()
        counts[1, :, column] = torch.ge(scores, answer, out=hits).sum(1).numpy()
    return counts[0, row, place], counts[1, row, place]


def _count_by_sorting(
    rows: ScoreArray, lengths: Integers, own: Floats
) -> tuple[Integers, Integers]:
    """Sort every row once and search for each answer's score in it."""
    start = np.repeat(np.arange(len(rows)) * rows.shape[1], lengths)
    values = np.sort(rows, axis=1).reshape(-1)
    return _count_in_sorted_runs(values, start, start + rows.shape[1], own)


def _count_in_sorted_runs(
    values: ScoreArray, start: Integers, end: Integers, wanted: Floats
) -> tuple[Integers, Integers]:
    """For each wanted number, count the values of its run that are greater, and at least equal.

    The run of number i is `values[start[i]:end[i]]`, in ascending order.
    """
    not_greater = _bisect(values, start, end, wanted, inclusive=True)
    less = _bisect(values, start, end, wanted, inclusive=False)
    return end - not_greater, end - less


def _bisect(
    values: ScoreArray, start: Integers, end: Integers, wanted: Floats, *, inclusive: bool
) -> Integers:
    """Where the values less than each wanted number end in its run; all runs are bisected at once.

    If `inclusive`, values equal to the number are included.
    """
    before = np.less_equal if inclusive else np.less
    low, high = start.copy(), end.copy()
    while (low < high).any():
        middle = np.minimum((low + high) // 2, max(0, len(values) - 1))
        right = (low < high) & before(values[middle], wanted)
        left = (low < high) & ~right
        low = np.where(right, middle + 1, low)
        high = np.where(left, middle, high)
    return low
