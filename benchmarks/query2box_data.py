"""The public Query2Box queries over FB15k-237, and the model that is trained for them.

Which facts are known, and the settings of the model, are in `nqe.reproduction.query2box`.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from cache import Stamp, use_folder
from machine import DATA, ROOT, peak_memory, revision
from trained import run_stamp, train_run

from nqe.demo import demo_dataset
from nqe.graph import Dataset
from nqe.reproduction.query2box import QUICK, SETTINGS, SHAPES, Query2Box
from nqe.sampling import sample
from nqe.settings import RunSettings, SamplingSettings

FOLDER = DATA / "queries" / "query2box-fb15k-237"
HOME = ROOT / "build" / "query2box"
MINUTES = 60.0
QUICK_QUERIES = SamplingSettings(shapes=SHAPES, train=0, valid=2, test=2)


@dataclass(frozen=True, eq=False)
class Benchmark:
    """The queries with the facts that may be known, and the folder of the model."""

    data: Query2Box
    settings: RunSettings
    home: Path

    @property
    def seen(self) -> Dataset:
        """The facts that may be known."""
        return self.data.seen

    @property
    def run(self) -> Path:
        """The folder of the model."""
        return self.home / "model"

    def use_run(self) -> Path:
        """The folder of the model, trained if it is not there."""
        use_folder(self.run, run_stamp(self.seen, self.settings), self._train)
        return self.run

    @property
    def memory(self) -> str:
        """The peak memory of the training, with the reading of the queries, in GB."""
        return self._memory.read_text(encoding="utf-8")

    @property
    def _memory(self) -> Path:
        return self.run.with_name("memory.txt")

    def _train(self) -> None:
        train_run(self.seen, self.run, self.settings, name="fb15k-237")
        self._memory.write_text(f"{peak_memory():.2f}", encoding="utf-8")

    def stamp(self, settings: Mapping[str, Any]) -> Stamp:
        """What a ranking by the model is made from, besides the settings of the ranking."""
        stamp = run_stamp(self.seen, self.settings)
        state = (self.run / "last" / "state.json").read_text(encoding="utf-8")
        made = {"run": stamp.settings, "state": state, "code": _name_code(), **settings}
        return replace(stamp, settings=made)


def open_benchmark(minutes: float, *, quick: bool) -> Benchmark:
    """The public queries, or a few over the embedded graph; without the former the script ends."""
    if quick:
        return Benchmark(_sample_quick(), QUICK, HOME.with_name("query2box-quick"))
    if not FOLDER.is_dir():
        sys.exit("skipped: the Query2Box queries are not beside the project, in ../shared/data")
    settings = replace(SETTINGS, train=replace(SETTINGS.train, minutes=minutes))
    return Benchmark(Query2Box.read(FOLDER), settings, HOME / f"{minutes:g}-minutes")


def _sample_quick() -> Query2Box:
    dataset = demo_dataset()
    return Query2Box.of(dataset, sample(dataset, QUICK_QUERIES, workers=1).splits)


def _name_code() -> str:
    """The commit; code that is not committed gets a name that never comes again."""
    commit = revision()
    return f"{commit} at {time.time()}" if "uncommitted" in commit else commit
