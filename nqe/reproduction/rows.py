"""The rows of the paper's tables as data: what each changes, learns from and can answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from nqe.errors import NqeError
from nqe.query.shapes import SHAPES
from nqe.sampling.presets import CONJUNCTIVE

NFOL, QE = "wd50k-nfol", "wd50k-qe"
EMBEDDING, HYBRID, RULES = "embedding", "hybrid", "hybrid with rules"
"""What answers: the model alone, or with the known facts, or with facts and rules."""
ONE_HOP = ("1p",)
Changes = Mapping[str, Mapping[str, Any]]
"""Settings that differ, by section and name."""


@dataclass(frozen=True)
class Row:
    """A row of a table: in what it differs from NQE with the settings that all rows share."""

    name: str
    benchmarks: tuple[str, ...]
    about: str
    """What is different about it, in words."""
    changes: Changes = field(default_factory=dict)
    train_shapes: tuple[str, ...] = ()
    """The shapes it learns from; empty means all of the benchmark."""
    answers: tuple[str, ...] = tuple(SHAPES)
    """The shapes it can express."""
    model_settings: tuple[str, ...] | None = None
    """The settings of the model that it shares with other rows; None means all."""
    mode: str = EMBEDDING
    run_of: str | None = None
    """The row whose run answers; None if it has a run of its own."""
    is_extra: bool = False
    """Whether it is left out unless it is named."""

    @property
    def run_row(self) -> str:
        """The name of the row whose run answers."""
        return self.run_of or self.name

    @property
    def ranks_easy_answers(self) -> bool:
        """Whether ranking easy answers says anything: known facts would give them."""
        return self.mode == EMBEDDING


_STARQE: Mapping[str, Any] = {
    "benchmarks": (QE,),
    # As many layers as the longest chain of facts, 3p, has facts; the published dropout.
    "changes": {"model": {"kind": "starqe", "layers": 3, "dropout": 0.3}},
    "answers": CONJUNCTIVE,
    "model_settings": ("width", "dropout"),
}


def _with_facts(run_of: str, mode: str) -> Row:
    what = "facts and rules" if mode == RULES else "facts"
    return Row(
        f"{mode} on {run_of}",
        (NFOL, QE),
        f"the model of {run_of} with the known {what}",
        mode=mode,
        run_of=run_of,
    )


_ROWS = (
    Row("StarQE-1p", about="StarQE, one-hop queries alone", train_shapes=ONE_HOP, **_STARQE),
    Row("StarQE", about="message passing over the query graph", **_STARQE),
    Row(
        "NodeH-only",
        (NFOL,),
        "no biases per kind of edge",
        {"model": {"heterogeneity": "node"}},
    ),
    Row(
        "EdgeH-only",
        (NFOL,),
        "the same maps for entities and relations",
        {"model": {"heterogeneity": "edge"}},
    ),
    Row(
        "Logic-blind",
        (NFOL,),
        "`and` and `or` are means, `not` does nothing",
        {"model": {"logic": "mean"}},
    ),
    Row("Unparalleled", (NFOL,), "one shape per batch", {"train": {"batching": "by-shape"}}),
    Row("NQE-1p", (NFOL, QE), "one-hop queries alone", train_shapes=ONE_HOP),
    Row("NQE", (NFOL, QE), "the model"),
    Row(
        "NQE-dot",
        (NFOL, QE),
        "the paper's score q·x",
        {"model": {"score": "dot"}},
        is_extra=True,
    ),
    _with_facts("NQE-1p", HYBRID),
    _with_facts("NQE-1p", RULES),
    _with_facts("NQE", HYBRID),
    _with_facts("NQE", RULES),
)
ROWS = {row.name: row for row in _ROWS}
"""All rows by name, in the order of the tables: the paper's, then ours."""


def rows_of(benchmark: str) -> list[Row]:
    """The rows of a benchmark, in the order of its table, without the extra ones."""
    return [row for row in ROWS.values() if benchmark in row.benchmarks and not row.is_extra]


def choose_rows(benchmark: str, names: Sequence[str], shapes: Sequence[str]) -> list[Row]:
    """The rows with these names, in the order of the table; refuse one that does not fit.

    Names may be written in any case.
    """
    by_name = {name.lower(): row for name, row in ROWS.items()}
    for name in names:
        if name.lower() not in by_name:
            of_benchmark = [row.name for row in ROWS.values() if benchmark in row.benchmarks]
            raise NqeError(f"unknown row '{name:.100}'; choose some of {', '.join(of_benchmark)}")
    wanted = {by_name[name.lower()].name for name in names}
    rows = [row for row in ROWS.values() if row.name in wanted]
    for row in rows:
        _check_fits(row, benchmark, shapes)
    return rows


def _check_fits(row: Row, benchmark: str, shapes: Sequence[str]) -> None:
    """Refuse a row that cannot express a shape, or does not belong to the benchmark."""
    beyond = [shape for shape in shapes if shape not in row.answers]
    if beyond:
        raise NqeError(
            f"{row.name} cannot express {', '.join(beyond)}, only {', '.join(row.answers)}; "
            "leave the row out, or choose fewer shapes"
        )
    if benchmark not in row.benchmarks:
        raise NqeError(
            f"{row.name} is no row of {benchmark}; it belongs to {', '.join(row.benchmarks)}"
        )
