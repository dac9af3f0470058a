"""Writes queries without qualifiers as the files of BetaE, so that its tools can read them.

BetaE's tools read pickles; these contain only built-in containers and numbers, protocol 2.
"""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, assert_never

from nqe.errors import StorageError, choose
from nqe.files import new_folder
from nqe.graph.dataset import Dataset
from nqe.graph.fact_columns import Facts
from nqe.graph.pattern import SUBJECT
from nqe.graph.splits import SPLITS
from nqe.query.plan import Op, Plan
from nqe.query.shapes import SHAPES, Shape, parse_shape
from nqe.sampling.exchange.tuple_structures import SIGNS, NestedTuple
from nqe.sampling.query_table import QueryTable

# Marks a folder that nqe wrote, so that a later export may replace it.
MARKER, MARK = "README.txt", "Queries in BetaE's form, written by nqe."
_CONTENTS = (MARKER, "stats.txt", *(f"{split}.txt" for split in SPLITS), "*.pkl")
"""The files that an export may write, which the next one may replace."""
EASY = {"train": "train-answers", "valid": "valid-easy-answers", "test": "test-easy-answers"}
StructuredQuery = tuple[NestedTuple, NestedTuple]
"""A structure, and a query that has it."""


class _Unwritable(Exception):
    """Names the part of a query that the format cannot express."""


def write_betae(dataset: Dataset, tables: Mapping[str, QueryTable], folder: str | Path) -> None:
    """Write the triples and queries of a data set; an earlier export in the folder is replaced.

    Identical queries are written once. Of facts with qualifiers only the triple is written.
    """
    with new_folder(Path(folder), MARKER, MARK, contents=_CONTENTS) as temporary:
        (temporary / MARKER).write_text(MARK + "\n", encoding="utf-8")
        _write_names(dataset, temporary)
        for split, facts in dataset.splits.items():
            _write_triples(facts, temporary / f"{split}.txt")
        closed_is_open = not any(len(facts.value) for facts in dataset.splits.values())
        for split, table in tables.items():
            choose(EASY, split, "split")
            _write_queries(table, split, temporary, closed_is_open)


def _write_names(dataset: Dataset, folder: Path) -> None:
    """Write the ids of entities and relations; relation r is 2r forward and 2r + 1 backward."""
    entities = dict(enumerate(dataset.vocabulary.entities.ids))
    signed = (sign + name for name in dataset.vocabulary.relations.ids for sign in "+-")
    relations = dict(enumerate(signed))
    for kind, names in (("ent", entities), ("rel", relations)):
        _dump(names, folder / f"id2{kind}.pkl")
        _dump({name: number for number, name in names.items()}, folder / f"{kind}2id.pkl")
    counts = f"numentity: {len(entities)}\nnumrelations: {len(relations)}\n"
    (folder / "stats.txt").write_text(counts, encoding="utf-8")


def _write_triples(facts: Facts, path: Path) -> None:
    """Write each triple forward and backward, as BetaE does."""
    triples = zip(
        facts.subject.tolist(), facts.relation.tolist(), facts.object.tolist(), strict=True
    )
    lines = (f"{s}\t{2 * r}\t{o}\n{o}\t{2 * r + 1}\t{s}\n" for s, r, o in dict.fromkeys(triples))
    path.write_text("".join(lines), encoding="utf-8")


def _write_queries(table: QueryTable, split: str, folder: Path, closed_is_open: bool) -> None:
    queries: dict[NestedTuple, set[NestedTuple]] = {}
    easy: dict[NestedTuple, set[int]] = {}
    hard: dict[NestedTuple, set[int]] = {}
    for row, shape in enumerate(table.shape):
        try:
            form, query = _QueryWriter(table.plans.plan(row), closed_is_open).write()
        except _Unwritable as error:
            raise StorageError(
                f"the shape {shape} has {error}, which BetaE's files cannot express; "
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
class _QueryWriter:
    """Writes one plan as a nested tuple."""

    plan: Plan
    closed_is_open: bool

    def write(self) -> StructuredQuery:
        """Return the structure and the query, with inputs in the order in which BetaE has them."""
        name = self.plan.shape_name
        shape = parse_shape(name) if name in SHAPES else self.plan.shape
        return self._write_step(len(self.plan.steps) - 1, shape)

    def _write_step(self, number: int, shape: Shape) -> StructuredQuery:
        step = self.plan.steps[number]
        match step.op:
            case Op.PROJECTION:
                return self._write_projection(number, shape)
            case Op.NOT:
                [(negated, negated_shape)] = self._sort_inputs(step.inputs, shape)
                return _extend(self._write_step(negated, negated_shape), "n", SIGNS["n"])
            case Op.AND:
                return self._write_inputs(step.inputs, shape)
            case Op.OR:
                forms, queries = self._write_inputs(step.inputs, shape)
                return (*forms, ("u",)), (*queries, (SIGNS["u"],))
            case Op.ANY:
                raise _Unwritable("a variable without any restriction")
            case _:
                assert_never(step.op)

    def _write_inputs(self, inputs: tuple[int, ...], shape: Shape) -> StructuredQuery:
        written = [self._write_step(*one) for one in self._sort_inputs(inputs, shape)]
        forms, queries = zip(*written, strict=True)
        return forms, queries

    def _sort_inputs(self, inputs: tuple[int, ...], shape: Shape) -> list[tuple[int, Shape]]:
        """Return the inputs, each with its shape, in the order in which a shape has them."""
        left = list(inputs)
        ordered = []
        for wanted in shape.inputs:
            number = next(i for i in left if self._shapes[i] == wanted.sorted())
            left.remove(number)
            ordered.append((number, wanted))
        return ordered

    @cached_property
    def _shapes(self) -> list[Shape]:
        """The shape of every step, with sorted inputs."""
        shapes: list[Shape] = []
        for step in self.plan.steps:
            shapes.append(Shape(step.op.word, tuple(shapes[i] for i in step.inputs)).sorted())
        return shapes

    def _write_projection(self, number: int, shape: Shape) -> StructuredQuery:
        step = self.plan.steps[number]
        if step.attributes:
            raise _Unwritable("an atom with qualifiers")
        if step.closed and not self.closed_is_open:
            raise _Unwritable("a closed atom over a graph with qualifiers")
        relation = 2 * step.relation + (step.asked == SUBJECT)
        if step.inputs:
            before = self._write_step(step.inputs[0], shape.inputs[0])
            return _extend(before, "r", relation)
        return ("e", ("r",)), (step.slots[1 - step.asked], (relation,))


def _extend(before: StructuredQuery, letter: str, number: int) -> StructuredQuery:
    """Append a letter to a chain; a conjunction or disjunction begins a new chain."""
    form, query = before
    if len(form) == 2 and form[1] != ("u",) and set(form[1]) <= {"r", "n"}:
        return (form[0], (*form[1], letter)), (query[0], (*query[1], number))
    return (form, (letter,)), (query, (number,))
