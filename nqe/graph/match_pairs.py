"""Matches given facts with given patterns: which of many pairs fit."""

from __future__ import annotations

import numpy as np

from nqe.graph.arrays import Booleans, Integers
from nqe.graph.entity_set import distinct
from nqe.graph.fact_columns import Facts
from nqe.graph.match_qualifiers import QualifierMatcher
from nqe.graph.pattern import FIRST_QUALIFIER, OBJECT, SUBJECT, Patterns
from nqe.graph.restrictions import Restrictions


def match_pairs(
    facts: Facts, entity_count: int, patterns: Patterns, pattern: Integers, row: Integers
) -> Booleans:
    """Whether each fact, by its row, matches the pattern that it is paired with."""
    fits: Booleans = facts.relation[row] == patterns.relation[pattern]
    places = np.flatnonzero(fits)  # few, so that the rest is quick
    fits[places] = _match(facts, entity_count, patterns, pattern[places], row[places])
    return fits


def _match(
    facts: Facts, entity_count: int, patterns: Patterns, pattern: Integers, row: Integers
) -> Booleans:
    """The same for facts of the patterns' relations."""
    restrictions = Restrictions(patterns, entity_count)
    slots = np.diff(patterns.first_slot)
    extra = facts.qualifier_count[row] - (slots[pattern] - FIRST_QUALIFIER)
    fits: Booleans = np.where(patterns.closed[pattern] == 1, extra == 0, extra >= 0)
    first = patterns.first_slot[pattern]
    fits &= restrictions.allow(first + SUBJECT, facts.subject[row])
    fits &= restrictions.allow(first + OBJECT, facts.object[row])
    slot_pattern = np.repeat(np.arange(len(patterns)), slots)
    position = np.arange(len(slot_pattern)) - patterns.first_slot[slot_pattern]
    matcher = QualifierMatcher(facts, patterns, slot_pattern, position, restrictions.allow, None)
    places = np.flatnonzero(fits)
    candidate, group, _ = matcher.match(pattern[places], row[places])
    groups = len(matcher.group_pattern) + 1
    mapped = distinct(candidate * groups + group) // groups
    mapped_count = np.bincount(mapped, minlength=len(places))
    fits[places] = mapped_count == matcher.group_count[pattern[places]]
    return fits
