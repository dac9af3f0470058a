"""Training a model into a RUN folder, from the beginning or from where it was saved."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

import torch

from nqe.errors import NqeError
from nqe.graph.dataset import Dataset
from nqe.model.checkpoint import Card
from nqe.model.devices import choose_device
from nqe.model.model import Model
from nqe.model.model_kinds import new_model
from nqe.sampling.storage import check_fingerprint, digest_of
from nqe.settings import RunSettings
from nqe.training.clock import Pace
from nqe.training.distributed import Processes, joined
from nqe.training.loop import Loop
from nqe.training.memory import keep_memory
from nqe.training.optimizer import Weights
from nqe.training.query_sources import source_of
from nqe.training.run_folder import Queries, Run, State, check_new, end_of
from nqe.training.status import OnStep, Trained
from nqe.training.tensorboard import Board
from nqe.training.validation import validation_of


def train(
    dataset: Dataset,
    output: str | Path,
    queries: str | Path | None = None,
    settings: RunSettings | None = None,
    *,
    name: str | None = None,
    resume: bool = False,
    on_step: OnStep | None = None,
) -> Trained:
    """Train a model on a query set, or on a data set alone, into a RUN folder.

    `name` is what others find the data set by: its folder. `resume` goes on where `last` is,
    with the run's own queries, and with its own settings unless others are given.

    Interrupted by Ctrl-C or SIGTERM it saves, and raises KeyboardInterrupt.
    """
    began = time.monotonic()
    folder = Path(output)
    given = None if queries is None else Queries(str(queries), digest_of(queries))
    old = _old(folder, dataset, given, settings) if resume else None
    if old is None:
        check_new(folder)
    task = _Task(
        dataset,
        folder,
        given or (None if old is None else old.queries),
        settings or (RunSettings() if old is None else old.settings),
        name,
        old,
    )
    if task.queries is not None:
        check_fingerprint(task.queries.folder, dataset.fingerprint)
    state = State() if old is None else old.state
    if state.end == end_of(task.settings.train):
        return Trained(folder, state.step, 0, state.seconds, state.best)
    keep_memory()
    with joined(choose_device(task.settings.train.device)) as processes:
        return _trained(task, state, processes, on_step, began)


@dataclass(frozen=True)
class _Task:
    """What to train on, how, and where to."""

    dataset: Dataset
    folder: Path
    queries: Queries | None
    settings: RunSettings
    name: str | None
    old: Run | None


def _old(
    folder: Path, dataset: Dataset, given: Queries | None, settings: RunSettings | None
) -> Run:
    """A run to go on with; another model, other facts or queries than its own are refused."""
    run = Run.old(folder)
    if settings is not None and settings.model != run.settings.model:
        raise NqeError(f"{folder}: its model has other settings; resume without [model]")
    if settings is not None and settings.train.facts != (facts := run.settings.train.facts):
        raise NqeError(
            f"{folder}: learns from the facts of {facts}, not of {settings.train.facts}; resume "
            "without train.facts, or begin another run"
        )
    if run.card.fingerprint != dataset.fingerprint:
        raise NqeError(
            f"{folder}: trained on another graph (fingerprint {run.card.fingerprint}, the "
            f"graph's is {dataset.fingerprint}); give the graph it was trained on"
        )
    own = run.queries
    if given is not None and (own is None or own.digest != given.digest):
        learns = "the graph alone" if own is None else f"the queries of {own.folder}"
        raise NqeError(
            f"{folder}: learns from {learns}, not from {given.folder}; resume without naming any"
        )
    if own is not None and given is None and own.digest != digest_of(own.folder):
        raise NqeError(
            f"{own.folder}: not the query set that {folder} began with; put that one back, or "
            "begin another run"
        )
    return run


def _trained(
    task: _Task, state: State, processes: Processes, on_step: OnStep | None, began: float
) -> Trained:
    settings = task.settings.train
    queries = None if task.queries is None else task.queries.folder
    model = _model(task)
    with source_of(task.dataset, queries, settings, state.place) as source:
        valid = validation_of(task.dataset, queries, settings) if processes.first else None
        # Only now, so that a mistake above leaves no folder behind.
        run = _opened(task, processes)
        weights = _weights(task, run, model)
        # None changes the folder before all have read it.
        processes.agree()
        pace = Pace(
            began, settings.steps or settings.epochs * source.epoch_batches, settings, state
        )
        with Board(
            run.folder if processes.first else None, state.step if task.old else None
        ) as board:
            loop = Loop(run, weights, valid, settings, processes, board, pace, state, on_step)
            end = loop.go(source)
            board.add_entities(weights.best, task.dataset.graph)
    return Trained(run.folder, end.step, end.step - state.step, end.seconds, end.best)


def _model(task: _Task) -> Model:
    """A new model; the same in all processes."""
    names, settings = task.dataset.vocabulary, task.settings
    torch.manual_seed(settings.train.seed)
    model = new_model(settings.model, len(names.entities), len(names.relations), names)
    return model.to(choose_device(settings.train.device))


def _opened(task: _Task, processes: Processes) -> Run:
    """The RUN folder, made by the first process, or ready to go on."""
    if task.old is not None:
        if processes.first:
            task.old.prepare(task.settings)
        return task.old
    facts = task.settings.train.facts
    trained_on = facts if task.queries is None else task.queries.folder
    card = Card(task.name, task.dataset.fingerprint, trained_on)
    if processes.first:
        Run.new(task.folder, task.settings, card, task.queries)
    return Run(task.folder, card)


def _weights(task: _Task, run: Run, model: Model) -> Weights:
    """The weights in training, as they were saved if this is a resume."""
    tensors = {} if task.old is None else run.load(model)
    weights = Weights(model, task.settings.train)
    if tensors:
        weights.restore(tensors)
    return weights
