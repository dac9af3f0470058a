"""Rules as people read them: as a line of logic, and in words with their counts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from nqe.graph.pattern import FIRST_QUALIFIER, OBJECT, SUBJECT
from nqe.graph.vocabulary import Vocabulary
from nqe.rules.edges import EdgeKinds
from nqe.rules.rule_table import RuleTable

_GIVEN, _PREDICTED = "?x", "?y"
_BETWEEN = ("?z", "?w")
_OTHERS = "abcdefghijk"
"""Variables for what a rule says nothing about: two per atom at most, and another answer."""


@dataclass(frozen=True)
class RuleText:
    """A rule in labels. `?x` is given, and `?y` or the name in its place is predicted."""

    relation: str
    """The id of the relation that it predicts facts of."""
    head: str
    """What it predicts, as an atom of the query language."""
    body: tuple[str, ...]
    """The atoms that it predicts that from; none if it does so whatever ?x is."""
    open_head: str
    """The head with any entity for what is predicted; a rule is counted where this is known."""
    is_walk: bool
    """Whether ?y follows from ?x; otherwise it is a name."""
    is_repetition: bool
    """Whether the body says what the head says, by another fact."""
    support: int
    predictions: int
    confidence: float

    def __str__(self) -> str:
        """The rule as logic: lives_in(?x, ?y) <- employer(?x, ?z) and located_in(?z, ?y)."""
        body = " and ".join(self.body)
        return f"{self.head} <- {body}{self._say_how()}" if body else self.head

    @property
    def words(self) -> str:
        """The rule with its counts: 34 of 57 pairs with … and any … have …."""
        counts = f"{self.support:,} of {self.predictions:,}{' pairs' if self.is_walk else ''}"
        body = " and ".join((*self.body, f"any {self.open_head}"))
        return f"{counts} with {body} have {self.head}{self._say_how()}"

    def to_json(self) -> dict[str, Any]:
        """The rule as JSON data."""
        return {
            "rule": str(self),
            "words": self.words,
            "relation": self.relation,
            "support": self.support,
            "predictions": self.predictions,
            "confidence": self.confidence,
        }

    def _say_how(self) -> str:
        return " by another fact" if self.is_repetition else ""


def describe_rule(table: RuleTable, row: int, vocabulary: Vocabulary) -> RuleText:
    """One rule of a table in the labels of a vocabulary, whose numbers the table has."""
    writer = _Writer(table.kinds, vocabulary, (f"?{one}" for one in _OTHERS))
    head, body = int(table.head[row]), table.body[row, : int(table.length[row])].tolist()
    constant, answer = int(table.constant[row]), int(table.answer[row])
    predicted = _PREDICTED if answer < 0 else vocabulary.entities.name(answer)
    last = _PREDICTED if answer < 0 else vocabulary.entities.name(constant)
    terms = (_GIVEN, *_BETWEEN[: max(len(body) - 1, 0)], last)
    return RuleText(
        relation=vocabulary.relations.ids[int(table.kinds.relation[head])],
        head=writer.write(head, _GIVEN, predicted),
        body=tuple(map(writer.write, body, terms, terms[1:])),
        open_head=writer.write(head, _GIVEN, next(writer.others)),
        is_walk=answer < 0,
        is_repetition=body == [head] and constant == answer,
        support=int(table.support[row]),
        predictions=int(table.predictions[row]),
        confidence=float(table.confidence[row]),
    )


@dataclass(frozen=True, eq=False)
class _Writer:
    """Writes kinds of edges as atoms; slots that an edge does not touch get new variables."""

    kinds: EdgeKinds
    vocabulary: Vocabulary
    others: Iterator[str]

    def write(self, kind: int, source: str, target: str) -> str:
        """The atom in which two entities stand at the ends of an edge."""
        relations = self.vocabulary.relations
        ends = (
            (int(self.kinds.source[kind]), source),
            (int(self.kinds.target[kind]), target),
        )
        terms = dict(ends)
        main = [terms.get(role) or next(self.others) for role in (SUBJECT, OBJECT)]
        pairs = ", ".join(
            f"{relations.name(role - FIRST_QUALIFIER)}: {term}"
            for role, term in ends
            if role >= FIRST_QUALIFIER
        )
        relation = relations.name(int(self.kinds.relation[kind]))
        return f"{relation}({', '.join(main)}{'; ' + pairs if pairs else ''})"
