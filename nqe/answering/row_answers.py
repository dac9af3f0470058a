"""Answers that are rows: of several targets, or counts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from nqe.notebook import render_table, to_frame
from nqe.query.join_plan import JoinPlan
from nqe.query.reason import Reason
from nqe.query.rows import Row, Rows
from nqe.shown_text import make_visible

if TYPE_CHECKING:
    from pandas import DataFrame


@dataclass(frozen=True)
class RowAnswer:
    """What stands for each target in one row, and how many there are of the counted variable."""

    ids: tuple[str, ...]
    """The ids of the targets' entities or relations."""
    labels: tuple[str | None, ...]
    count: int | None = None
    """None if the query counts nothing."""
    probability: float = 1.0
    """1 if facts make the row certain."""
    known: bool = True
    """Whether it follows from the known facts alone."""

    @property
    def names(self) -> tuple[str, ...]:
        """The labels, or the ids of what has none."""
        return tuple(label or name for label, name in zip(self.labels, self.ids, strict=True))

    @property
    def source(self) -> str:
        """Where the row comes from: 'stated' or 'predicted'."""
        return "stated" if self.known else "predicted"

    @property
    def cells(self) -> Row:
        """The names, then the count if the query counts."""
        return self.names if self.count is None else (*self.names, self.count)


@dataclass(frozen=True, repr=False)
class RowAnswers:
    """The rows that answer a query of several targets, or of a count, by ids or as asked for."""

    plan: JoinPlan
    mode: str
    answers: tuple[RowAnswer, ...]
    count: int | None
    """In the mode exact, the number of all rows, including those that are not listed."""
    stated_count: int = 0
    """The number of stated rows, listed or not; with a threshold, of those that reach it."""
    likely_count: int | None = None
    """The number of predictions above 0.5, or that reach the threshold; None in the mode exact."""
    unseen: tuple[str, ...] = ()
    """Names in the query that the model was not trained with."""
    result: Rows = field(compare=False, repr=False, kw_only=True)
    """The listed rows, in the same order."""

    def __len__(self) -> int:
        return len(self.answers)

    def __iter__(self) -> Iterator[RowAnswer]:
        return iter(self.answers)

    def __getitem__(self, place: int) -> RowAnswer:
        return self.answers[place]

    def __repr__(self) -> str:
        shown = ", ".join(" ".join(map(str, row)) for row in self.rows[:5])
        more = ", …" if len(self) > 5 else ""
        columns = ", ".join(self.result.columns)
        return f"<RowAnswers: {len(self):,} of {columns}: {make_visible(shown)}{more}>"

    @property
    def rows(self) -> list[Row]:
        """The listed rows in labels, with the count if the query counts."""
        return [answer.cells for answer in self]

    @property
    def is_exact(self) -> bool:
        """Whether the rows come from facts alone."""
        return self.count is not None

    @property
    def targets(self) -> tuple[str, ...]:
        """The names of the targets."""
        return tuple(self.plan.names[one] for one in self.plan.targets)

    @property
    def counted(self) -> str | None:
        """The name of the variable that is counted, if any."""
        return None if self.plan.counted is None else self.plan.names[self.plan.counted]

    @property
    def warnings(self) -> tuple[str, ...]:
        """Notes about the query: how names were read, and what can have no effect or no answer."""
        return self.result.warnings

    def to_json(self, *, proofs: bool = False) -> dict[str, Any]:
        """Return the rows as JSON data, optionally with a proof of each."""
        data: dict[str, Any] = {"mode": self.mode}
        if self.count is not None:
            data["count"] = self.count
        data |= {"listed": len(self), "stated_count": self.stated_count}
        if self.likely_count is not None:
            data["likely_count"] = self.likely_count
        data["targets"] = list(self.targets)
        if self.counted is not None:
            data["counted"] = self.counted
        data["rows"] = [self._row_to_json(place, proofs) for place in range(len(self))]
        if self.unseen:
            data["unseen"] = list(self.unseen)
        if self.warnings:
            data["warnings"] = list(self.warnings)
        return data

    def _row_to_json(self, place: int, proofs: bool) -> dict[str, Any]:
        answer, kinds = self.answers[place], [names.kind for names in self.result.names]
        cells = zip(kinds, answer.ids, answer.labels, strict=True)
        data: dict[str, Any] = {
            "row": [{kind: name, "label": label} for kind, name, label in cells]
        }
        if answer.count is not None:
            data["count"] = answer.count
        data |= {"probability": answer.probability, "known": answer.known}
        return data | ({"proof": self.prove(place).to_json()} if proofs else {})

    def prove(self, place: int) -> Reason:
        """Why a listed row that facts state is an answer."""
        return self.result.proof([int(column[place]) for column in self.result.numbers])

    def to_pandas(self) -> DataFrame:
        """Return the rows in labels as a data frame; raises NqeError without pandas."""
        return to_frame(*self._table())

    def _repr_html_(self) -> str:
        """How a notebook shows the rows."""
        return render_table(*self._table(), caption=self.plan.text)

    def _table(self) -> tuple[Sequence[str], list[tuple[Any, ...]]]:
        if self.is_exact:
            return self.result.columns, self.rows
        rows = [(*answer.cells, answer.probability, answer.source) for answer in self]
        return (*self.result.columns, "probability", "source"), rows
