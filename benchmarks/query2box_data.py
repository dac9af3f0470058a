"""The public Query2Box queries over FB15k-237, and the model that is trained for them.

Which facts are known was checked for every query by the exact engine. The hard answers of a
validation query are those that train+valid gives and train does not. The hard answers of a test
query are those that all three splits give and train+valid does not. So a model may know
train+valid at test time, but the published methods learnt from train alone and look up no facts.
Models here are trained on train and calibrated on valid, and see no test facts.

Every fact has two entities, so closed and open atoms mean the same. The queries are read as open
ones and asked as closed ones, on which the model is trained: it has different vectors for the
two. A reverse relation of Query2Box is read as its relation with the subject asked for.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from cache import Stamp, use_folder
from machine import DATA, ROOT, peak_memory, revision
from trained import run_stamp, train_run

from nqe.demo import demo_dataset
from nqe.graph import Dataset
from nqe.sampling import QueryTable, sample
from nqe.sampling.exchange import add_missing_links, read_tuple_queries
from nqe.settings import ModelSettings, RunSettings, SamplingSettings, TrainSettings

FOLDER = DATA / "queries" / "query2box-fb15k-237"
HOME = ROOT / "build" / "query2box"
SHAPES = ("1p", "2p", "3p", "2i", "3i", "ip", "pi", "2u", "up")
"""Query2Box's 1c 2c 3c 2i 3i ic ci 2u uc."""
MINUTES = 60.0
SETTINGS = RunSettings(
    model=ModelSettings(width=256, feed_forward=512),
    train=TrainSettings(
        shapes=SHAPES,
        open_share=0.0,
        one_hop_share=0.8,
        loss="full",
        minutes=MINUTES,
        evaluate_minutes=5.0,
    ),
)
QUICK_SETTINGS = RunSettings(
    model=ModelSettings(width=16, layers=1, heads=2, feed_forward=16),
    train=replace(
        SETTINGS.train, minutes=None, steps=4, batch=64, evaluate_steps=4, valid_queries=20
    ),
)
QUICK_QUERIES = SamplingSettings(shapes=SHAPES, train=0, valid=2, test=2)


@dataclass(frozen=True, eq=False)
class Query2Box:
    """The facts that may be known, the queries, and the folder of the model."""

    seen: Dataset
    """Train and valid: no model may see a test fact."""
    truth: Dataset
    """All facts, from which missing links are counted."""
    queries: Mapping[str, QueryTable]
    """The validation and the test queries."""
    settings: RunSettings
    home: Path

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

    def draw(self, split: str, count: int, seed: int = 0) -> QueryTable:
        """At most `count` queries of each shape, drawn at random, with their missing links."""
        table, rng = self.queries[split], np.random.default_rng(seed)
        shapes = np.array(table.shape)
        drawn = [rng.permutation(np.flatnonzero(shapes == name))[:count] for name in SHAPES]
        some = table.take(np.sort(np.concatenate(drawn)))
        return add_missing_links(self.truth, {split: some})[split]


def open_benchmark(minutes: float, *, quick: bool) -> Query2Box:
    """The public queries, or a few over the embedded graph; without the former the script ends."""
    if quick:
        return _build(*_sample_quick(), QUICK_SETTINGS, HOME.with_name("query2box-quick"))
    if not FOLDER.is_dir():
        sys.exit("skipped: the Query2Box queries are not beside the project, in ../shared/data")
    settings = replace(SETTINGS, train=replace(SETTINGS.train, minutes=minutes))
    return _build(*read_tuple_queries(FOLDER), settings, HOME / f"{minutes:g}-minutes")


def _sample_quick() -> tuple[Dataset, Mapping[str, QueryTable]]:
    dataset = demo_dataset()
    return dataset, sample(dataset, QUICK_QUERIES, workers=1).splits


def _build(
    dataset: Dataset, queries: Mapping[str, QueryTable], settings: RunSettings, home: Path
) -> Query2Box:
    seen = Dataset(dataset.vocabulary, {name: dataset.splits[name] for name in ("train", "valid")})
    held_out = {name: close_atoms(queries[name]) for name in ("valid", "test")}
    return Query2Box(seen, dataset, held_out, settings, home)


def close_atoms(table: QueryTable) -> QueryTable:
    """The same queries with closed atoms, which mean the same in a graph of triples."""
    plans = table.plans
    closed = (plans.relation >= 0).astype(plans.closed.dtype)
    return replace(table, plans=replace(plans, closed=closed))


def _name_code() -> str:
    """The commit; code that is not committed gets a name that never comes again."""
    commit = revision()
    return f"{commit} at {time.time()}" if "uncommitted" in commit else commit
