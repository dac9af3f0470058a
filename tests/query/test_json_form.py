"""The JSON form: writing then reading gives the same query, and errors name the place."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from query_cases import any_queries, queries

from nqe.errors import QueryError
from nqe.query import Query, parse


@given(any_queries)
def test_json_of_a_query_reads_as_the_same_query(query: Query) -> None:
    assert Query.from_json(query.to_json()) == query
    assert Query.from_json(json.dumps(query.to_json())) == query


@given(queries())
def test_python_text_and_json_convert_into_each_other(query: Query) -> None:
    assert Query.from_json(parse(str(query)).to_json()) == query


@pytest.mark.parametrize(
    ("data", "place"),
    [
        ("{", "not JSON"),
        ([], "the query"),
        ({"target": "x"}, "formula"),
        ({"target": "x", "formula": {"and": []}}, "formula.and"),
        ({"target": "x", "formula": {"relation": "p", "subject": 3, "object": "a"}}, "subject"),
        ({"target": "x", "formula": {"not": {"relation": "p"}}}, "formula.not"),
        ({"target": "x y", "formula": {"relation": "p", "subject": "a", "object": "b"}}, "x y"),
    ],
)
def test_an_error_in_json_names_its_place(data: object, place: str) -> None:
    with pytest.raises(QueryError, match=place.replace(".", r"\.")):
        Query.from_json(data)


@pytest.mark.parametrize("depth", [150, 300, 900])
def test_json_that_is_nested_too_deep_is_refused(depth: int) -> None:
    formula: dict[str, object] = {"relation": "p", "subject": {"variable": "x"}, "object": "a"}
    for _ in range(depth):
        formula = {"not": formula}
    data = {"target": "x", "formula": formula}
    for written in (data, json.dumps(data)):
        with pytest.raises(QueryError, match="nested more than 100 deep"):
            _ = Query.from_json(written).graph
