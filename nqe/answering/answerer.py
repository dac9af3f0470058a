"""The answerer: questions in, ranked answers out, by any of the three runners."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from nqe.answering.answers import Answer, Answers
from nqe.answering.calibration import Calibration, mean_answers
from nqe.answering.hybrid import HybridOptions, HybridRun, parts
from nqe.answering.predictor import Knowledge
from nqe.answering.top_k import likeliest, mask_of
from nqe.errors import NqeError, choose
from nqe.graph.dataset import Dataset
from nqe.graph.entity_set import EntitySet
from nqe.graph.fact_columns import Facts
from nqe.graph.graph import Graph
from nqe.model.checkpoint import checkpoint_of, load
from nqe.model.fuzzy_logic import LOGICS, norm_of
from nqe.model.model import Model
from nqe.query.exact import Question, Result, execute_many
from nqe.query.plan import Plan
from nqe.query.step_table import StepTable

if TYPE_CHECKING:
    from nqe.answering.explanation import Explanation

MODES = ("hybrid", "embedding", "exact")


class Answerer:
    """Answers questions over the known facts of a graph, with a model for what they lack.

    `facts` names the splits of a data set that are known; a graph has `all` or `none`. Without a
    calibration, probabilities are the model's softmax times the mean number of answers, which
    ranks well and means little.
    """

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
        known = _known(graph, facts)
        self.knowledge = Knowledge(model, known)
        if calibration is None:
            answers = mean_answers(known.facts, len(known.vocabulary.relations))
            calibration = Calibration.plain(self.knowledge.by_relation(answers))
        if len(calibration.facts.answers) != model.relation_count:
            raise NqeError(
                f"the calibration is of a model with {len(calibration.facts.answers):,} relations, "
                f"this one has {model.relation_count:,}; calibrate it again"
            )
        self.calibration = calibration
        # A model that is blind to logic has none for fuzzy sets.
        self.logic = choose(LOGICS, logic, "logic")() if logic else norm_of(model.logic)
        self.options = options or HybridOptions()

    @classmethod
    def load(
        cls,
        run: str | Path,
        graph: Graph | Dataset,
        *,
        facts: str = "all",
        logic: str | None = None,
        options: HybridOptions | None = None,
        device: str = "auto",
    ) -> Answerer:
        """With the model of a RUN or a checkpoint, and its calibration if it has one."""
        model, calibration = load(run, device), Calibration.load(checkpoint_of(Path(run)))
        return cls(model, graph, facts=facts, calibration=calibration, logic=logic, options=options)

    @property
    def graph(self) -> Graph:
        """The known facts."""
        return self.knowledge.graph

    @cached_property
    def without_facts(self) -> Answerer:
        """The same model, asked as if no fact were known."""
        other = object.__new__(Answerer)
        vars(other).update(vars(self))
        nothing = Graph(self.graph.vocabulary, Facts.empty())
        other.knowledge = Knowledge(self.knowledge.model, nothing)
        return other

    def answer(
        self,
        query: Question,
        mode: str = "hybrid",
        top: int = 10,
        *,
        threshold: float | None = None,
        among: EntitySet | None = None,
    ) -> Answers:
        """The best answers of a query; with a threshold, all that are at least so likely.

        `among` are the entities that may be answers, such as what another query gave.
        """
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
        if threshold is not None and not 0 <= threshold <= 1:
            raise NqeError(f"the threshold is {threshold:g}; give a probability from 0 to 1")
        results = execute_many(queries, self.graph)
        plans = [result.plan for result in results]
        rows = map(_stated, results) if mode == "exact" else self.rows(plans, mode)
        return [
            self.ranked(result, row, mode, top, threshold=threshold, among=among)
            for result, row in zip(results, rows, strict=True)
        ]

    def rows(self, plans: Sequence[Plan], mode: str = "hybrid") -> Iterator[Tensor]:
        """The probabilities of all entities, plan by plan, (entities,)."""
        if mode not in MODES:
            raise NqeError(f"unknown mode '{mode}'; choose one of {', '.join(MODES)}")
        if mode == "exact":
            return map(_stated, execute_many(plans, self.graph))
        return self._rows(plans, self._hybrid if mode == "hybrid" else self._embedding)

    def explain(self, query: Question, entity: int | str | None = None) -> Explanation:
        """Why an entity is an answer, or the best one is; `nqe.explain` has more to choose."""
        from nqe.answering.explanation import explain

        return explain(self, query, entity)

    def run(self, plans: Sequence[Plan]) -> HybridRun:
        """The fuzzy set of every step of some plans."""
        return self.run_table(StepTable.of(plans))

    def run_table(self, table: StepTable) -> HybridRun:
        """The same, of plans as a table."""
        curve = self.calibration.curve(self.graph)
        return HybridRun(table, self.knowledge, curve, self.logic, self.options)

    def _rows(
        self, plans: Sequence[Plan], run: Callable[[Sequence[Plan]], Tensor]
    ) -> Iterator[Tensor]:
        sizes = np.array([len(plan.steps) for plan in plans], dtype=np.int64)
        for part in parts(sizes, self.graph.entity_count):
            yield from run(plans[part])

    def _hybrid(self, plans: Sequence[Plan]) -> Tensor:
        return self.run(plans).targets()

    def _embedding(self, plans: Sequence[Plan]) -> Tensor:
        """The paper's softmax."""
        unseen = [name for plan in plans for name in self.knowledge.unseen(plan)]
        if unseen:
            raise NqeError(
                f"the query names {unseen[0]}, which was added to the graph after the model was "
                "trained; ask in the mode hybrid or exact"
            )
        return self.knowledge.scores(self.knowledge.vectors(StepTable.of(plans))).softmax(1)

    def ranked(
        self,
        result: Result,
        row: Tensor,
        mode: str,
        top: int,
        *,
        threshold: float | None = None,
        among: EntitySet | None = None,
    ) -> Answers:
        """The best entities of a row of probabilities, with what the facts give for the plan."""
        likely = row if threshold is None else row.masked_fill(row < threshold, 0)
        if among is not None:
            likely = likely * mask_of(among, row)
        best = likeliest(likely, top if threshold is None else len(row))
        chosen = np.array([entity for entity, _ in best], dtype=np.int64)
        known = result.sets[-1].contains(chosen).tolist()
        return Answers(
            result.plan,
            mode,
            tuple(
                self.entity_answer(*one, stated) for one, stated in zip(best, known, strict=True)
            ),
            () if mode == "exact" else self.knowledge.unseen(result.plan),
        )

    def entity_answer(self, entity: int, probability: float, known: bool) -> Answer:
        """An entity as an answer."""
        names = self.graph.vocabulary.entities
        seen = self.knowledge.knows(entity)
        return Answer(entity, names.ids[entity], names.labels[entity], probability, known, seen)


def _stated(result: Result) -> Tensor:
    """What the facts give, as a row of probabilities."""
    row = torch.zeros(result.graph.entity_count)
    row[torch.from_numpy(result.answers)] = 1
    return row


def _known(graph: Graph | Dataset, facts: str) -> Graph:
    """The facts that are known."""
    if isinstance(graph, Dataset):
        return graph.known(facts)
    match facts.strip():
        case "all":
            return graph
        case "none":
            return Graph(graph.vocabulary, Facts.empty())
        case _:
            raise NqeError(
                f"a graph has no splits, so its facts are all or none, not '{facts}'; "
                "give the data set"
            )
