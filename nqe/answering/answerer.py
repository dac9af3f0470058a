"""The answerer: requests in, ranked answers out, from facts alone or with a model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from nqe.answering.answers import LIKELY, Answer, Answers, StepSummary
from nqe.answering.elsewhere import find_elsewhere
from nqe.answering.exact_answers import check_joins, list_exact
from nqe.answering.request import EMBEDDING, EXACT, HYBRID, RULES, Request
from nqe.answering.row_answers import RowAnswers
from nqe.answering.task import Task
from nqe.errors import NqeError
from nqe.graph.arrays import Integers
from nqe.graph.dataset import Dataset
from nqe.graph.entity_set import EntitySet
from nqe.graph.fact_columns import Facts
from nqe.graph.graph import Graph
from nqe.query.binder import BoundPlan, Question, bind, bind_ids
from nqe.query.exact import MAX_BINDINGS, execute, execute_many, execute_trees
from nqe.query.filter_expansion import expand_filters
from nqe.query.join_plan import JoinPlan
from nqe.query.plan import Plan
from nqe.query.result import Result
from nqe.query.rows import Rows, find_rows

if TYPE_CHECKING:
    from nqe.answering.calibration import Calibration
    from nqe.answering.explanation import Explanation
    from nqe.answering.fuzzy_set import FuzzySet
    from nqe.answering.hybrid import HybridOptions, HybridRun
    from nqe.answering.neural import NeuralEngine
    from nqe.answering.relation_prediction import Name, Pairs, RelationAnswer
    from nqe.answering.row_explanation import RowExplanation
    from nqe.model.model import Model
    from nqe.rules.rules import Rules

Outcome = Answers | RowAnswers | NqeError
"""The outcome of one request: its answers, or the error it caused."""


class Answerer:
    """Answers questions from the known facts of a graph, and from predictions of a model and rules.

    `facts` names the splits of a data set that are known; for a graph it is 'all' or 'none'.
    `rules` are evidence beside the model; without a model they predict alone. Without a
    calibration, the probabilities of predictions rank answers but mean little.
    """

    def __init__(
        self,
        graph: Graph | Dataset,
        model: Model | None = None,
        *,
        facts: str = "all",
        rules: Rules | None = None,
        calibration: Calibration | None = None,
        logic: str | None = None,
        options: HybridOptions | None = None,
        max_bindings: int | None = MAX_BINDINGS,
    ) -> None:
        self.source, self.facts = graph, facts
        self.graph = select_facts(graph, facts)
        self.max_bindings = max_bindings
        self.rules = rules
        self._with_facts: dict[str, Answerer] = {}
        self._neural: NeuralEngine | None = None
        self._by_rules: Answerer | None = None
        if model is not None or rules is not None:
            # PyTorch takes seconds to load, and exact answers do not need it.
            from nqe.answering.blank_model import BlankModel
            from nqe.answering.neural import NeuralEngine

            self._neural = NeuralEngine.of(
                model or BlankModel(self.graph),
                self.graph,
                calibration,
                logic,
                options,
                max_bindings,
                self._missing,
                rules,
            )

    @property
    def _missing(self) -> float | None:
        """How many facts are missing for each known one, where other splits say so."""
        source = self.source
        return source.count_missing(self.facts) if isinstance(source, Dataset) else None

    @property
    def has_model(self) -> bool:
        """Whether it can predict; without a model or rules it only answers exactly."""
        return self._neural is not None

    @property
    def neural(self) -> NeuralEngine:
        """The model and rules over the known facts; raises NqeError if there is neither."""
        if self._neural is None:
            raise NqeError("a graph alone predicts nothing; open a RUN, or give rules")
        return self._neural

    def with_facts(self, facts: str) -> Answerer:
        """Return the same answerer with other known facts."""
        if facts == self.facts:
            return self
        if facts not in self._with_facts:
            other = Answerer(self.source, facts=facts, max_bindings=self.max_bindings)
            self._share_model(other)
            self._with_facts[facts] = other
        return self._with_facts[facts]

    def with_rules_alone(self) -> Answerer:
        """Return an answerer with the same facts and rules, but without the model."""
        if self.rules is None:
            raise NqeError(
                "there are no rules to answer with; mine them with `nqe rules`, or ask in another "
                "mode"
            )
        if self._neural is not None and self._neural.is_blank:
            return self
        if self._by_rules is None:
            self._by_rules = Answerer(
                self.source, facts=self.facts, rules=self.rules, max_bindings=self.max_bindings
            )
        return self._by_rules

    def with_source(self, graph: Dataset) -> Answerer:
        """Return the same answerer over a data set with more facts."""
        other = Answerer(graph, facts=self.facts, max_bindings=self.max_bindings)
        self._share_model(other)
        return other

    def _share_model(self, other: Answerer) -> None:
        """Let another answerer use the same model over its own facts."""
        if self._neural is not None:
            other.rules = self.rules
            other._neural = self._neural.with_graph(other.graph, other._missing)

    def answer(
        self,
        query: Question,
        mode: str | None = None,
        top: int | None = None,
        *,
        threshold: float | None = None,
        among: Question | EntitySet | None = None,
        facts: str | None = None,
        predicted_only: bool = False,
        stated_only: bool = False,
        steps: int | None = None,
        order_by: str | None = None,
    ) -> Answers | RowAnswers:
        """Answer one query; see `Request` for the options.

        The answers are `RowAnswers` if the query has several targets or counts.
        """
        options = (mode, top, threshold, among, facts, predicted_only, steps, stated_only, order_by)
        request = Request(query, *options)
        [outcome] = self.answer_many([request])
        if isinstance(outcome, NqeError):
            raise outcome
        return outcome

    def answer_many(self, requests: Sequence[Request | Question]) -> list[Outcome]:
        """Answer many requests in one batch; returns the answers or the error of each."""
        wanted = [r if isinstance(r, Request) else Request(r) for r in requests]
        outcomes: dict[int, Outcome] = {}
        groups: dict[int, tuple[Answerer, list[Task]]] = {}
        for number, request in enumerate(wanted):
            try:
                chosen = self._choose_answerer(request)
                task = chosen._prepare(number, request)
            except NqeError as error:
                outcomes[number] = error
            else:
                groups.setdefault(id(chosen), (chosen, []))[1].append(task)
        for chosen, tasks in groups.values():
            outcomes |= chosen._run(tasks)
        return [outcomes[number] for number in range(len(wanted))]

    def check(self, request: Request) -> None:
        """Refuse a request that cannot be answered, without answering it; raises NqeError."""
        self._choose_answerer(request)._prepare(0, request)

    def _choose_answerer(self, request: Request) -> Answerer:
        """The answerer with the facts and the mode that a request asks for."""
        chosen = self.with_facts(request.facts or self.facts)
        return chosen.with_rules_alone() if request.mode == RULES else chosen

    def explain(
        self,
        query: Question,
        entity: Name | Sequence[Name] | None = None,
        mode: str | None = None,
    ) -> Explanation | RowExplanation:
        """Explain the rank of an answer, by default of the best one; see `nqe.explain`.

        The mode is hybrid, or rules to leave the model out.
        """
        from nqe.answering.explanation import explain

        return explain(self.choose_explained(mode), query, entity)

    def choose_explained(self, mode: str | None) -> Answerer:
        """The answerer whose answers a mode explains; raises NqeError if there is none."""
        if mode == RULES:
            return self.with_rules_alone()
        if mode not in (None, HYBRID):
            raise NqeError(f"the mode {mode} has no explanations; choose {HYBRID} or {RULES}")
        return self

    def predict_relations(
        self,
        subject: Name,
        object_: Name,
        qualifiers: Pairs = (),
        *,
        relation: Name | None = None,
        top: int = 10,
    ) -> list[RelationAnswer]:
        """Rank the relations that may hold between two entities; see `nqe.predict_relations`."""
        from nqe.answering.relation_prediction import predict_relations

        return predict_relations(self, subject, object_, qualifiers, relation=relation, top=top)

    def compute_sets(
        self, plans: Sequence[Plan], mode: str | None = None, *, least: float | None = None
    ) -> Iterator[FuzzySet]:
        """Yield the fuzzy set of the target of each plan; `least` replaces that of the options."""
        if mode == RULES and self.with_rules_alone() is not self:
            return self.with_rules_alone().compute_sets(plans, mode, least=least)
        mode = Request("", mode).check(self.has_model)
        results = execute_trees(plans, self.graph, self.max_bindings)
        engine = self.neural if least is None else self.neural.with_least(least)
        return (sets[-1] for sets in engine.compute_sets(results, mode))

    def compute_join_set(self, plan: JoinPlan) -> FuzzySet:
        """The fuzzy set of the target of a plan that is no tree, and that has one target."""
        from nqe.answering.predicted_rows import predict_rows

        stated = find_rows(plan, self.graph, self.max_bindings)
        return predict_rows(plan, stated, self.neural).to_set()

    def run(self, plans: Sequence[Plan]) -> HybridRun:
        """Compute the fuzzy set of every step of some plans."""
        return self.neural.run(execute_trees(plans, self.graph, self.max_bindings))

    def make_answer(
        self, entity: int, probability: float, known: bool, elsewhere: bool = False
    ) -> Answer:
        """Make an answer of an entity, with its names."""
        names = self.graph.vocabulary.entities
        seen = self._neural is None or self._neural.predictor.has_seen(entity)
        label = names.labels[entity]
        return Answer(entity, names.ids[entity], label, probability, known, seen, elsewhere)

    def _make_stated(self, entity: int) -> Answer:
        return self.make_answer(entity, 1.0, known=True)

    def _prepare(self, number: int, request: Request) -> Task:
        """Check a request and bind its query; raises NqeError if it cannot be answered."""
        mode = request.check(self.has_model)
        plan = bind(request.query, self.graph)
        if mode == EMBEDDING and isinstance(plan, JoinPlan):
            plan, request = self._expand_filters(plan, request)
        if isinstance(plan, JoinPlan):
            check_joins(plan, request, mode)
        elif mode == EMBEDDING:
            self.neural.check_can_embed(plan)
        if request.among is None or isinstance(request.among, EntitySet):
            return Task(number, request, mode, plan, request.among)
        among = execute(request.among, self.graph, max_bindings=self.max_bindings)
        return Task(number, request, mode, plan, among.members, among.warnings)

    def _expand_filters(self, plan: JoinPlan, request: Request) -> tuple[BoundPlan, Request]:
        """The plan and request with an `or` in place of comparisons, where that makes a tree."""
        expanded = expand_filters(plan, self.graph)
        if expanded is None or (expanded.answers is not None and request.among is not None):
            return plan, request
        tree = replace(bind_ids(expanded.graph, self.graph.vocabulary), warnings=plan.warnings)
        among = request.among if expanded.answers is None else expanded.answers
        return tree, replace(request, among=among)

    def _run(self, tasks: Sequence[Task]) -> dict[int, Outcome]:
        """Run tasks together and return their outcomes by number."""
        try:
            return self._run_together(tasks)
        except NqeError as error:
            if len(tasks) == 1:
                return {tasks[0].number: error}
            # Run the tasks one by one, so that only those that cause an error fail.
            return {number: out for task in tasks for number, out in self._run([task]).items()}

    def _run_together(self, tasks: Sequence[Task]) -> dict[int, Outcome]:
        """Run tasks, with the exact engine once for all; an error of one ends all."""
        results = execute_many(
            [task.plan for task in tasks], self.graph, max_bindings=self.max_bindings
        )
        pairs = list(zip(tasks, results, strict=True))
        exact = [pair for pair in pairs if pair[0].mode == EXACT]
        outcomes: dict[int, Outcome] = {
            task.number: list_exact(task, found, self._make_stated) for task, found in exact
        }
        for task, one in pairs:
            if task.mode != EXACT and isinstance(one, Rows):
                outcomes[task.number] = self._predict_rows(task, one)
        predicting = [(task, one) for task, one in pairs if isinstance(one, Result)]
        for mode in dict.fromkeys(task.mode for task, _ in predicting if task.mode != EXACT):
            chosen = [pair for pair in predicting if pair[0].mode == mode]
            found = self.neural.compute_sets([result for _, result in chosen], mode)
            for (task, result), sets in zip(chosen, found, strict=True):
                outcomes[task.number] = self._rank(task, result, sets)
        return outcomes

    def _predict_rows(self, task: Task, rows: Rows) -> Answers | RowAnswers:
        """Answer a question that is no tree by the model and rules."""
        from nqe.answering.predicted_answers import list_predicted

        return list_predicted(task, rows, self.neural, self.make_answer)

    def _rank(self, task: Task, result: Result, sets: Sequence[FuzzySet]) -> Answers:
        """Rank the most likely entities of the target's fuzzy set."""
        from nqe.answering.top_k import count_likely, restrict, select_likeliest

        request, stated, target = task.request, result.sets[-1], sets[-1]
        order = self.graph.vocabulary.entities.id_order
        counts = count_likely(
            target.restrict(task.among, len(order)), stated, LIKELY, request.threshold, len(order)
        )
        allowed = restrict(target, task.choose_kind(stated), request.threshold, len(order))
        first = stated if task.mode in (HYBRID, RULES) else None
        best = select_likeliest(allowed, request.limit(task.mode), order=order, stated=first)
        flags = self._flag(result.plan, stated, np.array([one for one, _ in best], dtype=np.int64))
        return Answers(
            task.plan,
            task.mode,
            tuple(self.make_answer(*one, *flag) for one, flag in zip(best, flags, strict=True)),
            self.neural.predictor.find_unseen_names(result.plan),
            has_rules=self.rules is not None,
            stated_count=task.count_stated(stated, self.graph.entity_count, counts[0]),
            likely_count=counts[1] if task.mode in (HYBRID, RULES) else None,
            steps=tuple(self._summarize_fuzzy_steps(request, result, sets)),
            among_warnings=task.among_warnings,
            result=result,
        )

    def _flag(self, plan: Plan, stated: EntitySet, listed: Integers) -> list[tuple[bool, bool]]:
        """Whether each listed answer is stated, or predicted and never stood there in facts."""
        known = stated.contains(listed)
        elsewhere = find_elsewhere(plan, listed, self.neural.predictor) & ~known
        return list(zip(known.tolist(), elsewhere.tolist(), strict=True))

    def _summarize_fuzzy_steps(
        self, request: Request, result: Result, sets: Sequence[FuzzySet]
    ) -> Iterator[StepSummary]:
        from nqe.answering.top_k import select_likeliest

        if request.steps is None:
            return
        count, order = self.graph.entity_count, self.graph.vocabulary.entities.id_order
        for number, one in enumerate(sets):
            members = tuple(
                self.make_answer(entity, probability, entity in result.sets[number])
                for entity, probability in select_likeliest(one, request.steps, order=order)
            )
            likely = int((one.list_all(count).values > LIKELY).sum())
            yield StepSummary(number, likely, members)


def select_facts(graph: Graph | Dataset, facts: str) -> Graph:
    """Select the known facts: the named splits of a data set, or all or none of a graph."""
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
