"""The field's tables: link prediction, and the Query2Box queries, beside published figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nqe.evaluation.result_tables import LABELS, Cell, Sheet
from nqe.reproduction.link_prediction import BENCHMARK as LINKS
from nqe.reproduction.link_prediction import LINK_ROWS, PARTS
from nqe.reproduction.published_links import list_published
from nqe.reproduction.query2box import PUBLISHED, RUNNERS, SHAPES
from nqe.reproduction.results import HARD, HITS, LOOSE, Result
from nqe.reproduction.summary import Value, average_values, sum_up
from nqe.reproduction.tables import (
    NOT_RUN,
    build_missing_sheet,
    build_run_sheet,
    describe_spread,
    find_best,
    show_value,
)

FILTERS = {HARD: "strict", LOOSE: "loose"}
"""The filter of each measure of link prediction."""
LINK_PROTOCOL = (
    "**Task.** Each entity of each test fact is taken out and ranked among all entities, given "
    "the rest of the fact with all its qualifiers; filtered by the facts of all splits; the mean "
    "over answers, and the mean rank among equal scores.",
    "**Filters.** *Strict* leaves out the entities that complete the query to a statement of any "
    "split, with the same qualifiers: the filter of StarE, GRAN, HAHE, HyperSAT and KREPE, so the "
    "published figures are compared with this one. *Loose* also leaves out those that complete "
    "the main triple, whatever the qualifiers, as models of triples alone are filtered; for a "
    "qualifier's value, those that the main triple has with the same attribute.",
    "**Trained on.** Some models learnt from train alone, others from train and valid. Where "
    "their papers do not make it clear, the table says nothing. Ours trained on both is the last "
    "checkpoint, as nothing is left to choose the best one by, and its rules have the weights "
    "that were fitted for the same model trained on train.",
    "**Re-runs** are what other authors measured with the released code.",
)
QUERY2BOX_PROTOCOL = (
    "**Task.** The public test queries of Query2Box over FB15k-237; hard answers, each ranked "
    "among the entities that are no answers; the mean over a query's hard answers, then over the "
    "queries of a shape, then over the nine shapes; the mean rank among equal scores.",
    "**Facts.** The published methods learnt from train and look up no facts when they answer. "
    "*Hybrid without facts* is made as CQD-Beam is, *on train* uses the same facts but looks them "
    "up, and *on train+valid* uses more facts than they do.",
    "**Queries.** At most 1,000 per shape, drawn at random; with the preset quick, 2. For 210 of "
    "the 22,812 queries of 1p the files leave out answers of valid, which count as wrong.",
)


def build_link_tables(benchmark: str, results: Sequence[Result]) -> list[Sheet]:
    """The table of link prediction on a data set, and how its rows were computed."""
    theirs = _list_published(benchmark.removeprefix(f"{LINKS} "))
    strict, loose = (sum_up(results, measure) for measure in FILTERS)
    rows: list[tuple[Cell, ...]] = list(theirs)
    ours: dict[int, Mapping[str, Value]] = {}
    for name in LINK_ROWS:
        if name not in strict:
            rows.append((f"{name}, {NOT_RUN}", *[None] * 6))
            continue
        for kind, found in (("strict", strict), ("loose", loose)):
            if kind == "strict":
                ours[len(rows)] = found[name]
            values = (show_value(found[name].get(part)) for part in PARTS)
            rows.append((name, "ours", LINK_ROWS[name].facts, kind, *values))
    columns = ("row", "source", "trained on", "filter", *(LABELS.get(p, p) for p in PARTS))
    best = find_best(ours, ("source", "trained on", "filter", *PARTS))
    title = f"{benchmark}: MRR, %{describe_spread(results)}"
    sheet = Sheet(title, columns, tuple(rows), best)
    return [sheet, build_run_sheet(results, LINK_ROWS)] if results else [sheet]


def build_query2box_tables(benchmark: str, results: Sequence[Result]) -> list[Sheet]:
    """The tables of the Query2Box queries: Hits@3, MRR, and MRR by missing links."""
    sheets = [_build_shapes(benchmark, results, measure) for measure in (HITS, HARD)]
    if not results:
        return sheets
    return [*sheets, build_missing_sheet(results, RUNNERS), build_run_sheet(results, RUNNERS)]


def _build_shapes(benchmark: str, results: Sequence[Result], measure: str) -> Sheet:
    found, label = sum_up(results, measure), "Hits@3" if measure == HITS else "MRR"
    rows: list[tuple[Cell, ...]] = []
    if measure == HITS:
        empty = [None] * len(SHAPES)
        published = ((name, round(100 * mean, 2)) for name, mean in PUBLISHED.items())
        rows += [(f"{name} (published)", mean, *empty) for name, mean in published]
    ours: dict[int, Mapping[str, Value]] = {}
    for name in RUNNERS:
        values = found.get(name, {})
        if values:
            values = {"mean": average_values(list(values.values())), **values}
            ours[len(rows)] = values
        shown = (show_value(values.get(column)) for column in ("mean", *SHAPES))
        rows.append((name if values else f"{name}, {NOT_RUN}", *shown))
    columns = ("mean", *SHAPES)
    title = f"{benchmark}: {label} of hard answers, %{describe_spread(results)}"
    return Sheet(title, ("row", *columns), tuple(rows), find_best(ours, columns))


def _list_published(data: str) -> list[tuple[Cell, ...]]:
    return [
        (
            one.model,
            one.source,
            one.trained_on or "",
            "strict",
            None if one.all is None else round(100 * one.all, 2),
            None if one.subject_object is None else round(100 * one.subject_object, 2),
            None,
        )
        for one in list_published(data)
    ]
