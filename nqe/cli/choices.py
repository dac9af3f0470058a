"""Arguments that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nqe.errors import StorageError

if TYPE_CHECKING:
    from nqe.graph import Dataset

GraphArgument = Annotated[
    str, typer.Argument(metavar="GRAPH", help="A folder made by `nqe import`, or `atlas`.")
]
FactsOption = Annotated[
    str, typer.Option("--facts", help="Which facts: splits such as train,valid, or all.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]


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
