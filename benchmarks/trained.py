"""The query set and the trained model of WD50K that several benchmarks share, kept in build/.

Both are made once and stamped (see `cache`). Training takes 50 minutes.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from cache import Stamp, use_folder
from machine import ROOT, peak_memory

from nqe import version
from nqe.graph import Dataset
from nqe.sampling import PRESETS, sample, save_queries
from nqe.settings import ModelSettings, RunSettings, SamplingSettings, TrainSettings
from nqe.training import fit_weights

HOME = ROOT / "build" / "hybrid"
SETTINGS = RunSettings(train=TrainSettings(minutes=50.0, evaluate_minutes=10, one_hop_share=0.7))
QUICK_SETTINGS = RunSettings(
    model=ModelSettings(width=16, layers=1, heads=2, feed_forward=16),
    train=TrainSettings(steps=4, batch=64, evaluate_steps=4, valid_queries=20),
)
QUICK_QUERIES = SamplingSettings(train=2, valid=2, test=2)


class Shared:
    """Where the query set and the model of all 16 shapes are, and what they are made from."""

    def __init__(self, dataset: Dataset, *, quick: bool = False) -> None:
        self.dataset = dataset
        home = HOME.with_name("hybrid-quick") if quick else HOME
        self.queries, self.run = home / "wd50k-nfol", home / "all-shapes"
        self.sampling = QUICK_QUERIES if quick else PRESETS["wd50k-nfol"]
        self.settings = QUICK_SETTINGS if quick else SETTINGS

    @property
    def queries_stamp(self) -> Stamp:
        """What the query set is made from."""
        versions = {"sampler": version.SAMPLER_VERSION}
        return Stamp(self.dataset.fingerprint, asdict(self.sampling), versions)

    @property
    def run_stamp(self) -> Stamp:
        """What the model is made from."""
        return run_stamp(self.dataset, self.settings)

    def use_queries(self) -> Path:
        """The folder of the query set, sampled if it is not there."""
        use_folder(
            self.queries,
            self.queries_stamp,
            lambda: save_queries(sample(self.dataset, self.sampling), self.queries, "wd50k"),
        )
        return self.queries

    def use_run(self) -> Path:
        """The folder of the model, trained if it is not there."""
        use_folder(self.run, self.run_stamp, self._train)
        return self.run

    @property
    def memory(self) -> str:
        """The peak memory of the training, in GB."""
        return self._memory.read_text(encoding="utf-8")

    @property
    def _memory(self) -> Path:
        return self.run / "memory.txt"

    def _train(self) -> None:
        train_run(self.dataset, self.run, self.settings)
        self._memory.write_text(f"{peak_memory():.2f}", encoding="utf-8")


def run_stamp(dataset: Dataset, settings: RunSettings) -> Stamp:
    """What a run that learns from a data set alone is made from."""
    versions = {
        "sampler": version.SAMPLER_VERSION,
        "model": version.MODEL_VERSION,
        "trainer": version.TRAINER_VERSION,
    }
    return Stamp(dataset.fingerprint, settings.to_json(), versions)


def train_run(
    dataset: Dataset,
    folder: Path,
    settings: RunSettings,
    name: str = "wd50k",
    start: Path | None = None,
) -> None:
    """Train a run, or go on with one that was interrupted; `start` is where its weights begin."""
    resume = folder.is_dir()
    start = None if resume else start
    fit_weights(dataset, folder, settings=settings, name=name, resume=resume, start=start)
