"""Which orders of rows hold: what is expected of them, and what the seeds say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from nqe.query.shapes import NEGATIVE
from nqe.reproduction.results import HARD, Result
from nqe.reproduction.summary import Value, average_values, sum_up


@dataclass(frozen=True)
class Order:
    """One row is expected to be above another."""

    better: str
    worse: str
    why: str
    shapes: tuple[str, ...] = ()
    """On the mean over these shapes; empty means all that both have."""


ORDERS = (
    Order("NQE", "NodeH-only", "roles and edges over roles alone"),
    Order("NQE", "EdgeH-only", "roles and edges over edges alone"),
    Order("NQE", "Logic-blind", "fuzzy logic over means"),
    Order("NQE", "Logic-blind", "fuzzy logic over means, with negation", NEGATIVE),
    Order("NQE", "Unparalleled", "all shapes in a batch over one shape in each"),
    Order("NQE", "NQE-1p", "all shapes over one-hop queries alone"),
    Order("StarQE", "StarQE-1p", "all shapes over one-hop queries alone"),
    Order("NQE", "StarQE", "NQE over message passing"),
    Order("NQE-1p", "StarQE-1p", "NQE over message passing, one-hop queries alone"),
    Order("hybrid on NQE", "NQE", "known facts over the model alone"),
    Order("hybrid with rules on NQE", "hybrid on NQE", "rules beside facts and model"),
    Order("hybrid on NQE-1p", "NQE-1p", "known facts over the model alone"),
    Order("hybrid with rules on NQE-1p", "hybrid on NQE-1p", "rules beside facts and model"),
)
"""What is expected, in the order in which it is told."""


def describe_orders(results: Sequence[Result]) -> list[str]:
    """A sentence about each expected order of which both rows are there."""
    found = sum_up(results, HARD)
    return [sentence for order in ORDERS for sentence in _describe(order, found)]


def _describe(order: Order, found: Mapping[str, Mapping[str, Value]]) -> Iterator[str]:
    better, worse = found.get(order.better, {}), found.get(order.worse, {})
    shapes = [
        shape for shape in better if shape in worse and shape in (order.shapes or tuple(better))
    ]
    if not shapes:
        return
    high, low = (average_values([one[shape] for shape in shapes]) for one in (better, worse))
    above = sum(better[shape].mean > worse[shape].mean for shape in shapes)
    difference = 100 * (high.mean - low.mean)
    yield (
        f"{order.why[0].upper()}{order.why[1:]}: {order.better} {high}, {order.worse} {low}, mean "
        f"over {len(shapes)} shapes ({difference:+.2f}; higher on {above} of them). "
        f"{_judge(order, high, low)}"
    )


def _judge(order: Order, high: Value, low: Value) -> str:
    """Whether the order is claimed: only if every seed of one row is above every one of the other.

    With one seed each nothing is known about how much seeds differ.
    """
    seeds = min(len(high.by_seed), len(low.by_seed))
    if seeds < 2:
        return "One seed alone, so no order is claimed."
    if min(high.by_seed.values()) > max(low.by_seed.values()):
        return f"The order holds in all {seeds} seeds."
    if max(high.by_seed.values()) < min(low.by_seed.values()):
        return f"It is the reverse of what was expected, in all {seeds} seeds."
    return f"The seeds of {order.better} and {order.worse} overlap, so no order is claimed."
