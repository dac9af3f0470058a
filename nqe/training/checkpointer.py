"""Validates a model in training, keeps the best one, and saves the run so that it can continue."""

from __future__ import annotations

from dataclasses import replace

from nqe.sampling.query_table import QueryTable
from nqe.training.optimizer import Optimizer
from nqe.training.run_folder import RunFolder, State
from nqe.training.training_log import TrainingLog
from nqe.training.validation import average_shapes, measure_mrr


class Checkpointer:
    """Writes the checkpoints of a run: `best` after a validation, and `last`."""

    def __init__(
        self, run: RunFolder, optimizer: Optimizer, valid: QueryTable | None, log: TrainingLog
    ) -> None:
        self.run = run
        self._optimizer, self._valid, self._log = optimizer, valid, log

    def validate(self, state: State) -> State:
        """Validate the model, save it if it is the best so far, and return the new state."""
        state = replace(state, validated=state.step)
        if self._valid is None or not len(self._valid):
            return state
        scores = measure_mrr(self._optimizer.result, self._valid)
        mrr = average_shapes(scores)
        self._log.write_scores(state, mrr, scores)
        if state.best is not None and mrr <= state.best:
            return replace(state, worse=state.worse + 1)
        self.run.save_best(self._optimizer.result, state.step, scores)
        return replace(state, best=mrr, worse=0)

    def save_average(self, state: State) -> None:
        """Save the averaged model as the best one if no validation has chosen another."""
        if self._optimizer.average is not None and state.best is None:
            self.run.save_best(self._optimizer.average, state.step, {})

    def save(self, state: State) -> None:
        """Save everything that training needs to continue from a state."""
        self.run.save(self._optimizer.model, state, self._optimizer.to_tensors())
