"""Training: the loop from queries to a good checkpoint."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

import numpy as np
import torch

from nqe.errors import NqeError
from nqe.graph.dataset import Dataset
from nqe.model.batch import Batch
from nqe.model.checkpoint import Card, device_of
from nqe.model.model import Model
from nqe.query.shapes import SHAPES, name_of, parse_shape
from nqe.sampling import load_queries
from nqe.sampling.storage import check_fingerprint, read_manifest
from nqe.sampling.table import QueryTable
from nqe.settings import RunSettings, TrainSettings
from nqe.training.board import Board
from nqe.training.candidates import Candidates, all_entities, one_answer, sampled_entities
from nqe.training.loss import SoftmaxLoss
from nqe.training.processes import Processes, joined
from nqe.training.run import Run, State
from nqe.training.schedule import rate
from nqe.training.sources import Source, TableSource, graph_source
from nqe.training.validation import (
    mean_reciprocal_ranks,
    of_shapes,
    plain_mean,
    some_queries,
    validation_queries,
)
from nqe.training.weights import Weights

_CHOICE = 3
_TELL_SECONDS = 10.0


class Watch(Protocol):
    """Someone who wants to see how far training is."""

    def update(self, report: Report) -> None:
        """So far it is."""


@dataclass(frozen=True)
class Report:
    """How far training is, and how it goes."""

    step: int
    progress: float
    """From 0 to 1."""
    epoch: int
    rate: float
    """Queries a second."""
    loss: float
    best: float | None
    """The best validation MRR."""


@dataclass(frozen=True)
class Trained:
    """What a training came to."""

    folder: Path
    steps: int
    seconds: float
    best: float | None


def train(
    dataset: Dataset,
    output: str | Path,
    queries: str | Path | None = None,
    settings: RunSettings | None = None,
    *,
    name: str | None = None,
    resume: bool = False,
    watch: Watch | None = None,
) -> Trained:
    """Train a model on a query set, or on a data set alone, into a RUN folder.

    `name` is what others find the data set by: its folder. `resume` goes on where `last` is,
    with the run's own settings unless others are given.
    """
    began = time.monotonic()
    folder = Path(output)
    settings = settings or (Run.old(folder).settings if resume else RunSettings())
    device = device_of(settings.train.device)
    with joined(device) as processes:
        torch.manual_seed(settings.train.seed)
        vocabulary = dataset.vocabulary
        model = Model(
            settings.model, len(vocabulary.entities), len(vocabulary.relations), vocabulary
        ).to(device)
        run = _open(dataset, folder, queries, settings, name, resume, processes)
        weights = Weights(model, settings.train)
        state, tensors = run.load(model) if resume else (State(), {})
        if tensors:
            weights.restore(tensors)
        elif processes.count > 1:
            torch.manual_seed(settings.train.seed + processes.rank)
        with _source(dataset, queries, settings.train, state) as source:
            valid = _validation(dataset, queries, settings.train) if processes.first else None
            loop = _Loop(run, weights, valid, settings.train, processes, watch, began)
            return loop.go(source, state, dataset)


def _open(
    dataset: Dataset,
    folder: Path,
    queries: str | Path | None,
    settings: RunSettings,
    name: str | None,
    resume: bool,
    processes: Processes,
) -> Run:
    """The RUN folder, made or found; the first process makes it, the others wait."""
    if queries is not None:
        check_fingerprint(queries, dataset.fingerprint)
    if resume:
        run = Run.old(folder)
        if run.card.fingerprint != dataset.fingerprint:
            raise NqeError(
                f"{folder}: trained on another graph (fingerprint {run.card.fingerprint}, the "
                f"graph's is {dataset.fingerprint}); give the graph it was trained on"
            )
        if run.settings.model != settings.model:
            raise NqeError(f"{folder}: its model has other settings; resume without [model]")
        return run
    trained_on = settings.train.facts if queries is None else str(queries)
    card = Card(name, dataset.fingerprint, trained_on)
    if processes.first:
        Run.new(folder, settings, card, None if queries is None else str(queries))
    processes.agree(0.0)
    return Run(folder, card)


@contextmanager
def _source(
    dataset: Dataset, queries: str | Path | None, settings: TrainSettings, state: State
) -> Iterator[Source]:
    shapes = _shapes(settings)
    if queries is None:
        with graph_source(dataset, shapes or list(SHAPES), settings, state.place) as source:
            yield source
        return
    table = of_shapes(load_queries(queries, "train"), shapes)
    if not len(table):
        raise NqeError(
            f"{queries}: no training queries of {', '.join(shapes) or 'any shape'}; "
            "sample some, or name other shapes"
        )
    yield TableSource(table, settings.batch, settings.batching == "by-shape", settings.seed)


def _shapes(settings: TrainSettings) -> list[str]:
    return [name_of(parse_shape(name)) for name in settings.shapes]


def _validation(
    dataset: Dataset, queries: str | Path | None, settings: TrainSettings
) -> QueryTable | None:
    shapes = _shapes(settings)
    if queries is None:
        if "valid" in settings.facts:
            return None
        return validation_queries(
            dataset, shapes or list(SHAPES), settings.valid_queries, settings.seed
        )
    if "valid" not in read_manifest(queries)["splits"]:
        return None
    table = of_shapes(load_queries(queries, "valid"), shapes)
    return some_queries(table, settings.valid_queries, settings.seed) if len(table) else None


class _Loop:
    """Steps until the end of the training, with validation and saving between them."""

    def __init__(
        self,
        run: Run,
        weights: Weights,
        valid: QueryTable | None,
        settings: TrainSettings,
        processes: Processes,
        watch: Watch | None,
        began: float,
    ) -> None:
        self.run, self.weights, self.valid = run, weights, valid
        self.settings, self.processes, self.watch = settings, processes, watch
        self.model = weights.model
        self.loss = SoftmaxLoss(settings.smoothing, self.model.entity_count)
        self.clock = began
        self.validation_seconds = 0.0
        self.board = Board(None)

    def go(self, source: Source, state: State, dataset: Dataset) -> Trained:
        """Train to the end; interrupted, save and let the interrupt go on."""
        self.clock -= state.seconds
        self.board = Board(self.run.folder if self.processes.first else None, state.step)
        steps = self.settings.steps or self.settings.epochs * source.epoch_batches
        try:
            state = self._steps(source, state, steps)
            if self.processes.first:
                state = self._keep(state, validate=True)
                self.board.add_entities(state.step, self.weights.best, dataset.graph)
        finally:
            self.board.close()
        return Trained(self.run.folder, state.step, state.seconds, state.best)

    def _steps(self, source: Source, state: State, steps: int) -> State:
        pace = _Pace(self.clock, steps, self.settings)
        for table, place in source.batches(state.place):
            progress = self.processes.agree(pace.progress(state.step, self.validation_seconds))
            if progress >= 1 or self._patience_is_over(state):
                break
            try:
                loss = self._step(table, state.step, progress)
            except KeyboardInterrupt:
                if self.processes.first:
                    self._save(state)
                raise
            state = replace(state, step=state.step + 1, place=place, seconds=pace.seconds)
            self._tell(pace, state, len(table), loss, progress)
            validate = bool(self.processes.agree(pace.validation_is_due(state.step)))
            if validate or pace.saving_is_due(state.step):
                if self.processes.first:
                    state = self._keep(state, validate=validate)
                best = -1.0 if state.best is None else state.best
                best, worse = self.processes.agree(best), int(self.processes.agree(state.worse))
                state = replace(state, best=None if best < 0 else best, worse=worse)
                pace.kept(validate)
        return state

    def _patience_is_over(self, state: State) -> bool:
        return self.settings.patience is not None and state.worse >= self.settings.patience

    def _step(self, table: QueryTable, number: int, progress: float) -> float:
        """One step over a batch; the mean loss of its queries."""
        rng = np.random.default_rng((self.settings.seed, number, _CHOICE))
        if self.settings.targets == "one":
            table = replace(table, easy=one_answer(table.easy, rng))
        own = table.take(self.processes.part(np.arange(len(table))))
        batch = Batch.of(own.step_table())
        batch.check(self.model.entity_count, self.model.relation_count)
        candidates = self._candidates(table, own, progress, rng).to(self.model.device)
        self.model.train()
        with self._precision():
            comparison = self.model.compared(batch.to(self.model.device), candidates.entities)
        loss = self.loss(comparison, candidates.targets, 1 / len(table), candidates.weight)
        loss.backward()  # type: ignore[no-untyped-call]
        self.processes.add_gradients(self.weights.parameters)
        value = float(self.processes.add(loss.detach()))
        norm = self.weights.clip()
        if not (math.isfinite(value) and math.isfinite(norm)):
            raise NqeError(
                f"step {number + 1}: the loss is {value}, its gradient {norm}; the last good "
                f"checkpoint is in {self.run.folder}: lower train.rate and go on with --resume"
            )
        self.weights.step(rate(self.settings, progress), number)
        return value

    def _precision(self) -> AbstractContextManager[object]:
        if self.settings.autocast and self.model.device.type == "cuda":
            return torch.autocast("cuda", torch.bfloat16)
        return nullcontext()

    def _candidates(
        self, table: QueryTable, own: QueryTable, progress: float, rng: np.random.Generator
    ) -> Candidates:
        count, entity_count = self.settings.candidates, self.model.entity_count
        sampled = self.settings.loss == "sampled" and progress < self.settings.full_from
        if not sampled or count >= entity_count:
            return all_entities(own.easy)
        return sampled_entities(table.easy, own.easy, entity_count, count, rng)

    def _tell(self, pace: _Pace, state: State, queries: int, loss: float, progress: float) -> None:
        if not self.processes.first:
            return
        pace.count(queries, loss)
        if self.watch is not None:
            self.watch.update(
                Report(state.step, progress, state.place.epoch, pace.rate, loss, state.best)
            )
        if pace.telling_is_due():
            values = {
                "loss": pace.mean_loss(),
                "queries_per_second": pace.rate,
                "rate": rate(self.settings, progress),
            }
            self.run.tell(step=state.step, seconds=round(state.seconds, 2), **values)
            self.board.add(state.step, {f"train/{name}": one for name, one in values.items()})

    def _keep(self, state: State, *, validate: bool) -> State:
        """Validate, and keep the best and the last."""
        if validate and self.valid is not None and len(self.valid):
            began = time.monotonic()
            scores = mean_reciprocal_ranks(self.weights.best, self.valid)
            mrr = plain_mean(scores)
            better = state.best is None or mrr > state.best
            state = replace(
                state, best=mrr if better else state.best, worse=0 if better else state.worse + 1
            )
            self.run.tell(
                step=state.step, seconds=round(state.seconds, 2), mrr=mrr, by_shape=scores
            )
            self.board.add(state.step, {"valid/mrr": mrr})
            self.board.add(state.step, {f"valid/{name}": one for name, one in scores.items()})
            if better:
                self.run.save_best(self.weights.best, state.step, scores)
            self.validation_seconds = time.monotonic() - began
        self._save(state)
        return state

    def _save(self, state: State) -> None:
        self.run.save(self.model, state, self.weights.tensors())


class _Pace:
    """Time and counts: how far training is, how quick, and what is due."""

    def __init__(self, clock: float, steps: int, settings: TrainSettings) -> None:
        self.clock, self.steps, self.settings = clock, steps, settings
        self.began = self.told = self.validated = time.monotonic()
        self.queries = 0
        self.losses: list[float] = []

    @property
    def seconds(self) -> float:
        """Of the whole training, what came before a resume included."""
        return time.monotonic() - self.clock

    @property
    def rate(self) -> float:
        """Queries a second since the last report."""
        return self.queries / max(time.monotonic() - self.told, 1e-9)

    def progress(self, step: int, reserve: float) -> float:
        """From 0 to 1; of a time budget, what the last validation will need is kept back."""
        if self.settings.minutes is None:
            return step / self.steps
        return self.seconds / max(self.settings.minutes * 60 - reserve, 1e-9)

    def count(self, queries: int, loss: float) -> None:
        """A step is done."""
        self.queries += queries
        self.losses.append(loss)

    def mean_loss(self) -> float:
        """Since the last report; begins anew."""
        mean = sum(self.losses) / max(len(self.losses), 1)
        self.losses, self.queries, self.told = [], 0, time.monotonic()
        return mean

    def telling_is_due(self) -> bool:
        """Whether the metrics want a line."""
        return time.monotonic() - self.told >= _TELL_SECONDS

    def validation_is_due(self, step: int) -> bool:
        """Whether to validate now."""
        if self.settings.evaluate_steps is not None:
            return step % self.settings.evaluate_steps == 0
        return time.monotonic() - self.validated >= self.settings.evaluate_minutes * 60

    def saving_is_due(self, step: int) -> bool:
        """Whether to save now in any case."""
        return self.settings.save_steps is not None and step % self.settings.save_steps == 0

    def kept(self, validated: bool) -> None:
        """The time that validating and saving took is not the queries'."""
        if validated:
            self.validated = time.monotonic()
        self.queries, self.told = 0, time.monotonic()
