"""A process that answers queries on command, with the code of any checkout.

`python benchmarks/answering_process.py GRAPH RUN QUERIES` with `PYTHONPATH` set to the checkout
loads a model once, and prints the folder that its code is from. It then reads lines, each a list of
rows of the test queries as JSON, answers these queries in one call, and prints the seconds.
`compare_answering.py` keeps two of them.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from version_scenarios import find

import nqe
from nqe.readers import read
from nqe.sampling.storage import load_queries

FACTS = "train,valid"
MODE = "hybrid"
TOP = 100

Answer = Callable[[Sequence[Any]], Sequence[Any]]


def open_model(graph: str, run: str) -> Answer:
    """The function of this checkout that answers plans in one call."""
    dataset = read(graph)
    place, open_answerer = find("open_answerer")
    if place != "nqe:open":
        answerer = open_answerer(run, dataset, facts=FACTS)
        return lambda plans: answerer.answer_many(plans, MODE, TOP)
    answerer = open_answerer(run, graph=dataset, facts=FACTS)
    return lambda plans: answerer.answer_many([nqe.Request(plan, MODE, TOP) for plan in plans])


def measure(answer: Answer, plans: Sequence[Any]) -> float:
    """The seconds that the best answers of some plans take."""
    start = time.perf_counter()
    outcomes = answer(plans)
    spent = time.perf_counter() - start
    for outcome in outcomes:
        if isinstance(outcome, Exception):
            raise outcome
    return spent


def main() -> None:
    graph, run, queries = sys.argv[1:]
    answer, table = open_model(graph, run), load_queries(Path(queries), "test")
    plans: Any = getattr(table, "plans", table)  # earlier versions have no table of plans alone
    print(Path(nqe.__file__).resolve().parent.parent, flush=True)
    for line in sys.stdin:
        print(measure(answer, [plans.plan(row) for row in json.loads(line)]), flush=True)


if __name__ == "__main__":
    main()
