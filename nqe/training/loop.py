"""The loop of a training: steps, with validating and saving between them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from nqe.errors import NqeError
from nqe.sampling.query_table import QueryTable
from nqe.settings import TrainSettings
from nqe.training.candidates import Candidates, all_entities, one_answer, sampled_entities
from nqe.training.clock import Pace
from nqe.training.distributed import Processes
from nqe.training.interrupts import Interrupts
from nqe.training.learning_rate import rate
from nqe.training.loss import SoftmaxLoss
from nqe.training.memory import tidy_memory
from nqe.training.optimizer import Weights
from nqe.training.query_sources import Place, Source
from nqe.training.run_folder import Run, State, end_of
from nqe.training.status import OnStep, TrainingStatus
from nqe.training.tensorboard import Board
from nqe.training.validation import mean_reciprocal_ranks, plain_mean

_CHOICE, _DROPOUT = 3, 4
_TIDY = 20
"""Steps after which memory is tidied."""


class Loop:
    """Steps until the end of the training.

    `state` and the weights change together: whenever signals are let through, both are as after
    the same step. Of several processes, the first one decides, validates and saves.
    """

    def __init__(
        self,
        run: Run,
        weights: Weights,
        valid: QueryTable | None,
        settings: TrainSettings,
        processes: Processes,
        board: Board,
        pace: Pace,
        state: State,
        on_step: OnStep | None,
    ) -> None:
        self.run, self.weights, self.valid, self.state = run, weights, valid, state
        self.settings, self.processes, self.on_step = settings, processes, on_step
        self.board, self.pace = board, pace
        self.model = weights.model
        self.loss = SoftmaxLoss(settings.smoothing, self.model.entity_count)
        self.interrupts = Interrupts()
        self.progress = self.rate = 0.0
        self.table: QueryTable | None = None
        """The last batch."""

    def go(self, source: Source) -> State:
        """Train to the end; interrupted, save and let the interrupt go on."""
        with self.interrupts:
            try:
                self._steps(source.batches(self.state.place))
                self._keep(at_the_end=True)
            except KeyboardInterrupt:
                raise KeyboardInterrupt(*self._saved()) from None
        return self.state

    def _steps(self, batches: Iterator[tuple[QueryTable, Place]]) -> None:
        while True:
            self._keep()
            # The first process is the only one to know how long things take and what is best.
            self.progress, over, interrupted = self.processes.agree(
                self.pace.progress(self.state.step),
                self._patience_is_over(),
                self._is_interrupted(),
            )
            if interrupted:
                raise KeyboardInterrupt
            if self.progress >= 1 or over:
                return
            table, place = self._next(batches)
            self._go_on(self._step(table), len(table), place)

    def _patience_is_over(self) -> bool:
        return self.settings.patience is not None and self.state.worse >= self.settings.patience

    def _is_interrupted(self) -> bool:
        return self.interrupts.wanted

    def _harmless(self) -> AbstractContextManager[None]:
        """A block that may be interrupted; of several processes none may leave alone."""
        return self.interrupts.let_through() if self.processes.count == 1 else nullcontext()

    def _next(self, batches: Iterator[tuple[QueryTable, Place]]) -> tuple[QueryTable, Place]:
        try:
            with self._harmless():
                return next(batches)
        except BrokenProcessPool as error:
            if self.interrupts.wanted:
                # A signal for all processes ends those that draw queries too.
                raise KeyboardInterrupt from None
            raise NqeError(
                "a process that draws queries ended, for lack of memory or, in a script, of "
                "`if __name__ == '__main__'`; mend that and go on with --resume"
            ) from error

    def _step(self, table: QueryTable) -> float:
        """Change the weights by a batch; the mean loss of its queries."""
        loss = self._gradients(table)
        self.processes.add_gradients(self.weights.parameters)
        value = float(self.processes.add(loss))
        norm = self.weights.clip()
        if not (math.isfinite(value) and math.isfinite(norm)):
            raise self._diverged(f"the loss is {value:g}, its gradient {norm:g}")
        self.rate = rate(self.settings, self.progress)
        self.weights.step(self.rate, self.state.step)
        self.table = table
        return value

    def _check(self) -> None:
        """Refuse to save weights that do not work: nothing could go on from them."""
        if self.table is None:
            return
        value, norm = float(self._gradients(self.table)), self.weights.clip()
        self.weights.forget_gradients()
        if not (math.isfinite(value) and math.isfinite(norm) and self.weights.are_finite()):
            raise self._diverged(f"the loss is {value:g}, its gradient {norm:g}")

    def _gradients(self, table: QueryTable) -> Tensor:
        """The gradients of this process's part of a batch; its part of the mean loss."""
        rng = self._seed()
        if self.settings.targets == "one":
            table = table.with_easy(one_answer(table.easy, rng))
        own = table.take(self.processes.part(np.arange(len(table))))
        candidates = self._candidates(table, own, rng).to(self.model.device)
        self.model.train()
        with self._precision():
            comparison = self.model.compare(own.plans, candidates.entities)
        scale = 1 / len(table)
        loss = self.loss(comparison, candidates.targets, scale, candidates.weight)
        loss.backward()  # type: ignore[no-untyped-call]
        return loss.detach()

    def _seed(self) -> np.random.Generator:
        """Seed the step by its number, so that any step can be the first after a resume."""
        place = (self.settings.seed, self.state.step)
        dropout = np.random.SeedSequence((*place, _DROPOUT, self.processes.rank))
        torch.manual_seed(int(dropout.generate_state(1, np.uint64)[0]))
        return np.random.default_rng((*place, _CHOICE))

    def _precision(self) -> AbstractContextManager[object]:
        if self.settings.autocast and self.model.device.type == "cuda":
            return torch.autocast("cuda", torch.bfloat16)
        return nullcontext()

    def _candidates(
        self, table: QueryTable, own: QueryTable, rng: np.random.Generator
    ) -> Candidates:
        count, entity_count = self.settings.candidates, self.model.entity_count
        sampled = self.settings.loss == "sampled" and self.progress < self.settings.full_from
        if not sampled or count >= entity_count:
            return all_entities(own.easy)
        return sampled_entities(table.easy, own.easy, entity_count, count, rng)

    def _go_on(self, loss: float, queries: int, place: Place) -> None:
        """A step is done: count it and tell of it."""
        before, seconds = self.state, self.pace.seconds
        self.state = replace(before, step=before.step + 1, place=place, seconds=seconds)
        if not self.processes.first:
            return
        if self.state.step % _TIDY == 0:
            tidy_memory()
        self.pace.count(queries, loss)
        if self.on_step is not None:
            step, epoch, best = self.state.step, before.place.epoch, before.best
            self.on_step(TrainingStatus(step, self.progress, epoch, self.pace.rate, loss, best))
        if self.pace.telling_is_due():
            self._tell_loss()

    def _tell_loss(self) -> None:
        values = self.pace.window()
        if values is not None:
            values["rate"] = self.rate
            self._tell(values)
            self.board.add(self.state.step, {f"train/{name}": one for name, one in values.items()})

    def _tell(self, values: dict[str, float]) -> None:
        self.run.tell(step=self.state.step, seconds=round(self.state.seconds, 2), **values)

    def _keep(self, *, at_the_end: bool = False) -> None:
        """Validate and save if it is due; at the end it is."""
        if not self.processes.first:
            return
        due = self.pace.validation_is_due(self.state)
        validate = due or (at_the_end and self.state.validated != self.state.step)
        if not (validate or at_the_end or self.pace.saving_is_due(self.state)):
            return
        if validate or at_the_end:
            self._tell_loss()
        with self.pace.keeping(self.state.step, validate):
            self._check()
            if validate:
                with self._harmless():
                    self.state = self._validated()
            if at_the_end and self.weights.average is not None and self.state.best is None:
                # Nothing was validated, so the average is the best there is.
                self.run.save_best(self.weights.best, self.state.step, {})
            end = end_of(self.settings) if at_the_end else None
            self.state = replace(self.state, end=end, seconds=self.pace.seconds)
            self._save()

    def _validated(self) -> State:
        """The state after validating; a better model is kept as the best."""
        state = replace(self.state, validated=self.state.step)
        if self.valid is None or not len(self.valid):
            return state
        scores = mean_reciprocal_ranks(self.weights.best, self.valid)
        mrr = plain_mean(scores)
        self.run.tell(step=state.step, seconds=round(state.seconds, 2), mrr=mrr, by_shape=scores)
        by_shape = {f"valid/{name}": one for name, one in scores.items()}
        self.board.add(state.step, {"valid/mrr": mrr, **by_shape})
        if state.best is not None and mrr <= state.best:
            return replace(state, worse=state.worse + 1)
        self.run.save_best(self.weights.best, state.step, scores)
        return replace(state, best=mrr, worse=0)

    def _save(self) -> None:
        self.run.save(self.model, self.state, self.weights.tensors())

    def _saved(self) -> list[str]:
        """Save after an interrupt, and what to say of it."""
        if not self.processes.first:
            return []
        self._check()
        self._save()
        at = f"{self.run.folder}: interrupted and saved at step {self.state.step:,}"
        return [f"{at}; go on with the same command and --resume"]

    def _diverged(self, what: str) -> NqeError:
        saved = self.run.saved_step()
        lower = f"--resume --set train.rate={self.settings.rate / 10:g}"
        then = (
            f"nothing was saved: begin again with {lower}"
            if saved is None
            else f"step {saved:,} was saved and is kept: go on from there with {lower}"
        )
        return NqeError(f"{self.run.folder}: after step {self.state.step:,} {what}; {then}")
