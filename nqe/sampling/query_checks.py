"""Checks of queries that were read from a file: their plans, shapes and answers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from nqe.errors import InputError, QueryError
from nqe.graph.arrays import Booleans, Integers
from nqe.graph.entity_set import sorted_contains
from nqe.graph.ragged import Ragged, ranges
from nqe.graph.vocabulary import Vocabulary
from nqe.query.plan import Op
from nqe.query.shapes import Shape, parse_shape
from nqe.query.step_checks import check_steps
from nqe.query.step_table import StepTable
from nqe.sampling.query_table import QueryTable


def check_queries(table: QueryTable, entity_count: int, relation_count: int) -> None:
    """Raise a ValueError unless all queries have a meaning in a graph of that many names.

    What passes can be run, evaluated and written as text; whether the answers are right is not
    checked.
    """
    _check_lengths(table)
    check_steps(table.plans, entity_count, relation_count)
    _check_shapes(table)
    for what, answers in (("easy", table.easy), ("hard", table.hard)):
        _check_entities(answers, entity_count, what)
    _check_disjoint(table, entity_count)
    _check_missing(table)
    _check_counts(table, entity_count)


def check_imported(
    source: str | Path, tables: Mapping[str, QueryTable], vocabulary: Vocabulary
) -> None:
    """Refuse imported queries that could not be loaded again."""
    for split, table in tables.items():
        try:
            check_queries(table, len(vocabulary.entities), len(vocabulary.relations))
        except ValueError as error:
            raise InputError(f"{source}: {split} queries: {error}; correct the files") from error


def _check_lengths(table: QueryTable) -> None:
    rows = {len(table.plans), len(table.easy), len(table.hard), len(table.answer_count)}
    if rows != {len(table)}:
        raise ValueError("the columns have different lengths")
    if not np.array_equal(table.hard.offset, table.missing.offset):
        raise ValueError("there are not as many numbers of missing links as hard answers")


def _check_shapes(table: QueryTable) -> None:
    """Refuse names of shapes that are not those of the plans."""
    sorted_shapes = {text: _parse(text) for text in dict.fromkeys(table.shape)}
    for row in _find_representatives(table):
        text = table.shape[row]
        if table.plans.plan(row).shape.sorted() != sorted_shapes[text]:
            raise ValueError(f"query {row}: its steps do not have the shape {text:.60}")


def _parse(text: str) -> Shape:
    try:
        return parse_shape(text).sorted()
    except QueryError as error:
        raise ValueError(f"the shape {text!r:.60} is not understood") from error


def _find_representatives(table: QueryTable) -> list[int]:
    """Find queries such that each query has the shape and the tree of steps of one of them."""
    if not len(table):
        return []
    plans = table.plans
    places = {text: place for place, text in enumerate(dict.fromkeys(table.shape))}
    shape = np.fromiter(map(places.__getitem__, table.shape), np.int64, len(table))
    keys = shape + len(places) * _hash_trees(plans)
    _, first, group = np.unique(keys, return_index=True, return_inverse=True)
    # Trees with the same hash may differ, so each plan is compared with the first of its group.
    differs = (shape != shape[first[group]]) | ~_same_trees(plans, first[group])
    found: list[int] = np.union1d(first, np.flatnonzero(differs)).tolist()
    return found


def _hash_trees(plans: StepTable) -> Integers:
    """Hash the operators and parents of each plan; equal trees have equal hashes."""
    start = plans.plan_start[plans.plan_of_step]
    number = np.arange(plans.step_count)
    local_parent = np.maximum(plans.parent - start, -1)
    # Products wrap around; any large odd factors would do.
    factor = (2 * (number - start) + 1) * 6_364_136_223_846_793_005
    mixed = (local_parent * len(Op) + plans.op + 1) * factor
    hashes: Integers = np.add.reduceat(mixed, plans.plan_start[:-1])
    return hashes


def _same_trees(plans: StepTable, others: Integers) -> Booleans:
    """For each plan, whether it has the operators and parents of the plan in `others`."""
    counts = plans.step_counts
    same = counts == counts[others]
    others = np.where(same, others, np.arange(len(plans)))
    steps = ranges(plans.plan_start[others], counts)
    shift = np.repeat(plans.plan_start[:-1] - plans.plan_start[others], counts)
    parent = np.where(plans.parent[steps] >= 0, plans.parent[steps] + shift, -1)
    equal = (plans.op == plans.op[steps]) & (plans.parent == parent)
    result: Booleans = same & np.logical_and.reduceat(equal, plans.plan_start[:-1])
    return result


def _check_entities(answers: Ragged, entity_count: int, what: str) -> None:
    """Refuse answers that are no entities, or not in ascending order, each once."""
    values, owner = answers.values, answers.owner
    outside = (values < 0) | (values >= entity_count)
    if outside.any():
        at = outside.argmax()
        raise ValueError(f"query {owner[at]}: {what} answer {values[at]} is out of range")
    unordered = (np.diff(values) <= 0) & (np.diff(owner) == 0)
    if unordered.any():
        row = owner[unordered.argmax()]
        raise ValueError(f"query {row}: the {what} answers are not in ascending order, each once")


def _check_disjoint(table: QueryTable, entity_count: int) -> None:
    easy, hard = (rows.owner * entity_count + rows.values for rows in (table.easy, table.hard))
    if not len(easy):
        return
    both = sorted_contains(easy, hard)
    if both.any():
        row, entity = divmod(int(hard[both.argmax()]), entity_count)
        raise ValueError(f"query {row}: answer {entity} is both easy and hard")


def _check_missing(table: QueryTable) -> None:
    """Refuse numbers of missing links below -1 (not counted) or above the number of atoms."""
    owner, links = table.missing.owner, table.missing.values
    wrong = (links < -1) | (links > table.plans.arities.lengths[owner])
    if wrong.any():
        at = wrong.argmax()
        raise ValueError(f"query {owner[at]}: {links[at]} missing links are out of range")


def _check_counts(table: QueryTable, entity_count: int) -> None:
    kept = table.easy.lengths + table.hard.lengths
    wrong = (table.answer_count < kept) | (table.answer_count > entity_count)
    if wrong.any():
        row = wrong.argmax()
        raise ValueError(
            f"query {row}: {table.answer_count[row]} answers, of which {kept[row]} kept"
        )
