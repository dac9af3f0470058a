"""Wide conjunctions on WD50K: the rank of an answer that all parts share, by the number of parts.

For entities that answer enough closed one-hop queries of the train split, some of those queries
are drawn and conjoined, and the answers that all of them share are ranked, filtered. The vectors
of the queries are scored as the model does, centred by their own mean and deviation, and as it
was before, τ(q-½). One-hop link prediction on the test split is scored both ways, too.

`python benchmarks/wide_conjunctions.py` uses the model of 16 shapes that benchmarks share, or the
model of `--run RUN`.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from machine import arguments, benchmark_data, describe, markdown_table, write_result
from torch import Tensor
from trained import Shared

from nqe.evaluation import evaluate, predict_links
from nqe.graph import Dataset
from nqe.model import EmbeddingRunner, NQEModel, load
from nqe.model.scorer import CentredScorer
from nqe.sampling import QueryTable
from nqe.sampling.one_hop import make_closed_queries
from nqe.sampling.wide_conjunctions import WideConjunctions

FAN_INS = (2, 3, 4, 6, 8, 16)
BAR = 0.85
Score = Callable[[EmbeddingRunner], float]


class HalfScorer(CentredScorer):
    """The score before: τ(q-½)·(x-½) plus a bias for each entity."""

    def prepare(self, queries: Tensor) -> Tensor:
        """τ(q-½)."""
        return (queries - self.centre) * self.temperature


def measure(model: NQEModel, score: Score) -> tuple[float, float]:
    """A score of the model with the score of before, and with its own."""
    own = model.scorer
    before = HalfScorer(model.entity_count, model.settings.temperature)
    before.load_state_dict(own.state_dict())
    model.scorer = before.to(model.device)
    try:
        first = score(EmbeddingRunner(model))
    finally:
        model.scorer = own
    return first, score(EmbeddingRunner(model))


def draw(closed: QueryTable, fan_in: int, count: int) -> QueryTable:
    """Conjunctions of a fan-in, none if no entity answers enough queries."""
    return WideConjunctions(closed, fan_in, fan_in).draw(count, np.random.default_rng(fan_in))


def rank_shared(table: QueryTable) -> Score:
    """The score that is the mean over queries of 1/rank of the answers."""

    def score(runner: EmbeddingRunner) -> float:
        ranking = evaluate(runner, table, answers="easy")
        weight = 1 / table.easy.lengths[ranking.query]
        return float((weight / ranking.compute_ranks()).sum() / len(table))

    return score


def rows(model: NQEModel, dataset: Dataset, count: int) -> list[tuple[str, ...]]:
    """One row per fan-in, and one for link prediction."""
    closed = make_closed_queries(dataset.splits["train"])
    found: list[tuple[str, ...]] = []
    for fan_in in FAN_INS:
        table = draw(closed, fan_in, count)
        if len(table):
            numbers = measure(model, rank_shared(table))
            found.append((f"{fan_in} parts", *(f"{one:.3f}" for one in numbers), f"{BAR:.2f}"))
    links = measure(model, lambda runner: predict_links(runner, dataset).all["mrr"])
    found.append(("one-hop, test split", *(f"{one:.4f}" for one in links), "as before"))
    return found


def page(model: NQEModel, dataset: Dataset, count: int) -> str:
    """The result."""
    return "\n".join(
        [
            "# Wide conjunctions on WD50K\n",
            f"By `benchmarks/wide_conjunctions.py`: MRR of the answers that all parts of {count:,} "
            "conjunctions share, filtered, by their number of parts; the parts are closed one-hop "
            "queries of the train split. Both columns use the same vectors of one model.\n",
            markdown_table(("what", "value"), describe(("torch", "numpy"))),
            markdown_table(
                ("queries", "τ(q-½)", "by its own mean and deviation", "bar"),
                rows(model, dataset, count),
            ),
        ]
    )


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--count", type=int, default=1_000, help="conjunctions of each fan-in")
    parser.add_argument("--run", type=Path, help="a RUN of the same data, instead of the shared")
    options = parser.parse_args()
    dataset = benchmark_data(quick=options.quick)
    run = options.run or Shared(dataset, quick=options.quick).use_run()
    model = load(run)
    if not isinstance(model, NQEModel) or not isinstance(model.scorer, CentredScorer):
        parser.error(f"{run} has no NQE model with the centred score")
    text = page(model, dataset, options.count)
    write_result("wide-conjunctions", text, quick=options.quick)


if __name__ == "__main__":
    main()
