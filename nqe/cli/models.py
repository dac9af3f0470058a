"""Opening a RUN or a checkpoint: its model, its calibration, and the data set it belongs to."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from nqe.cli import printing
from nqe.cli.choices import open_dataset
from nqe.errors import NqeError, StorageError

if TYPE_CHECKING:
    from nqe.answering import Answerer, Calibration
    from nqe.evaluation import Runner
    from nqe.graph import Dataset
    from nqe.model import Model


@dataclass(frozen=True, eq=False)
class RunModel:
    """A loaded model and what its run or checkpoint says of it."""

    place: str
    model: Model
    named: str | None
    """The data set it was trained on, as it was called then."""
    fingerprint: str | None
    trained_on: str | None
    is_run: bool
    """Whether there is a RUN to keep reports in, not a checkpoint alone."""

    @classmethod
    def load(cls, run: str, device: str) -> RunModel:
        """The model of a RUN or a checkpoint."""
        from nqe.model import load
        from nqe.model.checkpoint import CHECKPOINT, checkpoint_of, run_manifest

        manifest = run_manifest(run)
        card = CHECKPOINT.read_manifest(checkpoint_of(Path(run)))
        told = manifest or card
        return cls(
            place=run,
            model=load(run, device),
            named=told.get("dataset"),
            fingerprint=told.get("fingerprint"),
            trained_on=card.get("trained_on"),
            is_run=manifest is not None,
        )

    @property
    def runner(self) -> Runner:
        """The runner of the paper."""
        from nqe.model import EmbeddingRunner

        return EmbeddingRunner(self.model)

    @cached_property
    def calibration(self) -> Calibration | None:
        """That of the checkpoint, if it has one."""
        from nqe.answering import Calibration
        from nqe.model.checkpoint import checkpoint_of

        return Calibration.load(checkpoint_of(Path(self.place)))

    def dataset(self, graph: str | None) -> Dataset:
        """The data set at a place; without one that which the model was trained on."""
        if graph is not None:
            return open_dataset(graph)
        if self.named is None:
            raise NqeError(f"{self.place}: does not say where its graph is; name it with --graph")
        try:
            dataset = open_dataset(self.named)
        except StorageError as error:
            if Path(self.named).exists():
                raise
            raise StorageError(
                f"{self.place}: its graph {self.named} is not here any more; say with --graph "
                "where it is"
            ) from error
        if self.fingerprint not in (None, dataset.fingerprint):
            raise NqeError(
                f"{self.named}: not the graph any more (fingerprint {dataset.fingerprint}) that "
                f"{self.place} was trained on ({self.fingerprint}); say with --graph which to use"
            )
        return dataset

    def answerer(self, dataset: Dataset, facts: str) -> Answerer:
        """What answers over the known facts of a data set."""
        from nqe.answering import Answerer

        return Answerer(self.model, dataset, facts=facts, calibration=self.calibration)

    def note_calibration(self) -> None:
        """Tell a person of probabilities that mean little."""
        if self.calibration is None:
            printing.note(
                f"nqe: note: {self.place} is not calibrated, so its probabilities rank but mean "
                f"little; run `nqe calibrate {self.place}`"
            )

    def check(self, where: str, fingerprint: str) -> None:
        """Refuse what was made from another graph than the model."""
        if self.fingerprint is not None and self.fingerprint != fingerprint:
            raise NqeError(
                f"{where}: of another graph (fingerprint {fingerprint}) than {self.place} was "
                f"trained on ({self.fingerprint}); give what belongs to the run's graph"
            )

    def check_vocabulary(self, where: str, dataset: Dataset) -> None:
        """Refuse a graph whose numbers mean other entities than the model's."""
        own = self.model.vocabulary
        if own is not None and not dataset.vocabulary.same_ids(own):
            raise NqeError(
                f"{where}: has other entities or relations than {self.place} was trained on; "
                "give the graph it was trained on"
            )


def is_model(name: str) -> bool:
    """Whether a name means a RUN or a checkpoint; a graph is told without loading PyTorch."""
    from nqe.graph.storage import KIND

    path = Path(name)
    if not path.is_dir() or KIND.recognises(path):
        return False
    from nqe.model.checkpoint import CHECKPOINT, RUN

    return RUN.recognises(path) or CHECKPOINT.recognises(path)
