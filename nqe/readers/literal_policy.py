"""What an import does with literals (`--literals`): skip, keep, or put them into bands."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache

from nqe.errors import choose
from nqe.graph.dataset import Dataset
from nqe.graph.fact import Fact
from nqe.graph.literals import MARK, Text, find_kind, parse_id, to_id
from nqe.graph.time_values import Time

DECADE = 1
NONE_FOUND = (
    "no literals were found, so nothing was changed; in a table, name the columns that hold times, "
    "numbers or texts in a mapping file (literals)"
)
# Values that are put into bands one after another are often the same.
_REMEMBERED = 1 << 16


@dataclass
class LiteralPolicy:
    """Treats the literals of all facts in one way; counts those that it leaves out."""

    name: str = "keep"
    statements: Counter[str] = field(default_factory=Counter)
    """How many statements were left out, by the kind of their literal."""
    qualifiers: Counter[str] = field(default_factory=Counter)
    """How many qualifiers were left out, by the kind of their value."""

    def __post_init__(self) -> None:
        self._change = choose(POLICIES, self.name, "policy for literals")

    @property
    def apply(self) -> Callable[[Fact], Fact | None] | None:
        """What makes a fact as the policy wants it, or None of one to leave out; None if no fact
        is changed."""
        return None if self._change is None else self._apply

    def _apply(self, fact: Fact) -> Fact | None:
        if self._change is None or not _may_have_literals(fact):
            return fact
        return self._change(self, fact)

    def skip(self, fact: Fact) -> Fact | None:
        """The fact without the qualifiers whose values are literals; None if it is about one."""
        for name in (fact.object, fact.subject):
            if kind := find_kind(name):
                self.statements[kind] += 1
                return None
        kinds = [find_kind(value) for _, value in fact.qualifiers]
        self.qualifiers.update(kind for kind in kinds if kind)
        pairs = zip(fact.qualifiers, kinds, strict=True)
        return replace(fact, qualifiers=tuple(pair for pair, kind in pairs if not kind))

    def put_into_bands(self, fact: Fact) -> Fact:
        """The fact with bands in place of its times and numbers."""
        pairs = tuple((attribute, find_band(value)) for attribute, value in fact.qualifiers)
        return Fact(find_band(fact.subject), fact.relation, find_band(fact.object), pairs)

    def describe(self, dataset: Dataset) -> str | None:
        """A sentence about the literals of what was read; None if none were there or expected."""
        if self.statements or self.qualifiers:
            places = {"statement": self.statements, "qualifier": self.qualifiers}
            left_out = (
                f"{_count(counts.total(), place)} ({_list_counts(counts)})"
                for place, counts in places.items()
                if counts
            )
            return f"literals left out: {', '.join(left_out)}"
        literals = dataset.vocabulary.entities.literals
        if literals is not None:
            done = "in bands" if self.name == "bands" else "kept"
            return f"literals {done}: {_list_counts(literals.count())}"
        return None if self._change is None else f"--literals {self.name}: {NONE_FOUND}"


POLICIES: dict[str, Callable[[LiteralPolicy, Fact], Fact | None] | None] = {
    "skip": LiteralPolicy.skip,
    "keep": None,
    "bands": LiteralPolicy.put_into_bands,
}
"""What is done to each fact that may have literals; None if all stay as they are."""


@lru_cache(_REMEMBERED)
def find_band(name: str) -> str:
    """The id of the band that a literal is in: the decade of a time, 1-2-5 bounds of a number.

    It depends on nothing but the literal. Texts, and ids that are no literals, stay as they are.
    """
    literal = parse_id(name)
    if literal is None or isinstance(literal, Text):
        return name
    return to_id(literal.widen(DECADE) if isinstance(literal, Time) else literal.widen())


def _may_have_literals(fact: Fact) -> bool:
    """Whether an id in the fact has the sign of a literal; few facts have."""
    if MARK in fact.object or MARK in fact.subject:
        return True
    return any(MARK in value for _, value in fact.qualifiers)


def _list_counts(counts: Mapping[str, int]) -> str:
    return ", ".join(_count(count, kind) for kind, count in sorted(counts.items()) if count)


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
