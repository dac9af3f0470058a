"""Command-line options and arguments that several commands share, and their checks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from nqe.errors import NqeError
from nqe.settings import DEVICES

FORMATS = ("table", "markdown", "latex", "json", "csv")
_MINUTES_PER_UNIT = {"s": 1 / 60, "m": 1.0, "h": 60.0}


def check_among(option: str, value: str, allowed: Sequence[str]) -> None:
    """Refuse a value of an option that is not allowed."""
    if value not in allowed:
        raise NqeError(f"--{option} is '{value}'; choose one of {', '.join(allowed)}")


def refuse_options(when: str, remedy: str = "leave it out", /, **given: Any) -> None:
    """Refuse options that do not apply in a situation; None and False mean not given."""
    for name, value in given.items():
        if value not in (None, False):
            raise NqeError(f"--{name.replace('_', '-')} has no meaning {when}; {remedy}")


def check_format(form: str, as_json: bool) -> str:
    """Return the format to print in; --json overrides --format."""
    check_among("format", form, FORMATS)
    return "json" if as_json else form


def parse_minutes(text: str) -> float:
    """Read a time such as 90m, 30s or 1.5h, in minutes."""
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)([smh])", text.strip())
    if found is None or not float(found[1]):
        raise NqeError(f"--time-budget {text:.100}: not a time; write one such as 90m, 30s or 1.5h")
    return float(found[1]) * _MINUTES_PER_UNIT[found[2]]


def check_plot(plot: str | None) -> Path | None:
    """Return the file to draw a plot to; refuse an unknown format before any work is done."""
    from nqe.figures import ENDINGS, PICTURES

    if plot is None:
        return None
    if Path(plot).suffix.lstrip(".") not in PICTURES:
        raise NqeError(f"{plot}: not a known format of a plot; end the name in {ENDINGS}")
    return Path(plot)


def _check_device(name: str) -> str:
    check_among("device", name, DEVICES)
    return name


GraphArgument = Annotated[
    str, typer.Argument(metavar="GRAPH", help="A folder made by `nqe import`, or `atlas`.")
]
PlaceArgument = Annotated[
    str,
    typer.Argument(
        metavar="GRAPH|RUN",
        help="A graph (made by `nqe import`, or `atlas`) or a RUN (made by `nqe train`).",
    ),
]
QueryArgument = Annotated[
    str, typer.Argument(metavar="QUERY", help="A query such as ?x: p(?x, a).")
]
FactsOption = Annotated[
    str,
    typer.Option("--facts", help="The facts to use: splits such as train,valid, or all, or none."),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]
FormatOption = Annotated[str, typer.Option("--format", help="table, markdown, latex, json or csv.")]
RunArgument = Annotated[
    str, typer.Argument(metavar="RUN", help="A folder made by `nqe train`, or a checkpoint.")
]
GraphOption = Annotated[
    str | None,
    typer.Option("--graph", help="Where the graph is now, if it was moved or has new facts."),
]
DeviceOption = Annotated[
    str, typer.Option("--device", help="auto, cpu or cuda.", callback=_check_device)
]
RulesOption = Annotated[
    str | None,
    typer.Option("--rules", help="Of a graph: predict with the rules that `nqe rules -o` saved."),
]
AmongOption = Annotated[
    str | None, typer.Option("--among", help="Keep only answers that also answer this query.")
]
