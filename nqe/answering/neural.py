"""The neural engine: run plans with a model, its calibration and the known facts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from nqe.answering.blank_model import BlankModel
from nqe.answering.calibration import Calibration, compute_mean_answers
from nqe.answering.fuzzy_set import FuzzySet
from nqe.answering.hybrid import HybridOptions, HybridRun, split_plans
from nqe.answering.joining import TEMPERATURE, JoinWeights, RuleEvidence
from nqe.answering.predictions import MAX_SCORES
from nqe.answering.predictor import Predictor
from nqe.answering.request import EMBEDDING, EXACT, HYBRID, RULES
from nqe.errors import NqeError, choose
from nqe.graph.arrays import Integers
from nqe.graph.graph import Graph
from nqe.model.fuzzy_logic import LOGICS, Logic, norm_of
from nqe.model.model import Model
from nqe.query.plan import Plan
from nqe.query.result import Result
from nqe.query.step_table import StepTable
from nqe.rules.rules import Rules


@dataclass(frozen=True, eq=False)
class NeuralEngine:
    """A model over known facts, with everything that turns its scores into probabilities."""

    predictor: Predictor
    calibration: Calibration
    logic: Logic
    options: HybridOptions
    is_calibrated: bool
    """Whether the calibration was fitted; if not, probabilities rank answers but mean little."""
    missing: float | None = None
    """How many facts are missing for each known one, where that is known."""

    @classmethod
    def of(
        cls,
        model: Model,
        graph: Graph,
        calibration: Calibration | None = None,
        logic: str | None = None,
        options: HybridOptions | None = None,
        max_bindings: int | None = None,
        missing: float | None = None,
        rules: Rules | None = None,
    ) -> NeuralEngine:
        """Create the engine of a model; by default uncalibrated, and with the model's logic.

        `rules` are evidence beside the model, with the weights that the calibration has.
        """
        is_calibrated = calibration is not None
        evidence = None
        if rules is not None:
            fitted = None if calibration is None else calibration.join
            evidence = RuleEvidence(rules, graph, fitted or JoinWeights.plain(model.relation_count))
        predictor = Predictor(model, graph, max_bindings, evidence)
        if calibration is None:
            answers = compute_mean_answers(graph.facts, len(graph.vocabulary.relations))
            if isinstance(model, BlankModel):
                answers = np.ones_like(answers)  # the strength of rules is a probability already
            temperature = 1.0 if rules is None else TEMPERATURE
            calibration = Calibration.plain(predictor.to_model_rows(answers), temperature)
        if len(calibration.facts.answers) != model.relation_count:
            raise NqeError(
                f"the calibration is of a model with {len(calibration.facts.answers):,} relations, "
                f"this one has {model.relation_count:,}; calibrate it again"
            )
        # A model whose logic is a mean has no logic for fuzzy sets; `norm_of` replaces it.
        own = choose(LOGICS, logic, "logic") if logic else norm_of(model.logic)
        if norm_of(own) is not own:
            raise NqeError(
                f"the logic {logic} is a mean, which says nothing about probabilities; "
                "choose product, godel or lukasiewicz"
            )
        options = options or HybridOptions()
        return cls(predictor, calibration, own, options, is_calibrated, missing)

    def with_graph(self, graph: Graph, missing: float | None) -> NeuralEngine:
        """Return the same engine over other facts."""
        if self.is_blank and self.predictor.rules is not None:
            rules = self.predictor.rules.rules
            blank = NeuralEngine.of(
                BlankModel(graph), graph, max_bindings=self.predictor.max_bindings, rules=rules
            )
            return replace(blank, logic=self.logic, options=self.options)
        return replace(self, predictor=self.predictor.with_graph(graph), missing=missing)

    def without(self, rows: Integers) -> NeuralEngine:
        """Return the same engine as if the facts of some rows were not known."""
        return replace(self, predictor=self.predictor.without(rows)) if len(rows) else self

    def with_least(self, least: float) -> NeuralEngine:
        """Return the same engine with another limit for what is too unlikely to list."""
        return replace(self, options=replace(self.options, least=least))

    def compute_sets(self, results: Sequence[Result], mode: str) -> Iterator[list[FuzzySet]]:
        """Yield the fuzzy sets of the steps of each exact result, the target's last.

        In the modes embedding and exact, only the target has a set.
        """
        if mode in (HYBRID, RULES):
            yield from self._hybrid_sets(results)
        elif mode == EMBEDDING:
            yield from ([one] for one in self._embedding_sets(results))
        elif mode == EXACT:
            yield from ([_exact_set(result)] for result in results)
        else:
            raise ValueError(f"unknown mode '{mode}'")

    def run(self, results: Sequence[Result]) -> HybridRun:
        """Compute the fuzzy set of every step of plans that were answered exactly."""
        return self.run_table(StepTable.of([result.plan for result in results]))

    def run_table(self, table: StepTable) -> HybridRun:
        """Compute the fuzzy set of every step of a table of plans."""
        check_can_answer(self.predictor.model)
        graph, calibration = self.predictor.graph, self.calibration
        missing = self.missing if self.is_calibrated else None
        curves = calibration.curve(graph, missing), calibration.question_curve(graph, missing)
        return HybridRun(table, self.predictor, *curves, self.logic, self.options)

    @property
    def is_blank(self) -> bool:
        """Whether there is no model, so that rules predict alone."""
        return isinstance(self.predictor.model, BlankModel)

    def check_can_embed(self, plan: Plan) -> None:
        """Refuse a plan with names that the model was not trained with, or if there is none."""
        if self.is_blank:
            raise NqeError("the mode embedding needs a model, and these are only rules; open a RUN")
        unseen = self.predictor.find_unseen_names(plan)
        if unseen:
            raise NqeError(
                f"the query names {unseen[0]}, which was added to the graph after the model was "
                "trained; ask in the mode hybrid or exact"
            )

    def _hybrid_sets(self, results: Sequence[Result]) -> Iterator[list[FuzzySet]]:
        sizes = np.array([len(result.plan.steps) for result in results], dtype=np.int64)
        for part in split_plans(sizes):
            run = self.run(results[part])
            bounds = pairwise(run.table.plan_start.tolist())
            for (first, end), target in zip(bounds, run.targets, strict=True):
                yield [*(run.sets[step] for step in range(first, end - 1)), target]

    def _embedding_sets(self, results: Sequence[Result]) -> Iterator[FuzzySet]:
        """Yield the paper's softmax over all entities for each result."""
        height = max(1, MAX_SCORES // max(self.predictor.entity_count, 1))
        for first in range(0, len(results), height):
            table = StepTable.of([result.plan for result in results[first : first + height]])
            scores = self.predictor.score(self.predictor.encode(table)).softmax(1)
            yield from map(FuzzySet.of_all, scores.double().cpu().numpy())


def check_can_answer(model: Model) -> None:
    """Refuse a model for hybrid answers that cannot be asked about any slot of a fact."""
    if not model.expresses_all:
        raise NqeError(
            "hybrid answers ask the model about every slot of single facts, which one of the kind "
            f"'{model.settings.kind}' cannot express; ask in the mode embedding, or use a model of "
            "the kind 'nqe'"
        )


def _exact_set(result: Result) -> FuzzySet:
    """The exact answers as a fuzzy set."""
    return FuzzySet(result.answers, np.ones(len(result.answers)))
