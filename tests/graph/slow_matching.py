"""Slow and obvious matching of patterns, to judge the index by."""

from __future__ import annotations

from itertools import permutations

from nqe.graph import EntitySet, Fact, FactSource, Pattern
from nqe.graph.pattern import Restriction


def allows(restriction: Restriction, entity: int) -> bool:
    match restriction:
        case None:
            return True
        case EntitySet():
            return (entity in restriction.members.tolist()) != restriction.inverted
        case known:
            return entity == known


def entities_of(source: FactSource, fact: Fact, pattern: Pattern) -> list[tuple[int, ...]]:
    """The entities in the pattern's slots, for each way in which the fact matches it."""
    entity, relation = source.vocabulary.entities.resolve, source.vocabulary.relations.resolve
    size = len(pattern.attributes)
    if relation(fact.relation) != pattern.relation:
        return []
    if pattern.closed and len(fact.qualifiers) != size:
        return []
    found = []
    for chosen in permutations(fact.qualifiers, size):
        entities = tuple(map(entity, (fact.subject, fact.object, *(value for _, value in chosen))))
        attributes = tuple(relation(attribute) for attribute, _ in chosen)
        if attributes == pattern.attributes and all(map(allows, pattern.slots, entities)):
            found.append(entities)
    return found


def match_by_brute_force(source: FactSource, pattern: Pattern) -> tuple[list[int], list[int]]:
    """The answers and the rows of a pattern, from every way to match every fact."""
    found = [
        (row, entities[pattern.asked])
        for row in range(len(source))
        for entities in entities_of(source, source.fact(row), pattern)
    ]
    return sorted({entity for _, entity in found}), sorted({row for row, _ in found})
