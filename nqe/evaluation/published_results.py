"""Published results to compare runs with, and which published benchmark a data set belongs to."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nqe.query.shapes import SHAPES
from nqe.sampling.presets import CONJUNCTIVE, PRESETS

# MRR in percent, one line per row of the paper's tables. The averages that the paper prints are
# not the means of their rows, so they are left out here.
_NFOL = {
    "NodeH-only": "46.72 31.87 32.55 46.30 77.82 59.70 29.49 14.93 24.38 33.68 43.09 "
    "7.78 42.98 20.09 7.79 8.64",
    "EdgeH-only": "41.96 30.60 30.61 37.76 63.77 47.83 27.14 16.03 24.59 32.75 42.68 "
    "8.36 39.05 20.71 7.73 8.44",
    "Logic-blind": "49.92 34.09 35.26 51.03 90.72 65.55 30.72 13.66 22.95 37.15 48.18 "
    "3.54 40.25 14.31 2.95 5.74",
    "Unparalleled": "54.81 34.35 34.47 49.22 84.56 63.05 31.98 14.76 26.14 38.73 49.51 "
    "7.79 43.89 20.02 8.22 7.65",
    "NQE-1p": "53.75 33.52 34.97 46.96 80.22 60.86 33.89 13.95 25.13 37.21 50.80 "
    "9.10 45.99 19.45 7.86 7.91",
    "NQE": "55.90 37.04 36.86 53.10 95.90 68.15 34.72 18.66 27.85 40.08 51.26 "
    "10.92 48.67 22.14 8.91 9.67",
}
_QE = {
    "StarQE-1p": "26.83 6.79 19.72 56.16 74.35 39.81 9.62",
    "StarQE": "30.98 44.13 52.96 63.14 83.78 71.52 55.20",
    "NQE-1p": "48.35 48.25 59.79 70.90 85.55 77.63 60.79",
    "NQE": "47.69 50.31 61.92 76.86 94.06 81.32 60.16",
}


def _rows(table: dict[str, str], shapes: tuple[str, ...]) -> dict[str, dict[str, float]]:
    return {
        name: dict(zip(shapes, map(float, row.split()), strict=True)) for name, row in table.items()
    }


BENCHMARKS = {
    "wd50k-nfol": _rows(_NFOL, tuple(SHAPES)),
    "wd50k-qe": _rows(_QE, CONJUNCTIVE),
}
"""MRR in percent, by benchmark, row of the table and shape.

The benchmarks are named like the presets of the sampler.
"""

LINK_PREDICTION = {
    "wd50k": {
        "StarE": {"subject_object": 0.349},
        "GRAN": {"all": 0.309},
        "HAHE": {"subject_object": 0.368, "all": 0.402},
    },
    "jf17k": {
        "StarE": {"subject_object": 0.574},
        "GRAN": {"subject_object": 0.617, "all": 0.656},
        "HAHE": {"subject_object": 0.623, "all": 0.668},
    },
}
"""Filtered MRR of link prediction from 0 to 1, by data set, model and part of the fact.

Some of these models were trained on train and valid.
"""

# Settings in which a query set may differ from the preset of its benchmark.
_FREE_SETTINGS = ("shapes", "train", "valid", "test", "seed", "max_answers", "train_answers")


def find_query_benchmark(settings: Mapping[str, Any] | None, *names: str) -> str | None:
    """The published benchmark that a query set belongs to, or None.

    `settings` are those it was sampled with, and `names` are the names of its folder and of its
    graph, one of which must begin with the name of the benchmark's graph.
    """
    if settings is None:
        return None
    stems = {re.split(r"[.-]", Path(name).name.lower())[0] for name in names}
    for benchmark in BENCHMARKS:
        fits = _fit_preset(settings, PRESETS[benchmark].to_json())
        if fits and benchmark.partition("-")[0] in stems:
            return benchmark
    return None


def find_link_benchmark(dataset: str) -> str | None:
    """The published data set of link prediction that a folder is named after, or None."""
    stem = Path(dataset).resolve().name.lower().partition(".")[0]
    return stem if stem in LINK_PREDICTION else None


def _fit_preset(settings: Mapping[str, Any], preset: Mapping[str, Any]) -> bool:
    """Whether a query set was sampled like a preset, from the same shapes or some of them."""
    same = all(settings.get(key) == preset[key] for key in preset if key not in _FREE_SETTINGS)
    return same and set(settings.get("shapes") or SHAPES) <= set(preset["shapes"] or SHAPES)
