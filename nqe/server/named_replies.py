"""Replies about single things: entities and relations with their names, facts, answers, rules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from nqe.answering.answers import Answer
from nqe.graph.entity_facts import EntityFacts
from nqe.graph.fact import Fact
from nqe.graph.graph import Graph
from nqe.graph.vocabulary import Names
from nqe.query.reason import RuleReason
from nqe.rules.rule_text import RuleText

Json = dict[str, Any]


class NamedReplies:
    """Builds replies about what is named in one graph."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.entities, self.relations = graph.vocabulary.entities, graph.vocabulary.relations

    def entity(self, number: int) -> Json:
        """An entity with its names."""
        return show_name(self.entities, number)

    def relation(self, number: int) -> Json:
        """A relation with its names."""
        return show_name(self.relations, number)

    @staticmethod
    def by_id(names: Names, name: str) -> Json:
        """The entity or relation of an id, with its names."""
        number = names.number(name)
        assert number is not None, "a fact's names are in the graph's vocabulary"
        return show_name(names, number)

    def cells(self, ids: Sequence[str], names: Sequence[Names]) -> list[Json]:
        """The cells of a row; `names` are where those of each column are."""
        pairs = zip(names, ids, strict=True)
        return [{**self.by_id(one, name), "kind": one.kind} for one, name in pairs]

    def fact(self, fact: Fact) -> Json:
        """A fact in ids and in labels."""
        return {
            "subject": self.by_id(self.entities, fact.subject),
            "relation": self.by_id(self.relations, fact.relation),
            "object": self.by_id(self.entities, fact.object),
            "qualifiers": [
                [self.by_id(self.relations, attribute), self.by_id(self.entities, value)]
                for attribute, value in fact.qualifiers
            ],
        }

    def facts_of(self, found: EntityFacts, most: int) -> Json:
        """The facts of an entity by the slot that it is in."""
        lists = {name: getattr(found, name) for name in ("as_subject", "as_object", "as_value")}
        counted = {fact.ids for facts in lists.values() for fact in facts}
        return {
            "aliases": list(found.aliases),
            "fact_count": len(counted),
            **{name: [self.fact(one.ids) for one in facts[:most]] for name, facts in lists.items()},
        }

    def answer(self, found: Answer, measure: str = "probability") -> Json:
        """One answer."""
        return {
            **self.entity(found.entity),
            "probability": None,
            "score": None,
            measure: found.probability,
            "source": found.source,
            "seen": found.seen,
            "elsewhere": found.elsewhere,
        }

    def member(self, entity: int, probability: float, known: bool) -> Json:
        """A member of a step's set, as an answer."""
        return {**self.entity(entity), **measure(probability, known)}

    def fired(self, found: RuleReason) -> Json:
        """A rule with the facts that fire it."""
        facts = [self.fact(self.graph.fact(row)) for row in found.rows]
        return {**count_rule(found), "rule": found.rule, "facts": facts}


def show_name(names: Names, number: int) -> Json:
    """An entity or a relation with its names."""
    return {
        "id": names.ids[number],
        "label": names.labels[number],
        "description": names.descriptions[number],
    }


def count_rule(found: RuleText | RuleReason) -> Json:
    """A rule in words, and its counts."""
    names = ("words", "support", "predictions", "confidence")
    return {name: getattr(found, name) for name in names}


def measure(probability: float, known: bool) -> Json:
    """How likely a member of a step's set is, and where it comes from."""
    return {
        "probability": probability,
        "score": None,
        "source": "stated" if known else "predicted",
        "seen": True,
        "elsewhere": False,
    }
