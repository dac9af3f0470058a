"""The paper's case study: a 2cp question over WD50K, with the answers of every step.

Uses the model and the queries of `trained`. Writes a table like the paper's, the reasons, and a
picture per mode for the docs. The question is an example, chosen by hand from what `--find`
lists: test queries that are easy to read. What the model answers plays no part in the list.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from machine import ROOT, arguments, benchmark_data, describe, markdown_table, write_result
from trained import Shared

import nqe
from nqe.answering import MODES, Answerer, explain
from nqe.answering.answer_drawing import draw_answers
from nqe.graph import Dataset
from nqe.query.plan import Plan
from nqe.sampling import QueryTable
from nqe.sampling.storage import load_queries

SHAPE = "2cp"
CHOSEN = 41
"""The number of the question in what `--find` lists."""
MOST_ANSWERS = 8
FIGURES = ROOT / "docs" / "figures"


def readable_queries(table: QueryTable, dataset: Dataset) -> list[int]:
    """Rows of queries with labels throughout and few answers, both easy and hard ones."""
    rows = np.flatnonzero(np.array(table.shape) == SHAPE).tolist()
    return [row for row in rows if is_readable(table, row, dataset)]


def is_readable(table: QueryTable, row: int, dataset: Dataset) -> bool:
    """Whether a query has labels throughout and few answers, both easy and hard ones."""
    labels = dataset.vocabulary.entities.labels
    easy, hard = table.easy[row].tolist(), table.hard[row].tolist()
    anchors = [slot for step in table.plans.plan(row).steps for slot in step.slots]
    entities = [*easy, *hard, *(anchor for anchor in anchors if anchor is not None)]
    few = len(easy) + len(hard) <= MOST_ANSWERS
    return bool(easy and hard and few and all(labels[entity] for entity in entities))


def list_queries(table: QueryTable, rows: Sequence[int], dataset: Dataset) -> None:
    """Print the number, the numbers of easy and hard answers, and the text of each query."""
    for number, row in enumerate(rows[:80]):
        text = str(table.plans.plan(row).query(dataset.vocabulary)).replace(" and ", " / ")
        print(number, len(table.easy[row]), len(table.hard[row]), text)


def draw(answerer: Answerer, plan: Plan) -> None:
    """A picture of the plan with the answers of each mode, for the docs."""
    FIGURES.mkdir(exist_ok=True)
    for mode in MODES:
        (FIGURES / f"{mode}.svg").write_text(draw_answers(answerer, plan, mode), encoding="utf-8")


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--find", action="store_true", help="list queries to choose from")
    options = parser.parse_args()
    dataset = benchmark_data(quick=options.quick)
    shared = Shared(dataset, quick=options.quick)
    table = load_queries(shared.use_queries(), "test")
    rows = readable_queries(table, dataset)
    if options.find:
        list_queries(table, rows, dataset)
        return
    row = int(np.flatnonzero(np.array(table.shape) == SHAPE)[0]) if options.quick else rows[CHOSEN]
    plan = table.plans.plan(row)
    answerer = nqe.open(shared.use_run(), graph=dataset, facts="train,valid")
    hard = dataset.vocabulary.entities.ids[int(table.hard[row][0])]
    explanation = explain(answerer, plan, hard, truth=dataset.graph)
    if not options.quick:
        draw(answerer, plan)
    page = [
        "# A 2cp question over WD50K, step by step\n",
        f"By `benchmarks/case_study.py`: test query {row} of WD50K-NFOL, chosen by hand among "
        f"{len(rows)} that are easy to read, without a look at their answers. The facts of train "
        "and valid are known; *easy* answers follow from them, *hard* ones need test facts.\n",
        markdown_table(("what", "value"), describe(("torch",))),
        explanation.to_markdown(),
    ]
    write_result("case-study", "\n".join(page), quick=options.quick)


if __name__ == "__main__":
    main()
