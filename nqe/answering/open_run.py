"""Open the model of a RUN or a checkpoint, with its calibration and data set."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from nqe.answering.calibration import Calibration
from nqe.answering.calibration_storage import find_weights_digest, load_calibration
from nqe.answering.joined_runner import JoinedRunner
from nqe.answering.joining import JoinWeights, RuleEvidence
from nqe.answering.open_graph import open_dataset, open_trained_dataset, read_dataset_name
from nqe.answering.run_rules import load_run_rules
from nqe.errors import NqeError, StorageError
from nqe.graph.dataset import Dataset
from nqe.graph.splits import SPLITS
from nqe.model.checkpoint import load_opened
from nqe.model.embedding_runner import EmbeddingRunner
from nqe.model.model import Model
from nqe.rules.rules import Rules
from nqe.run_folders import CHECKPOINT, RULES, checkpoint_of, run_manifest


@dataclass(frozen=True, eq=False)
class OpenedRun:
    """A loaded model and what its folder says about its training."""

    place: str
    """The RUN or checkpoint folder, as the caller named it."""
    model: Model
    dataset_name: str | None
    """The place of the data set that the model was trained on."""
    fingerprint: str | None
    """The fingerprint of that data set."""
    trained_on: str | None
    """The facts, or the query set, that the model was trained on."""
    keeps_reports: bool
    """Whether reports can be saved: in a RUN they can, in a bare checkpoint they cannot."""
    weights: str | None = None
    """The digest of the model's weights; None if its folder has none."""

    @classmethod
    def load(cls, run: str | Path, device: str = "auto") -> OpenedRun:
        """Load the model of a RUN or a checkpoint."""
        name, fingerprint = read_dataset_name(run)
        # Together, as a training may replace the checkpoint at any time.
        model, config = CHECKPOINT.read(
            checkpoint_of(Path(run)), lambda opened: (load_opened(opened, device), opened.manifest)
        )
        return cls(
            place=str(run),
            model=model,
            weights=find_weights_digest(config),
            dataset_name=name,
            fingerprint=fingerprint,
            trained_on=config.get("trained_on"),
            keeps_reports=run_manifest(run) is not None,
        )

    @cached_property
    def calibration(self) -> Calibration | None:
        """The calibration of the checkpoint, if it has one.

        It is read when first used, so that `nqe calibrate` can replace one that is damaged.
        """
        return load_calibration(checkpoint_of(Path(self.place)), self.weights)

    @cached_property
    def rules(self) -> Rules | None:
        """The rules that its answers use: those that it was calibrated with.

        A run that is not calibrated uses all rules that it has.
        """
        calibration = self.calibration
        if calibration is not None and calibration.rules is None:
            return None
        rules = load_run_rules(Path(self.place))
        if calibration is not None and (rules is None or rules.digest != calibration.rules):
            what = "missing" if rules is None else "not those that it was calibrated with"
            raise StorageError(
                f"{self.place}: its rules are {what} (a RUN has them in {RULES}); open its RUN, or "
                f"calibrate it again with `nqe calibrate {self.place}`"
            )
        return rules

    @property
    def runner(self) -> EmbeddingRunner:
        """The paper's runner, as `open_runner` gives it for the data set of the training."""
        return self.open_runner()

    def open_runner(self, dataset: Dataset | None = None) -> EmbeddingRunner:
        """The paper's runner: the model alone; its context, if any, is what it was trained on.

        The data set is opened only for a model that uses facts, unless it is given.
        """
        if not self.model.needs_facts:
            return EmbeddingRunner(self.model)
        dataset = self.open_dataset() if dataset is None else dataset
        return EmbeddingRunner(self.model.with_facts(dataset.known(self._learnt_splits).facts))

    def open_joined_runner(self, dataset: Dataset) -> JoinedRunner:
        """The runner of one-hop queries by the model and its rules, over the training facts."""
        if self.rules is None:
            raise NqeError(
                f"{self.place}: has no rules to join with its model; make some with "
                f"`nqe calibrate {self.place}`"
            )
        fitted = None if self.calibration is None else self.calibration.join
        weights = fitted or JoinWeights.plain(self.model.relation_count)
        known = dataset.known(self._learnt_splits)
        return JoinedRunner(self.model, RuleEvidence(self.rules, known, weights))

    @property
    def _learnt_splits(self) -> str:
        """The splits whose facts the model was trained on; query sets are made from train."""
        names = (self.trained_on or "").split(",")
        are_splits = all(name.strip() in (*SPLITS, "all") for name in names)
        return self.trained_on if self.trained_on and are_splits else "train"

    def open_dataset(self, graph: str | Path | None = None) -> Dataset:
        """Open a data set; by default the one that the model was trained on."""
        return open_trained_dataset(self.place) if graph is None else open_dataset(graph)

    def check_fingerprint(self, where: str, fingerprint: str) -> None:
        """Refuse data that was made from another graph than the model."""
        if self.fingerprint is not None and self.fingerprint != fingerprint:
            raise NqeError(
                f"{where}: belongs to another graph (fingerprint {fingerprint}) than the one that "
                f"{self.place} was trained on ({self.fingerprint}); give the data of the run's "
                "graph"
            )

    def check_vocabulary(self, where: str, dataset: Dataset) -> None:
        """Refuse a data set whose entity or relation numbers differ from the model's."""
        own = self.model.vocabulary
        if own is not None and not dataset.vocabulary.same_ids(own):
            raise NqeError(
                f"{where}: its entities or relations differ from those that {self.place} was "
                "trained on; give the graph it was trained on"
            )
