"""Link prediction by the field's protocol: take each name out of each fact and rank it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from nqe.errors import NqeError
from nqe.evaluation.bootstrap import Bootstrap
from nqe.evaluation.evaluator import BLOCK, Ranking, Runner, evaluate
from nqe.evaluation.groupings import OF_LINKS, RELATION_PARTS
from nqe.evaluation.metrics import Metrics
from nqe.evaluation.relation_ranking import (
    ATTRIBUTE,
    MAIN,
    can_rank_relations,
    keep_answers,
    rank_relations,
)
from nqe.evaluation.report import Report
from nqe.graph.dataset import Dataset
from nqe.progress import Progress
from nqe.sampling.one_hop import add_loose_answers, make_link_queries
from nqe.sampling.relation_queries import make_relation_link_queries

NO_BOOTSTRAP = Bootstrap(samples=0)
STRICT, LOOSE = "strict", "loose"
FILTERS = (STRICT, LOOSE)
"""Which entities are left out when an answer is ranked.

- strict: those that complete the query to a fact of any split: the same statement, with the same
  qualifiers.
- loose: also those that complete its main triple, whatever qualifiers the fact has; for a value,
  those that the main triple has with the same attribute, whatever else the fact has.
"""


def predict_links(
    runner: Runner,
    dataset: Dataset,
    split: str = "test",
    *,
    ties: str = "realistic",
    bootstrap: Bootstrap = NO_BOOTSTRAP,
    relations: bool | None = None,
    filter: str = STRICT,
    block: int = BLOCK,
    progress: Progress | None = None,
    about: Mapping[str, Any] | None = None,
) -> Report:
    """Rank the entity in every slot of every fact of a split, filtered by the facts of all splits.

    The report takes means over answers, and groups them into subjects and objects, and values of
    qualifiers. It has no intervals unless a bootstrap is given.

    `filter` is one of `FILTERS`: strict, the field's, or loose, which leaves more entities out.

    `relations` also ranks the relation in every fact and the attribute of every qualifier among
    all relations, by default if the runner predicts relations. They are parts of their own, and
    do not count in `all`; their filter is strict.
    """
    if filter not in FILTERS:
        raise NqeError(f"unknown filter '{filter}'; choose one of {', '.join(FILTERS)}")
    facts = dataset.split(split).facts
    if not len(facts):
        raise NqeError(f"the {split} split has no facts to predict; choose another split")
    options: dict[str, Any] = {"ties": ties, "per": "answer", "bootstrap": bootstrap}
    work: dict[str, Any] = {"block": block, "progress": progress}
    of_relations: dict[str, Metrics] = {}
    if can_rank_relations(runner) if relations is None else relations:
        # Before the entities, so that a runner that cannot is refused at once.
        asked = make_relation_link_queries(facts, dataset.graph)
        divided = _divide(rank_relations(runner, asked, **work))
        of_relations = {part: Report.of(some, by=(), **options).all for part, some in divided}
    queries = make_link_queries(facts, dataset.graph)
    if filter == LOOSE:
        queries = add_loose_answers(queries, dataset.graph)
    ranking = evaluate(runner, queries, **work)
    report = Report.of(ranking, split=split, by=OF_LINKS, about=about, **options)
    parts = report.group("part") | of_relations
    return replace(report, groups={**report.groups, "part": parts})


def _divide(ranking: Ranking) -> Iterator[tuple[str, Ranking]]:
    """The parts of a ranking of relations that have answers."""
    slot = ranking.slot[ranking.query]
    kept = (np.ones(len(slot), dtype=bool), slot == MAIN, slot == ATTRIBUTE)
    for part, chosen in zip(RELATION_PARTS, kept, strict=True):
        if chosen.any():
            yield part, keep_answers(ranking, chosen)
