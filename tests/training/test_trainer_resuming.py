"""Resuming: a training that was killed or interrupted ends with the same weights."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from helpers import COMMAND, ENVIRONMENT
from tampering import sign_again
from toy_dataset import (
    StatusRecorder,
    read_values,
    same_weights,
    settings,
    town_queries,
    towns,
    weights,
)

from nqe.errors import NqeError
from nqe.graph import Dataset
from nqe.model.checkpoint import load
from nqe.run_folders import BEST, LAST, lock_run
from nqe.settings import RunSettings, read_settings
from nqe.training import fit_weights
from nqe.training.run_folder import RunFolder

DATASET = towns()
EVERYTHING = {"dropout": 0.2}
AVERAGED = {"average": 0.9, "candidates": 30, "targets": "one"}


class Crash(BaseException):
    """Ends a training abruptly, like a power cut."""


class CrashAt:
    """Crashes after a step."""

    def __init__(self, step: int) -> None:
        self.step = step

    def update(self, status: Any) -> None:
        if status.step == self.step:
            raise Crash


@pytest.fixture(scope="module")
def queries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return town_queries(DATASET, tmp_path_factory.mktemp("towns") / "q", "1p", "2i", "2in")


@pytest.fixture(scope="module")
def chosen() -> RunSettings:
    return settings(EVERYTHING, **AVERAGED, shapes=[], steps=20, evaluate_steps=6, save_steps=4)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory, queries: Path, chosen: RunSettings) -> Path:
    """A run that was not interrupted."""
    run = tmp_path_factory.mktemp("whole") / "run"
    fit_weights(DATASET, run, queries, chosen)
    return run


def train_and_kill(run: Path, step: int, delay: float, *arguments: str | Path) -> bool:
    """Train until a step is saved, then kill the process; whether it was still running."""
    process = subprocess.Popen(
        [*COMMAND, "train", *map(str, arguments), "-o", str(run)],
        env=ENVIRONMENT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    with process:
        while process.poll() is None:
            if saved_step(run) >= step:
                time.sleep(delay)
                process.kill()
                break
            time.sleep(0.002)
        assert process.wait() in (0, -signal.SIGKILL)
    wait_until_gone(process.pid)
    return process.returncode != 0


def wait_until_gone(group: int) -> None:
    """Wait for the processes that a killed one had started; they must end by themselves."""
    for _ in range(1_000):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return
        time.sleep(0.01)
    pytest.fail("a process outlived the one that started it")


def saved_step(run: Path) -> int:
    try:
        return int(json.loads((run / LAST / "state.json").read_text())["step"])
    except FileNotFoundError:
        return -1


@pytest.mark.xdist_group("killed training")
@pytest.mark.parametrize("source", [pytest.param("queries", marks=pytest.mark.long), "graph"])
def test_a_training_that_is_killed_three_times_ends_with_the_same_weights(
    tmp_path: Path, queries: Path, source: str
) -> None:
    shapes = ["1p", "2i", "2in"] if source == "queries" else ["1p", "2in"]
    given = settings(
        EVERYTHING, **AVERAGED, shapes=shapes, steps=90, evaluate_steps=7, save_steps=2
    )
    (tmp_path / "settings.toml").write_text(given.to_toml())
    DATASET.save(tmp_path / "towns.graph")
    words = [tmp_path / "towns.graph", *([queries] if source == "queries" else [])]
    rng = random.Random(source)
    options: list[str | Path] = ["-c", tmp_path / "settings.toml"]
    kills = 0
    for step in (rng.randrange(18), rng.randrange(18, 36), rng.randrange(36, 52)):
        kills += train_and_kill(tmp_path / "killed", step, rng.random() / 20, *words, *options)
        options = ["--resume"]
    assert kills == 3
    fit_weights(DATASET, tmp_path / "killed", resume=True)
    fit_weights(DATASET, tmp_path / "whole", words[1] if len(words) > 1 else None, given)
    assert same_weights(tmp_path / "killed", tmp_path / "whole")
    assert read_values(tmp_path / "killed", "mrr") == read_values(tmp_path / "whole", "mrr")
    assert list((tmp_path / "killed").glob(".nqe-*")) == []


@pytest.mark.parametrize("step", [1, 3, 4, 5, 6, 12, 19, 20])
def test_a_training_that_crashes_after_any_step_continues_to_the_same_weights(
    tmp_path: Path, queries: Path, chosen: RunSettings, whole: Path, step: int
) -> None:
    with pytest.raises(Crash):
        fit_weights(DATASET, tmp_path / "run", queries, chosen, on_step=CrashAt(step).update)
    trained = fit_weights(DATASET, tmp_path / "run", resume=True)
    assert trained.steps == 20
    assert trained.new_steps == 20 - max(4 * ((step - 1) // 4), 6 * ((step - 1) // 6))
    assert same_weights(tmp_path / "run", whole)
    assert read_values(tmp_path / "run", "mrr") == read_values(whole, "mrr")


@pytest.mark.parametrize("name", [BEST, LAST])
def test_a_training_that_crashes_while_saving_continues_to_the_same_weights(
    tmp_path: Path,
    queries: Path,
    chosen: RunSettings,
    whole: Path,
    name: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def crash(*_: object) -> None:
        raise Crash

    method = "save_best" if name == BEST else "save"
    with monkeypatch.context() as patch:
        patch.setattr(RunFolder, method, crash)
        with pytest.raises(Crash):
            fit_weights(DATASET, tmp_path / "run", queries, chosen)
    fit_weights(DATASET, tmp_path / "run", resume=True)
    assert same_weights(tmp_path / "run", whole)
    assert read_values(tmp_path / "run", "mrr") == read_values(whole, "mrr")
    assert [step for step, _ in read_values(tmp_path / "run", "loss")] == sorted(
        step for step, _ in read_values(tmp_path / "run", "loss")
    )


class InterruptAt:
    """Sends a signal to its own process after a step."""

    def __init__(self, step: int, number: signal.Signals) -> None:
        self.step, self.number = step, number

    def update(self, status: Any) -> None:
        if status.step == self.step:
            signal.raise_signal(self.number)


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("step", [1, 6, 20])
def test_an_interrupt_saves_says_how_to_continue_and_loses_no_step(
    tmp_path: Path,
    queries: Path,
    chosen: RunSettings,
    whole: Path,
    step: int,
    number: signal.Signals,
) -> None:
    before = signal.getsignal(number)
    with pytest.raises(KeyboardInterrupt, match=rf"saved at step {step}; continue .* --resume"):
        fit_weights(
            DATASET, tmp_path / "run", queries, chosen, on_step=InterruptAt(step, number).update
        )
    assert signal.getsignal(number) is before
    assert fit_weights(DATASET, tmp_path / "run", resume=True).new_steps == 20 - step
    assert same_weights(tmp_path / "run", whole)
    assert read_values(tmp_path / "run", "mrr") == read_values(whole, "mrr")


@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_stops_a_validation_at_once_and_it_is_repeated_later(
    tmp_path: Path,
    queries: Path,
    chosen: RunSettings,
    whole: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def interrupted(*_: object) -> None:
        signal.raise_signal(signal.SIGINT)
        pytest.fail("the interrupt was held back")

    with monkeypatch.context() as patch:
        patch.setattr("nqe.training.checkpointer.measure_mrr", interrupted)
        with pytest.raises(KeyboardInterrupt, match="saved at step 6"):
            fit_weights(DATASET, tmp_path / "run", queries, chosen)
    fit_weights(DATASET, tmp_path / "run", resume=True)
    assert same_weights(tmp_path / "run", whole)
    assert read_values(tmp_path / "run", "mrr") == read_values(whole, "mrr")


def test_a_complete_run_is_left_unchanged(whole: Path, queries: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in whole.rglob("*")}
    trained = fit_weights(DATASET, whole, queries, resume=True)
    assert (trained.steps, trained.new_steps) == (20, 0)
    assert trained.best is not None
    assert {path: path.stat().st_mtime_ns for path in whole.rglob("*")} == before


def test_a_complete_run_continues_with_more_steps_and_keeps_the_new_settings(
    tmp_path: Path,
) -> None:
    run = tmp_path / "run"
    fit_weights(DATASET, run, settings=settings())
    more = settings(steps=15, average=0.5, optimizer="adamw", batch=16)
    assert fit_weights(DATASET, run, settings=more, resume=True).new_steps == 3
    assert RunFolder.open(run).settings == more
    assert read_settings(run / "settings.toml") == more
    assert [step for step, _ in read_values(run, "mrr")] == [6, 12, 15]
    assert fit_weights(DATASET, run, resume=True).new_steps == 0


def test_a_new_average_begins_with_the_current_weights(tmp_path: Path) -> None:
    run = tmp_path / "run"
    fit_weights(DATASET, run, settings=settings(steps=50, evaluate_steps=50))
    before = load(run / LAST).entities.weights
    fit_weights(
        DATASET,
        run,
        settings=settings(steps=51, evaluate_steps=51, average=0.999, rate=1e-9),
        resume=True,
    )
    tensors = RunFolder.open(run).load(load(run / LAST))
    assert (tensors["average.entities.weights"] - before).abs().max() < 1e-4


def test_a_run_can_continue_with_larger_batches_and_so_shorter_epochs(
    tmp_path: Path, queries: Path
) -> None:
    run = tmp_path / "run"
    fit_weights(DATASET, run, queries, settings(shapes=[], steps=5, batch=16))
    larger = settings(shapes=[], steps=9, batch=100)
    assert fit_weights(DATASET, run, settings=larger, resume=True).steps == 9


def test_other_graphs_queries_and_models_are_refused(
    tmp_path: Path, whole: Path, chosen: RunSettings
) -> None:
    other = Dataset(DATASET.vocabulary, {"train": DATASET.splits["train"]})
    with pytest.raises(NqeError, match="trained on another graph"):
        fit_weights(other, whole, resume=True)
    others = town_queries(DATASET, tmp_path / "others", "1p", train=10)
    with pytest.raises(NqeError, match=r"learns from the queries of .*, not from .*others"):
        fit_weights(DATASET, whole, others, resume=True)
    fit_weights(DATASET, tmp_path / "graph", settings=settings(steps=1))
    with pytest.raises(NqeError, match="learns from the graph alone, not from"):
        fit_weights(DATASET, tmp_path / "graph", others, resume=True)
    wider = replace(chosen, model=replace(chosen.model, width=32))
    with pytest.raises(NqeError, match="its model has other settings"):
        fit_weights(DATASET, whole, settings=wider, resume=True)
    with pytest.raises(NqeError, match="no run to continue; leave out --resume"):
        fit_weights(DATASET, tmp_path / "nowhere", resume=True)


def test_other_facts_are_refused(tmp_path: Path) -> None:
    fit_weights(DATASET, tmp_path / "run", settings=settings(steps=2))
    with pytest.raises(NqeError, match="learns from the facts of train, not of all; resume"):
        fit_weights(DATASET, tmp_path / "run", settings=settings(steps=4, facts="all"), resume=True)


def test_a_query_set_that_was_moved_can_be_named_where_it_is_now(tmp_path: Path) -> None:
    place = town_queries(DATASET, tmp_path / "queries", "1p")
    fit_weights(DATASET, tmp_path / "run", place, settings(steps=2))
    moved = place.rename(tmp_path / "moved")
    with pytest.raises(NqeError):
        fit_weights(DATASET, tmp_path / "run", settings=settings(steps=4), resume=True)
    done = fit_weights(DATASET, tmp_path / "run", moved, settings(steps=4), resume=True)
    assert done.steps == 4


def test_a_query_set_that_was_sampled_again_is_refused(tmp_path: Path) -> None:
    queries = town_queries(DATASET, tmp_path / "q", "1p")
    fit_weights(DATASET, tmp_path / "run", queries, settings(steps=1))
    town_queries(DATASET, tmp_path / "q", "1p", train=61)
    with pytest.raises(NqeError, match=r"not the query set that .* began with; restore that one"):
        fit_weights(DATASET, tmp_path / "run", resume=True)


def test_a_run_without_a_save_begins_again(
    tmp_path: Path, queries: Path, chosen: RunSettings, whole: Path
) -> None:
    with pytest.raises(Crash):
        fit_weights(DATASET, tmp_path / "run", queries, chosen, on_step=CrashAt(2).update)
    assert not (tmp_path / "run" / LAST).exists()
    recorder = StatusRecorder()
    fit_weights(DATASET, tmp_path / "run", resume=True, on_step=recorder.update)
    assert [status.step for status in recorder.statuses] == list(range(1, 21))
    assert same_weights(tmp_path / "run", whole)


def test_a_damaged_checkpoint_is_an_error(tmp_path: Path) -> None:
    run = tmp_path / "run"
    fit_weights(DATASET, run, settings=settings(steps=2))
    more = settings(steps=3)
    (run / LAST / "training.safetensors").write_bytes(b"no tensors")
    with pytest.raises(NqeError, match=r"training\.safetensors: damaged, .*; train the model"):
        fit_weights(DATASET, run, settings=more, resume=True)
    sign_again(run)
    with pytest.raises(NqeError, match=r"last: damaged \(.*\); train the model again"):
        fit_weights(DATASET, run, settings=more, resume=True)
    assert weights(run)


def test_a_run_that_is_being_trained_is_not_resumed_by_another_process(tmp_path: Path) -> None:
    fit_weights(DATASET, tmp_path / "run", settings=settings(steps=3))
    script = (
        "import time; from pathlib import Path; from nqe.run_folders import lock_run\n"
        "with lock_run(Path('run')): print('held', flush=True); time.sleep(600)"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", script], cwd=tmp_path, stdout=subprocess.PIPE, text=True
    )
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline()
        with pytest.raises(NqeError, match=rf"run: is being written by process {holder.pid} on "):
            fit_weights(DATASET, tmp_path / "run", settings=settings(steps=6), resume=True)
    finally:
        holder.kill()
        holder.communicate()
    # The lock of a process that was killed locks nothing.
    fit_weights(DATASET, tmp_path / "run", settings=settings(steps=6), resume=True)
    assert list((tmp_path / "run").rglob(".nqe-*")) == []


def test_a_run_is_locked_while_it_is_trained(tmp_path: Path) -> None:
    told: list[str] = []

    def try_to_write(_: object) -> None:
        with pytest.raises(NqeError) as caught, lock_run(tmp_path / "run" / "best"):
            pass
        told.append(str(caught.value))

    fit_weights(DATASET, tmp_path / "run", settings=settings(steps=2), on_step=try_to_write)
    assert len(told) == 2
    assert f"is being written by process {os.getpid()}" in told[0]
    with lock_run(tmp_path / "run"):
        pass


def test_a_damaged_state_is_reported_in_one_sentence(tmp_path: Path) -> None:
    fit_weights(DATASET, tmp_path / "run", settings=settings(steps=2))
    state = tmp_path / "run" / "last" / "state.json"
    whole = state.read_text(encoding="utf-8")
    for damaged in (
        "",
        "{",
        "[]",
        "{}",
        whole.replace('"step": 2', '"step": "two"'),
        whole.replace('"step": 2', '"step": -2'),
        whole.replace('"step": 2', f'"step": {10**30}'),
        whole.replace('"epoch": ', '"epoch": 9' + "0" * 30),
        whole.replace('"batch"', '"b"'),
    ):
        state.write_text(damaged, encoding="utf-8")
        for _ in range(2):  # as it is, then with a digest that fits
            with pytest.raises(NqeError, match=r"last\S*: damaged[^\n]*; train the model again$"):
                fit_weights(DATASET, tmp_path / "run", settings=settings(steps=4), resume=True)
            sign_again(tmp_path / "run")


def test_files_of_others_in_a_checkpoint_survive_training(tmp_path: Path) -> None:
    fit_weights(DATASET, tmp_path / "run", settings=settings(steps=6))
    (tmp_path / "run" / "last" / "mynotes.txt").write_text("mine")
    fit_weights(DATASET, tmp_path / "run", settings=settings(steps=8), resume=True)
    assert (tmp_path / "run" / "last" / "mynotes.txt").read_text() == "mine"


def test_a_run_without_its_last_checkpoint_is_not_begun_again(tmp_path: Path) -> None:
    fit_weights(DATASET, tmp_path / "run", settings=settings(steps=6))
    best = weights(tmp_path / "run", BEST)
    shutil.rmtree(tmp_path / "run" / LAST)
    with pytest.raises(NqeError, match=r"last: is missing, so the training cannot be continued"):
        fit_weights(DATASET, tmp_path / "run", settings=settings(steps=8), resume=True)
    assert all(torch.equal(best[key], one) for key, one in weights(tmp_path / "run", BEST).items())


def test_a_best_checkpoint_that_was_removed_is_not_replaced_by_the_last_one(tmp_path: Path) -> None:
    fit_weights(DATASET, tmp_path / "run", settings=settings(steps=6))
    shutil.rmtree(tmp_path / "run" / BEST)
    with pytest.raises(NqeError, match=r"best: is missing, though training wrote it; restore it"):
        load(tmp_path / "run")
    assert load(tmp_path / "run" / LAST) is not None


def test_metrics_that_were_changed_are_not_cut_in_the_middle_of_a_line(tmp_path: Path) -> None:
    fit_weights(DATASET, tmp_path / "run", settings=settings(steps=6))
    metrics = tmp_path / "run" / "metrics.jsonl"
    metrics.write_text("x" * (metrics.stat().st_size + 10))
    with pytest.raises(NqeError, match=r"metrics\.jsonl: was changed since the training was saved"):
        fit_weights(DATASET, tmp_path / "run", settings=settings(steps=8), resume=True)
