"""Experiments that take seconds: a toy graph, few queries, tiny models; and made-up results."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from toy_dataset import MODEL, towns

from nqe.graph import Dataset
from nqe.reproduction.experiment import Experiment
from nqe.reproduction.machine import Origin
from nqe.reproduction.presets import Counts, Preset
from nqe.reproduction.results import EASY, HARD, Result, Scores, Training, UsedGraph
from nqe.reproduction.rows import NFOL, QE
from nqe.settings import ModelSettings, RunSettings, TrainSettings

TOWNS = towns()
SHAPES = ("1p", "2i", "2in")
COUNTS = Counts(train=12, one_hop=40, valid=4, test=4)
TINY = Preset(
    "tiny",
    "towns",
    len(TOWNS.splits["train"]),
    {NFOL: COUNTS, QE: COUNTS},
    RunSettings(
        ModelSettings(**MODEL),
        TrainSettings(batch=32, steps=6, evaluate_steps=3, valid_queries=12),
    ),
    shapes=SHAPES,
)
ORIGIN = Origin("2026-11-18 20:00 UTC", "a processor", 2, "0123456789ab", {"nqe": "0.1.0"})


def small_experiment(output: Path, *names: str, **changes: Any) -> Experiment:
    """An experiment on wd50k-nfol with these rows, over the towns."""
    preset: Preset = changes.pop("preset", TINY)
    dataset: Dataset = changes.pop("dataset", TOWNS)
    rows = preset.choose_rows(NFOL, names or ("NQE",))
    experiment = Experiment(NFOL, dataset, "towns", preset, output, rows)
    return replace(experiment, **changes)


def with_steps(steps: int) -> Preset:
    """The tiny preset with another number of steps."""
    train = replace(TINY.settings.train, steps=steps)
    return replace(TINY, settings=replace(TINY.settings, train=train))


def result_of(
    row: str, values: dict[str, float], seed: int = 0, benchmark: str = NFOL, **changes: Any
) -> Result:
    """A result with this MRR of hard answers by shape, and half of it for easy ones."""
    halves = {shape: value / 2 for shape, value in values.items()}
    result = Result(
        benchmark=benchmark,
        row=row,
        seed=seed,
        preset="tiny",
        graph=UsedGraph("towns", "f", {"train": 9}),
        queries="q",
        settings=RunSettings(),
        scores={HARD: Scores(values), EASY: Scores(halves)},
        missing=Scores({"1": 0.5, "2": 0.25}),
        training=Training(1.5, 1_234, ((0.5, 600, 0.1), (1.5, 1_234, 0.2))),
        origin=ORIGIN,
    )
    return replace(result, **changes)
