"""What is written beside an operator: a name, or a time, number or text of any kind that fits."""

from __future__ import annotations

import pytest

from nqe.errors import QueryError
from nqe.graph import Fact, Graph
from nqe.graph.vocabulary import Description
from nqe.query.compared_values import read_value, write_value

GRAPH = Graph.of(
    [
        Fact("Ann", "born", "1955-03-01^^time"),
        Fact("Ann", "height", "1.7 Q11573^^number"),
        Fact("Ann", "weight", "60 kg^^number"),
        Fact("Ann", "motto", "onwards^^text"),
        Fact("Ann", "year", "Y1955"),
    ]
)
NAMES = GRAPH.vocabulary.entities.describe(
    {"Q11573": Description("metre"), "Y1955": Description("1955")}
)


def read(text: str, operator: str) -> str | None:
    """What a text becomes; None if it stays what it is, because it can be of two kinds."""
    value = read_value(text, operator, NAMES)
    written = write_value(value, text, NAMES)
    assert read_value(written, operator, NAMES) == value
    return None if len(value.literals) == 2 else written


@pytest.mark.parametrize(
    ("text", "operator", "meaning"),
    [
        ("1990", ">=", None),
        ("1990", "=", None),
        ("1955", "<", None),
        ("1955", "!=", "Y1955"),
        ("1955^^time", "!=", "1955^^time"),
        ("1990-05", "<", "1990-05^^time"),
        ("12.5", "<", "12.5^^number"),
        ("70 kg", ">", "70 kg^^number"),
        ("2 metre", ">", "2 Q11573^^number"),
        ("2 Q11573", "=", "2 Q11573^^number"),
        ("Ann", "!=", "Ann"),
        ("onwards", "=", "onwards^^text"),
        ("onwards", "<", "onwards^^text"),
        ("m", "<", "m^^text"),
    ],
)
def test_a_text_means_what_it_can_be_compared_with(
    text: str, operator: str, meaning: str | None
) -> None:
    assert read(text, operator) == meaning


@pytest.mark.parametrize(
    ("text", "operator", "message"),
    [
        ("Ann", "<", "Ann is no time, number or text, so < has no meaning for it; use = or !="),
        ("Anna", "=", "no entity is called 'Anna'; did you mean 'Ann'"),
        (
            "5 stone",
            "<",
            "no number of the graph has the unit 'stone'; its units are metre, ",
        ),
        ("1955-13^^time", "<", "'1955-13\\^\\^time' is written like a value, but"),
    ],
)
def test_what_cannot_be_compared_is_refused(text: str, operator: str, message: str) -> None:
    with pytest.raises(QueryError, match=message):
        read_value(text, operator, NAMES)


def test_a_name_is_compared_by_order_only_where_texts_are_in_the_graph() -> None:
    names = Graph.of([Fact("Ann", "born", "1955^^time")]).vocabulary.entities
    with pytest.raises(QueryError, match="'m' is neither a time nor a number; write one such as"):
        read_value("m", "<", names)
