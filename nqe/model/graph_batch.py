"""A batch of StarQE: conjunctive plans as one graph of nodes, edges and qualifiers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from nqe.graph.arrays import Booleans, Integers
from nqe.graph.pattern import FIRST_QUALIFIER, OBJECT, SUBJECT, Kind
from nqe.graph.ragged import offsets
from nqe.model.devices import move
from nqe.query.plan import Op
from nqe.query.step_table import StepTable


@dataclass(frozen=True, eq=False)
class Groups:
    """Rows that are added up by group, where a group may have no rows."""

    order: Tensor  # (rows,) the numbers of the rows, one group after another
    start: Tensor  # (groups,) where each group begins in `order`

    @classmethod
    def of(cls, group: Integers, count: int) -> Groups:
        """Rows of the given groups, which are numbered below `count`."""
        start = offsets(np.bincount(group, minlength=count))[:-1]
        order = np.argsort(group, kind="stable")
        return cls(torch.from_numpy(order), torch.from_numpy(start))

    def add_up(self, rows: Tensor) -> Tensor:
        """The sum of the rows of each group, (groups, width)."""
        # Several times as fast on a CPU as index_add.
        sums: Tensor = functional.embedding_bag(self.order, rows, self.start, mode="sum")
        return sums


@dataclass(frozen=True, eq=False)
class Edges:
    """The main relations of all facts, in the direction from the subject to the object."""

    subject: Tensor  # (edges,) nodes
    object: Tensor  # (edges,) nodes
    relation: Tensor  # (edges,) indices into the batch's relations
    weight: Tensor  # (edges, 1) 1/√(edges out of the subject · edges into the object)
    qualified: Tensor  # (edges, 1) whether the edge has qualifiers
    into_object: Groups
    into_subject: Groups


@dataclass(frozen=True, eq=False)
class Qualifiers:
    """The qualifiers of all edges."""

    attribute: Tensor  # (qualifiers,) indices into the batch's relations
    value: Tensor  # (qualifiers,) nodes
    of_edge: Groups


@dataclass(frozen=True, eq=False)
class GraphBatch:
    """Conjunctive plans as one graph, in which no edge connects two queries.

    The nodes are, in this order: the target of each query, its other variables, and its distinct
    entities. An entity that occurs in two queries has a node in each of them.
    """

    query_count: int
    variable_count: int
    entities: Tensor  # (entity nodes,) entity numbers
    relations: Tensor  # (relations,) the distinct relations and attributes of the batch
    edges: Edges
    qualifiers: Qualifiers

    @classmethod
    def of(cls, plans: StepTable) -> GraphBatch:
        """The graph of the given plans, which have projections and conjunctions only."""
        unknown = plans.op[(plans.op != Op.PROJECTION) & (plans.op != Op.AND)]
        if len(unknown):
            raise ValueError(f"unknown operator {unknown[0]} in a conjunctive plan")
        projections = np.flatnonzero(plans.op == Op.PROJECTION)
        nodes = _Nodes.of(plans)
        first = plans.slot_start[projections]
        is_value = plans.attribute >= 0
        used = np.concatenate([plans.relation[projections], plans.attribute[is_value]])
        relations, index = np.unique(used, return_inverse=True)
        subject, object_ = nodes.in_slot[first + SUBJECT], nodes.in_slot[first + OBJECT]
        edge_of_step = np.cumsum(plans.op == Op.PROJECTION) - 1
        edge = edge_of_step[plans.step_of_slot[is_value]]
        return cls(
            len(plans),
            nodes.variable_count,
            torch.from_numpy(nodes.entities),
            torch.from_numpy(relations),
            _make_edges(subject, object_, index[: len(first)], edge, nodes.count),
            Qualifiers(
                torch.from_numpy(index[len(first) :]),
                torch.from_numpy(nodes.in_slot[is_value]),
                Groups.of(edge, len(first)),
            ),
        )

    def to(self, device: torch.device | str) -> GraphBatch:
        """The same batch on a device."""
        return self if torch.device(device) == self.entities.device else move(self, device)


def _make_edges(
    subject: Integers, object_: Integers, relation: Integers, qualified: Integers, node_count: int
) -> Edges:
    """The edges; `qualified` has the edge of each qualifier."""
    leaving = np.bincount(subject, minlength=node_count)[subject]
    entering = np.bincount(object_, minlength=node_count)[object_]
    weight = ((leaving * entering) ** -0.5).astype(np.float32)
    has_qualifiers = np.bincount(qualified, minlength=len(subject)) > 0
    return Edges(
        torch.from_numpy(subject),
        torch.from_numpy(object_),
        torch.from_numpy(relation),
        torch.from_numpy(weight)[:, None],
        torch.from_numpy(has_qualifiers)[:, None],
        Groups.of(object_, node_count),
        Groups.of(subject, node_count),
    )


@dataclass(frozen=True, eq=False)
class _Nodes:
    """The nodes of some plans, and the node in each slot."""

    variable_count: int
    entities: Integers  # (entity nodes,) entity numbers
    in_slot: Integers  # (slots,)
    count: int

    @classmethod
    def of(cls, plans: StepTable) -> _Nodes:
        """Number the nodes."""
        of_step, variable_count = _number_variables(plans)
        known = plans.kind == Kind.KNOWN
        plan = plans.plan_of_step[plans.step_of_slot[known]]
        size = int(plans.filler[known].max(initial=-1)) + 1
        keys, index = np.unique(plan * size + plans.filler[known], return_inverse=True)
        first = len(plans) + variable_count
        # The slot that is asked for holds the variable of its own step.
        filling = np.where(plans.kind == Kind.SET, plans.filler, plans.step_of_slot)
        in_slot = of_step[filling]
        in_slot[known] = first + index
        return cls(variable_count, keys % max(size, 1), in_slot, first + len(keys))


def _number_variables(plans: StepTable) -> tuple[Integers, int]:
    """The node of each step's variable, and how many variables are not targets."""
    named = np.arange(plans.step_count)
    for depth in range(plans.depth_count - 2, -1, -1):
        steps = np.flatnonzero((plans.depth == depth) & (plans.parent >= 0))
        steps = steps[plans.op[plans.parent[steps]] == Op.AND]
        named[steps] = named[plans.parent[steps]]
    others = np.flatnonzero((named == np.arange(plans.step_count)) & (plans.parent >= 0))
    number = np.empty(plans.step_count, dtype=np.int64)
    number[plans.targets] = np.arange(len(plans))
    number[others] = len(plans) + np.arange(len(others))
    return number[named], len(others)


def find_values_sought(plans: StepTable) -> Booleans:
    """Whether each plan has a qualifier whose value is its target or a variable."""
    first = plans.slot_start[plans.step_of_slot]
    is_value = np.arange(len(plans.kind)) - first >= FIRST_QUALIFIER
    steps = plans.step_of_slot[is_value & (plans.kind != Kind.KNOWN)]
    return mark_plans(plans, steps)


def find_longer_chains(plans: StepTable, most: int) -> Booleans:
    """Whether each plan has more than `most` projections between its target and an entity."""
    length = np.zeros(plans.step_count, dtype=np.int64)
    for depth in range(plans.depth_count - 1, -1, -1):
        steps = np.flatnonzero(plans.depth == depth)
        parent = plans.parent[steps]
        above = np.where(parent >= 0, length[parent], 0)
        length[steps] = above + (plans.op[steps] == Op.PROJECTION)
    return mark_plans(plans, np.flatnonzero(length > most))


def mark_plans(plans: StepTable, steps: Integers) -> Booleans:
    """Whether each plan has one of the given steps."""
    marked = np.zeros(len(plans), dtype=bool)
    marked[plans.plan_of_step[steps]] = True
    return marked
