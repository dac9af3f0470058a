"""The paper's case study: a 2cp question over WD50K, every step's answers, by the three modes.

Uses the run and queries of `hybrid_quality.py`. Writes a table as the paper's, the reasons, and
pictures for the docs. `--find` lists test queries that would do, by number.
"""

from __future__ import annotations

import argparse

import numpy as np
from hybrid_quality import QUERIES, RUN
from machine import DATA, ROOT, describe, markdown_table, write_result

import nqe
from nqe.answering import MODES, Answerer, explain
from nqe.answering.answer_drawing import draw_answers
from nqe.query.plan import Plan
from nqe.readers import read
from nqe.sampling import QueryTable
from nqe.sampling.storage import load_queries

SHAPE = "2cp"
CHOSEN = 21
FIGURES = ROOT / "docs" / "figures"


def candidates(table: QueryTable, answerer: Answerer) -> list[int]:
    """Queries with labels throughout, few answers, some of them hard and some easy."""
    names = answerer.graph.vocabulary
    shapes = np.array(table.shape)
    found = []
    for row in np.flatnonzero(shapes == SHAPE).tolist():
        easy, hard = table.easy[row].tolist(), table.hard[row].tolist()
        plan = table.plans.plan(row)
        entities = [*easy, *hard, *(one for step in plan.steps for one in step.slots)]
        labelled = all(names.entities.labels[one] for one in entities if one is not None)
        if labelled and easy and hard and len(easy) + len(hard) <= 8:
            found.append(row)
    return found


def reciprocal_rank(answerer: Answerer, plan: Plan, hard: list[int]) -> float:
    """The best of the hard answers' reciprocal ranks."""
    answers = answerer.answer(plan, top=10)
    ranks = [rank for rank, one in enumerate(answers, start=1) if one.entity in hard]
    return 1 / min(ranks) if ranks else 0.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--find", action="store_true", help="list queries that would do")
    options = parser.parse_args()
    dataset = read(DATA / "wd50k")
    answerer = nqe.open(RUN, graph=dataset, facts="train,valid")
    table = load_queries(QUERIES, "test")
    rows = candidates(table, answerer)
    if options.find:
        for number, row in enumerate(rows[:80]):
            plan = table.plans.plan(row)
            good = reciprocal_rank(answerer, plan, table.hard[row].tolist())
            words = " / ".join(str(plan.query(dataset.vocabulary)).split(" and "))
            print(number, f"{good:.2f}", len(table.easy[row]), len(table.hard[row]), words)
        return
    plan = table.plans.plan(rows[CHOSEN])
    hard = dataset.vocabulary.entities.ids[int(table.hard[rows[CHOSEN]][0])]
    told = explain(answerer, plan, hard, truth=dataset.graph)
    FIGURES.mkdir(exist_ok=True)
    for mode in MODES:
        drawn = draw_answers(answerer, plan, mode)
        (FIGURES / f"{mode}.svg").write_text(drawn, encoding="utf-8")
    write_result(
        "case-study",
        "\n".join(
            [
                "# A 2cp question over WD50K, step by step\n",
                "By `benchmarks/case_study.py`: facts of train and valid known; *easy* answers "
                "follow from them, *hard* ones need test facts.\n",
                markdown_table(("what", "value"), describe(("torch",))),
                told.to_markdown(),
            ]
        ),
    )


if __name__ == "__main__":
    main()
