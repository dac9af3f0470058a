"""Commands about results: evaluate, compare."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nqe.cli import printing
from nqe.cli.choices import (
    EMBEDDING,
    HYBRID,
    DeviceOption,
    GraphOption,
    JsonOption,
    RunArgument,
    open_dataset,
)
from nqe.cli.models import RunModel
from nqe.cli.results import View, check_among, check_format, print_sheets, refuse_options
from nqe.errors import NqeError

if TYPE_CHECKING:
    from nqe.evaluation import Ranking, Runner
    from nqe.sampling import QueryTable

KNOWN = {"test": ("train", "valid")}
"""What is known when the queries of a split are answered, where that is more than train."""

FormatOption = Annotated[str, typer.Option("--format", help="table, markdown, latex, json or csv.")]


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    app.command()(evaluate)
    app.command()(compare)


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
        bool, typer.Option("--link-prediction", help="Rank every slot of every fact of a data set.")
    ] = False,
    shapes: Annotated[
        str | None, typer.Option("--shapes", help="Only these shapes, as 1p,2p,2in.")
    ] = None,
    answers: Annotated[
        str | None, typer.Option("--answers", help="Rank hard ones, or easy; hard if absent.")
    ] = None,
    ties: Annotated[
        str, typer.Option("--ties", help="Equal scores: realistic, optimistic or pessimistic.")
    ] = "realistic",
    per: Annotated[
        str | None, typer.Option("--per", help="Average per query, or answer; query if absent.")
    ] = None,
    by: Annotated[
        list[str] | None,
        typer.Option("--by", help="shape, slot, arity, missing or all; repeatable."),
    ] = None,
    form: FormatOption = "table",
    plot: Annotated[str | None, typer.Option("--plot", help="Draw MRR to this file.")] = None,
    mode: Annotated[
        str | None, typer.Option("--mode", help="embedding, or hybrid; embedding if absent.")
    ] = None,
    facts: Annotated[
        str | None,
        typer.Option("--facts", help="What hybrid knows, as train,valid; by the split if absent."),
    ] = None,
    graph: GraphOption = None,
    limit: Annotated[
        int | None, typer.Option("--limit", min=1, help="Only so many queries a shape.")
    ] = None,
    device: DeviceOption = "auto",
    as_json: JsonOption = False,
) -> None:
    """Rank the answers that a model must predict: MRR, Hits@k (Python: nqe.evaluate).

    Example: nqe evaluate atlas.run atlas.queries --by shape --by missing

    The report is also kept in RUN, for `nqe compare`, unless only a part was evaluated, or
    --facts was given. What hybrid knows of itself is train, and valid too for test queries.
    """
    from nqe.evaluation.report_storage import keep
    from nqe.sampling.storage import digest_of

    view = View.of(form, as_json, ties, per or "query", by, plot)
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
            mode=mode,
            facts=facts,
        )
        _evaluate_links(run, queries, split, view, device)
        return
    answers = answers or "hard"
    check_among("answers", answers, ("hard", "easy"))
    mode = _check_mode(mode or EMBEDDING, facts)
    model = RunModel.load(run, device)
    manifest = _check_queries(model, queries, graph)
    table = _part(_queries(queries, split), shapes, limit, queries)
    runner, known = model.runner, None
    if mode == HYBRID:
        place = graph or (manifest["dataset"] if model.named is None else None)
        runner, known = _hybrid(model, queries, place, split, facts)
    ranking = _rank(runner, table, answers)
    about = {
        "run": run,
        "queries": queries,
        "split": split,
        "benchmark": _benchmark(manifest, queries),
        "fingerprint": manifest["fingerprint"],
        "digest": digest_of(queries),
        "trained_on": model.trained_on,
        "mode": mode,
        "facts": known,
    }
    # Kept before it is shown, as a picture may fail.
    kept = None
    if model.is_run and answers == "hard" and not (shapes or limit or facts):
        name = f"{split}-{_name(queries)}" + ("-hybrid" if mode == HYBRID else "")
        kept = keep(Path(run), name, view.standard(ranking, about))
    view.show(ranking, about)
    _note_kept(kept)


def compare(
    runs: Annotated[
        list[str], typer.Argument(metavar="RUN...", help="Runs that `nqe evaluate` was used on.")
    ],
    report: Annotated[
        str | None, typer.Option("--report", help="Which report, as test-atlas.queries.")
    ] = None,
    published: Annotated[
        bool, typer.Option("--published", help="With the published rows of the benchmark.")
    ] = False,
    benchmark: Annotated[
        str | None, typer.Option("--benchmark", help="Whose rows, as wd50k-nfol, if not told.")
    ] = None,
    measure: Annotated[
        str, typer.Option("--measure", help="mrr, hits@1, hits@3 or hits@10.")
    ] = "mrr",
    form: FormatOption = "table",
    as_json: JsonOption = False,
) -> None:
    """Put the results of runs side by side, and beside published ones (Python: nqe.compare).

    Example: nqe compare atlas.run other.run --measure hits@3
    """
    from nqe.evaluation import compare as side_by_side
    from nqe.evaluation.report_storage import shared_reports

    form = check_format(form, as_json)
    folders = [Path(one) for one in dict.fromkeys(runs)]
    names = [_name(one) for one in folders]
    reports = {
        str(folder) if names.count(name) > 1 else name: one
        for name, (folder, one) in zip(names, shared_reports(folders, report).items(), strict=True)
    }
    sheet = side_by_side(
        reports,
        measure=measure,
        published=published or benchmark is not None,
        benchmark=benchmark,
    )
    if form == "json":
        rows = [dict(zip(sheet.columns, row, strict=True)) for row in sheet.rows]
        printing.json_block({"title": sheet.title, "rows": rows})
    else:
        print_sheets([sheet], form)


def _evaluate_links(run: str, name: str, split: str, view: View, device: str) -> None:
    """Link prediction on a data set's own split."""
    from nqe.cli.progress import ProgressBar
    from nqe.evaluation import predict_links
    from nqe.evaluation.published_results import LINK_PREDICTION
    from nqe.evaluation.report_storage import keep
    from nqe.evaluation.result_tables import link_sheet

    dataset = open_dataset(name)
    dataset.split(split)
    model = RunModel.load(run, device)
    model.check(name, dataset.fingerprint)
    model.check_vocabulary(name, dataset)
    known = _name(name).lower().partition(".")[0]
    about = {
        "trained_on": model.trained_on,
        "run": run,
        "dataset": name,
        "benchmark": known if known in LINK_PREDICTION else None,
        "fingerprint": dataset.fingerprint,
    }
    with ProgressBar("queries") as progress:
        report = predict_links(
            model.runner, dataset, split, ties=view.ties, progress=progress, about=about
        )
    if view.form == "json":
        printing.json_block(report.to_json())
    else:
        print_sheets([link_sheet(report)], view.form)
    if model.is_run and view.ties == "realistic":
        _note_kept(keep(Path(run), f"{split}-{_name(name)}-link-prediction", report))


def _check_mode(mode: str, facts: str | None) -> str:
    check_among("mode", mode, (EMBEDDING, HYBRID))
    if facts is not None and mode != HYBRID:
        raise NqeError("--facts has a meaning for --mode hybrid alone; leave it out or change mode")
    return mode


def _hybrid(
    model: RunModel, queries: str, place: str | None, split: str, facts: str | None
) -> tuple[Runner, str]:
    """The hybrid runner over the facts known of a split, and which those are."""
    from nqe.answering import HybridRunner
    from nqe.sampling.storage import check_fingerprint

    dataset = model.dataset(place)
    check_fingerprint(queries, dataset.fingerprint)
    if facts is None:
        known = KNOWN.get(split, ("train",))
        facts = ",".join(name for name in known if name in dataset.splits) or "none"
    model.note_calibration()
    return HybridRunner(model.answerer(dataset, facts)), facts


def _rank(runner: Runner, table: QueryTable, answers: str) -> Ranking:
    from nqe.cli.progress import ProgressBar
    from nqe.evaluation import evaluate as rank

    with ProgressBar("queries") as progress:
        return rank(runner, table, answers=answers, progress=progress)


def _queries(folder: str, split: str) -> QueryTable:
    from nqe.sampling import load_queries

    return load_queries(folder, split)


def _check_queries(model: RunModel, queries: str, graph: str | None) -> dict[str, Any]:
    """The manifest of a query set that fits the model: both are of the same graph."""
    from nqe.sampling.storage import check_fingerprint, read_manifest

    manifest = read_manifest(queries)
    model.check(queries, manifest["fingerprint"])
    place = graph or (manifest["dataset"] if model.fingerprint is None else None)
    if place is None and model.fingerprint is None:
        raise NqeError(f"{queries}: does not say where its graph is; name it with --graph")
    if place is not None:
        dataset = open_dataset(place)
        check_fingerprint(queries, dataset.fingerprint)
        model.check_vocabulary(place, dataset)
    return manifest


def _part(table: QueryTable, shapes: str | None, limit: int | None, where: str) -> QueryTable:
    """The queries of these shapes, the first so many of each."""
    import numpy as np

    from nqe.query.shapes import parse_shape
    from nqe.settings import split_list

    wanted = None if shapes is None else [parse_shape(one).name for one in split_list(shapes)]
    names = np.array(table.shape, dtype=object)
    rows = [
        np.flatnonzero(names == name)[:limit]
        for name in dict.fromkeys(table.shape)
        if wanted is None or name in wanted
    ]
    if not rows:
        has = ", ".join(dict.fromkeys(table.shape)) or "no queries"
        raise NqeError(f"{where}: no queries of shapes {shapes or 'at all'}; the split has {has}")
    return table.take(np.sort(np.concatenate(rows)))


def _benchmark(manifest: dict[str, Any], queries: str) -> str | None:
    from nqe.evaluation.comparison import benchmark_of

    return benchmark_of(manifest.get("settings"), _name(queries), manifest.get("dataset") or "")


def _note_kept(path: Path | None) -> None:
    if path is not None:
        printing.note(f"{path}: written")


def _name(place: str | Path) -> str:
    return Path(place).resolve().name
