"""How exact answers are shown: lines, tables of steps, proofs, JSON."""

from __future__ import annotations

from typing import Any

from nqe.cli import printing
from nqe.graph.entities import EntitySet
from nqe.graph.graph import Graph
from nqe.query.exact import Result, execute
from nqe.query.wording import step_words

SHOWN = 50
STEP_NAMES = 6


class Asker:
    """Asks a graph and shows what it says."""

    def __init__(
        self,
        graph: Graph,
        among: str | None = None,
        max_bindings: int | None = None,
        top: int | None = None,
        *,
        steps: bool = False,
        proof: bool = False,
    ) -> None:
        self.graph, self.top, self.steps, self.proof = graph, top, steps, proof
        self._max_bindings = max_bindings
        self._among: EntitySet | None = None
        if among is not None:
            self._among = execute(among, graph, max_bindings=max_bindings).sets[-1]

    def show(self, query: str) -> None:
        """Print the answers for a person."""
        result = execute(query, self.graph, max_bindings=self._max_bindings)
        answers = self._answers(result)
        limit = self.top or SHOWN
        names = self.graph.vocabulary.entities
        rows = [(names.ids[n], names.labels[n], names.descriptions[n]) for n in answers[:limit]]
        for warning in result.plan.warnings:
            printing.note(f"nqe: note: {warning}")
        if self.steps:
            self._show_steps(result)
        if rows:
            printing.table(("id", "label", "description"), rows)
        if len(answers) > limit:
            printing.note(f"… and {len(answers) - limit:,} more (--top)")
        printing.note(f"{len(answers):,} answer(s)")
        if self.proof:
            for entity in answers[:limit]:
                printing.say()
                printing.say(str(result.proof(entity)))

    def as_json(self, query: str) -> dict[str, Any]:
        """The answers as one JSON object; every one is stated, so known."""
        result = execute(query, self.graph, max_bindings=self._max_bindings)
        answers = self._answers(result)
        shown = answers if self.top is None else answers[: self.top]
        data: dict[str, Any] = {"query": query, "count": len(answers)}
        data["answers"] = [self._answer(result, entity) for entity in shown]
        if self.steps:
            data["steps"] = [self._step(result, number) for number in range(len(result.sets))]
        if result.plan.warnings:
            data["warnings"] = list(result.plan.warnings)
        return data

    def _answers(self, result: Result) -> list[int]:
        entities = result.sets[-1] if self._among is None else result.sets[-1] & self._among
        listed: list[int] = entities.listed(self.graph.entity_count).tolist()
        return listed

    def _answer(self, result: Result, entity: int) -> dict[str, Any]:
        names = self.graph.vocabulary.entities
        data: dict[str, Any] = {
            "entity": names.ids[entity],
            "label": names.labels[entity],
            "known": True,
        }
        if self.proof:
            data["proof"] = result.proof(entity).to_json()
        return data

    def _step(self, result: Result, number: int) -> dict[str, Any]:
        step, entities = result.plan.steps[number], result.sets[number]
        ids = self.graph.vocabulary.entities.ids
        listed = entities.listed(self.graph.entity_count)
        shown = listed if self.top is None else listed[: self.top]
        return {
            "step": number + 1,
            "variable": step.variable,
            "operator": step.op.word,
            "inputs": [one + 1 for one in step.inputs],
            "says": step_words(result.plan, number, self.graph.vocabulary),
            "count": len(listed),
            "entities": [ids[entity] for entity in shown.tolist()],
        }

    def _show_steps(self, result: Result) -> None:
        names = self.graph.vocabulary.entities
        rows = []
        for number, (step, entities) in enumerate(zip(result.plan.steps, result.sets, strict=True)):
            listed = entities.listed(self.graph.entity_count)
            some = ", ".join(names.name(entity) for entity in listed[:STEP_NAMES].tolist())
            more = ", …" if len(listed) > STEP_NAMES else ""
            says = step_words(result.plan, number, self.graph.vocabulary)
            inputs = ", ".join(str(one + 1) for one in step.inputs)
            rows.append((number + 1, f"?{step.variable}", says, inputs, len(listed), some + more))
        printing.table(("step", "variable", "says", "of", "entities", "such as"), rows)
