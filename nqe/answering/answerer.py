"""The answerer: questions in, ranked answers out, by any of the three runners."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from nqe.answering.answers import Answer, Answers
from nqe.answering.calibration import Calibration, mean_answers
from nqe.answering.hybrid import HybridOptions, HybridRun, parts
from nqe.answering.knowledge import Knowledge
from nqe.errors import NqeError, choose
from nqe.graph.dataset import Dataset
from nqe.graph.entities import EntitySet
from nqe.graph.facts import empty
from nqe.graph.graph import Graph
from nqe.model.checkpoint import checkpoint_of, load
from nqe.model.logic import LOGICS
from nqe.model.model import Model
from nqe.query.exact import Question, execute
from nqe.query.exact_batch import StepTable
from nqe.query.plan import Plan, bind

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
        self.calibration = calibration
        self.logic = choose(LOGICS, logic or model.settings.logic, "logic")()
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
        other.knowledge = Knowledge(self.knowledge.model, Graph(self.graph.vocabulary, empty()))
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
        plans = [one if isinstance(one, Plan) else bind(one, self.graph) for one in queries]
        return [
            self.ranked(plan, row, mode, top, threshold=threshold, among=among)
            for plan, row in zip(plans, self.rows(plans, mode), strict=True)
        ]

    def rows(self, plans: Sequence[Plan], mode: str = "hybrid") -> Iterator[Tensor]:
        """The probabilities of all entities, plan by plan, (entities,)."""
        if mode not in MODES:
            raise NqeError(f"unknown mode '{mode}'; choose one of {', '.join(MODES)}")
        return self._rows(plans, mode)

    def run(self, plans: Sequence[Plan]) -> HybridRun:
        """The fuzzy set of every step of some plans."""
        return self.run_table(StepTable.of(plans))

    def run_table(self, table: StepTable) -> HybridRun:
        """The same, of plans as a table."""
        curve = self.calibration.curve(self.graph)
        return HybridRun(table, self.knowledge, curve, self.logic, self.options)

    def _rows(self, plans: Sequence[Plan], mode: str) -> Iterator[Tensor]:
        of_mode = {"hybrid": self._hybrid, "embedding": self._embedding, "exact": self._exact}
        sizes = np.array([len(plan.steps) for plan in plans], dtype=np.int64)
        for part in parts(sizes, self.graph.entity_count):
            yield from of_mode[mode](plans[part])

    def _hybrid(self, plans: Sequence[Plan]) -> Tensor:
        return self.run(plans).targets()

    def _embedding(self, plans: Sequence[Plan]) -> Tensor:
        """The paper's softmax."""
        vectors = self.knowledge.vectors(StepTable.of(plans))
        if bool(vectors.isnan().any()):
            raise NqeError(
                "the query names something that was added to the graph after the model was "
                "trained; ask in the mode hybrid or exact"
            )
        return self.knowledge.scores(vectors).softmax(1)

    def _exact(self, plans: Sequence[Plan]) -> Tensor:
        rows = torch.zeros(len(plans), self.graph.entity_count)
        for row, plan in zip(rows, plans, strict=True):
            row[torch.from_numpy(execute(plan, self.graph).answers)] = 1
        return rows

    def ranked(
        self,
        plan: Plan,
        row: Tensor,
        mode: str,
        top: int,
        *,
        threshold: float | None = None,
        among: EntitySet | None = None,
    ) -> Answers:
        """The best entities of a row of probabilities."""
        likely = row > 0 if threshold is None else row >= threshold
        if among is not None:
            inside = torch.zeros_like(likely)
            inside[torch.from_numpy(among.listed(len(row))).to(row.device)] = True
            likely &= inside
        most = int(likely.sum())
        best = _best(row, likely, most if threshold is not None else min(top, most))
        chosen = best.cpu().numpy()
        known = execute(plan, self.graph).sets[-1].contains(chosen).tolist()
        answers = zip(chosen.tolist(), row[best].tolist(), known, strict=True)
        return Answers(plan, mode, tuple(self.entity_answer(*one) for one in answers))

    def number(self, entity: int | str) -> int:
        """The number of an entity: itself, or that of an id or label."""
        names = self.graph.vocabulary.entities
        number = names.resolve(entity) if isinstance(entity, str) else int(entity)
        if not 0 <= number < len(names):
            raise NqeError(f"there is no entity number {number}; they go to {len(names) - 1}")
        return number

    def entity_answer(self, entity: int, probability: float, known: bool) -> Answer:
        """An entity as an answer."""
        names = self.graph.vocabulary.entities
        seen = self.knowledge.knows(entity)
        return Answer(entity, names.ids[entity], names.labels[entity], probability, known, seen)


def _best(row: Tensor, likely: Tensor, count: int) -> Tensor:
    """The likeliest entities, among equals those with the lowest numbers."""
    chances = row.masked_fill(~likely, -1)
    # Of equals topk takes any, so it only tells where to stop.
    least = chances.topk(count).values.amin() if count else torch.inf
    among = (chances >= least).nonzero()[:, 0]
    return among[chances[among].sort(descending=True, stable=True).indices[:count]]


def _known(graph: Graph | Dataset, facts: str) -> Graph:
    """The facts that are known."""
    if isinstance(graph, Dataset):
        return graph.known(facts)
    match facts.strip():
        case "all":
            return graph
        case "none":
            return Graph(graph.vocabulary, empty())
        case _:
            raise NqeError(
                f"a graph has no splits, so its facts are all or none, not '{facts}'; "
                "give the data set"
            )
