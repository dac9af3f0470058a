"""Drop rules that say nothing which a simpler rule does not say."""

from __future__ import annotations

import numpy as np

from nqe.graph.arrays import Booleans
from nqe.rules.edges import find_sorted
from nqe.rules.rule_table import RuleTable

NO_CHANCE = 10
"""Walks with at least this support, and equal counts, are taken to predict the same."""


def drop_redundant(table: RuleTable) -> RuleTable:
    """The rules that are not redundant.

    A rule with a constant is redundant if its answer is as likely without a body. A walk is
    redundant if a walk of the same head that is not longer has the same counts.
    """
    return table.take(~(_find_idle_constants(table) | _find_equal_walks(table)))


def _find_idle_constants(table: RuleTable) -> Booleans:
    entities = int(table.answer.max(initial=0)) + 1
    keys = table.head * entities + table.answer
    alone = np.flatnonzero((table.answer >= 0) & (table.length == 0))
    alone = alone[np.argsort(keys[alone])]
    place = find_sorted(keys[alone], keys)
    simple = np.where(place >= 0, np.append(table.confidence[alone], 0.0)[place], 0.0)
    idle: Booleans = (table.constant >= 0) & (table.confidence <= simple)
    return idle


def _find_equal_walks(table: RuleTable) -> Booleans:
    walks = np.flatnonzero(table.is_walk & (table.support >= NO_CHANCE))
    columns = (table.length, table.predictions, table.support, table.head)
    order = walks[np.lexsort(tuple(column[walks] for column in (*table.body.T[::-1], *columns)))]
    equal = np.ones(max(len(order) - 1, 0), dtype=bool)
    for column in columns[1:]:
        equal &= np.diff(column[order]) == 0
    redundant = np.zeros(len(table), dtype=bool)
    redundant[order[1:][equal]] = True
    return redundant
