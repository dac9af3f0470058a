"""Opening the model of a RUN or a checkpoint, with what its folder says of it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from nqe.answering.calibration import Calibration
from nqe.answering.open_graph import open_dataset, open_trained_dataset, trained_dataset
from nqe.errors import NqeError
from nqe.graph.dataset import Dataset
from nqe.model.checkpoint import load
from nqe.model.embedding_runner import EmbeddingRunner
from nqe.model.model import Model
from nqe.run_folders import CHECKPOINT, checkpoint_of, run_manifest


@dataclass(frozen=True, eq=False)
class OpenedRun:
    """A loaded model, its calibration, and the data set it belongs to."""

    place: str
    model: Model
    calibration: Calibration | None
    dataset_name: str | None
    """Where the data set was that it was trained on."""
    fingerprint: str | None
    """Of that data set."""
    trained_on: str | None
    """The facts, or the query set, that it was trained on."""
    keeps_reports: bool
    """Whether there is a RUN to keep reports in, not a checkpoint alone."""

    @classmethod
    def load(cls, run: str | Path, device: str = "auto") -> OpenedRun:
        """Load the model of a RUN or a checkpoint."""
        checkpoint = checkpoint_of(Path(run))
        name, fingerprint = trained_dataset(run)
        return cls(
            place=str(run),
            model=load(run, device),
            calibration=Calibration.load(checkpoint),
            dataset_name=name,
            fingerprint=fingerprint,
            trained_on=CHECKPOINT.read_manifest(checkpoint).get("trained_on"),
            keeps_reports=run_manifest(run) is not None,
        )

    @property
    def runner(self) -> EmbeddingRunner:
        """The paper's runner."""
        return EmbeddingRunner(self.model)

    def dataset(self, graph: str | Path | None = None) -> Dataset:
        """The data set at a place; by default the one that the model was trained on."""
        return open_trained_dataset(self.place) if graph is None else open_dataset(graph)

    def check_fingerprint(self, where: str, fingerprint: str) -> None:
        """Refuse something that was made from another graph than the model."""
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
