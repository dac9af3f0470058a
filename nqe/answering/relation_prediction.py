"""Predict the relation of a fact whose entities are known, or the attribute of a qualifier."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from nqe.errors import NqeError
from nqe.graph.fact_columns import Facts
from nqe.graph.graph import Graph
from nqe.graph.vocabulary import Names, Vocabulary
from nqe.sampling.relation_queries import MASKED

if TYPE_CHECKING:
    from nqe.answering.answerer import Answerer

Name = int | str
"""A number, or text that is looked up: an id, a label or an alias."""
Pairs = Sequence[tuple[Name | None, Name]]
"""Qualifiers as pairs of an attribute and a value; None is the attribute that is asked for."""


@dataclass(frozen=True)
class RelationAnswer:
    """A relation that may be the missing one of a fact."""

    relation: int
    id: str
    label: str | None
    probability: float
    """The softmax of the model's scores over all relations; it is not calibrated."""
    known: bool
    """Whether a known fact states it, perhaps with further qualifiers."""

    @property
    def name(self) -> str:
        """The label, or the id if there is none."""
        return self.label or self.id

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON data."""
        return {
            "relation": self.id,
            "label": self.label,
            "probability": self.probability,
            "known": self.known,
        }


def predict_relations(
    answerer: Answerer,
    subject: Name,
    object_: Name,
    qualifiers: Pairs = (),
    *,
    relation: Name | None = None,
    top: int = 10,
) -> list[RelationAnswer]:
    """Rank the relations that may hold between two entities, by the model alone.

    The fact has the given qualifiers and no others. If a relation is given, one attribute in the
    qualifiers is None, and is asked for instead.
    """
    graph, predictor = answerer.graph, answerer.neural.predictor
    asked = _Masked.of(graph.vocabulary, subject, relation, object_, qualifiers)
    [row] = predictor.score_relations(asked.to_facts()).softmax(1).double().cpu().numpy()
    names, stated = graph.vocabulary.relations, set(asked.find_stated(graph))
    best = np.lexsort((names.id_order, -row))[: max(top, 0)]
    return [_make_answer(names, one, float(row[one]), one in stated) for one in best.tolist()]


def _make_answer(names: Names, relation: int, probability: float, known: bool) -> RelationAnswer:
    return RelationAnswer(relation, names.ids[relation], names.labels[relation], probability, known)


@dataclass(frozen=True)
class _Masked:
    """A fact that misses one relation, in the numbers of a graph."""

    subject: int
    relation: int
    object: int
    pairs: tuple[tuple[int, int], ...]

    @classmethod
    def of(
        cls,
        names: Vocabulary,
        subject: Name,
        relation: Name | None,
        object_: Name,
        qualifiers: Pairs,
    ) -> _Masked:
        """Look names up."""
        attributes = [relation, *(attribute for attribute, _ in qualifiers)]
        if attributes.count(None) != 1:
            raise NqeError(
                f"{attributes.count(None)} relations are missing; give the relation and all "
                "attributes except one, which is None"
            )
        main, *others = (
            MASKED if one is None else names.relations.to_number(one) for one in attributes
        )
        values = (names.entities.to_number(value) for _, value in qualifiers)
        ends = (names.entities.to_number(end) for end in (subject, object_))
        return cls(next(ends), main, next(ends), tuple(zip(others, values, strict=True)))

    def to_facts(self) -> Facts:
        """The fact as a table of one row."""
        subject, relation, object_ = np.array([[self.subject], [self.relation], [self.object]])
        attribute, value = np.array(self.pairs, dtype=np.int64).reshape(-1, 2).T
        offset, count = np.array([0, len(value)]), np.array([1])
        return Facts(subject, relation, object_, offset, attribute, value, count)

    def find_stated(self, graph: Graph) -> Iterator[int]:
        """Yield the relations that known facts have in the place of the missing one."""
        facts = graph.facts
        fits = (facts.subject == self.subject) & (facts.object == self.object)
        if self.relation != MASKED:
            fits &= facts.relation == self.relation
        given = Counter(pair for pair in self.pairs if pair[0] != MASKED)
        asked = next((value for one, value in self.pairs if one == MASKED), None)
        for number in np.flatnonzero(fits).tolist():
            _, relation, _, pairs = facts.row(number)
            if not given <= Counter(pairs):
                continue
            if asked is None:
                yield relation
            else:
                left = Counter(pairs) - given
                yield from (attribute for attribute, value in left if value == asked)
