"""The runner that ranks rows: single questions in, trees or not, and scores of entities out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from nqe.answering.answerer import Answerer
from nqe.answering.fuzzy_set import FuzzySet
from nqe.answering.hybrid_runner import SetScores
from nqe.answering.predicted_rows import predict_rows
from nqe.answering.request import HYBRID
from nqe.query.binder import BoundPlan
from nqe.query.join_plan import JoinPlan
from nqe.query.rows import find_rows


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
            [self._run_join(one) if isinstance(one, JoinPlan) else next(found) for one in plans]
        )

    def _run_join(self, plan: JoinPlan) -> FuzzySet:
        """The entities that a question for one target may have as answers."""
        answerer = self.answerer
        stated = find_rows(plan, answerer.graph, answerer.max_bindings)
        return predict_rows(plan, stated, answerer.neural).to_set()
