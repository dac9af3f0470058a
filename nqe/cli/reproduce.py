"""The commands `nqe reproduce`: the tables of the paper and of the field, row by row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nqe.cli import printing
from nqe.cli.options import GraphArgument, check_among, parse_minutes
from nqe.cli.reproduce_field import link_prediction, query2box
from nqe.cli.reproduce_tables import (
    OutputOption,
    ResultsOption,
    RowsOption,
    SeedsOption,
    TimeOption,
    show_tables,
    write_tables,
)
from nqe.errors import NqeError

if TYPE_CHECKING:
    from nqe.reproduction.presets import Preset

PresetOption = Annotated[
    str, typer.Option("--preset", help="laptop (WD50K-100), full (WD50K) or quick (atlas).")
]
ShapesOption = Annotated[
    str | None, typer.Option("--shapes", help="Only these shapes of the benchmark.")
]
AnswersOption = Annotated[
    str, typer.Option("--answers", help="The answers that tables show: hard, easy or both.")
]
QueriesOption = Annotated[
    str | None,
    typer.Option("--queries", help="A query set of the benchmark; sampled if not given."),
]
SetOption = Annotated[
    list[str] | None,
    typer.Option("--set", help="A setting of all rows, such as model.context=16; repeatable."),
]


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    group = typer.Typer(
        help="Compute the tables of the paper and of the field.", no_args_is_help=True
    )
    group.command("wd50k-nfol")(wd50k_nfol)
    group.command("wd50k-qe")(wd50k_qe)
    group.command()(link_prediction)
    group.command()(query2box)
    group.command()(tables)
    app.add_typer(group, name="reproduce")


def wd50k_nfol(
    graph: GraphArgument,
    output: OutputOption,
    preset: PresetOption = "laptop",
    rows: RowsOption = None,
    seeds: SeedsOption = 1,
    time_budget: TimeOption = None,
    shapes: ShapesOption = None,
    answers: AnswersOption = "both",
    results: ResultsOption = None,
    queries: QueriesOption = None,
    assignments: SetOption = None,
) -> None:
    """Compute the paper's table of all 16 shapes (Python: nqe.reproduction).

    Example: nqe reproduce wd50k-nfol atlas -o reproduced --preset quick

    Run it again to go on after an interruption, or to add rows and seeds. GRAPH may also be a
    folder with the published files of WD50K.
    """
    chosen = _build_preset(preset, "wd50k-nfol", time_budget, shapes, assignments)
    _reproduce("wd50k-nfol", graph, output, chosen, rows, seeds, answers, results, queries)


def wd50k_qe(
    graph: GraphArgument,
    output: OutputOption,
    preset: PresetOption = "laptop",
    rows: RowsOption = None,
    seeds: SeedsOption = 1,
    time_budget: TimeOption = None,
    shapes: ShapesOption = None,
    answers: AnswersOption = "both",
    results: ResultsOption = None,
    queries: QueriesOption = None,
    assignments: SetOption = None,
) -> None:
    """Compute the table of the seven conjunctive shapes, with StarQE (Python: nqe.reproduction).

    Example: nqe reproduce wd50k-qe atlas -o reproduced --preset quick --rows NQE,NQE-1p

    Run it again to go on after an interruption, or to add rows and seeds. GRAPH may also be a
    folder with the published files of WD50K.
    """
    chosen = _build_preset(preset, "wd50k-qe", time_budget, shapes, assignments)
    _reproduce("wd50k-qe", graph, output, chosen, rows, seeds, answers, results, queries)


def tables(
    results: Annotated[
        str, typer.Argument(metavar="RESULTS", help="A folder of results, at any depth.")
    ],
    output: Annotated[str, typer.Option("-o", "--output", help="The folder to write to.")],
    answers: AnswersOption = "both",
) -> None:
    """Build tables and plots from results alone, without any graph or run.

    Example: nqe reproduce tables reproduced/results -o tables
    """
    from nqe.reproduction.report_files import write_files
    from nqe.reproduction.results import load_results

    _check_answers(answers)
    found = load_results(Path(results))
    if not found:
        raise NqeError(f"{results}: no results in it; give a folder that `nqe reproduce` wrote")
    for benchmark in dict.fromkeys(one.benchmark for one in found):
        own = [one for one in found if one.benchmark == benchmark]
        for path in write_files(Path(output), benchmark, own, answers):
            printing.say(f"{path}: written")


def _build_preset(
    name: str,
    benchmark: str,
    time_budget: str | None,
    shapes: str | None,
    assignments: Sequence[str] | None,
) -> Preset:
    """The preset with what the user changes in it."""
    from nqe.reproduction.presets import PRESETS
    from nqe.settings import build_run_settings, parse_assignment, split_list

    check_among("preset", name, tuple(PRESETS))
    preset = PRESETS[name]
    if time_budget is not None:
        preset = preset.with_minutes(parse_minutes(time_budget))
    for text in assignments or ():
        given, where = parse_assignment(text), f"--set {text:.100}"
        preset = replace(preset, settings=build_run_settings(given, where, preset.settings))
    return preset if shapes is None else preset.with_shapes(benchmark, split_list(shapes))


def _reproduce(
    benchmark: str,
    graph: str,
    output: str,
    preset: Preset,
    rows: str | None,
    seeds: int,
    answers: str,
    results: str | None,
    queries: str | None,
) -> None:
    """Compute what is missing of a benchmark, and write its tables after every row."""
    from nqe.cli.experiment_watcher import TerminalWatcher
    from nqe.reproduction.experiment import Experiment, reproduce
    from nqe.reproduction.graphs import open_graph
    from nqe.settings import split_list

    _check_answers(answers)
    chosen = preset.choose_rows(benchmark, None if rows is None else split_list(rows))
    watcher = TerminalWatcher()
    with watcher.watch_work("facts") as progress:
        dataset = open_graph(graph, progress)
    if not preset.fits(dataset):
        watcher.note(
            f"nqe: note: the preset {preset.name} is meant for {preset.graph}, whose train split "
            f"has {preset.train_facts:,} facts; {graph} is another graph"
        )
    experiment = Experiment(
        benchmark=benchmark,
        dataset=dataset,
        place=graph,
        preset=preset,
        output=Path(output),
        rows=chosen,
        seeds=seeds,
        results=None if results is None else Path(results),
        queries=None if queries is None else Path(queries),
    )
    reproduce(experiment, watcher, partial(write_tables, experiment, answers))
    show_tables(experiment, answers)


def _check_answers(answers: str) -> None:
    check_among("answers", answers, ("hard", "easy", "both"))
