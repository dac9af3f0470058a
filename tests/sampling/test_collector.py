"""Collecting queries: how many missing links a shape allows."""

from __future__ import annotations

import pytest

from nqe.query.shapes import Shape, parse_shape
from nqe.sampling.collector import count_most_links


def test_the_most_links_of_a_shape_are_those_of_one_proof() -> None:
    found = {
        name: count_most_links(parse_shape(name)) for name in ("3p", "2u", "2in", "3cp", "pni")
    }
    assert found == {"3p": 3, "2u": 1, "2in": 1, "3cp": 4, "pni": 1}


def test_a_shape_with_an_unknown_operator_is_an_error() -> None:
    with pytest.raises(ValueError, match="unknown operator 'Xor'"):
        count_most_links(Shape("And", (Shape("P"), Shape("Xor"))))
