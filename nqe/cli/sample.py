"""The command `nqe sample`: draw queries with their answers from a graph."""

from __future__ import annotations

from collections.abc import Mapping, Sized
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nqe.answering.open_graph import open_dataset
from nqe.cli import printing
from nqe.cli.options import GraphArgument
from nqe.settings import MAX_WORKERS

if TYPE_CHECKING:
    from nqe.settings import SamplingSettings


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command()(sample)


def sample(
    dataset: GraphArgument,
    output: Annotated[str, typer.Option("-o", "--output", help="The query set to write.")],
    preset: Annotated[
        str | None,
        typer.Option("--preset", help="wd50k-nfol, wd50k-qe or beyond-trees; see the docs."),
    ] = None,
    shape: Annotated[
        list[str] | None,
        typer.Option(
            "--shape",
            help="A shape or tree, such as 2p or And(P(P()), Not(P())), or a pattern that is no "
            "tree, such as triangle; repeatable.",
        ),
    ] = None,
    train: Annotated[int | None, typer.Option(min=0, help="Training queries per shape.")] = None,
    valid: Annotated[int | None, typer.Option(min=0, help="Validation queries per shape.")] = None,
    test: Annotated[int | None, typer.Option(min=0, help="Test queries per shape.")] = None,
    match: Annotated[
        str | None,
        typer.Option("--match", help="Kind of atoms: closed (as in the paper), open, or any."),
    ] = None,
    slots: Annotated[
        str | None,
        typer.Option("--slots", help="Slots that may be asked for: subject,object,value."),
    ] = None,
    draw: Annotated[
        str | None,
        typer.Option("--draw", help="Draw the first fact uniformly by fact, or by relation."),
    ] = None,
    balance: Annotated[
        str | None,
        typer.Option(
            "--balance", help="missing: equally many queries per number of missing links."
        ),
    ] = None,
    max_answers: Annotated[
        int | None,
        typer.Option("--max-answers", min=1, help="Leave out queries with more answers."),
    ] = None,
    qualifiers: Annotated[
        int | None,
        typer.Option("--qualifiers", min=0, help="The number of qualifiers of every atom."),
    ] = None,
    train_answers: Annotated[
        int | None,
        typer.Option(
            "--train-answers", min=1, help="Keep at most this many answers of a training query."
        ),
    ] = None,
    seed: Annotated[
        int | None, typer.Option("--seed", help="The same seed gives the same files.")
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(
            "--workers",
            min=1,
            max=MAX_WORKERS,
            help="The number of processes; all cores by default.",
        ),
    ] = None,
) -> None:
    """Sample queries with their answers from a graph (Python: nqe.sample).

    Example: nqe sample atlas -o atlas.queries --train 100 --valid 10 --test 10
    """
    from nqe.cli.progress import ProgressBar
    from nqe.sampling import choose_preset, save_queries
    from nqe.sampling import sample as draw_queries
    from nqe.sampling.patterns import are_patterns
    from nqe.sampling.storage import check_output
    from nqe.settings import SamplingSettings

    given: dict[str, Any] = {
        "shapes": tuple(shape) if shape else None,
        "train": train,
        "valid": valid,
        "test": test,
        "match": match,
        "slots": tuple(one.strip() for one in slots.split(",")) if slots else None,
        "draw": draw,
        "balance": balance,
        "max_answers": max_answers,
        "qualifiers": qualifiers,
        "train_answers": train_answers,
        "seed": seed,
    }
    base = choose_preset(preset) if preset else SamplingSettings()
    settings = replace(base, **{name: one for name, one in given.items() if one is not None})
    if are_patterns(settings.shapes):
        _sample_rows(dataset, output, settings)
        return
    check_output(output)
    graph = open_dataset(dataset)
    with ProgressBar("queries") as progress:
        queries = draw_queries(graph, settings, workers=workers, progress=progress)
    save_queries(queries, output, dataset)
    say_sizes(output, queries.splits)


def _sample_rows(dataset: str, output: str, settings: SamplingSettings) -> None:
    """Sample queries that are no trees, by one process."""
    from nqe.cli.progress import ProgressBar
    from nqe.sampling import sample_rows, save_row_queries
    from nqe.sampling.row_storage import check_row_output

    check_row_output(output)
    graph = open_dataset(dataset)
    with ProgressBar("queries") as progress:
        queries = sample_rows(graph, settings, progress=progress)
    save_row_queries(queries, output, dataset)
    say_sizes(output, queries.splits)


def say_sizes(output: str, splits: Mapping[str, Sized]) -> None:
    """Print how many queries were written for each split."""
    sizes = ", ".join(f"{name} {len(queries):,}" for name, queries in splits.items())
    printing.say(f"{output}: {sizes} queries")
