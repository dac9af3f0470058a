"""The rules of a RUN: mined from the facts that its model learnt from, and kept beside it."""

from __future__ import annotations

from pathlib import Path

from nqe.answering.rule_mining import mine_rules
from nqe.errors import StorageError
from nqe.graph.dataset import Dataset
from nqe.progress import Progress
from nqe.rules.rules import Rules
from nqe.rules.storage import KIND
from nqe.run_folders import CHECKPOINT, RULES, RUN

TRAIN = "train"


def find_rules_folder(run: Path) -> Path | None:
    """Where the rules of a RUN, or of one of its checkpoints, are; None for a bare checkpoint."""
    folder = run.parent if CHECKPOINT.recognises(run) else run
    return folder / RULES if RUN.recognises(folder) else None


def load_run_rules(run: Path) -> Rules | None:
    """Read the rules of a RUN, if it has any."""
    folder = find_rules_folder(run)
    return Rules.load(folder) if folder is not None and KIND.recognises(folder) else None


def use_run_rules(run: Path, dataset: Dataset, progress: Progress | None = None) -> Rules | None:
    """The rules of a RUN; they are mined from the training facts if it has none of this graph.

    A checkpoint outside a RUN has no place for rules, and gets None.
    """
    folder = find_rules_folder(run)
    if folder is None:
        return None
    facts = _facts_of(run)
    try:
        rules = load_run_rules(run)
    except StorageError:
        rules = None  # damaged, so they are mined again
    if rules is None or not _is_of(rules, dataset, facts):
        rules = mine_rules(dataset, facts, progress=progress)
        rules.save(folder)
    return rules


def _facts_of(run: Path) -> str:
    """The splits that a model learnt from; for a query set, the train split."""
    folder = run.parent if CHECKPOINT.recognises(run) else run
    settings = RUN.read_manifest(folder)["settings"]
    return str(settings.get("train", {}).get("facts", TRAIN))


def _is_of(rules: Rules, dataset: Dataset, facts: str) -> bool:
    mined = rules.mined_from
    return (mined.fingerprint, mined.facts) == (dataset.fingerprint, facts)
