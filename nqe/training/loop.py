"""The training loop: steps, with validating and saving in between."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace

from nqe.errors import NqeError
from nqe.sampling.query_table import QueryTable
from nqe.sampling.worker_pool import WorkerLost
from nqe.settings import TrainSettings
from nqe.training.checkpointer import Checkpointer
from nqe.training.clock import Clock
from nqe.training.distributed import ProcessGroup
from nqe.training.gradients import BatchGradients
from nqe.training.interrupts import Interrupts
from nqe.training.learning_rate import compute_rate
from nqe.training.memory import return_freed_memory
from nqe.training.optimizer import Optimizer
from nqe.training.query_sources import Position, QuerySource
from nqe.training.relation_source import RelationSource
from nqe.training.run_folder import State
from nqe.training.training_log import TrainingLog

_MEMORY_STEPS = 20
"""Fragmented memory is returned to the system after this many steps."""


class Loop:
    """Takes training steps until the training is complete.

    `state` and the weights change together: whenever a signal is let through, both belong to the
    same step. Of several processes, the first one decides, validates and saves.
    """

    def __init__(
        self,
        settings: TrainSettings,
        optimizer: Optimizer,
        processes: ProcessGroup,
        clock: Clock,
        log: TrainingLog,
        checkpointer: Checkpointer,
        relations: RelationSource | None = None,
    ) -> None:
        self.settings, self.optimizer, self.processes = settings, optimizer, processes
        self.clock, self.log, self.checkpointer = clock, log, checkpointer
        self.gradients = BatchGradients(optimizer.model, settings, processes, relations)
        self.interrupts = Interrupts()
        self.state = State()
        self.progress = self.rate = 0.0
        self.last_batch: QueryTable | None = None

    def train(self, source: QuerySource, state: State) -> State:
        """Train from a state to the end, and return the state there.

        On an interrupt the run is saved, and KeyboardInterrupt is raised.
        """
        self.state = state
        with self.interrupts:
            try:
                self._take_steps(source.batches(state.position))
                self._checkpoint(is_end=True)
            except KeyboardInterrupt:
                raise KeyboardInterrupt(*self._save_on_interrupt()) from None
        return self.state

    def _take_steps(self, batches: Iterator[tuple[QueryTable, Position]]) -> None:
        while True:
            self._checkpoint()
            # Only the first process knows the time and the validation scores.
            self.progress, is_over, is_interrupted = self.processes.broadcast(
                self.clock.progress(self.state.step),
                self._patience_is_over(),
                self.interrupts.received,
            )
            if is_interrupted:
                raise KeyboardInterrupt
            if self.progress >= 1 or is_over:
                return
            table, position = self._next_batch(batches)
            queries = len(table) + self.gradients.relation_count
            self._finish_step(self._take_step(table), queries, position)

    def _patience_is_over(self) -> bool:
        return self.settings.patience is not None and self.state.worse >= self.settings.patience

    def _interruptible(self) -> AbstractContextManager[None]:
        """Let signals through if this is the only process; of several, none may leave alone."""
        return self.interrupts.let_through() if self.processes.count == 1 else nullcontext()

    def _next_batch(
        self, batches: Iterator[tuple[QueryTable, Position]]
    ) -> tuple[QueryTable, Position]:
        try:
            with self._interruptible():
                return next(batches)
        except WorkerLost as error:
            if self.interrupts.received:
                # A signal to all processes also ends those that sample queries.
                raise KeyboardInterrupt from None
            raise WorkerLost("fix that and continue with --resume") from error

    def _take_step(self, table: QueryTable) -> float:
        """Change the weights by the gradients of a batch, and return its mean loss."""
        loss = self.gradients.compute(table, self.state.step, self.progress)
        self.processes.add_gradients(self.optimizer.parameters)
        value = float(self.processes.add(loss))
        norm = self.optimizer.clip_gradients()
        if not (math.isfinite(value) and math.isfinite(norm)):
            raise self._divergence(value, norm)
        self.rate = compute_rate(self.settings, self.progress)
        self.optimizer.step(self.rate, self.state.step)
        self.last_batch = table
        return value

    def _finish_step(self, loss: float, queries: int, position: Position) -> None:
        """Count a step and record it."""
        before, seconds = self.state, self.clock.seconds
        self.state = replace(before, step=before.step + 1, position=position, seconds=seconds)
        if not self.processes.is_first:
            return
        if self.state.step % _MEMORY_STEPS == 0:
            return_freed_memory()
        self.clock.count_step(queries, loss)
        self.log.add_step(self.state, before.position.epoch, self.progress, self.rate, loss)

    def _checkpoint(self, *, is_end: bool = False) -> None:
        """Validate and save when that is due, and at the end in any case."""
        if not self.processes.is_first:
            return
        is_due = self.clock.validation_is_due(self.state)
        validates = is_due or (is_end and self.state.validated != self.state.step)
        if not (validates or is_end or self.clock.saving_is_due(self.state)):
            return
        if validates or is_end:
            self.log.write_loss(self.state, self.rate)
        with self.clock.pause(self.state.step, validates=validates):
            self._check_weights()
            if validates:
                with self._interruptible():
                    self.state = self.checkpointer.validate(self.state)
            if is_end:
                self.checkpointer.save_average(self.state)
            end = self.settings.end if is_end else None
            self.state = replace(self.state, end=end, seconds=self.clock.seconds)
            self.checkpointer.save(self.state)

    def _check_weights(self) -> None:
        """Refuse to save weights that give no finite loss, as training could not continue."""
        if self.last_batch is None:
            return
        # However often a run is saved, its weights are the same.
        with self.gradients.unchanged_buffers():
            loss = self.gradients.compute(self.last_batch, self.state.step, self.progress)
        value, norm = float(loss), self.optimizer.clip_gradients()
        self.optimizer.clear_gradients()
        is_finite = math.isfinite(value) and math.isfinite(norm)
        if not (is_finite and self.optimizer.has_finite_weights()):
            raise self._divergence(value, norm)

    def _save_on_interrupt(self) -> list[str]:
        """Save, and return the message for the user, if this process prints it."""
        if not self.processes.is_first:
            return []
        self._check_weights()
        self.checkpointer.save(self.state)
        saved = f"{self.checkpointer.run.folder}: interrupted and saved at step {self.state.step:,}"
        return [f"{saved}; continue with the same command and --resume"]

    def _divergence(self, loss: float, norm: float) -> NqeError:
        run = self.checkpointer.run
        lower = f"--resume --set train.rate={self.settings.rate / 10:g}"
        advice = (
            f"nothing was saved: begin again with {lower}"
            if run.saved_step is None
            else f"step {run.saved_step:,} was saved and is kept: continue from it with {lower}"
        )
        what = f"the loss is {loss:g}, its gradient {norm:g}"
        return NqeError(f"{run.folder}: after step {self.state.step:,} {what}; {advice}")
