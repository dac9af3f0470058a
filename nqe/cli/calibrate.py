"""The command `nqe calibrate`: calibrate the probabilities of a RUN, and show the effect."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from nqe.cli import printing
from nqe.cli.options import DeviceOption, GraphOption, JsonOption, RunArgument, check_plot

if TYPE_CHECKING:
    from nqe.answering import Calibrated


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command()(calibrate)


def calibrate(
    run: RunArgument,
    plot: Annotated[
        str | None, typer.Option("--plot", help="Draw the reliability diagram to this file.")
    ] = None,
    graph: GraphOption = None,
    device: DeviceOption = "auto",
    as_json: JsonOption = False,
) -> None:
    """Calibrate the probabilities of a RUN and save the result in it (Python: nqe.calibrate).

    Example: nqe calibrate atlas.run

    The calibration is fitted on the valid split and measured on test, if there is one.
    """
    from nqe.answering import OpenedRun
    from nqe.answering import calibrate as calibrate_model
    from nqe.answering.reliability import plot_reliability
    from nqe.files import new_file

    picture = check_plot(plot)
    opened = OpenedRun.load(run, device)
    dataset = opened.open_dataset(graph)
    place = graph or opened.dataset_name or run
    opened.check_fingerprint(place, dataset.fingerprint)
    opened.check_vocabulary(place, dataset)
    done = calibrate_model(run, dataset, device)
    if as_json:
        printing.json_block(done.to_json())
    else:
        _show_calibration(done)
    printing.note(f"{done.folder}: calibrated")
    if picture is not None:
        with new_file(picture) as temporary:
            plot_reliability({"before": done.before, "after": done.after}, temporary)
        printing.note(f"{picture}: written")


def _show_calibration(done: Calibrated) -> None:
    before, after = done.shapes_before, done.shapes_after
    printing.heading(f"Reliability of all predictions over 0.05 on {done.split}")
    rows = [
        (
            shape,
            f"{after[shape].count:,}",
            *(printing.chance(one[shape].error) for one in (before, after)),
            *(printing.chance(one[shape].brier) for one in (before, after)),
            printing.chance(after[shape].base),
        )
        for shape in after
    ]
    names = ("shape", "predictions", "error before", "after", "Brier before", "after", "base rate")
    printing.table(names, rows)
    printing.heading("All predictions by probability, after")
    bins = [
        (printing.chance(predicted), printing.chance(right), count)
        for predicted, right, count in done.after.bins
    ]
    printing.table(("predicted probability", "share right", "predictions"), bins)
