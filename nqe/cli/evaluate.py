"""The command `nqe evaluate`: MRR and Hits@k on a query set, or link prediction."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from nqe.answering.open_graph import open_dataset
from nqe.answering.request import EMBEDDING, HYBRID
from nqe.cli.options import (
    DeviceOption,
    FormatOption,
    GraphOption,
    JsonOption,
    RunArgument,
    check_among,
    check_format,
    check_plot,
    refuse_options,
)
from nqe.cli.print_report import draw_plot, note_written, print_link_report, print_report
from nqe.errors import NqeError


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command()(evaluate)


def evaluate(
    run: RunArgument,
    queries: Annotated[
        str,
        typer.Argument(
            metavar="QUERIES", help="A query set; with --link-prediction a data set or `atlas`."
        ),
    ],
    split: Annotated[str, typer.Option("--split", help="train, valid or test.")] = "test",
    link_prediction: Annotated[
        bool,
        typer.Option("--link-prediction", help="Rank every entity of every fact of a data set."),
    ] = False,
    relations: Annotated[
        bool | None,
        typer.Option(
            "--relations/--no-relations",
            help="Link prediction: rank relations too; default if the model predicts them.",
        ),
    ] = None,
    shapes: Annotated[
        str | None, typer.Option("--shapes", help="Only these shapes, such as 1p,2p,2in.")
    ] = None,
    answers: Annotated[
        str | None, typer.Option("--answers", help="Rank hard or easy answers; default hard.")
    ] = None,
    ties: Annotated[
        str, typer.Option("--ties", help="Equal scores: realistic, optimistic or pessimistic.")
    ] = "realistic",
    per: Annotated[
        str | None, typer.Option("--per", help="Average per query or per answer; default query.")
    ] = None,
    by: Annotated[
        list[str] | None,
        typer.Option("--by", help="Group by shape, slot, arity, missing or all; repeatable."),
    ] = None,
    form: FormatOption = "table",
    plot: Annotated[
        str | None, typer.Option("--plot", help="Draw MRR to this file: .png, .svg or .pdf.")
    ] = None,
    mode: Annotated[
        str | None,
        typer.Option("--mode", help="embedding, or hybrid with facts and rules."),
    ] = None,
    facts: Annotated[
        str | None,
        typer.Option(
            "--facts", help="The splits that hybrid knows, such as train,valid; default by --split."
        ),
    ] = None,
    graph: GraphOption = None,
    limit: Annotated[
        int | None, typer.Option("--limit", min=1, help="At most this many queries per shape.")
    ] = None,
    device: DeviceOption = "auto",
    as_json: JsonOption = False,
) -> None:
    """Rank the answers that a model has to predict: MRR, Hits@k (Python: nqe.evaluate).

    Example: nqe evaluate atlas.run atlas.queries --by shape --by missing

    Rows of queries that are no trees are ranked by hybrid, for each target in turn.

    The report is saved in RUN for `nqe compare`, unless only some queries were evaluated or
    --facts was given. By default, hybrid knows train, and for test queries also valid.
    """
    from nqe.answering import OpenedRun
    from nqe.cli.evaluate_queries import rank_queries
    from nqe.evaluation import Report
    from nqe.evaluation.query_selection import select
    from nqe.evaluation.report_storage import save_query_report
    from nqe.sampling.row_storage import has_rows
    from nqe.settings import split_list

    if mode is None and not link_prediction and has_rows(queries):
        mode = HYBRID
    form, picture, groupings = check_format(form, as_json), check_plot(plot), _check_groupings(by)
    _check_choices(ties, per, answers, mode, facts)
    if link_prediction:
        refuse_options(
            "with --link-prediction",
            shapes=shapes,
            limit=limit,
            plot=plot,
            graph=graph,
            by=by,
            answers=answers,
            per=per,
            facts=facts,
        )
        _evaluate_links(run, queries, split, ties, relations, mode, form, device)
        return
    refuse_options("without --link-prediction", relations=relations)
    model = OpenedRun.load(run, device)
    selection = select(queries, split, None if shapes is None else split_list(shapes), limit)
    ranking, about = rank_queries(
        model, selection, answers or "hard", mode or EMBEDDING, facts, graph
    )
    report = Report.of(
        ranking, split=split, ties=ties, per=per or "query", by=selection.groupings, about=about
    )
    # Saved before it is shown, because drawing a plot may fail.
    saved = None
    if model.keeps_reports and facts is None:
        saved = save_query_report(Path(run), selection, ranking, report)
    print_report(report, form, groupings)
    draw_plot(report, picture)
    note_written(saved)


def _evaluate_links(
    run: str,
    name: str,
    split: str,
    ties: str,
    relations: bool | None,
    mode: str | None,
    form: str,
    device: str,
) -> None:
    """Evaluate link prediction on a split of a data set, by the model or by it and its rules."""
    from nqe.answering import OpenedRun
    from nqe.cli.progress import ProgressBar
    from nqe.evaluation import predict_links
    from nqe.evaluation.published_results import find_link_benchmark
    from nqe.evaluation.report_storage import save_link_report

    dataset = open_dataset(name)
    dataset.split(split)
    model = OpenedRun.load(run, device)
    model.check_fingerprint(name, dataset.fingerprint)
    model.check_vocabulary(name, dataset)
    about = {
        "run": run,
        "dataset": name,
        "benchmark": find_link_benchmark(name),
        "fingerprint": dataset.fingerprint,
        "trained_on": model.trained_on,
        "mode": mode or EMBEDDING,
    }
    is_joined = mode == HYBRID
    with ProgressBar("queries") as progress:
        report = predict_links(
            model.open_joined_runner(dataset) if is_joined else model.open_runner(dataset),
            dataset,
            split,
            ties=ties,
            relations=relations,
            progress=progress,
            about=about,
        )
    saved = None
    if model.keeps_reports and not is_joined:
        saved = save_link_report(Path(run), name, report)
    print_link_report(report, form)
    note_written(saved)


def _check_choices(
    ties: str, per: str | None, answers: str | None, mode: str | None, facts: str | None
) -> None:
    """Refuse unknown values; None means that the option was not given."""
    from nqe.evaluation.evaluator import ANSWERS
    from nqe.evaluation.ranks import TIES
    from nqe.evaluation.report import PER

    choices = (
        ("ties", ties, tuple(TIES)),
        ("per", per, PER),
        ("answers", answers, ANSWERS),
        ("mode", mode, (EMBEDDING, HYBRID)),
    )
    for option, value, allowed in choices:
        if value is not None:
            check_among(option, value, allowed)
    if facts is not None and mode != HYBRID:
        raise NqeError("--facts has no meaning without --mode hybrid; leave it out or add the mode")


def _check_groupings(by: Sequence[str] | None) -> tuple[str, ...]:
    """Return the groupings to print, without duplicates; by shape if none is given."""
    from nqe.evaluation.groupings import OF_QUERIES

    named = tuple(dict.fromkeys(part.strip() for text in by or () for part in text.split(",")))
    for name in named:
        check_among("by", name, (*OF_QUERIES, "all"))
    return OF_QUERIES if "all" in named else named or ("shape",)
