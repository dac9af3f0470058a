"""How exact answers are shown: lines, tables of steps, proofs, JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from nqe.cli import printing
from nqe.errors import NqeError
from nqe.graph.entity_set import EntitySet
from nqe.graph.graph import Graph
from nqe.query.exact import Result, execute
from nqe.query.step_text import step_cells, step_json

SHOWN = 50
STEP_NAMES = 6
STEP_COLUMNS = ("step", "variable", "says", "of")


class Asker:
    """Asks a graph and shows what it says."""

    at_once = 1
    """A query of a file is answered as soon as it is read."""

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
        """Print the answers of a query for a person."""
        self.print(self._result(query))

    def answer(self, queries: Sequence[str]) -> list[Result | NqeError]:
        """What each query gives; a query in error gives its error."""
        return [self._result_or_error(query) for query in queries]

    def print(self, result: Result) -> None:
        """Print answers for a person."""
        answers = self._answers(result)
        limit = self.top or SHOWN
        names = self.graph.vocabulary.entities
        rows = [(names.ids[n], names.labels[n], names.descriptions[n]) for n in answers[:limit]]
        for warning in result.plan.warnings:
            printing.note(f"nqe: note: {warning}")
        if self.steps:
            show_steps(result)
        if rows:
            printing.table(("id", "label", "description"), rows)
        if len(answers) > limit:
            printing.note(f"… and {len(answers) - limit:,} more (--top)")
        printing.note(f"{len(answers):,} answer(s)")
        if self.proof:
            for entity in answers[:limit]:
                printing.say()
                printing.say(str(result.proof(entity)))

    def to_json(self, query: str, result: Result) -> dict[str, Any]:
        """The answers as one JSON object; every one is stated, so known."""
        answers = self._answers(result)
        shown = answers if self.top is None else answers[: self.top]
        data: dict[str, Any] = {"query": query, "count": len(answers)}
        data["answers"] = [self._answer(result, entity) for entity in shown]
        if self.steps:
            data["steps"] = steps_json(result, self.top)
        if result.plan.warnings:
            data["warnings"] = list(result.plan.warnings)
        return data

    def _result(self, query: str) -> Result:
        return execute(query, self.graph, max_bindings=self._max_bindings)

    def _result_or_error(self, query: str) -> Result | NqeError:
        try:
            return self._result(query)
        except NqeError as error:
            return error

    def _answers(self, result: Result) -> list[int]:
        entities = result.sets[-1] if self._among is None else result.sets[-1] & self._among
        listed: list[int] = entities.to_array(self.graph.entity_count).tolist()
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


def steps_json(result: Result, top: int | None) -> list[dict[str, Any]]:
    """The set of every step as JSON data; so many entities of each."""
    names = result.graph.vocabulary
    data = []
    for number, entities in enumerate(result.sets):
        listed = entities.to_array(result.graph.entity_count)
        ids = [names.entities.ids[entity] for entity in listed[:top].tolist()]
        head = step_json(result.plan, number, names)
        data.append({**head, "count": len(listed), "entities": ids})
    return data


def show_steps(result: Result) -> None:
    """Print the set of every step."""
    names = result.graph.vocabulary
    rows = []
    for number, entities in enumerate(result.sets):
        listed = entities.to_array(result.graph.entity_count)
        some = ", ".join(names.entities.name(entity) for entity in listed[:STEP_NAMES].tolist())
        more = ", …" if len(listed) > STEP_NAMES else ""
        rows.append((*step_cells(result.plan, number, names), len(listed), some + more))
    printing.table((*STEP_COLUMNS, "entities", "such as"), rows)
