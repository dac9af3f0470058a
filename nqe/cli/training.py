"""The command that trains: train."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nqe.cli import printing
from nqe.cli.choices import GraphArgument, open_dataset
from nqe.errors import NqeError

if TYPE_CHECKING:
    from nqe.graph import Dataset
    from nqe.settings import RunSettings
    from nqe.training import Trained

_UNITS = {"s": 1 / 60, "m": 1.0, "h": 60.0}


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    app.command()(train)


def train(
    dataset: GraphArgument,
    output: Annotated[str, typer.Option("-o", "--output", help="The RUN folder to write.")],
    queries: Annotated[
        str | None,
        typer.Argument(
            metavar="[QUERIES]", help="A folder made by `nqe sample`; without it, the graph alone."
        ),
    ] = None,
    config: Annotated[
        str | None, typer.Option("-c", "--config", help="Settings, a TOML file.")
    ] = None,
    shapes: Annotated[
        str | None, typer.Option("--shapes", help="Shapes or trees to train on, as 1p,2p.")
    ] = None,
    assignments: Annotated[
        list[str] | None,
        typer.Option("--set", help="One setting, as train.rate=1e-3; repeatable."),
    ] = None,
    time_budget: Annotated[
        str | None, typer.Option("--time-budget", help="Train so long, as 90m, 30s or 1.5h.")
    ] = None,
    resume: Annotated[
        bool,
        typer.Option("--resume", help="Go on where the run was saved last, on its own queries."),
    ] = False,
) -> None:
    """Train a model on a query set, or on a graph alone (Python: nqe.train).

    Example: nqe train atlas -o atlas.run --shapes 1p --time-budget 20s

    The same command under torchrun trains in several processes. Settings and what they mean:
    the training guide in the docs; those of a run are in its settings.toml.
    """
    from nqe.cli.progress import TrainingBar
    from nqe.training import train as train_model

    given = list(assignments or [])
    if shapes is not None:
        given.append(f'train.shapes="{shapes}"')
    if time_budget is not None:
        given.append(f"train.minutes={_minutes(time_budget)}")
    settings = _settings(output, config, given, resume)
    graph = open_dataset(dataset)
    with TrainingBar() as bar:
        trained = train_model(
            graph,
            output,
            queries,
            settings,
            name=dataset,
            resume=resume,
            on_step=bar.update if _is_first() else None,
        )
    if _is_first():
        _say(trained)
        _calibrate(trained, graph)
        folder = "best" if (trained.folder / "best").is_dir() else "last"
        printing.note(f"the model is in {trained.folder}/{folder}; try `nqe evaluate`")


def _settings(
    output: str, config: str | None, assignments: list[str], resume: bool
) -> RunSettings | None:
    from nqe.settings import RunSettings, build_run_settings, parse_assignment, read_settings

    if not (config or assignments):
        return None
    settings = RunSettings()
    if resume:
        from nqe.training.run_folder import Run

        settings = Run.old(Path(output)).settings
    if config:
        settings = read_settings(config, settings)
    for text in assignments:
        settings = build_run_settings(parse_assignment(text), f"--set {text}", settings)
    return settings


def _minutes(text: str) -> float:
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)([smh])", text.strip())
    if found is None or not float(found[1]):
        raise NqeError(f"--time-budget {text}: not a time; write one as 90m, 30s or 1.5h")
    return float(found[1]) * _UNITS[found[2]]


def _is_first() -> bool:
    """Whether this process is the one that speaks; torchrun numbers them."""
    return os.environ.get("RANK", "0") == "0"


def _say(trained: Trained) -> None:
    best = "" if trained.best is None else f", best validation MRR {trained.best:.4f}"
    minutes = trained.seconds / 60
    printing.say(f"{trained.folder}: {trained.steps:,} steps in {minutes:.1f} minutes{best}")
    if not trained.new_steps:
        printing.note("it was complete already; for more, raise train.epochs, .steps or .minutes")


def _calibrate(trained: Trained, dataset: Dataset) -> None:
    """Make the model's probabilities mean something, where it has not learnt from valid."""
    from nqe.answering import calibrate
    from nqe.answering.calibration import FILE
    from nqe.answering.calibration_fitting import learnt_from_valid
    from nqe.model.checkpoint import checkpoint_of
    from nqe.training.run_folder import Run

    folder = checkpoint_of(trained.folder)
    has_valid = "valid" in dataset.splits and len(dataset.splits["valid"]) > 0
    is_done = not trained.new_steps and (folder / FILE).is_file()
    if is_done or not has_valid or learnt_from_valid(folder):
        return
    device = Run.old(trained.folder).settings.train.device
    try:
        done = calibrate(trained.folder, dataset, device)
    except NqeError as error:
        printing.note(f"nqe: note: not calibrated: {error}")
        return
    printing.note(
        f"calibrated on valid: expected calibration error {done.before.error:.3f} → "
        f"{done.after.error:.3f} on {done.split}"
    )
