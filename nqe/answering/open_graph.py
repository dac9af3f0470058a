"""Open the data set of a graph folder, of a RUN, or of the embedded graph `atlas`."""

from __future__ import annotations

from pathlib import Path

from nqe.demo import NAME, demo_dataset
from nqe.errors import NqeError, StorageError
from nqe.graph.dataset import Dataset
from nqe.run_folders import BEST, CHECKPOINT, LAST, checkpoint_of, is_run, run_manifest


def open_dataset(place: str | Path) -> Dataset:
    """Open a graph folder, the data set that a RUN was trained on, or `atlas`."""
    path = Path(place)
    if str(place) == NAME and not path.exists():
        return demo_dataset()
    if path.exists() and not path.is_dir():
        raise StorageError(f"{place}: a file, not a graph folder; make one with `nqe import`")
    return open_trained_dataset(place) if is_run(path) else Dataset.load(path)


def open_trained_dataset(run: str | Path) -> Dataset:
    """Open the data set that the model of a RUN or checkpoint was trained on."""
    name, fingerprint = read_dataset_name(run)
    if name is None:
        raise NqeError(f"{run}: does not say where its graph is; name it with --graph")
    try:
        dataset = open_dataset(name)
    except StorageError as error:
        if Path(name).exists():
            raise
        raise StorageError(
            f"{run}: its graph {name} no longer exists; name its new place with --graph"
        ) from error
    if fingerprint not in (None, dataset.fingerprint):
        raise NqeError(
            f"{name}: has changed since {run} was trained on it (fingerprint "
            f"{dataset.fingerprint}, then {fingerprint}); name the graph to use with --graph"
        )
    return dataset


def read_dataset_name(run: str | Path) -> tuple[str | None, str | None]:
    """Read the place and the fingerprint of the data set that a RUN or checkpoint names."""
    manifest = run_manifest(run)
    if manifest is None:
        manifest = CHECKPOINT.read_manifest(checkpoint_of(Path(run)))
    elif any((Path(run) / name).exists() for name in (BEST, LAST)):
        checkpoint_of(Path(run))  # which must be of the same training
    return manifest.get("dataset"), manifest.get("fingerprint")
