"""Query sets on disk: a folder with one Parquet file per split, and a manifest.

A file has one row per query, with these columns:
- shape: the name of one of the paper's 16 shapes, or a tree;
- steps: list of {op, depth, parent, relation, asked, closed}; inputs come before the step that
  uses them, and the last step is the target; op is 0 projection, 1 and, 2 or, 3 not, 4 any;
  parent is the step that uses this one, -1 for the target; entities and relations have the
  numbers of the graph;
- slots: list of {step, attribute, kind, filler}: the subject, object and values of each
  projection; attribute is -1 for subject and object; kind is 0 asked, 1 an anchor, 2 filled by a
  step;
- easy, hard: the answers that follow from known facts, and those that need others as well;
- missing: for each hard answer, the least number of unknown facts that it needs;
- answer_count: the number of answers; training queries may keep only some of them;
- asked: the kind of slot asked for; arities: the number of entities of each atom.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from io import BufferedReader
from pathlib import Path
from types import NoneType
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from nqe.errors import NqeError, StorageError
from nqe.folders import FolderKind, OpenFolder
from nqe.graph.arrays import Integers
from nqe.graph.pattern import Kind
from nqe.graph.ragged import Ragged, offsets
from nqe.graph.splits import SPLITS
from nqe.query.plan import Op
from nqe.query.step_table import SLOT_COLUMNS, STEP_COLUMNS, StepTable
from nqe.sampling.query_table import QueryTable, concatenate, empty
from nqe.sampling.sampler import QuerySet
from nqe.settings import SLOTS

KIND = FolderKind(
    "nqe-queries",
    2,
    "query set",
    "nqe sample",
    "sample the queries again",
    tuple(f"{split}.parquet" for split in SPLITS),
    {
        "fingerprint": (str,),
        "dataset": (str, NoneType),
        "entities": (int,),
        "relations": (int,),
        "settings": (dict, NoneType),
        "splits": (dict,),
    },
)
ROW_GROUP = 20_000
"""Queries are written and read in groups of this size."""

_STEP = pa.struct(
    [
        ("op", pa.int8()),
        ("depth", pa.int16()),
        ("parent", pa.int16()),
        ("relation", pa.int32()),
        ("asked", pa.int16()),
        ("closed", pa.int8()),
    ]
)
_SLOT = pa.struct(
    [
        ("step", pa.int16()),
        ("attribute", pa.int32()),
        ("kind", pa.int8()),
        ("filler", pa.int32()),
    ]
)


def save_queries(queries: QuerySet, folder: str | Path, dataset: str | None = None) -> None:
    """Write a query set; `dataset` says where its graph is, for later readers."""
    with KIND.create(Path(folder), _manifest(queries, dataset)) as temporary:
        for split, table in queries.splits.items():
            parquet.write_table(
                _arrow(table),
                temporary / f"{split}.parquet",
                compression="zstd",
                row_group_size=ROW_GROUP,
            )


def check_output(folder: str | Path) -> None:
    """Refuse a path that `save_queries` would not replace, before hours of work."""
    KIND.check_output(Path(folder))


def read_manifest(folder: str | Path) -> dict[str, Any]:
    """Read the manifest of a query set and check its format."""
    return KIND.read_manifest(Path(folder))


def digest_of(folder: str | Path) -> str:
    """Compute a hash of the manifest, which identifies a query set wherever it is."""
    text = json.dumps(read_manifest(folder), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def read_queries(folder: str | Path, split: str) -> Iterator[QueryTable]:
    """Read the queries of a split in groups of some thousands."""
    with ExitStack() as stack:
        opened, stream = KIND.read(Path(folder), lambda one: _open_split(one, split, stack))
        try:
            file = parquet.ParquetFile(stream)
            for group in range(file.num_row_groups):
                table = _table(file.read_row_group(group).combine_chunks())
                _check_numbers(table)
                yield table
        except (OSError, pa.ArrowException, LookupError, TypeError, ValueError) as error:
            raise StorageError(
                f"{opened.path / f'{split}.parquet'}: damaged ({error}); {KIND.how_to_rebuild}"
            ) from error


def _open_split(
    opened: OpenFolder, split: str, stack: ExitStack
) -> tuple[OpenFolder, BufferedReader]:
    """Open the file of a split until the stack is closed."""
    names = [name for name in SPLITS if name in opened.manifest["splits"]]
    if split not in names:
        has = ", ".join(names) or "none"
        raise NqeError(f"{opened.path}: no {split} queries; the set has {has}")
    return opened, stack.enter_context(opened.open_file(f"{split}.parquet"))


def load_queries(folder: str | Path, split: str) -> QueryTable:
    """Load all queries of a split."""
    return concatenate(read_queries(folder, split))


def _check_numbers(table: QueryTable) -> None:
    """Refuse negative numbers of entities and relations; the graph is needed to check the rest."""
    plans = table.plans
    for what, numbers in (
        ("relation", plans.relation[plans.op == Op.PROJECTION]),
        ("entity", plans.filler[plans.kind == Kind.KNOWN]),
        ("entity", table.easy.values),
        ("entity", table.hard.values),
    ):
        if len(numbers) and numbers.min() < 0:
            raise ValueError(f"{what} number {numbers.min()} is negative")


def check_fingerprint(folder: str | Path, fingerprint: str) -> None:
    """Refuse a query set that was sampled from another graph."""
    own = read_manifest(folder)["fingerprint"]
    if own != fingerprint:
        raise NqeError(
            f"{folder}: sampled from another graph (fingerprint {own}, the graph's is "
            f"{fingerprint}); give the graph it was sampled from, or sample again"
        )


def _manifest(queries: QuerySet, dataset: str | None) -> dict[str, Any]:
    return {
        "fingerprint": queries.fingerprint,
        "entities": queries.entity_count,
        "relations": queries.relation_count,
        "dataset": dataset,
        "settings": queries.settings.to_json() if queries.settings else None,
        "splits": {
            split: {"queries": len(table), "shapes": _counts(table)}
            for split, table in queries.splits.items()
        },
        "refused": {
            split: {shape: dict(sorted(counts.items())) for shape, counts in shapes.items()}
            for split, shapes in queries.refused.items()
        },
        "formulas_also_in_training": queries.overlap,
    }


def _counts(table: QueryTable) -> dict[str, int]:
    counts: dict[str, int] = {}
    for name in table.shape:
        counts[name] = counts.get(name, 0) + 1
    return counts


def _arrow(table: QueryTable) -> Any:
    asked = [SLOTS[kind] for kind in table.plans.asked_kinds.tolist()]
    plans = table.plans.to_local()
    slot_start = plans.slot_start[plans.plan_start]
    return pa.table(
        {
            "shape": pa.array(table.shape, pa.string()).dictionary_encode(),
            "steps": _structs(plans.plan_start, _STEP, _columns(plans, STEP_COLUMNS)),
            "slots": _structs(
                slot_start, _SLOT, {"step": _local_steps(plans), **_columns(plans, SLOT_COLUMNS)}
            ),
            "easy": _lists(table.easy, pa.int32()),
            "hard": _lists(table.hard, pa.int32()),
            "missing": _lists(table.missing, pa.int16()),
            "answer_count": pa.array(table.answer_count, pa.int32()),
            "asked": pa.array(asked, pa.string()).dictionary_encode(),
            "arities": _lists(table.plans.arities, pa.int16()),
        }
    )


def _columns(plans: StepTable, names: Sequence[str]) -> dict[str, Integers]:
    return {name: getattr(plans, name) for name in names}


def _local_steps(plans: StepTable) -> Integers:
    """Return the step of each slot, counted within its plan."""
    step = plans.step_of_slot
    local: Integers = step - plans.plan_start[plans.plan_of_step[step]]
    return local


def _lists(rows: Ragged, kind: Any) -> Any:
    return pa.ListArray.from_arrays(pa.array(rows.offset, pa.int32()), pa.array(rows.values, kind))


def _structs(offset: Integers, kind: Any, columns: dict[str, Integers]) -> Any:
    arrays = [pa.array(columns[one.name], one.type) for one in kind]
    values = pa.StructArray.from_arrays(arrays, fields=list(kind))
    return pa.ListArray.from_arrays(pa.array(offset, pa.int32()), values)


def _table(arrow: Any) -> QueryTable:
    if not len(arrow):
        return empty()
    return QueryTable(
        tuple(arrow.column("shape").to_pylist()),
        _plans(arrow),
        _ragged(arrow, "easy"),
        _ragged(arrow, "hard"),
        _ragged(arrow, "missing"),
        _integers(arrow.column("answer_count").chunk(0)),
    )


def _plans(arrow: Any) -> StepTable:
    """Build the plans from the columns `steps` and `slots`, which number steps within a plan."""
    plan_start, steps = _fields(arrow, "steps", _STEP)
    slot_offset, slots = _fields(arrow, "slots", _SLOT)
    plan_of_slot = np.repeat(np.arange(len(slot_offset) - 1), np.diff(slot_offset))
    step = slots.pop("step") + plan_start[plan_of_slot]
    slot_start = offsets(np.bincount(step, minlength=int(plan_start[-1])))
    return StepTable.of_local(plan_start, slot_start=slot_start, **steps, **slots)


def _fields(arrow: Any, name: str, kind: Any) -> tuple[Integers, dict[str, Integers]]:
    """Return where each row of a column of structs starts, and the fields by name."""
    column = arrow.column(name).chunk(0)
    values = column.flatten()
    fields = {one.name: _integers(values.field(place)) for place, one in enumerate(kind)}
    return offsets(_integers(column.value_lengths())), fields


def _ragged(arrow: Any, name: str) -> Ragged:
    column = arrow.column(name).chunk(0)
    return Ragged(offsets(_integers(column.value_lengths())), _integers(column.flatten()))


def _integers(array: Any) -> Integers:
    numbers: Integers = array.to_numpy(zero_copy_only=False).astype(np.int64)
    return numbers
