"""The command `nqe train`: train a model and calibrate it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nqe.answering.open_graph import open_dataset
from nqe.cli import printing
from nqe.cli.options import GraphArgument, parse_minutes

if TYPE_CHECKING:
    from nqe.answering import TrainResult
    from nqe.graph import Dataset
    from nqe.settings import RunSettings
    from nqe.training.forecast import Forecast
    from nqe.training.status import OnStep, TrainingStatus

NO_VALID_FACTS = (
    "nqe: note: {0} has no valid facts, so the best model cannot be chosen, training cannot stop "
    "early, and probabilities are not calibrated; hold some out with `nqe split {0} -o NEW "
    "--valid 5% --test 5%`, and train on that"
)


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command()(train)


def train(
    dataset: GraphArgument,
    output: Annotated[str, typer.Option("-o", "--output", help="The RUN folder to write.")],
    queries: Annotated[
        str | None,
        typer.Argument(
            metavar="[QUERIES]",
            help="A folder made by `nqe sample`; without it, queries are drawn from the graph.",
        ),
    ] = None,
    config: Annotated[
        str | None, typer.Option("-c", "--config", help="A TOML file with settings.")
    ] = None,
    shapes: Annotated[
        str | None, typer.Option("--shapes", help="Shapes or trees to train on, such as 1p,2p.")
    ] = None,
    assignments: Annotated[
        list[str] | None,
        typer.Option("--set", help="One setting, such as train.rate=1e-3; repeatable."),
    ] = None,
    time_budget: Annotated[
        str | None,
        typer.Option("--time-budget", help="Train for this long: 30s, 90m or 1.5h, for example."),
    ] = None,
    resume: Annotated[
        bool,
        typer.Option("--resume", help="Continue from the last save, on the run's own queries."),
    ] = False,
    start_from: Annotated[
        str | None,
        typer.Option("--start-from", help="Begin with the weights of this RUN or checkpoint."),
    ] = None,
) -> None:
    """Train a model on a query set, or on a graph alone (Python: nqe.train).

    Example: nqe train atlas -o atlas.run --shapes 1p --time-budget 20s

    Under torchrun the same command trains in several processes. The training guide in the docs
    explains all settings; those of a run are in its settings.toml.
    """
    from nqe.answering import train as train_model
    from nqe.cli.progress import TrainingBar
    from nqe.training.distributed import is_first_process

    given = list(assignments or [])
    if shapes is not None:
        given.append(f'train.shapes="{shapes}"')
    if time_budget is not None:
        given.append(f"train.minutes={parse_minutes(time_budget)}")
    settings = _read_settings(output, config, given, resume)
    graph = open_dataset(dataset)
    with TrainingBar() as bar:
        result = train_model(
            graph,
            output,
            queries,
            settings,
            name=dataset,
            resume=resume,
            start=start_from,
            on_step=watch_steps(bar.update, graph, dataset) if is_first_process() else None,
            on_validation=bar.note_validation,
        )
    if is_first_process():
        _print_result(result)


def watch_steps(update: OnStep, graph: Dataset, name: str) -> OnStep:
    """Return what shows each step; at the first one it says what is lost without valid facts."""
    notes = [] if len(graph.splits.get("valid", ())) else [NO_VALID_FACTS.format(name)]
    watch = watch_forecast(update)

    def on_step(status: TrainingStatus) -> None:
        while notes:
            printing.note(notes.pop())
        watch(status)

    return on_step


def watch_forecast(update: OnStep) -> OnStep:
    """Return what shows each step, and what the run will come to as soon as that is known."""
    forecasts: list[Forecast] = []

    def on_step(status: TrainingStatus) -> None:
        if status.forecast is not None and not forecasts:
            forecasts.append(status.forecast)
            _note_forecast(status.forecast)
        update(status)

    return on_step


def _note_forecast(forecast: Forecast) -> None:
    """Say what a run will come to, and whether that is next to nothing."""
    printing.note(f"this training will be {forecast}, at the speed so far")
    if forecast.warning is not None:
        printing.note(f"nqe: note: {forecast.warning}")


def _read_settings(
    output: str, config: str | None, assignments: list[str], resume: bool
) -> RunSettings | None:
    """Return the settings of the file and of --set; None if neither is given."""
    from nqe.settings import RunSettings, build_run_settings, parse_assignment, read_settings

    if not (config or assignments):
        return None
    settings = RunSettings()
    if resume:
        from nqe.training.run_folder import RunFolder

        settings = RunFolder.open(Path(output)).settings
    if config:
        settings = read_settings(config, settings)
    for text in assignments:
        settings = build_run_settings(parse_assignment(text), f"--set {text:.100}", settings)
    return settings


def _print_result(result: TrainResult) -> None:
    best = "" if result.best is None else f", best validation MRR {result.best:.4f}"
    minutes = result.seconds / 60
    printing.say(f"{result.folder}: {result.steps:,} steps in {minutes:.1f} minutes{best}")
    if result.steps and not result.new_steps:
        printing.note(
            "the run was already complete; to continue, raise train.epochs, .steps or .minutes"
        )
    if result.calibrated is not None:
        before, after = result.calibrated.before.error, result.calibrated.after.error
        printing.note(
            f"calibrated on valid: expected calibration error {before:.3f} → {after:.3f} "
            f"on {result.calibrated.split}"
        )
    if result.not_calibrated is not None:
        printing.note(f"nqe: note: not calibrated: {result.not_calibrated}")
    checkpoint = "best" if (result.folder / "best").is_dir() else "last"
    printing.note(f"the model is in {result.folder}/{checkpoint}; try `nqe evaluate`")
