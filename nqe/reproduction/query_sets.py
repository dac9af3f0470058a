"""The query set of a benchmark: sampled once into the folder of an experiment, then reused."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from nqe.documents import compute_digest
from nqe.errors import NqeError
from nqe.graph.dataset import Dataset
from nqe.progress import Progress
from nqe.reproduction.presets import Preset
from nqe.reproduction.rows import ONE_HOP
from nqe.sampling import QuerySet, sample
from nqe.sampling.presets import choose_preset
from nqe.sampling.query_table import QueryTable, concatenate
from nqe.sampling.storage import (
    check_graph,
    check_output,
    load_queries,
    read_manifest,
    save_queries,
)
from nqe.settings import SamplingSettings

IDENTITY = ("fingerprint", "entities", "relations", "splits", "refused")
"""The entries of a manifest that, with the settings, say which queries a set holds."""
_FREE = ("shapes", "train", "valid", "test", "seed")
"""Settings in which a query set that the user gives may differ from the benchmark's."""


@dataclass(frozen=True)
class BenchmarkQueries:
    """A query set on disk, and what identifies its queries."""

    folder: Path

    @property
    def digest(self) -> str:
        """A hash that stays the same wherever the set and its graph are, and if sampled again."""
        manifest, plain = read_manifest(self.folder), SamplingSettings().to_json()
        # Without those that have their default, so that a new setting changes no hash.
        settings = (manifest["settings"] or {}).items()
        changed = {name: value for name, value in settings if value != plain.get(name)}
        known = {name: manifest.get(name) for name in IDENTITY}
        return compute_digest({**known, "settings": changed})[:32]

    def load_test(self) -> QueryTable:
        """Read the test queries."""
        return load_queries(self.folder, "test")


def use_queries(
    dataset: Dataset,
    benchmark: str,
    preset: Preset,
    folder: Path,
    *,
    given: Path | None = None,
    place: str | None = None,
    progress: Progress | None = None,
) -> BenchmarkQueries:
    """The query set of a benchmark: the given one, or the one in the folder, sampled if missing.

    A set of another graph, or with other settings, is refused. `place` is where the graph is.
    """
    wanted = preset.sampling(benchmark)
    if given is not None:
        _check_given(given, benchmark, preset.choose_shapes(benchmark))
        check_graph(given, dataset)
        return BenchmarkQueries(given)
    path = folder / f"{benchmark}-{preset.name}"
    if not path.exists():
        check_output(path)
        queries = sample_benchmark(dataset, wanted, preset.counts[benchmark].one_hop, progress)
        save_queries(queries, path, place)
    check_graph(path, dataset)
    _check_same(path, wanted)
    return BenchmarkQueries(path)


def sample_benchmark(
    dataset: Dataset, settings: SamplingSettings, one_hop: int, progress: Progress | None = None
) -> QuerySet:
    """Sample a query set with another number of training queries of the shape 1p."""
    queries = sample(dataset, settings, progress=progress)
    if settings.shapes and not set(ONE_HOP) <= set(settings.shapes):
        return queries
    alone = replace(settings, shapes=ONE_HOP, train=one_hop, valid=0, test=0)
    more = sample(dataset, alone, progress=progress).splits["train"]
    table = queries.splits["train"]
    others = table.take(np.flatnonzero(np.array(table.shape) != ONE_HOP[0]))
    return replace(queries, splits={**queries.splits, "train": concatenate([more, others])})


def _check_same(path: Path, wanted: SamplingSettings) -> None:
    """Refuse a query set that was sampled with other settings."""
    found = read_manifest(path)["settings"]
    different = _list_differences(found or {}, wanted.to_json())
    if different:
        raise NqeError(
            f"{path}: sampled with other settings ({different}); choose another folder with -o, or "
            "delete this query set to sample it again"
        )


def _check_given(path: Path, benchmark: str, shapes: Sequence[str]) -> None:
    """Refuse a query set that is not of the benchmark, or lacks one of its shapes."""
    manifest = read_manifest(path)
    found, preset = manifest["settings"] or {}, choose_preset(benchmark).to_json()
    fixed = {name: value for name, value in preset.items() if name not in _FREE}
    different = _list_differences(found, fixed)
    if different:
        raise NqeError(
            f"{path}: not queries of {benchmark} ({different}); give another set, or none"
        )
    for split in ("train", "valid", "test"):
        present = manifest["splits"].get(split, {}).get("shapes", {})
        lacking = ", ".join(shape for shape in shapes if shape not in present)
        if lacking:
            raise NqeError(f"{path}: has no {split} queries of {lacking}; give another query set")


def _list_differences(found: dict[str, Any], wanted: dict[str, Any]) -> str:
    """The settings in which two differ, in words; empty if they are the same."""
    return ", ".join(
        f"{name} is {found.get(name)}, not {value}"
        for name, value in wanted.items()
        if found.get(name) != value
    )
