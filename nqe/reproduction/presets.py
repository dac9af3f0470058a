"""Presets of the experiments: how many queries, which settings, how long each row trains."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from nqe.errors import NqeError
from nqe.graph.dataset import Dataset
from nqe.query.shapes import SHAPES
from nqe.reproduction.rows import HYBRID, NFOL, QE, RULES, Row, choose_rows, rows_of
from nqe.sampling.presets import choose_preset as choose_sampling
from nqe.settings import (
    ModelSettings,
    RunSettings,
    SamplingSettings,
    TrainSettings,
    build_run_settings,
)

VALIDATIONS = 10
"""A row is validated this often while it trains, so that its learning curve can be drawn."""
MOST_MINUTES_BETWEEN = 5.0
"""A row is validated, and saved, at least this often."""


def with_minutes(settings: RunSettings, minutes: float) -> RunSettings:
    """The settings with this training time, in place of another one or of a number of steps."""
    train = replace(
        settings.train,
        minutes=minutes,
        steps=None,
        evaluate_steps=None,
        evaluate_minutes=min(minutes / VALIDATIONS, MOST_MINUTES_BETWEEN),
    )
    return replace(settings, train=train)


@dataclass(frozen=True)
class Counts:
    """How many queries are sampled for each shape."""

    train: int
    one_hop: int
    """Training queries of the shape 1p.

    They are most of those that exist, so that a row which learns from them alone sees most facts.
    """
    valid: int
    test: int


@dataclass(frozen=True)
class Preset:
    """The size of an experiment: queries, settings that all rows share, and time per row."""

    name: str
    graph: str
    """The graph that it is for."""
    train_facts: int
    """The number of facts in the train split of that graph, by which it is recognized."""
    counts: Mapping[str, Counts]
    """The number of queries by benchmark."""
    settings: RunSettings = field(default_factory=RunSettings)
    left_out: tuple[str, ...] = ()
    """Rows that are left out unless they are named."""
    shapes: tuple[str, ...] = ()
    """The shapes of the benchmark to keep; empty means all."""

    def sampling(self, benchmark: str) -> SamplingSettings:
        """How the queries of a benchmark are sampled, besides its training queries of 1p."""
        settings, counts = choose_sampling(benchmark), self.counts[benchmark]
        return replace(
            settings,
            shapes=tuple(self.choose_shapes(benchmark)) if self.shapes else settings.shapes,
            train=counts.train,
            valid=counts.valid,
            test=counts.test,
        )

    def choose_rows(self, benchmark: str, names: Sequence[str] | None) -> list[Row]:
        """The rows with these names, or those that are computed if none are named."""
        if names is None:
            names = [row.name for row in rows_of(benchmark) if row.name not in self.left_out]
        return choose_rows(benchmark, names, self.choose_shapes(benchmark))

    def choose_shapes(self, benchmark: str) -> list[str]:
        """The shapes of a benchmark that are kept."""
        all_shapes = choose_sampling(benchmark).shapes or tuple(SHAPES)
        return [shape for shape in all_shapes if not self.shapes or shape in self.shapes]

    def with_shapes(self, benchmark: str, shapes: Sequence[str]) -> Preset:
        """The preset with some shapes of a benchmark alone."""
        allowed = choose_sampling(benchmark).shapes or tuple(SHAPES)
        for shape in shapes:
            if shape not in allowed:
                raise NqeError(
                    f"{shape:.100} is no shape of {benchmark}; choose some of {', '.join(allowed)}"
                )
        return replace(self, shapes=tuple(shapes))

    def with_minutes(self, minutes: float) -> Preset:
        """The preset with this time for each row."""
        return replace(self, settings=with_minutes(self.settings, minutes))

    def fits(self, dataset: Dataset) -> bool:
        """Whether a data set seems to be the graph that the preset is for."""
        return len(dataset.splits.get("train", ())) == self.train_facts


_LAPTOP = Preset(
    "laptop",
    "WD50K-100",
    22_738,
    {
        NFOL: Counts(train=4_000, one_hop=50_000, valid=200, test=500),
        QE: Counts(train=8_000, one_hop=20_000, valid=200, test=500),
    },
).with_minutes(10.0)
_FULL = Preset(
    "full",
    "WD50K",
    166_435,
    {
        NFOL: Counts(train=20_000, one_hop=300_000, valid=1_000, test=2_000),
        QE: Counts(train=30_000, one_hop=30_000, valid=1_000, test=2_000),
    },
).with_minutes(60.0)
_QUICK = Preset(
    "quick",
    "atlas",
    9_065,
    {
        NFOL: Counts(train=20, one_hop=200, valid=4, test=5),
        QE: Counts(train=20, one_hop=200, valid=4, test=5),
    },
    RunSettings(
        ModelSettings(width=16, layers=1, heads=2, feed_forward=16),
        TrainSettings(batch=64, steps=20, evaluate_steps=5, valid_queries=40),
    ),
    left_out=(f"{HYBRID} on NQE-1p", f"{RULES} on NQE-1p"),
)
PRESETS = {preset.name: preset for preset in (_LAPTOP, _FULL, _QUICK)}
"""The presets by name."""


def build_row_settings(preset: Preset, row: Row, seed: int) -> RunSettings:
    """The settings of a row's run: those that it shares with other rows, and its own."""
    base = preset.settings
    if row.model_settings is not None:
        shared = {name: getattr(base.model, name) for name in row.model_settings}
        base = replace(base, model=ModelSettings(**shared))
    train = {"shapes": row.train_shapes, "seed": seed, **row.changes.get("train", {})}
    return build_run_settings({**row.changes, "train": train}, row.name, base)
