"""Link prediction by the field's protocol: take each entity out of each fact and rank it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nqe.errors import NqeError
from nqe.evaluation.bootstrap import Bootstrap
from nqe.evaluation.evaluator import BLOCK, Runner, evaluate
from nqe.evaluation.groupings import OF_LINKS
from nqe.evaluation.report import Report
from nqe.graph.dataset import Dataset
from nqe.progress import Progress
from nqe.sampling.one_hop import make_link_queries

NO_BOOTSTRAP = Bootstrap(samples=0)


def predict_links(
    runner: Runner,
    dataset: Dataset,
    split: str = "test",
    *,
    ties: str = "realistic",
    bootstrap: Bootstrap = NO_BOOTSTRAP,
    block: int = BLOCK,
    progress: Progress | None = None,
    about: Mapping[str, Any] | None = None,
) -> Report:
    """Rank the entity in every slot of every fact of a split, filtered by the facts of all splits.

    The report takes means over answers, and groups them into subjects and objects, and values of
    qualifiers. It has no intervals unless a bootstrap is given.
    """
    facts = dataset.split(split).facts
    if not len(facts):
        raise NqeError(f"the {split} split has no facts to predict; choose another split")
    ranking = evaluate(
        runner, make_link_queries(facts, dataset.graph), block=block, progress=progress
    )
    return Report.of(
        ranking,
        split=split,
        ties=ties,
        per="answer",
        by=OF_LINKS,
        bootstrap=bootstrap,
        about=about,
    )
