"""The command `nqe split`: hold out facts of a graph for validating and testing."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nqe.answering.open_graph import open_dataset
from nqe.cli import printing
from nqe.cli.options import GraphArgument

if TYPE_CHECKING:
    from nqe.graph.dataset import Dataset


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command()(split)


def split(
    graph: GraphArgument,
    output: Annotated[str, typer.Option("-o", "--output", help="The graph folder to write.")],
    valid: Annotated[
        str | None, typer.Option("--valid", help="How much to hold out: 5%, 0.05 or 500.")
    ] = None,
    test: Annotated[str | None, typer.Option("--test", help="The same for the test split.")] = None,
    by: Annotated[
        str, typer.Option("--by", help="fact, subject (with all its facts) or time.")
    ] = "fact",
    attribute: Annotated[
        str | None, typer.Option("--attribute", help="By time: the qualifier with the time.")
    ] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Another seed, another split.")] = 0,
    allow_unseen: Annotated[
        bool,
        typer.Option("--allow-unseen", help="Entities and relations may be missing in train."),
    ] = False,
) -> None:
    """Hold out facts for validating and testing (Python: nqe.split).

    Example: nqe split atlas -o atlas.split --valid 5% --test 5%

    A split that is named is drawn anew, from train and what it held before; others stay as they
    are. By subject, shares are of subjects; by time, the latest facts are tested.
    """
    from nqe.cli.print_graph import note_leakage, say_saved
    from nqe.graph.holdout import split as split_dataset
    from nqe.graph.storage import check_output

    check_output(Path(output))
    dataset = split_dataset(
        open_dataset(graph),
        valid=valid,
        test=test,
        by=by,
        attribute=attribute,
        seed=seed,
        allow_unseen=allow_unseen,
    )
    dataset.save(output)
    say_saved(output, dataset)
    if attribute is not None:
        drawn = {"valid": valid, "test": test}
        _note_times(dataset, attribute, [name for name in drawn if drawn[name] is not None])
    note_leakage(dataset)


def _note_times(dataset: Dataset, attribute: str, held_out: list[str]) -> None:
    """Say which facts stayed in train although a split by time is expected to move them."""
    from nqe.graph.holdout import count_late, count_undated

    if undated := count_undated(dataset, attribute):
        printing.note(
            f"nqe: note: {undated:,} facts of train have no time in '{attribute}', so they stayed"
        )
    if late := count_late(dataset, attribute, held_out):
        printing.note(
            f"nqe: note: {late:,} facts of train are later than the first of "
            f"{' and '.join(held_out)}: without them, train would lack an entity, relation or "
            "attribute; --allow-unseen holds out the latest facts in any case"
        )
