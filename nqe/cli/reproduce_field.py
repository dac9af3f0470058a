"""The commands `nqe reproduce link-prediction` and `query2box`: the field's tables."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from nqe.cli.options import check_among, parse_minutes
from nqe.cli.reproduce_tables import (
    OutputOption,
    ResultsOption,
    RowsOption,
    SeedsOption,
    TimeOption,
    show_tables,
    write_tables,
)

PresetOption = Annotated[str, typer.Option("--preset", help="full, or quick to try it out.")]
RunsOption = Annotated[
    list[str] | None,
    typer.Option("--run", help="A RUN to use for the row whose settings it has; repeatable."),
]


def link_prediction(
    graphs: Annotated[
        list[str],
        typer.Argument(metavar="GRAPH...", help="Graphs, or folders of published data sets."),
    ],
    output: OutputOption,
    preset: PresetOption = "full",
    rows: RowsOption = None,
    seeds: SeedsOption = 1,
    time_budget: TimeOption = None,
    runs: RunsOption = None,
    results: ResultsOption = None,
) -> None:
    """Link prediction on WD50K and JF17K, with two filters (Python: nqe.reproduction).

    Example: nqe reproduce link-prediction atlas -o links --preset quick --rows "NQE on train"

    Each model is trained on train and on train and valid, alone and with rules. Run it again to go
    on after an interruption.
    """
    from nqe.cli.experiment_watcher import TerminalWatcher
    from nqe.reproduction.given_runs import divide_runs
    from nqe.reproduction.graphs import open_graph
    from nqe.reproduction.link_prediction import (
        LINK_PRESETS,
        LinkExperiment,
        choose_link_rows,
        reproduce_links,
    )
    from nqe.reproduction.presets import with_minutes
    from nqe.settings import split_list

    check_among("preset", preset, tuple(LINK_PRESETS))
    settings, watcher = LINK_PRESETS[preset], TerminalWatcher()
    if time_budget is not None:
        settings = with_minutes(settings, parse_minutes(time_budget))
    chosen = choose_link_rows(None if rows is None else split_list(rows))
    with watcher.watch_work("facts") as progress:
        datasets = {graph: open_graph(graph, progress) for graph in graphs}
    given = divide_runs(
        [Path(run) for run in runs or ()], [one.fingerprint for one in datasets.values()]
    )
    for graph, dataset in datasets.items():
        experiment = LinkExperiment(
            dataset=dataset,
            place=graph,
            output=Path(output),
            preset=preset,
            settings=settings,
            rows=chosen,
            seeds=seeds,
            results=None if results is None else Path(results),
            given=given[dataset.fingerprint],
        )
        reproduce_links(experiment, watcher, partial(write_tables, experiment))
        show_tables(experiment)


def query2box(
    queries: Annotated[
        str, typer.Argument(metavar="FOLDER", help="The public Query2Box files of FB15k-237.")
    ],
    output: OutputOption,
    preset: PresetOption = "full",
    rows: RowsOption = None,
    seeds: SeedsOption = 1,
    time_budget: TimeOption = None,
    runs: RunsOption = None,
    results: ResultsOption = None,
) -> None:
    """Answer the public Query2Box queries of nine shapes (Python: nqe.reproduction).

    Example: nqe reproduce query2box query2box-fb15k-237 -o query2box

    Run it again to go on after an interruption.
    """
    from nqe.cli.experiment_watcher import TerminalWatcher
    from nqe.reproduction.presets import with_minutes
    from nqe.reproduction.query2box import (
        QUERY2BOX_PRESETS,
        Query2Box,
        Query2BoxExperiment,
        choose_runners,
        reproduce_query2box,
    )
    from nqe.settings import split_list

    check_among("preset", preset, tuple(QUERY2BOX_PRESETS))
    settings, count = QUERY2BOX_PRESETS[preset]
    if time_budget is not None:
        settings = with_minutes(settings, parse_minutes(time_budget))
    chosen = choose_runners(None if rows is None else split_list(rows))
    experiment = Query2BoxExperiment(
        data=Query2Box.read(Path(queries)),
        place=queries,
        output=Path(output),
        preset=preset,
        settings=settings,
        count=count,
        rows=chosen,
        seeds=seeds,
        results=None if results is None else Path(results),
        given=[Path(run) for run in runs or ()],
    )
    watcher = TerminalWatcher()
    reproduce_query2box(experiment, watcher, partial(write_tables, experiment))
    show_tables(experiment)
