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

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from io import BufferedReader
from pathlib import Path
from types import NoneType
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from nqe.documents import compute_digest
from nqe.errors import NqeError, StorageError
from nqe.folders import FolderKind, OpenFolder
from nqe.graph.arrays import Integers
from nqe.graph.dataset import Dataset
from nqe.graph.ragged import Ragged, offsets
from nqe.graph.splits import SPLITS, check_splits
from nqe.query.step_checks import check_stored_steps
from nqe.query.step_table import SLOT_COLUMNS, STEP_COLUMNS, StepTable
from nqe.sampling.query_checks import check_queries
from nqe.sampling.query_table import QueryTable, concatenate, empty
from nqe.sampling.row_storage import has_rows
from nqe.sampling.sampler import QuerySet
from nqe.sampling.set_checks import are_counts, check_fits
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
    _refuse_rows(folder)
    manifest = KIND.read_manifest(Path(folder))
    try:
        _check_manifest(manifest)
    except ValueError as error:
        raise StorageError(f"{folder}: damaged ({error}); sample the queries again") from error
    return manifest


def _refuse_rows(folder: str | Path) -> None:
    """Refuse a query set whose queries are no trees."""
    if has_rows(folder):
        raise NqeError(
            f"{folder}: its queries are no trees, which only `nqe evaluate`, `nqe queries show`, "
            "`nqe queries stats` and `nqe check` take; give a query set of trees"
        )


def _check_manifest(manifest: dict[str, Any]) -> None:
    """Refuse nested entries of another type than those that `_manifest` makes."""
    check_splits(manifest.get("splits"))
    splits = manifest["splits"].values()
    for name, fits in (
        ("settings", _are_settings(manifest.get("settings"))),
        ("queries", all(are_counts(one.get("queries"), 0) for one in splits)),
        ("shapes", all(are_counts(one.get("shapes"), 1) for one in splits)),
        ("refused", are_counts(manifest.get("refused"), 3)),
        ("formulas_also_in_training", are_counts(manifest.get("formulas_also_in_training"), 1)),
    ):
        if not fits:
            raise ValueError(f"'{name}' in the manifest is missing or of another type")


def _are_settings(value: Any) -> bool:
    """Whether a value is None, or a dict of texts, whole numbers and lists of texts."""
    if value is None:
        return True
    return isinstance(value, dict) and all(
        all(isinstance(text, str) for text in one)
        if isinstance(one, list)
        else isinstance(one, str | int | None)
        for one in value.values()
    )


def digest_of(folder: str | Path) -> str:
    """Compute a hash of the manifest, which identifies a query set wherever it is."""
    return compute_digest(read_manifest(folder))


def read_queries(folder: str | Path, split: str) -> Iterator[QueryTable]:
    """Read the queries of a split in groups of some thousands."""
    _refuse_rows(folder)
    with ExitStack() as stack:
        opened, stream = KIND.read(Path(folder), lambda one: _open_split(one, split, stack))
        try:
            file = parquet.ParquetFile(stream)
            if file.metadata.num_rows != opened.manifest["splits"][split]["queries"]:
                raise ValueError("the manifest gives another number of queries")
            for group in range(file.num_row_groups):
                group_rows = file.read_row_group(group, use_threads=False).combine_chunks()
                table = _table(group_rows)
                check_queries(table, opened.manifest["entities"], opened.manifest["relations"])
                _check_derived(group_rows, table)
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


def _check_derived(arrow: Any, table: QueryTable) -> None:
    """Refuse columns for other readers that do not say what the plans say."""
    if not len(table):
        return
    asked = [SLOTS[kind] for kind in table.plans.asked_kinds.tolist()]
    arities = _ragged(arrow, "arities", pa.int16())
    same = np.array_equal(arities.offset, table.plans.arities.offset)
    if not same or not np.array_equal(arities.values, table.plans.arities.values):
        raise ValueError("the arities are not those of the steps")
    if arrow.column("asked").to_pylist() != asked:
        raise ValueError("the kinds of slots asked for are not those of the steps")


def load_queries(folder: str | Path, split: str) -> QueryTable:
    """Load all queries of a split."""
    return concatenate(read_queries(folder, split))


def check_graph(folder: str | Path, dataset: Dataset) -> None:
    """Refuse a query set that was sampled from another graph."""
    check_fits(folder, read_manifest(folder), dataset, KIND.how_to_rebuild)


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
        _texts(arrow, "shape"),
        _plans(arrow),
        _ragged(arrow, "easy", pa.int32()),
        _ragged(arrow, "hard", pa.int32()),
        _ragged(arrow, "missing", pa.int16()),
        _integers(_column(arrow, "answer_count", pa.int32())),
    )


def _plans(arrow: Any) -> StepTable:
    """Build the plans from the columns `steps` and `slots`, which number steps within a plan."""
    plan_start, steps = _fields(arrow, "steps", _STEP)
    slot_offset, slots = _fields(arrow, "slots", _SLOT)
    plan_of_slot = np.repeat(np.arange(len(slot_offset) - 1), np.diff(slot_offset))
    local_step = slots.pop("step")
    check_stored_steps(plan_start, steps["parent"], plan_of_slot, local_step)
    slot_counts = np.bincount(local_step + plan_start[plan_of_slot], minlength=int(plan_start[-1]))
    return StepTable.of_local(plan_start, slot_start=offsets(slot_counts), **steps, **slots)


def _texts(arrow: Any, name: str) -> tuple[str, ...]:
    """Return a column of texts, which may be stored as a dictionary of them."""
    column = arrow.column(name).cast(pa.string())
    if column.null_count:
        raise ValueError(f"the column {name} has gaps")
    return tuple(column.to_pylist())


def _fields(arrow: Any, name: str, kind: Any) -> tuple[Integers, dict[str, Integers]]:
    """Return where each row of a column of structs starts, and the fields by name."""
    column = _column(arrow, name, pa.list_(kind))
    values = column.flatten()
    if values.null_count:
        raise ValueError(f"the column {name} has gaps")
    fields = {one.name: _integers(values.field(place)) for place, one in enumerate(kind)}
    return offsets(_integers(column.value_lengths())), fields


def _ragged(arrow: Any, name: str, kind: Any) -> Ragged:
    column = _column(arrow, name, pa.list_(kind))
    return Ragged(offsets(_integers(column.value_lengths())), _integers(column.flatten()))


def _column(arrow: Any, name: str, kind: Any) -> Any:
    """Return a column of the type that it was written with."""
    column = arrow.column(name).chunk(0)
    if column.type != kind:
        raise ValueError(f"the column {name} has the type {column.type!s:.60}")
    return column


def _integers(array: Any) -> Integers:
    if array.null_count:
        raise ValueError("a column has gaps")
    numbers: Integers = array.to_numpy(zero_copy_only=False).astype(np.int64)
    return numbers
