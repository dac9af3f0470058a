"""Redundant rules: those that say nothing which a simpler rule does not say."""

from __future__ import annotations

import numpy as np

from nqe.rules.edges import EdgeKinds
from nqe.rules.redundancy import drop_redundant
from nqe.rules.rule_table import RuleTable, concatenate

KINDS = EdgeKinds.of_keys(np.arange(9), 3)


def walks(*rows: tuple[int, tuple[int, ...], int, int]) -> RuleTable:
    """Rules whose bodies are walks: head, body, support, predictions."""
    tables = [
        RuleTable.of_walks(KINDS, *(np.array([one]) for one in (head, body, support, predictions)))
        for head, body, support, predictions in rows
    ]
    return concatenate(tables)


def constants(*rows: tuple[int, int, int, int, int, int]) -> RuleTable:
    """Rules with constants: head, kind, constant, answer, support, predictions."""
    return RuleTable.of_constants(KINDS, *np.array(rows).T)


def list_bodies(table: RuleTable) -> list[list[int]]:
    return [[one for one in body if one >= 0] for body in table.body.tolist()]


def test_of_walks_with_equal_counts_the_shortest_stays() -> None:
    table = walks((0, (1, 2), 20, 40), (0, (3,), 20, 40), (0, (1, 2, 3), 20, 40))
    assert list_bodies(drop_redundant(table)) == [[3]]


def test_walks_with_other_counts_or_another_head_stay() -> None:
    table = walks((0, (1,), 20, 40), (0, (2,), 20, 41), (0, (3,), 21, 40), (1, (2,), 20, 40))
    assert len(drop_redundant(table)) == 4


def test_equal_counts_of_rare_walks_may_be_chance() -> None:
    table = walks((0, (1,), 3, 4), (0, (2,), 3, 4))
    assert len(drop_redundant(table)) == 2


def test_a_constant_that_makes_an_answer_no_likelier_says_nothing() -> None:
    alone = (0, -1, -1, 5, 50, 100)
    table = constants(alone, (0, 1, 7, 5, 20, 60), (0, 1, 8, 5, 30, 40), (0, 1, 7, 6, 5, 60))
    kept = drop_redundant(table)
    found = list(zip(kept.constant.tolist(), kept.answer.tolist(), strict=True))
    assert found == [(-1, 5), (8, 5), (7, 6)]


def test_no_rules_are_none_afterwards() -> None:
    assert len(drop_redundant(RuleTable.empty(KINDS))) == 0
