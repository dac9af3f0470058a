"""Commands about results: evaluate, compare."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nqe.cli import printing
from nqe.cli.choices import JsonOption, open_dataset
from nqe.cli.results import View, check_among, check_format, print_sheets
from nqe.errors import NqeError
from nqe.settings import DEVICES

if TYPE_CHECKING:
    from nqe.evaluation import LinkReport, Ranking, Report, Runner
    from nqe.graph import Dataset, Vocabulary
    from nqe.sampling import QueryTable

FormatOption = Annotated[str, typer.Option("--format", help="table, markdown, latex, json or csv.")]


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    app.command()(evaluate)
    app.command()(compare)


def evaluate(
    run: Annotated[
        str, typer.Argument(metavar="RUN", help="A folder made by `nqe train`, or a checkpoint.")
    ],
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
    graph: Annotated[
        str | None, typer.Option("--graph", help="Where the graph is now, if it was moved.")
    ] = None,
    limit: Annotated[
        int | None, typer.Option("--limit", min=1, help="Only so many queries a shape.")
    ] = None,
    device: Annotated[str, typer.Option("--device", help="auto, cpu or cuda.")] = "auto",
    as_json: JsonOption = False,
) -> None:
    """Rank the answers that a model must predict: MRR, Hits@k (Python: nqe.evaluate).

    Example: nqe evaluate atlas.run atlas.queries --by shape --by missing

    The report is also kept in RUN, for `nqe compare`, unless only a part was evaluated.
    """
    check_among("device", device, DEVICES)
    view = View.of(form, as_json, ties, per or "query", by, plot)
    if link_prediction:
        _refuse_for_links(
            shapes=shapes, limit=limit, plot=plot, graph=graph, by=by, answers=answers, per=per
        )
        _evaluate_links(run, queries, split, view, device)
        return
    answers = answers or "hard"
    check_among("answers", answers, ("hard", "easy"))
    model = _Model.load(run, device)
    manifest = _check_queries(model, queries, graph)
    table = _part(_queries(queries, split), shapes, limit, queries)
    ranking = _rank(model.runner, table, answers)
    about = {
        "run": run,
        "queries": queries,
        "split": split,
        "benchmark": _benchmark(manifest, queries),
        "fingerprint": manifest["fingerprint"],
        "trained_on": model.trained_on,
    }
    view.show(ranking, about)
    if model.is_run and answers == "hard" and shapes is None and limit is None:
        _keep(run, f"{split}-{_name(queries)}", view.standard(ranking, about))


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
    from nqe.evaluation.storage import shared_reports

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


@dataclass(frozen=True)
class _Model:
    """A loaded model and what its run or checkpoint says of it."""

    place: str
    runner: Runner
    vocabulary: Vocabulary | None
    fingerprint: str | None
    trained_on: str | None
    is_run: bool
    """Whether there is a RUN to keep reports in, not a checkpoint alone."""

    @classmethod
    def load(cls, run: str, device: str) -> _Model:
        from nqe.model import EmbeddingRunner, load
        from nqe.model.checkpoint import CHECKPOINT, checkpoint_of, run_manifest

        model = load(run, device)
        card = CHECKPOINT.manifest(checkpoint_of(Path(run)))
        manifest = run_manifest(run)
        return cls(
            place=run,
            runner=EmbeddingRunner(model),
            vocabulary=model.vocabulary,
            fingerprint=(manifest or card).get("fingerprint"),
            trained_on=card.get("trained_on"),
            is_run=manifest is not None,
        )

    def check(self, where: str, fingerprint: str) -> None:
        """Refuse what was made from another graph than the model."""
        if self.fingerprint is not None and self.fingerprint != fingerprint:
            raise NqeError(
                f"{where}: of another graph (fingerprint {fingerprint}) than {self.place} was "
                f"trained on ({self.fingerprint}); give what belongs to the run's graph"
            )

    def check_vocabulary(self, where: str, dataset: Dataset) -> None:
        """Refuse a graph whose numbers mean other entities than the model's."""
        if self.vocabulary is not None and not dataset.vocabulary.same_ids(self.vocabulary):
            raise NqeError(
                f"{where}: has other entities or relations than {self.place} was trained on; "
                "give the graph it was trained on"
            )


def _evaluate_links(run: str, name: str, split: str, view: View, device: str) -> None:
    """Link prediction on a data set's own split."""
    from nqe.cli.progress import EvaluationProgress
    from nqe.evaluation import predict_links
    from nqe.evaluation.forms import link_sheet
    from nqe.evaluation.published import LINK_PREDICTION

    dataset = open_dataset(name)
    dataset.split(split)
    model = _Model.load(run, device)
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
    with EvaluationProgress() as watch:
        report = predict_links(
            model.runner, dataset, split, ties=view.ties, watch=watch, about=about
        )
    if view.form == "json":
        printing.json_block(report.to_json())
    else:
        print_sheets([link_sheet(report)], view.form)
    if model.is_run and view.ties == "realistic":
        _keep(run, f"{split}-{_name(name)}-link-prediction", report)


def _rank(runner: Runner, table: QueryTable, answers: str) -> Ranking:
    from nqe.cli.progress import EvaluationProgress
    from nqe.evaluation import evaluate as rank

    with EvaluationProgress() as watch:
        return rank(runner, table, answers=answers, watch=watch)


def _queries(folder: str, split: str) -> QueryTable:
    from nqe.sampling import load_queries

    return load_queries(folder, split)


def _check_queries(model: _Model, queries: str, graph: str | None) -> dict[str, Any]:
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

    from nqe.query.shapes import named
    from nqe.settings import split_list

    wanted = None if shapes is None else [named(one) for one in split_list(shapes)]
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


def _keep(run: str, name: str, report: Report | LinkReport) -> None:
    from nqe.evaluation.storage import keep

    printing.note(f"{keep(Path(run), name, report)}: written")


def _refuse_for_links(**given: Any) -> None:
    for name, value in given.items():
        if value:
            raise NqeError(f"--{name} has no meaning with --link-prediction; leave it out")


def _name(place: str | Path) -> str:
    return Path(place).resolve().name
