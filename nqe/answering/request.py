"""Requests: one question each, with the options that say how to answer it."""

from __future__ import annotations

from dataclasses import dataclass

from nqe.errors import NqeError
from nqe.graph.entity_set import EntitySet
from nqe.query.binder import Question
from nqe.query.row_order import parse_order

HYBRID, RULES, EMBEDDING, EXACT = "hybrid", "rules", "embedding", "exact"
MODES = (HYBRID, RULES, EMBEDDING, EXACT)
TOP = 10
"""The default number of answers of a request that predicts and has no threshold."""


@dataclass(frozen=True)
class Request:
    """A question for an `Answerer`; requests of any kind can be answered in one batch."""

    query: Question
    mode: str | None = None
    """hybrid, rules, embedding or exact; by default hybrid with a model, and exact without one.

    The mode rules is hybrid without the model: facts are certain, and rules fill the rest.
    """
    top: int | None = None
    """At most this many answers; by default 10, or all in mode exact or with a threshold."""
    threshold: float | None = None
    """Only answers with at least this probability, from 0 to 1."""
    among: Question | EntitySet | None = None
    """Only entities in this set, or among the exact answers of this question."""
    facts: str | None = None
    """The known facts, such as 'train,valid', 'all' or 'none'; by default the answerer's."""
    predicted_only: bool = False
    """Only answers that the known facts do not state."""
    steps: int | None = None
    """Also summarize each step of the plan with this many entities; None for no summary."""
    stated_only: bool = False
    """Only answers that the known facts state."""
    order_by: str | None = None
    """Of exact answers: the columns to sort by, such as '?year desc, ?x' or 'count desc'.

    By default they stand in the order of their ids.
    """

    def limit(self, mode: str) -> int | None:
        """The maximal number of answers; None for all."""
        unlimited = mode == EXACT or self.threshold is not None
        return (None if unlimited else TOP) if self.top is None else self.top

    def check(self, has_model: bool) -> str:
        """Return the mode to answer in; refuse a request that cannot be answered."""
        mode = self.mode or (HYBRID if has_model else EXACT)
        if mode not in MODES:
            raise NqeError(f"unknown mode '{mode}'; choose one of {', '.join(MODES)}")
        if mode not in (EXACT, RULES) and not has_model:
            raise NqeError(f"the mode {mode} needs a model, and this is only a graph; open a RUN")
        if self.top is not None and self.top < 0:
            raise NqeError(f"the number of answers is {self.top}; give 1 or more")
        if self.threshold is not None and not 0 <= self.threshold <= 1:
            raise NqeError(f"the threshold is {self.threshold:g}; give a probability from 0 to 1")
        if self.predicted_only and self.stated_only:
            raise NqeError(
                "no answer is stated and predicted at once; ask for stated or for predicted ones"
            )
        if self.predicted_only and mode == EXACT:
            raise NqeError("exact answers are all stated; ask for predicted ones in mode hybrid")
        if self.order_by is not None:
            if mode != EXACT:
                raise NqeError(
                    "answers with probabilities are sorted by these; sort exact ones (--mode exact)"
                )
            parse_order(self.order_by)
        if self.steps is not None and mode == EMBEDDING:
            raise NqeError(
                "in the mode embedding a step is a vector, so there are no sets to show; "
                "ask in the mode hybrid or exact"
            )
        return mode
