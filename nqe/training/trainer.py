"""Fits the weights of a model into a RUN folder, from the beginning or from the last save."""

from __future__ import annotations

import time
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

import torch

from nqe.errors import NqeError
from nqe.graph.dataset import Dataset
from nqe.model.checkpoint import Card
from nqe.model.devices import choose_device
from nqe.model.model import Model
from nqe.model.model_kinds import new_model
from nqe.run_folders import RUN, lock_run
from nqe.sampling.storage import check_graph, digest_of
from nqe.settings import RunSettings
from nqe.training.checkpointer import Checkpointer
from nqe.training.clock import Clock
from nqe.training.distributed import ProcessGroup, is_first_process, join_processes
from nqe.training.loop import Loop
from nqe.training.memory import keep_freed_memory
from nqe.training.optimizer import Optimizer
from nqe.training.query_sources import QuerySource, TableSource, open_source
from nqe.training.relation_source import open_relation_source
from nqe.training.run_folder import RunFolder, State, UsedQueries, check_new
from nqe.training.starting_weights import copy_weights
from nqe.training.status import FitResult, Listeners, OnStep, OnValidation
from nqe.training.tensorboard import TensorBoard
from nqe.training.training_log import TrainingLog
from nqe.training.validation import choose_validation_queries


def fit_weights(
    dataset: Dataset,
    output: str | Path,
    queries: str | Path | None = None,
    settings: RunSettings | None = None,
    *,
    name: str | None = None,
    resume: bool = False,
    start: str | Path | None = None,
    on_step: OnStep | None = None,
    on_validation: OnValidation | None = None,
) -> FitResult:
    """Fit a model to a query set, or to a data set alone, and write it into a RUN folder.

    `nqe.train` calls this and then calibrates the model; the arguments are explained there.
    """
    began = time.monotonic()
    folder = Path(output)
    with ExitStack() as locks:
        if resume:
            # Before its state is read, as another process may be changing it.
            _lock(folder, locks)
        job = _prepare(dataset, folder, queries, settings, name, resume)
        if start is not None:
            job = replace(job, start=_check_start(Path(start), resume))
        state = State() if job.resumed is None else job.resumed.state
        if state.end == job.settings.train.end:
            return FitResult(folder, state.step, 0, state.seconds, state.best)
        keep_freed_memory()
        with join_processes(choose_device(job.settings.train.device)) as processes:
            return _fit(job, state, processes, Listeners(on_step, on_validation), began, locks)


def _lock(folder: Path, locks: ExitStack) -> None:
    """Lock a RUN until the locks are released; of several processes, the first one does."""
    if is_first_process() and RUN.recognises(folder):
        locks.enter_context(lock_run(folder))


def _prepare(
    dataset: Dataset,
    folder: Path,
    queries: str | Path | None,
    settings: RunSettings | None,
    name: str | None,
    resume: bool,
) -> _Job:
    """Check what to train on; a run to continue keeps its own settings unless others are given."""
    given = None if queries is None else UsedQueries(str(queries), digest_of(queries))
    resumed = _open_resumed(folder, dataset, given, settings) if resume else None
    if resumed is None:
        check_new(folder)
    job = _Job(
        dataset,
        folder,
        given or (None if resumed is None else resumed.queries),
        settings or (RunSettings() if resumed is None else resumed.settings),
        name,
        resumed,
    )
    if job.queries is not None:
        check_graph(job.queries.folder, dataset)
    return job


def _check_start(start: Path, resume: bool) -> Path:
    """Refuse a start for a run that has weights of its own."""
    if resume:
        raise NqeError(
            f"{start}: a resumed run continues with its own weights; leave out --start-from"
        )
    return start


@dataclass(frozen=True)
class _Job:
    """What to train on, how, and where to write."""

    dataset: Dataset
    folder: Path
    queries: UsedQueries | None
    settings: RunSettings
    name: str | None
    resumed: RunFolder | None
    start: Path | None = None
    """The RUN or checkpoint whose weights it begins with; None begins with random ones."""

    @property
    def facts(self) -> str:
        """The splits whose facts the model learns from; query sets are made from train."""
        return self.settings.train.facts if self.queries is None else "train"


def _open_resumed(
    folder: Path, dataset: Dataset, given: UsedQueries | None, settings: RunSettings | None
) -> RunFolder:
    """Open a run to continue; another model, and other facts or queries, are refused."""
    run = RunFolder.open(folder)
    run.check_can_continue()
    if settings is not None:
        _check_same_settings(run, settings)
    if run.card.fingerprint != dataset.fingerprint:
        raise NqeError(
            f"{folder}: trained on another graph (fingerprint {run.card.fingerprint}, the "
            f"graph's is {dataset.fingerprint}); give the graph it was trained on"
        )
    _check_same_queries(run, given)
    return run


def _check_same_settings(run: RunFolder, settings: RunSettings) -> None:
    own = run.settings
    if settings.train.relation_share and not own.model.predict_relations:
        raise NqeError(
            f"{run.folder}: its model was built without relations to predict; resume without "
            "train.relation_share, or begin another run"
        )
    if settings.model != own.model:
        raise NqeError(f"{run.folder}: its model has other settings; resume without [model]")
    if settings.train.facts != own.train.facts:
        raise NqeError(
            f"{run.folder}: learns from the facts of {own.train.facts}, not of "
            f"{settings.train.facts}; resume without train.facts, or begin another run"
        )


def _check_same_queries(run: RunFolder, given: UsedQueries | None) -> None:
    own = run.queries
    if given is not None and (own is None or own.digest != given.digest):
        source = "the graph alone" if own is None else f"the queries of {own.folder}"
        raise NqeError(
            f"{run.folder}: learns from {source}, not from {given.folder}; resume without queries"
        )
    if own is not None and given is None and own.digest != digest_of(own.folder):
        raise NqeError(
            f"{own.folder}: not the query set that {run.folder} began with; restore that one, or "
            "begin another run"
        )


def _fit(
    job: _Job,
    state: State,
    processes: ProcessGroup,
    listeners: Listeners,
    began: float,
    locks: ExitStack,
) -> FitResult:
    settings, dataset = job.settings.train, job.dataset
    queries = None if job.queries is None else job.queries.folder
    model = _build_model(job)
    _check_can_learn(model, queries)
    with open_source(dataset, queries, settings, state.position) as source:
        valid = (
            choose_validation_queries(dataset, queries, settings) if processes.is_first else None
        )
        for table in (source.table if isinstance(source, TableSource) else None, valid):
            if table is not None:
                model.check_expressible(table.plans, table.shape)
        # Not earlier, so that a mistake in the input leaves no folder behind.
        run = _open_folder(job, processes)
        if job.resumed is None:
            _lock(run.folder, locks)
        optimizer = _build_optimizer(job, run, model)
        # No process may change the folder before all have read it.
        processes.wait_for_all()
        clock = Clock(began, _count_steps(job, source), source.epoch_batches, settings, state)
        place = run.folder if processes.is_first else None
        with TensorBoard(place, state.step if job.resumed else None) as tensorboard:
            log = TrainingLog(run, tensorboard, clock, listeners)
            checkpointer = Checkpointer(run, optimizer, valid, log)
            relations = open_relation_source(dataset, settings)
            loop = Loop(settings, optimizer, processes, clock, log, checkpointer, relations)
            end = loop.train(source, state)
            tensorboard.add_entities(optimizer.result, dataset.graph)
    return FitResult(run.folder, end.step, end.step - state.step, end.seconds, end.best)


def _check_can_learn(model: Model, queries: str | None) -> None:
    """Refuse a graph alone for a model that cannot encode every query about it."""
    if queries is None and not model.expresses_all:
        raise NqeError(
            "training on a graph alone asks for every slot of facts, which a model of the kind "
            f"'{model.settings.kind}' cannot express; sample queries that it can, such as those of "
            "`nqe sample GRAPH -o QUERIES --preset wd50k-qe`, and train on them"
        )


def _count_steps(job: _Job, source: QuerySource) -> int:
    settings = job.settings.train
    return settings.steps or settings.epochs * source.epoch_batches


def _build_model(job: _Job) -> Model:
    """Build a new model, the same in all processes."""
    names, settings = job.dataset.vocabulary, job.settings
    torch.manual_seed(settings.train.seed)
    model = new_model(settings.model, len(names.entities), len(names.relations), names)
    if job.start is not None:
        copy_weights(model, job.start)
    if settings.train.relation_share and not model.predicts_relations:
        raise NqeError(
            f"train.relation_share is {settings.train.relation_share}, but a model of the kind "
            f"'{settings.model.kind}' predicts no relations; set it to 0"
        )
    if model.needs_facts:
        model = model.with_facts(job.dataset.known(job.facts).facts)
    return model.to(choose_device(settings.train.device))


def _open_folder(job: _Job, processes: ProcessGroup) -> RunFolder:
    """Create the RUN folder, or prepare the resumed one; only the first process writes."""
    if job.resumed is not None:
        if processes.is_first:
            job.resumed.prepare_to_continue(job.settings)
        return job.resumed
    trained_on = job.facts if job.queries is None else job.queries.folder
    card = Card(job.name, job.dataset.fingerprint, trained_on)
    if processes.is_first:
        return RunFolder.create(job.folder, job.settings, card, job.queries, job.start)
    return RunFolder(job.folder, card)


def _build_optimizer(job: _Job, run: RunFolder, model: Model) -> Optimizer:
    """Build the optimizer; for a resumed run, with the weights and moments that were saved."""
    tensors = {} if job.resumed is None else run.load(model)
    optimizer = Optimizer(model, job.settings.train)
    if tensors:
        optimizer.restore(tensors)
    return optimizer
