"""Filtered ranks by counting: how many wrong entities score above an answer, how many the same."""

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
Scored = npt.NDArray[Any]

# Up to so many answers of a query, comparing all scores with each is quicker than sorting them.
FEW = 4
# So many scores are compared or sorted at a time: what a core's cache holds.
AT_ONCE = 2**19


class Scores(Protocol):
    """What a block of queries gives every entity, asked for some entities at a time."""

    def block(self, first: int, last: int) -> Tensor:
        """(queries, last - first) scores of entities first..last-1; same call, same bits."""
        ...


@dataclass(frozen=True, eq=False)
class Above:
    """Of each answer: how many entities that are no answers score more, and how many the same."""

    greater: Integers  # (answers,)
    equal: Integers  # (answers,)


def optimistic(above: Above) -> Floats:
    """The best rank among entities of the same score."""
    return (1 + above.greater).astype(np.float64)


def realistic(above: Above) -> Floats:
    """The mean rank among entities of the same score."""
    return 1.0 + above.greater + above.equal / 2


def pessimistic(above: Above) -> Floats:
    """The worst rank among entities of the same score."""
    return (1 + above.greater + above.equal).astype(np.float64)


TIES = {"realistic": realistic, "optimistic": optimistic, "pessimistic": pessimistic}


def count_above(
    scores: Scores, answers: Ragged, correct: Ragged, entity_count: int, columns: int
) -> Above:
    """Count for each answer of each query; `correct` are all right answers, which never count.

    Scores are asked for `columns` entities at a time: once if that is all of them, else twice,
    first for the right answers' own scores and then to count.
    """
    own, own_correct, blocks = _own_scores(scores, answers, correct, entity_count, columns)
    greater, at_least = _among_correct(answers, own, correct, own_correct)
    greater, at_least = -greater, -at_least
    for block in blocks:
        more_greater, more_at_least = _among_all(block, answers, own)
        greater += more_greater
        at_least += more_at_least
    return Above(greater, at_least - greater)


def _own_scores(
    scores: Scores, answers: Ragged, correct: Ragged, entity_count: int, columns: int
) -> tuple[Floats, Floats, Iterable[Scored]]:
    """The scores of answers and of all right answers, and the blocks of all scores."""
    query = np.concatenate([answers.owner, correct.owner])
    entity = np.concatenate([answers.values, correct.values])
    own = np.empty(len(entity))
    windows = [
        (first, min(first + columns, entity_count)) for first in range(0, entity_count, columns)
    ]
    kept: list[Scored] = []
    for first, last in windows:
        block = _block(scores, len(answers), first, last)
        inside = np.flatnonzero((entity >= first) & (entity < last))
        own[inside] = block[query[inside], entity[inside] - first]
        kept = [block] if len(windows) == 1 else []
    again = (_block(scores, len(answers), first, last) for first, last in windows)
    own_answers, own_correct = np.split(own, [len(answers.values)])
    return own_answers, own_correct, kept or again


def _block(scores: Scores, queries: int, first: int, last: int) -> Scored:
    """The scores of some entities, checked."""
    tensor = scores.block(first, last).detach().cpu()
    if tuple(tensor.shape) != (queries, last - first):
        raise NqeError(
            f"scores of {queries} queries and {last - first} entities have the form "
            f"{tuple(tensor.shape)}; give a row a query and a column an entity"
        )
    if tensor.element_size() < 4 or not tensor.is_floating_point():
        tensor = tensor.float()
    # The maximum of a tensor is NaN if anything in it is.
    if tensor.numel() and bool(tensor.amax().isnan()):
        raise NqeError(
            f"scores of entities {first} to {last - 1} are not numbers (NaN), so nothing can be "
            "ranked; train again at a lower rate or use an earlier checkpoint"
        )
    block: Scored = tensor.numpy()
    return block


def _among_correct(
    answers: Ragged, own: Floats, correct: Ragged, own_correct: Floats
) -> tuple[Integers, Integers]:
    """How many right answers of the same query score more than each answer, and at least it."""
    order = np.lexsort((own_correct, correct.owner))
    ends = correct.offset[1:][answers.owner]
    return _above_in_runs(own_correct[order], correct.offset[:-1][answers.owner], ends, own)


def _among_all(block: Scored, answers: Ragged, own: Floats) -> tuple[Integers, Integers]:
    """How many scores of the same row are more than each answer's, and at least it."""
    greater = np.empty(len(own), dtype=np.int64)
    at_least = np.empty(len(own), dtype=np.int64)
    rows_at_once = max(1, AT_ONCE // max(1, block.shape[1]))
    for first in range(0, len(answers), rows_at_once):
        last = min(first + rows_at_once, len(answers))
        lengths = answers.lengths[first:last]
        part = slice(int(answers.offset[first]), int(answers.offset[last]))
        count = _by_comparing if lengths.max() <= FEW else _by_sorting
        greater[part], at_least[part] = count(block[first:last], lengths, own[part])
    return greater, at_least


def _by_comparing(rows: Scored, lengths: Integers, own: Floats) -> tuple[Integers, Integers]:
    """Compare every score with each answer's, one answer of every row at a time."""
    import torch

    row = np.repeat(np.arange(len(rows)), lengths)
    place = ranges(np.zeros_like(lengths), lengths)
    answers = np.full((len(rows), lengths.max()), np.nan, dtype=rows.dtype)  # (rows, answers)
    answers[row, place] = own
    scores = torch.from_numpy(rows)
    # Sums of floats are several times as quick as those of booleans, and exact up to 2**24.
    hits = torch.empty(rows.shape, dtype=torch.float32)
    counts = np.empty((2, *answers.shape), dtype=np.int64)
    for column in range(answers.shape[1]):
        one = torch.from_numpy(answers[:, column : column + 1])
        counts[0, :, column] = torch.gt(scores, one, out=hits).sum(1).numpy()
        counts[1, :, column] = torch.ge(scores, one, out=hits).sum(1).numpy()
    return counts[0, row, place], counts[1, row, place]


def _by_sorting(rows: Scored, lengths: Integers, own: Floats) -> tuple[Integers, Integers]:
    """Sort every row once and find each answer's place in it."""
    start = np.repeat(np.arange(len(rows)) * rows.shape[1], lengths)
    values = np.sort(rows, axis=1).reshape(-1)
    return _above_in_runs(values, start, start + rows.shape[1], own)


def _above_in_runs(
    values: Scored, start: Integers, end: Integers, wanted: Floats
) -> tuple[Integers, Integers]:
    """How many values of a sorted run are more than a number, and at least it; a run a number."""
    not_more = _search(values, start, end, wanted, inclusive=True)
    less = _search(values, start, end, wanted, inclusive=False)
    return end - not_more, end - less


def _search(
    values: Scored, start: Integers, end: Integers, wanted: Floats, *, inclusive: bool
) -> Integers:
    """Where the values that are less (or equal, if inclusive) end, by bisection of all runs."""
    before = np.less_equal if inclusive else np.less
    low, high = start.copy(), end.copy()
    while (low < high).any():
        middle = np.minimum((low + high) // 2, max(0, len(values) - 1))
        right = (low < high) & before(values[middle], wanted)
        left = (low < high) & ~right
        low = np.where(right, middle + 1, low)
        high = np.where(left, middle, high)
    return low
