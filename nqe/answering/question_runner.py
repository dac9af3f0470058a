"""The runner that ranks rows: single questions in, trees or not, and scores of entities out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from nqe.answering.answerer import Answerer
from nqe.answering.hybrid_runner import SetScores
from nqe.answering.request import HYBRID
from nqe.query.binder import BoundPlan
from nqe.query.join_plan import JoinPlan


@dataclass(frozen=True, eq=False)
class HybridQuestionRunner:
    """Scores entities by the probabilities of an answerer's mode hybrid."""

    answerer: Answerer

    @property
    def entity_count(self) -> int:
        """The number of entities it scores."""
        return self.answerer.graph.entity_count

    def run(self, plans: Sequence[BoundPlan]) -> SetScores:
        """Compute the probabilities of all entities for each plan; trees are run together."""
        trees = [plan for plan in plans if not isinstance(plan, JoinPlan)]
        found = iter(self.answerer.compute_sets(trees, HYBRID))
        return SetScores(
            [
                self.answerer.compute_join_set(one) if isinstance(one, JoinPlan) else next(found)
                for one in plans
            ]
        )
