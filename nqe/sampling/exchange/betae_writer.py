"""Queries without qualifiers written as BetaE's files, for its tools to read.

Its tools want pickles, so these are: plain containers, protocol 2, nothing else in them.
"""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from nqe.errors import StorageError, choose
from nqe.files import new_folder
from nqe.graph.dataset import Dataset
from nqe.graph.fact_columns import Facts
from nqe.graph.pattern import SUBJECT
from nqe.query.plan import Op, Plan
from nqe.query.shapes import SHAPES, Shape, parse_shape
from nqe.sampling.exchange.tuple_structures import SIGNS, Nested
from nqe.sampling.query_table import QueryTable

# Marks a folder as ours, which a later export may replace.
MARKER, MARK = "README.txt", "Queries in BetaE's form, written by nqe."
EASY = {"train": "train-answers", "valid": "valid-easy-answers", "test": "test-easy-answers"}
Both = tuple[Nested, Nested]
"""A structure and a query of it."""


class _Unwritable(Exception):
    """What about a query the format cannot say."""


def write_nested(dataset: Dataset, tables: Mapping[str, QueryTable], folder: str | Path) -> None:
    """Write a data set's triples and queries; an earlier export at that place is replaced.

    Queries that are the same to the letter are written once. Of facts with qualifiers the main
    triple is written.
    """
    with new_folder(Path(folder), MARKER, MARK) as temporary:
        (temporary / MARKER).write_text(MARK + "\n", encoding="utf-8")
        _write_names(dataset, temporary)
        for split, facts in dataset.splits.items():
            _write_triples(facts, temporary / f"{split}.txt")
        closed_is_open = not any(len(facts.value) for facts in dataset.splits.values())
        for split, table in tables.items():
            choose(EASY, split, "split")
            _write_queries(table, split, temporary, closed_is_open)


def _write_names(dataset: Dataset, folder: Path) -> None:
    """Entities by their numbers; relation r is 2r forward and 2r + 1 backward."""
    entities = dict(enumerate(dataset.vocabulary.entities.ids))
    signed = (sign + name for name in dataset.vocabulary.relations.ids for sign in "+-")
    relations = dict(enumerate(signed))
    for kind, names in (("ent", entities), ("rel", relations)):
        _dump(names, folder / f"id2{kind}.pkl")
        _dump({name: number for number, name in names.items()}, folder / f"{kind}2id.pkl")
    counts = f"numentity: {len(entities)}\nnumrelations: {len(relations)}\n"
    (folder / "stats.txt").write_text(counts, encoding="utf-8")


def _write_triples(facts: Facts, path: Path) -> None:
    """Each triple forward and backward, as BetaE has them."""
    triples = zip(
        facts.subject.tolist(), facts.relation.tolist(), facts.object.tolist(), strict=True
    )
    lines = (f"{s}\t{2 * r}\t{o}\n{o}\t{2 * r + 1}\t{s}\n" for s, r, o in dict.fromkeys(triples))
    path.write_text("".join(lines), encoding="utf-8")


def _write_queries(table: QueryTable, split: str, folder: Path, closed_is_open: bool) -> None:
    queries: dict[Nested, set[Nested]] = {}
    easy: dict[Nested, set[int]] = {}
    hard: dict[Nested, set[int]] = {}
    for row, shape in enumerate(table.shape):
        try:
            form, query = _Writing(table.plans.plan(row), closed_is_open).both()
        except _Unwritable as error:
            raise StorageError(
                f"the shape {shape} has {error}, which BetaE's files cannot say; "
                "leave these queries out"
            ) from error
        queries.setdefault(form, set()).add(query)
        easy[query], hard[query] = set(table.easy[row].tolist()), set(table.hard[row].tolist())
    _dump(queries, folder / f"{split}-queries.pkl")
    _dump(easy, folder / f"{EASY[split]}.pkl")
    if split != "train":
        _dump(hard, folder / f"{split}-hard-answers.pkl")


def _dump(content: Any, path: Path) -> None:
    with path.open("wb") as file:
        pickle.dump(content, file, protocol=2)


@dataclass(frozen=True)
class _Writing:
    """Writes one plan as a nested tuple."""

    plan: Plan
    closed_is_open: bool

    def both(self) -> Both:
        """The structure and the query; inputs in the order that BetaE knows the shape by."""
        name = self.plan.shape_name
        wanted = parse_shape(name) if name in SHAPES else self.plan.shape
        return self._nested(len(self.plan.steps) - 1, wanted)

    def _nested(self, number: int, wanted: Shape) -> Both:
        step = self.plan.steps[number]
        ordered = self._ordered(step.inputs, wanted)
        match step.op:
            case Op.PROJECTION:
                return self._projection(number, wanted)
            case Op.NOT:
                return _prolonged(self._nested(*ordered[0]), "n", SIGNS["n"])
            case Op.ANY:
                raise _Unwritable("a variable that nobody restricts")
        forms, queries = zip(*(self._nested(*one) for one in ordered), strict=True)
        return (
            ((*forms, ("u",)), (*queries, (SIGNS["u"],))) if step.op == Op.OR else (forms, queries)
        )

    def _ordered(self, inputs: tuple[int, ...], wanted: Shape) -> list[tuple[int, Shape]]:
        """The inputs in the order of the shapes wanted of them."""
        left = list(inputs)
        ordered = []
        for shape in wanted.inputs:
            one = next(i for i in left if self._shapes[i] == shape.sorted())
            left.remove(one)
            ordered.append((one, shape))
        return ordered

    @cached_property
    def _shapes(self) -> list[Shape]:
        """The shape of every step, inputs sorted."""
        shapes: list[Shape] = []
        for step in self.plan.steps:
            shapes.append(Shape(step.op.word, tuple(shapes[i] for i in step.inputs)).sorted())
        return shapes

    def _projection(self, number: int, wanted: Shape) -> Both:
        step = self.plan.steps[number]
        if step.attributes:
            raise _Unwritable("an atom with qualifiers")
        if step.closed and not self.closed_is_open:
            raise _Unwritable("a closed atom over a graph with qualifiers")
        relation = 2 * step.relation + (step.asked == SUBJECT)
        if step.inputs:
            before = self._nested(step.inputs[0], wanted.inputs[0])
            return _prolonged(before, "r", relation)
        return ("e", ("r",)), (step.slots[1 - step.asked], (relation,))


def _prolonged(before: Both, letter: str, number: int) -> Both:
    """A chain with one more letter, or a new one from a conjunction or disjunction."""
    form, query = before
    if len(form) == 2 and form[1] != ("u",) and set(form[1]) <= {"r", "n"}:
        return (form[0], (*form[1], letter)), (query[0], (*query[1], number))
    return (form, (letter,)), (query, (number,))
