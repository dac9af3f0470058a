"""Arguments that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nqe.cli.results import check_among
from nqe.errors import StorageError
from nqe.settings import DEVICES

if TYPE_CHECKING:
    from nqe.graph import Dataset


EXACT, EMBEDDING, HYBRID = "exact", "embedding", "hybrid"


def _known_device(name: str) -> str:
    check_among("device", name, DEVICES)
    return name


GraphArgument = Annotated[
    str, typer.Argument(metavar="GRAPH", help="A folder made by `nqe import`, or `atlas`.")
]
FactsOption = Annotated[
    str, typer.Option("--facts", help="Which facts: splits such as train,valid, or all, or none.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]
RunArgument = Annotated[
    str, typer.Argument(metavar="RUN", help="A folder made by `nqe train`, or a checkpoint.")
]
GraphOption = Annotated[
    str | None,
    typer.Option("--graph", help="Where the graph is now, if it was moved or has new facts."),
]
DeviceOption = Annotated[
    str, typer.Option("--device", help="auto, cpu or cuda.", callback=_known_device)
]
AmongOption = Annotated[
    str | None, typer.Option("--among", help="Keep what also answers this query.")
]


def open_dataset(name: str) -> Dataset:
    """The data set of a folder, or the embedded one called `atlas`."""
    from nqe.demo import NAME, demo_dataset
    from nqe.graph import Dataset

    path = Path(name)
    if name == NAME and not path.exists():
        return demo_dataset()
    if path.exists() and not path.is_dir():
        raise StorageError(f"{name}: a file, not a graph folder; make one with `nqe import`")
    return Dataset.load(path)
