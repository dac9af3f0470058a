"""The neural engine: run plans with a model, its calibration and the known facts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import torch
from torch import Tensor

from nqe.answering.calibration import Calibration, compute_mean_answers
from nqe.answering.hybrid import HybridOptions, HybridRun, split_plans
from nqe.answering.predictor import Predictor
from nqe.answering.request import EMBEDDING, EXACT, HYBRID
from nqe.errors import NqeError, choose
from nqe.graph.fact_source import FactSource
from nqe.graph.graph import Graph
from nqe.model.fuzzy_logic import LOGICS, Logic, norm_of
from nqe.model.model import Model
from nqe.query.exact_batch import StepSets, run_table
from nqe.query.plan import Plan
from nqe.query.result import Result
from nqe.query.step_table import StepTable


@dataclass(frozen=True, eq=False)
class NeuralEngine:
    """A model over known facts, with everything that turns its scores into probabilities."""

    predictor: Predictor
    calibration: Calibration
    logic: Logic
    options: HybridOptions
    is_calibrated: bool
    """Whether the calibration was fitted; if not, probabilities rank answers but mean little."""

    @classmethod
    def of(
        cls,
        model: Model,
        graph: Graph,
        calibration: Calibration | None,
        logic: str | None,
        options: HybridOptions | None,
        max_bindings: int | None = None,
    ) -> NeuralEngine:
        """Create the engine of a model; by default uncalibrated, and with the model's logic."""
        predictor, is_calibrated = Predictor(model, graph, max_bindings), calibration is not None
        if calibration is None:
            answers = compute_mean_answers(graph.facts, len(graph.vocabulary.relations))
            calibration = Calibration.plain(predictor.to_model_rows(answers))
        if len(calibration.facts.answers) != model.relation_count:
            raise NqeError(
                f"the calibration is of a model with {len(calibration.facts.answers):,} relations, "
                f"this one has {model.relation_count:,}; calibrate it again"
            )
        # A model whose logic is a mean has no logic for fuzzy sets; `norm_of` replaces it.
        own = choose(LOGICS, logic, "logic") if logic else norm_of(model.logic)
        return cls(predictor, calibration, own, options or HybridOptions(), is_calibrated)

    def with_graph(self, graph: FactSource) -> NeuralEngine:
        """Return the same engine over other facts."""
        predictor = Predictor(self.predictor.model, graph, self.predictor.max_bindings)
        return replace(self, predictor=predictor)

    def compute_rows(self, results: Sequence[Result], mode: str) -> Iterator[tuple[Tensor, Tensor]]:
        """Yield the target's row (entities,) and all rows (steps, entities) of each exact result.

        In the modes embedding and exact, only the target has a row.
        """
        if mode == HYBRID:
            yield from self._hybrid_rows(results)
        elif mode == EMBEDDING:
            yield from ((row, row[None]) for row in self._embedding_rows(results))
        elif mode == EXACT:
            yield from ((row, row[None]) for row in map(_exact_row, results))
        else:
            raise ValueError(f"unknown mode '{mode}'")

    def run(self, results: Sequence[Result]) -> HybridRun:
        """Compute the fuzzy set of every step of plans that were answered exactly."""
        table = StepTable.of([result.plan for result in results])
        sets = [entities for result in results for entities in result.sets]
        return self.run_sets(StepSets.of(table, sets))

    def run_table(self, table: StepTable) -> HybridRun:
        """Compute the fuzzy set of every step of a table of plans."""
        return self.run_sets(run_table(table, self.predictor.graph, self.predictor.max_bindings))

    def run_sets(self, exact: StepSets) -> HybridRun:
        """Compute the fuzzy set of every step, given its exact set over the known facts."""
        curve = self.calibration.curve(self.predictor.graph)
        return HybridRun(exact, self.predictor, curve, self.logic, self.options)

    def check_seen(self, plan: Plan) -> None:
        """Refuse a plan with names that the model was not trained with."""
        unseen = self.predictor.find_unseen_names(plan)
        if unseen:
            raise NqeError(
                f"the query names {unseen[0]}, which was added to the graph after the model was "
                "trained; ask in the mode hybrid or exact"
            )

    def _hybrid_rows(self, results: Sequence[Result]) -> Iterator[tuple[Tensor, Tensor]]:
        for part in self._split(results):
            run = self.run(part)
            for first, end in pairwise(run.table.plan_start.tolist()):
                yield run.rows[end - 1], run.rows[first:end]

    def _embedding_rows(self, results: Sequence[Result]) -> Iterator[Tensor]:
        """Yield the paper's softmax over all entities for each result."""
        for part in self._split(results):
            table = StepTable.of([result.plan for result in part])
            yield from self.predictor.score(self.predictor.encode(table)).softmax(1)

    def _split(self, results: Sequence[Result]) -> Iterator[Sequence[Result]]:
        """Split results into parts whose rows fit into memory."""
        sizes = np.array([len(result.plan.steps) for result in results], dtype=np.int64)
        for part in split_plans(sizes, self.predictor.entity_count):
            yield results[part]


def _exact_row(result: Result) -> Tensor:
    """The exact answers as a row of probabilities."""
    row = torch.zeros(result.graph.entity_count)
    row[torch.from_numpy(result.answers)] = 1
    return row
