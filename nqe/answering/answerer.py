"""The answerer: questions in, ranked answers out, by any of the three runners."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from torch import Tensor

from nqe.answering.answers import Answer, Answers
from nqe.answering.calibration import Calibration
from nqe.answering.hybrid import FuzzySets, HybridOptions, HybridRun
from nqe.answering.knowledge import Knowledge
from nqe.errors import NqeError, choose
from nqe.graph.dataset import Dataset
from nqe.graph.entities import EntitySet
from nqe.graph.facts import Integers
from nqe.graph.graph import Graph
from nqe.model.logic import LOGICS
from nqe.model.model import Model
from nqe.query.exact import Question, execute, execute_many
from nqe.query.exact_batch import StepTable
from nqe.query.plan import Plan, bind

MODES = ("hybrid", "embedding", "exact")
AT_ONCE = 2**26
"""So many probabilities of steps exist at a time."""


class Answerer:
    """Answers questions over the known facts of a graph, with a model for what they lack."""

    def __init__(
        self,
        model: Model,
        graph: Graph | Dataset,
        *,
        facts: str = "all",
        calibration: Calibration | None = None,
        logic: str | None = None,
        options: HybridOptions | None = None,
    ) -> None:
        known = graph.known(facts) if isinstance(graph, Dataset) else graph
        self.knowledge = Knowledge(model, known)
        self.calibration = calibration or Calibration.plain(known.facts, model.relation_count)
        self.logic = choose(LOGICS, logic or model.settings.logic, "logic")()
        self.options = options or HybridOptions()

    @property
    def graph(self) -> Graph:
        """The known facts."""
        return self.knowledge.graph

    def answer(
        self,
        query: Question,
        mode: str = "hybrid",
        top: int = 10,
        *,
        threshold: float | None = None,
        among: EntitySet | None = None,
    ) -> Answers:
        """The best answers of a query; with a threshold, all that are at least so likely."""
        [answers] = self.answer_many([query], mode, top, threshold=threshold, among=among)
        return answers

    def answer_many(
        self,
        queries: Sequence[Question],
        mode: str = "hybrid",
        top: int = 10,
        *,
        threshold: float | None = None,
        among: EntitySet | None = None,
    ) -> list[Answers]:
        """The best answers of each query, many of them worked on together."""
        if mode not in MODES:
            raise NqeError(f"unknown mode '{mode}'; choose one of {', '.join(MODES)}")
        plans = [one if isinstance(one, Plan) else bind(one, self.graph) for one in queries]
        if mode == "exact":
            return [self._exact(plan, among, top, threshold) for plan in plans]
        known = execute_many(plans, self.graph)
        rows = self._rows(plans, mode)
        return [
            self._ranked(plan, mode, row, result.answers, top, threshold, among)
            for plan, row, result in zip(plans, rows, known, strict=True)
        ]

    def sets(self, plans: Sequence[Plan]) -> FuzzySets:
        """The fuzzy set of every step of some plans."""
        table = StepTable.of(plans)
        return HybridRun(table, self.knowledge, self.calibration, self.logic, self.options).run()

    def _rows(self, plans: Sequence[Plan], mode: str) -> Iterator[Tensor]:
        """The probabilities of all entities, query by query."""
        if mode == "embedding":
            yield from self.knowledge.softmax(plans)
            return
        most = max(1, AT_ONCE // max(self.graph.entity_count, 1))
        for some in _parts(plans, most):
            yield from self.sets(some).targets()

    def _exact(
        self, plan: Plan, among: EntitySet | None, top: int, threshold: float | None
    ) -> Answers:
        found = execute(plan, self.graph).sets[-1]
        entities = (found if among is None else found & among).listed(self.graph.entity_count)
        chosen = entities if threshold is not None else entities[:top]
        return Answers(plan, "exact", tuple(self._answer(int(one), 1.0, True) for one in chosen))

    def _ranked(
        self,
        plan: Plan,
        mode: str,
        row: Tensor,
        known: Integers,
        top: int,
        threshold: float | None,
        among: EntitySet | None,
    ) -> Answers:
        if among is not None:
            inside = np.zeros(len(row), dtype=bool)
            inside[among.listed(len(row))] = True
            row = torch.where(torch.from_numpy(inside), row, -1.0)
        if threshold is not None:
            top = int((row >= threshold).sum())
        best = row.topk(min(top, len(row)))
        stated = set(known.tolist())
        return Answers(
            plan,
            mode,
            tuple(
                self._answer(entity, chance, entity in stated)
                for entity, chance in zip(best.indices.tolist(), best.values.tolist(), strict=True)
                if chance >= 0
            ),
        )

    def _answer(self, entity: int, probability: float, known: bool) -> Answer:
        names = self.graph.vocabulary.entities
        seen = self.knowledge.knows(entity)
        return Answer(entity, names.ids[entity], names.labels[entity], probability, known, seen)


def _parts(plans: Sequence[Plan], most: int) -> Iterator[list[Plan]]:
    """Plans in parts that have no more steps than that, or are one plan."""
    part: list[Plan] = []
    count = 0
    for plan in plans:
        if part and count + len(plan.steps) > most:
            yield part
            part, count = [], 0
        part.append(plan)
        count += len(plan.steps)
    if part:
        yield part
