"""Batches: how plans are laid out, in groups of facts, on any device."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from random_plans import atom, mixed, negated

from nqe.model.batch import Batch
from nqe.query.plan import Op
from nqe.query.step_table import StepTable


def test_facts_that_are_long_or_frequent_form_groups_of_their_own() -> None:
    (level, *_) = Batch.of(StepTable.of(mixed())).levels
    assert level.projections is not None
    groups = level.projections.groups
    sizes = [tuple(group.tokens.shape) for group in groups]
    assert sum(facts for facts, _ in sizes) == len(level.projections.asked)
    assert len(groups) > 1
    for group in groups:
        padding = group.padding
        if padding is not None:
            lengths = (~padding).sum(1)
            assert int(lengths.max()) == group.tokens.shape[1]


def test_a_batch_has_one_target_per_query() -> None:
    assert len(Batch.of(StepTable.of([atom(4, shift=3), atom(2, relation=4)]))) == 2
    assert len(Batch.of(StepTable.of([]))) == 0


def test_a_batch_moves_to_a_device_with_all_its_tensors() -> None:
    batch = Batch.of(StepTable.of(mixed()))
    assert batch.to("cpu") is batch
    assert batch.to(torch.device("cpu")) is batch
    moved = batch.to("meta")
    (projections, *_) = [level.projections for level in moved.levels]
    assert projections is not None
    tensors = [moved.anchors, moved.steps, moved.targets, projections.entities, projections.asked]
    tensors += [one.inputs for level in moved.levels for one in level.connectives]
    for group in projections.groups:
        tensors += [group.tokens, group.kinds, group.asked]
        tensors += [] if group.padding is None else [group.padding]
    assert {one.device.type for one in tensors} == {"meta"}
    # A batch on another device is not mistaken for one on the CPU.
    with pytest.raises(NotImplementedError, match="meta"):
        moved.to("cpu")


@pytest.mark.parametrize("position", [0, 2, 3])
def test_an_unknown_operator_is_refused(position: int) -> None:
    table = StepTable.of([negated(Op.AND, [atom(2), atom(3)])])
    op = table.op.copy()
    op[position] = 99
    with pytest.raises(ValueError, match="unknown operator 99 in a plan"):
        Batch.of(replace(table, op=op))
