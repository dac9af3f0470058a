"""Records losses and scores of training: the metrics file, TensorBoard, the caller's functions."""

from __future__ import annotations

from collections.abc import Mapping

from nqe.training.clock import Clock
from nqe.training.run_folder import RunFolder, State
from nqe.training.status import Listeners, TrainingStatus, Validation
from nqe.training.tensorboard import TensorBoard


class TrainingLog:
    """Records training while it runs."""

    def __init__(
        self, run: RunFolder, tensorboard: TensorBoard, clock: Clock, listeners: Listeners
    ) -> None:
        self._run, self._tensorboard, self._clock = run, tensorboard, clock
        self._listeners = listeners

    def add_step(
        self, state: State, epoch: int, progress: float, learning_rate: float, loss: float
    ) -> None:
        """Record a finished step; `state` is the one after it."""
        if self._listeners.on_step is not None:
            rate, forecast = self._clock.rate, self._clock.forecast(state.step)
            self._listeners.on_step(
                TrainingStatus(state.step, progress, epoch, rate, loss, state.best, forecast)
            )
        if self._clock.report_is_due():
            self.write_loss(state, learning_rate)

    def write_loss(self, state: State, learning_rate: float) -> None:
        """Write the mean loss of the steps since the last report, if there are any."""
        values = self._clock.take_report()
        if values is not None:
            values["rate"] = learning_rate
            self._run.add_metrics(step=state.step, seconds=round(state.seconds, 2), **values)
            scalars = {f"train/{name}": value for name, value in values.items()}
            self._tensorboard.add_scalars(state.step, scalars)

    def write_scores(self, state: State, mrr: float, scores: Mapping[str, float]) -> None:
        """Write the scores of a validation: the mean, and the score of each shape."""
        seconds = round(state.seconds, 2)
        self._run.add_metrics(step=state.step, seconds=seconds, mrr=mrr, by_shape=scores)
        if self._listeners.on_validation is not None:
            self._listeners.on_validation(Validation(state.step, mrr, scores))
        by_shape = {f"valid/{name}": score for name, score in scores.items()}
        self._tensorboard.add_scalars(state.step, {"valid/mrr": mrr, **by_shape})
