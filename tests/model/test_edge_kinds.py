"""Kinds of edges: the matrix of a fact, against one written by hand and one by names."""

from __future__ import annotations

import pytest
import torch
from slow_model import edge

from nqe.model.edge_kinds import EDGES, edge_kinds

# By hand: s, r, o, a1, v1, a2, v2.
OF_ARITY_4 = """
self s-r  s-o  s-a     s-v     s-a     s-v
s-r  self r-o  r-a     r-v     r-a     r-v
s-o  r-o  self o-a     o-v     o-a     o-v
s-a  r-a  o-a  self    a_i-v_i a_i-a_j a_i-v_j
s-v  r-v  o-v  a_i-v_i self    a_i-v_j v_i-v_j
s-a  r-a  o-a  a_i-a_j a_i-v_j self    a_i-v_i
s-v  r-v  o-v  a_i-v_j v_i-v_j a_i-v_i self
"""


def test_a_fact_of_arity_4_has_all_14_kinds() -> None:
    assert len(set(EDGES)) == len(EDGES) == 14
    assert set(edge_kinds(4).flatten().tolist()) == set(range(14))


def test_the_matrix_of_arity_4_agrees_with_the_one_written_by_hand() -> None:
    rows = [line.split() for line in OF_ARITY_4.strip().splitlines()]
    assert [[EDGES[kind] for kind in row] for row in edge_kinds(4).tolist()] == rows


@pytest.mark.parametrize("arity", [2, 3, 5, 9, 67])
def test_the_matrix_is_symmetric_and_its_diagonal_is_self(
    arity: int,
) -> None:
    kinds = edge_kinds(arity)
    assert kinds.shape == (2 * arity - 1, 2 * arity - 1)
    assert torch.equal(kinds, kinds.T)
    assert torch.equal(kinds == EDGES.index("self"), torch.eye(len(kinds), dtype=torch.bool))


def test_kinds_follow_from_the_names_of_the_elements() -> None:
    kinds = edge_kinds(7)
    for i in range(len(kinds)):
        for j in range(i):
            assert EDGES[kinds[i, j]] == edge(i, j)


@pytest.mark.parametrize("arity", [2, 3, 4, 6])
def test_the_matrix_of_a_shorter_fact_is_a_corner_of_a_longer_one(arity: int) -> None:
    length = 2 * arity - 1
    assert torch.equal(edge_kinds(arity), edge_kinds(8)[:length, :length])
