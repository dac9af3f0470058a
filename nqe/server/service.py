"""What is served: an answerer, and what the server's routes do with it.

Everything here may run in several threads at once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from nqe import version
from nqe.answering.answerer import Answerer, Outcome
from nqe.answering.request import EXACT, MODES, Request
from nqe.answering.row_explanation import RowExplanation
from nqe.errors import NqeError, UnknownName
from nqe.graph.arrays import Integers
from nqe.graph.dataset import Dataset
from nqe.graph.entity_facts import collect_entity_facts
from nqe.graph.fact import Fact
from nqe.graph.graph import Graph
from nqe.graph.vocabulary import Names
from nqe.query.binder import BoundPlan, bind, read_query
from nqe.query.completion import complete
from nqe.query.exact import execute
from nqe.query.join_plan import JoinPlan
from nqe.query.labelled import label_query
from nqe.query.query import Query
from nqe.query.rows import Rows
from nqe.query.sparql import write_sparql
from nqe.server import wire
from nqe.server.examples import draw_examples
from nqe.server.model_card import describe_model
from nqe.server.problems import NotFound, TooMuch, describe_problem
from nqe.server.question_size import check_size, count_free_facts
from nqe.server.replies import Json, Replies
from nqe.settings import ServingSettings

Call = Callable[[], Any]


@dataclass(frozen=True, eq=False)
class Question:
    """A question that was checked and bound, and whether it may take long."""

    request: Request
    heavy: bool
    shown: str
    """The question as text, in labels."""
    service: Service
    """The one whose numbers it is bound to; another may replace it before the answer comes."""


class Service:
    """A graph, or a run, and how questions about it are answered."""

    def __init__(
        self,
        answerer: Answerer,
        name: str,
        settings: ServingSettings,
        *,
        run: Path | None = None,
        writable: bool = False,
    ) -> None:
        self.answerer, self.name, self.settings = answerer, name, settings
        self.run, self.writable = run, writable
        self.replies = Replies(answerer.graph)

    @property
    def graph(self) -> Graph:
        """The known facts."""
        return self.answerer.graph

    def with_answerer(self, answerer: Answerer) -> Service:
        """The same service with other known facts."""
        return Service(answerer, self.name, self.settings, run=self.run, writable=self.writable)

    def read_fact(self, given: wire.GivenFact, new_names: bool) -> Fact:
        """A fact in ids; a name that the graph lacks is an error unless it may be new."""
        names = self.graph.vocabulary

        def find(among: Names, text: str) -> str:
            try:
                return among.ids[among.resolve(text)]
            except UnknownName:
                if new_names:
                    return text
                raise

        pairs = tuple(
            (find(names.relations, attribute), find(names.entities, value))
            for attribute, value in given.qualifiers
        )
        return Fact(
            find(names.entities, given.subject),
            find(names.relations, given.relation),
            find(names.entities, given.object),
            pairs,
        )

    def prepare(self, asked: wire.Asked) -> Question:
        """Check a question and bind its names; raises NqeError if it cannot be answered."""
        query = read_query(asked.query)
        plan = self._bind(query)
        among = None if asked.among is None else self._bind(asked.among)
        top = asked.top if asked.limit is None else asked.limit
        if top is not None and top > self.settings.top:
            raise TooMuch(f"{top:,} answers asked for; ask for at most {self.settings.top:,}")
        request = Request(
            plan,
            asked.mode,
            top,
            asked.threshold,
            among,
            predicted_only=asked.predicted_only,
            stated_only=asked.stated_only,
            steps=asked.steps,
            order_by=asked.order_by,
        )
        request = replace(request, mode=self._choose_mode(request))
        if request.limit(request.check(self.answerer.has_model)) is None:
            request = replace(request, top=self.settings.top)
        plans = [plan] if among is None else [plan, among]
        # Predictions for joins are made one question at a time, so they need not wait together.
        is_alone = isinstance(plan, JoinPlan) and request.mode != EXACT
        is_heavy = is_alone or any(map(self._is_heavy, plans))
        return Question(request, is_heavy, self._show(query), self)

    def answer(self, questions: Sequence[Question]) -> list[Outcome]:
        """Answer questions together; gives the answers or the error of each."""
        return self.answerer.answer_many([one.request for one in questions])

    def explain(self, asked: wire.AskedWhy) -> Json:
        """Why an entity has its rank, or why a row is an answer; from facts alone, its proof."""
        query = read_query(asked.query)
        plan, shown = self._bind(query), self._show(query)
        if self._choose_mode(Request(plan, asked.mode)) != EXACT:
            answer = asked.entity if asked.row is None else asked.row
            found = self.answerer.explain(plan, answer, asked.mode)
            if isinstance(found, RowExplanation):
                return self.replies.row_explanation(found, plan, shown)
            return self.replies.explanation(found, shown)
        result = execute(plan, self.graph, max_bindings=self.answerer.max_bindings)
        if isinstance(result, Rows) and not result.plan.is_single:
            return self.replies.row_proof(result, asked.row, shown)
        return self.replies.proof(result, asked.entity, shown)

    def parse(self, query: str | Mapping[str, Any]) -> Json:
        """What a question means, or what is wrong with it."""
        found: Json = {
            "problem": None,
            "text": None,
            "json": None,
            "shape": None,
            "targets": [],
            "counted": None,
            "modes": [],
            "steps": [],
            "drawing": None,
            "notes": [],
        }
        try:
            read = read_query(query)
            found |= {"text": str(read), "json": read.to_json()}
            plan = self._bind(read)
            found |= {"text": self._show(read), "modes": self._list_modes(plan)}
            found |= self.replies.plan(plan)
        except NqeError as error:
            text = query if isinstance(query, str) else None
            found["problem"] = describe_problem(error, text).model_dump(exclude_none=True)
        return found

    def to_sparql(self, query: str | Mapping[str, Any]) -> Json:
        """A question in SPARQL."""
        return {"sparql": write_sparql(read_query(query).graph, self.graph.vocabulary)}

    def score(self, asked: wire.AskedScore) -> Json:
        """How likely a statement is."""
        from nqe.answering.statement_scores import score

        self._check_model()
        return self.replies.score(score(self.answerer, asked.statement, asked.alternatives))

    def suggest(self, asked: wire.AskedSuggestions) -> Json:
        """Likely statements about an entity that the graph lacks."""
        from nqe.answering.statement_scores import suggest

        self._check_model()
        found = suggest(self.answerer, asked.entity, relation=asked.relation, top=asked.top)
        return self.replies.suggestions(found)

    def complete(self, prefix: str, at: int | None) -> Json:
        """Names that fit before the cursor."""
        before = prefix if at is None else prefix[:at]
        found = complete(before, self.graph)
        return {"completions": [vars(one) for one in found]}

    def search(self, text: str, kind: str, limit: int) -> Json:
        """Entities or relations whose names fit a text."""
        vocabulary = self.graph.vocabulary
        names = vocabulary.entities if kind == "entity" else vocabulary.relations
        one = self.replies.entity if kind == "entity" else self.replies.relation
        hits = names.search(text, min(limit, self.settings.rows))
        return {"names": [{**one(hit.number), "how": hit.how} for hit in hits]}

    def show_entity(self, id: str, predicted: int) -> Json:
        """An entity with its facts, and `predicted` likely ones that no fact states."""
        number = self.graph.vocabulary.entities.number(id)
        if number is None:
            raise NotFound(f"no entity has the id '{id}'; search for its label")
        found = collect_entity_facts(self.graph, number)
        answer = self.answerer.make_answer(number, 1.0, known=True)
        facts = self.replies.facts_of(found, self.settings.rows)
        likely: Json = {"suggestions": []}
        if predicted:
            likely = self.suggest(wire.AskedSuggestions(entity=id, relation=None, top=predicted))
        return {
            **self.replies.entity(number),
            "seen": answer.seen,
            **facts,
            "predicted": likely["suggestions"],
        }

    def list_relations(self, limit: int) -> Json:
        """The relations, those of most facts first."""
        main, attribute = self._uses
        order = np.lexsort((np.arange(len(main)), -attribute, -main)).tolist()
        shown = order[: min(limit, self.settings.rows)]
        return {"relations": [self._show_relation(one) for one in shown], "count": len(order)}

    def list_rules(self, id: str, top: int) -> Json:
        """The rules that predict facts of a relation, those of most confidence first."""
        number = self.graph.vocabulary.relations.number(id)
        if number is None:
            raise NotFound(f"no relation has the id '{id}'; search for its label")
        rules = self.answerer.rules
        own = None if rules is None else rules.vocabulary.relations.number(id)
        if rules is None or own is None:
            return self.replies.rules(number, (), 0)
        rows = rules.find(own)
        shown = rows[: min(top, self.settings.rows)].tolist()
        return self.replies.rules(number, map(rules.describe, shown), len(rows))

    @cached_property
    def _uses(self) -> tuple[Integers, Integers]:
        """How many facts have each relation, and how many qualifiers have it as attribute."""
        facts, count = self.graph.facts, self.graph.relation_count
        main = np.bincount(facts.relation, minlength=count)
        attribute = np.bincount(facts.attribute, minlength=count)
        return main.astype(np.int64), attribute.astype(np.int64)

    def _show_relation(self, relation: int) -> Json:
        main, attribute = self._uses
        rows = np.flatnonzero(self.graph.facts.relation == relation)[:3].tolist()
        return {
            **self.replies.relation(relation),
            "facts": int(main[relation]),
            "qualifiers": int(attribute[relation]),
            "examples": [self.replies.fact(self.graph.fact(row)) for row in rows],
        }

    @cached_property
    def overview(self) -> Json:
        """The graph at a glance, and the model."""
        graph, facts = self.graph, self.graph.facts
        arities, counts = np.unique(facts.qualifier_count + 2, return_counts=True)
        degree = np.bincount(facts.subject, minlength=graph.entity_count)
        degree = degree + np.bincount(facts.object, minlength=graph.entity_count)
        degree = degree + np.bincount(facts.value, minlength=graph.entity_count)
        most = np.lexsort((np.arange(len(degree)), -degree))[:12].tolist()
        source = self.answerer.source
        splits = source.splits if isinstance(source, Dataset) else {"facts": facts}
        return {
            "name": self.name,
            "facts": len(graph),
            "entities": graph.entity_count,
            "relations": graph.relation_count,
            "splits": {name: len(split) for name, split in splits.items()},
            "with_qualifiers": int((facts.qualifier_count > 0).sum()),
            "arities": dict(zip(arities.tolist(), counts.tolist(), strict=True)),
            "most_connected": [
                {**self.replies.entity(one), "count": int(degree[one])} for one in most
            ],
            "model": describe_model(self.answerer, self.run),
            "rules": 0 if self.answerer.rules is None else len(self.answerer.rules),
            "examples": draw_examples(graph),
            "writable": self.writable,
            "version": version.VERSION,
        }

    def _bind(self, query: Query | str | Mapping[str, Any]) -> BoundPlan:
        """The plan of a query; refuses what is beyond the limits."""
        plan = bind(query, self.graph)
        check_size(plan, self.settings)
        return plan

    def _choose_mode(self, request: Request) -> str:
        """The mode that a request names, or the one that can answer it without a mode."""
        usual = request.check(self.answerer.has_model)
        is_open = request.mode is None and isinstance(request.query, JoinPlan)
        if is_open and not self._can_answer(request) and self._can_answer(_exactly(request)):
            return EXACT
        return usual

    def _list_modes(self, plan: BoundPlan) -> list[str]:
        """The modes that can answer a question; the one that is taken without a mode first."""
        usual = self._choose_mode(Request(plan))
        modes = [one for one in MODES if self._can_answer(Request(plan, one))]
        return sorted(modes, key=lambda one: one != usual)

    def _can_answer(self, request: Request) -> bool:
        try:
            self.answerer.check(request)
        except NqeError:
            return False
        return True

    def _show(self, query: Query) -> str:
        """A question as text, in labels where they are clear."""
        return str(label_query(query, self.graph.vocabulary))

    def _is_heavy(self, plan: BoundPlan) -> bool:
        """Whether a plan may look at many facts: those of relations that nothing restricts."""
        main, _ = self._uses
        return count_free_facts(plan, main) > self.settings.heavy_facts

    def _check_model(self) -> None:
        if not self.answerer.has_model:
            raise NqeError("a graph alone predicts nothing; serve a RUN, or give --rules")


def _exactly(request: Request) -> Request:
    return replace(request, mode=EXACT)
