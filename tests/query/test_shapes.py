"""Shapes: the table of the 16, their names in any order of inputs, and parsing of trees."""

from __future__ import annotations

import pytest
from hypothesis import given
from query_cases import queries

from nqe.errors import QueryError
from nqe.query import SHAPES, Query
from nqe.query.compiler import compile_tree
from nqe.query.shapes import NEGATIVE, POSITIVE, Shape, parse_shape


def test_there_are_eleven_positive_shapes_and_five_with_negation() -> None:
    assert len(POSITIVE) == 11
    assert NEGATIVE == ("2in", "3in", "inp", "pin", "pni")


@pytest.mark.parametrize("name", SHAPES)
def test_every_shape_has_one_name_and_parses_from_its_tree(name: str) -> None:
    assert parse_shape(SHAPES[name]).name == name
    assert str(parse_shape(name)) == SHAPES[name]


def test_the_order_of_inputs_does_not_change_the_name() -> None:
    assert parse_shape("And(Not(P()), P(P()))").name == "pin"
    assert parse_shape("And(P(), P(P()))").name == "pi"


@given(queries())
def test_the_text_of_any_shape_parses_to_the_same_shape(query: Query) -> None:
    shape = Shape.of(compile_tree(query.graph))
    assert parse_shape(str(shape)) == shape


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "ends too early"),
        ("5p", "'5p' is none of P, And, Or, Not, Any"),
        ("P", r"no '\(' after P"),
        ("P(P()", "a bracket is not closed"),
        ("And(P())", r"And does not take 1 input"),
        ("Not(P(), P())", r"Not does not take 2 input"),
        ("P() P()", "'P' is left over"),
    ],
)
def test_an_error_in_a_shape_is_explained(text: str, message: str) -> None:
    with pytest.raises(QueryError, match=message):
        parse_shape(text)
