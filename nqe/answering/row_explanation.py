"""Explanations of answers to questions that are no trees: what a row rests on, and why it ranks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from nqe.answering.cut_reasons import CutReasons
from nqe.answering.cut_runner import CutRunner
from nqe.answering.predicted_answers import rank_rows
from nqe.answering.predicted_rows import PredictedRows, cut_plan, predict_rows
from nqe.answering.unseen_names import describe_unseen
from nqe.errors import NqeError
from nqe.notebook import render_text
from nqe.query.join_plan import JoinPlan
from nqe.query.reason import Reason, Support
from nqe.query.rows import Name, Rows, find_rows
from nqe.shown_text import join_visible, to_code_span

if TYPE_CHECKING:
    from nqe.answering.answerer import Answerer


@dataclass(frozen=True, eq=False)
class RowExplanation:
    """Why a row has its rank; the answer of one target is a row with one cell."""

    query: str
    variables: tuple[str, ...]
    """The names of the targets."""
    ids: tuple[str, ...]
    """What stands for each target."""
    names: tuple[str, ...]
    """The same in labels."""
    rank: int
    probability: float
    known: bool
    """Whether the known facts state the row."""
    reason: Reason | None
    """The likeliest way to the row; None if it is no answer."""
    ways: int
    """How many bindings of the other variables lead to it; the reason has the likeliest."""
    unseen: tuple[str, ...]
    """Names of the query that the model was not trained with."""
    has_rules: bool = False
    warnings: tuple[str, ...] = ()

    @property
    def weakest(self) -> Support | None:
        """The atom that lowers the probability most; None if all atoms are certain."""
        return None if self.reason is None else self.reason.weakest()

    def __str__(self) -> str:
        return join_visible(self._lines())

    def to_markdown(self) -> str:
        """Return the explanation as Markdown."""
        return join_visible([to_code_span(self.query), "", "```", *self._lines(), "```", ""])

    def _repr_html_(self) -> str:
        """How a notebook shows the explanation."""
        return render_text(join_visible(self._lines()))

    def to_json(self) -> dict[str, Any]:
        """Return the explanation as JSON data; entities are given by id."""
        return {
            "query": self.query,
            "targets": list(self.variables),
            "row": list(self.ids),
            "rank": self.rank,
            "probability": self.probability,
            "known": self.known,
            "ways": self.ways,
            "reason": None if self.reason is None else self.reason.to_json(),
            "weakest": None if self.weakest is None else self.weakest.to_json(),
            "unseen": list(self.unseen),
            **({"warnings": list(self.warnings)} if self.warnings else {}),
        }

    def _lines(self) -> Iterator[str]:
        row = ", ".join(self.names)
        if self.reason is None:
            yield f"Why {row} is no answer: no way to it is likely enough"
        else:
            yield f"Why {row} is number {self.rank}, with probability {self.probability:.4f}:"
            if self.ways > 1:
                yield f"  the likeliest of {self.ways:,} ways:"
            yield from self.reason.lines("  ")
            if self.weakest is not None and not self.reason.is_one_line:
                yield f"The weakest part is {self.weakest}"
        if self.unseen:
            told = describe_unseen(self.unseen, self.has_rules)
            yield told[0].upper() + told[1:]


def explain_row(
    answerer: Answerer, plan: JoinPlan, row: Name | Sequence[Name] | None = None
) -> RowExplanation:
    """Explain the rank of a row, by default of the best one."""
    stated = find_rows(plan, answerer.graph, answerer.max_bindings)
    found = predict_rows(plan, stated, answerer.neural)
    ranked = found.take(rank_rows(found, stated))
    numbers = _choose_best(ranked, stated) if row is None else _read_row(stated, row)
    place = ranked.find(numbers)
    probability = float(ranked.probability[place]) if place < len(ranked) else 0.0
    reason, ways = _find_reason(answerer, plan, stated, numbers, probability)
    pairs = list(zip(stated.names, numbers, strict=True))
    return RowExplanation(
        query=plan.text,
        variables=tuple(plan.names[one] for one in plan.targets),
        ids=tuple(names.ids[number] for names, number in pairs),
        names=tuple(names.name(number) for names, number in pairs),
        rank=place + 1,
        probability=probability,
        known=place < len(ranked) and bool(ranked.known[place]),
        reason=reason,
        ways=ways,
        unseen=answerer.neural.predictor.find_unseen_names(plan),
        has_rules=answerer.rules is not None,
        warnings=stated.warnings,
    )


def _choose_best(ranked: PredictedRows, stated: Rows) -> list[int]:
    """The best row."""
    if not len(ranked):
        why = "".join(f"; {note}" for note in stated.warnings)
        raise NqeError(f"the query has no possible answer, so there is nothing to explain{why}")
    return [int(column[0]) for column in ranked.columns]


def _find_reason(
    answerer: Answerer, plan: JoinPlan, stated: Rows, row: list[int], probability: float
) -> tuple[Reason | None, int]:
    """The reason for the likeliest way to a row, and the number of ways; None for no answer."""
    if probability == 1:
        return stated.proof(row), 1
    cut, engine = cut_plan(plan), answerer.neural
    given = dict(zip(plan.graph.targets, row, strict=True))
    bindings = CutRunner(cut, engine, given=given).run()
    if not probability or not len(bindings):
        return None, 0
    best = bindings.row(int(bindings.weight.argmax()))
    reason = CutReasons(engine, answerer.max_bindings).find(cut, best, probability)
    return reason, max(1, int((bindings.weight >= engine.options.least).sum()))


def _read_row(stated: Rows, row: Name | Sequence[Name]) -> list[int]:
    """The numbers of what stands for each target."""
    given = [row] if isinstance(row, int | np.integer | str) else list(row)
    if len(given) != len(stated.names):
        asked = ", ".join(f"?{name}" for name in stated.columns)
        raise NqeError(
            f"an answer has {len(stated.names)} parts ({asked}), not {len(given)}; name each"
        )
    return [names.to_number(one) for names, one in zip(stated.names, given, strict=True)]
