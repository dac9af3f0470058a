"""Statements: subject, relation, object, then alternately attribute and value."""

from __future__ import annotations

import pytest
from helpers import ReadContent

from nqe.errors import InputError
from nqe.graph import Fact


def test_a_line_is_a_fact_with_its_qualifiers(read_content: ReadContent) -> None:
    dataset = read_content("a,r,b\nc,r,d,q,e,q,e,p,f\n")
    assert set(dataset.graph) == {
        Fact("a", "r", "b"),
        Fact("c", "r", "d", (("p", "f"), ("q", "e"), ("q", "e"))),
    }


def test_quotes_keep_commas_and_quotes_in_a_name(read_content: ReadContent) -> None:
    dataset = read_content('"Paris, Texas",r,"the ""big"" one"\n"a", r , " b "\n')
    assert set(dataset.graph) == {Fact("Paris, Texas", "r", 'the "big" one'), Fact("a", "r", "b")}


def test_a_quote_within_a_name_is_part_of_it(read_content: ReadContent) -> None:
    assert set(read_content('disk 5",r,b\n').graph) == {Fact('disk 5"', "r", "b")}


def test_quotes_after_a_space_are_quotes(read_content: ReadContent) -> None:
    assert set(read_content('a, r, "b, c"\n').graph) == {Fact("a", "r", "b, c")}


def test_tabs_separate_where_the_first_line_has_any(read_content: ReadContent) -> None:
    dataset = read_content("a, b\tr\tc\tq\td\n", format="statements")
    assert set(dataset.graph) == {Fact("a, b", "r", "c", (("q", "d"),))}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("a,r,b,P580", "facts:2: qualifier 'P580' has no value; add one or drop the pair"),
        ("a,r", r"facts:2: 2 part\(s\) with a comma between them.*; add what is missing"),
        ("a", r"facts:2: 1 part\(s\)"),
        ("a,r,b,,c", "facts:2: part 4 is empty; fill it or drop the statement"),
        (",r,b", "facts:2: part 1 is empty"),
        ('"a,r,b', "facts:2: .*; close the quotes"),
        ('"a"b,r,c', "facts:2: .*; close the quotes"),
        ("a\x00,r,b", "facts:2: a NUL byte, which no text has"),
        ("a\x07,r,b", "facts:2: entity id .* has a line break, a control character"),
    ],
)
def test_a_wrong_line_is_reported_with_file_line_and_what_to_do(
    read_content: ReadContent, line: str, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        read_content(f"x,r,y\n{line}\nx,r,z\n")
