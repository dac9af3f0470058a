"""N-ary facts: JF17K's lines and the JSON of WikiPeople, the GRAN family and unmarked roles."""

from __future__ import annotations

import json
from typing import Any

import pytest
from helpers import ReadContent
from hypothesis import given
from hypothesis import strategies as st

from nqe.errors import InputError
from nqe.graph import Fact
from nqe.readers import BadLines
from nqe.readers.nary_facts import parse_json

values = st.text("abc", min_size=1, max_size=2)


def read_json(read_content: ReadContent, roles: dict[str, Any]) -> Fact:
    [fact] = read_content(json.dumps(roles) + "\n").graph
    return fact


def test_a_relation_and_its_entities_are_a_fact_with_numbered_attributes(
    read_content: ReadContent,
) -> None:
    dataset = read_content("rel\ta\tb\tc\td\nrel\te\tf\n", format="nary")
    assert set(dataset.graph) == {
        Fact("a", "rel", "b", (("rel_0", "c"), ("rel_1", "d"))),
        Fact("e", "rel", "f"),
    }


def test_wikipeople_marks_the_main_triple_by_endings(read_content: ReadContent) -> None:
    roles = {"P166_h": "Q937", "P166_t": "Q38104", "P585": ["1921", "1922"], "N": 4}
    expected = Fact("Q937", "P166", "Q38104", (("P585", "1921"), ("P585", "1922")))
    assert read_json(read_content, roles) == expected


def test_the_gran_family_marks_the_main_triple_by_names(read_content: ReadContent) -> None:
    roles = {"N": 3, "relation": "P166", "subject": "a", "object": "b", "P585": ["c"]}
    assert read_json(read_content, roles) == Fact("a", "P166", "b", (("P585", "c"),))
    roles["predicate"] = roles.pop("relation")
    assert read_json(read_content, roles) == Fact("a", "P166", "b", (("P585", "c"),))


def test_unmarked_roles_are_sorted_and_the_first_two_values_make_the_triple(
    read_content: ReadContent,
) -> None:
    roles = {"winner": "w", "award": "a", "year": 1921}
    assert read_json(read_content, roles) == Fact("a", "award/winner", "w", (("year", "1921"),))
    pair = {"spouse": ["x", "y"], "wedding": "z"}
    assert read_json(read_content, pair) == Fact("x", "spouse/spouse", "y", (("wedding", "z"),))


def test_a_role_ending_in_h_alone_marks_nothing(read_content: ReadContent) -> None:
    roles = {"P1_h": "a", "P2_t": "b"}
    assert read_json(read_content, roles) == Fact("a", "P1_h/P2_t", "b")


@given(
    st.dictionaries(
        st.sampled_from(["P1_h", "P1_t", "P2_h", "P2_t", "q", "p"]),
        st.lists(values, min_size=1, max_size=3),
    ),
    st.randoms(),
)
def test_every_value_of_a_line_is_in_its_fact_in_any_order_of_roles(
    roles: dict[str, list[str]], rng: Any
) -> None:
    if sum(map(len, roles.values())) < 2:
        with pytest.raises(InputError, match="but a fact has 2 or more"):
            parse_json(json.dumps(roles))
        return
    fact = parse_json(json.dumps(roles))
    held = sorted([fact.subject, fact.object, *(value for _, value in fact.qualifiers)])
    assert held == sorted(value for listed in roles.values() for value in listed)
    mixed = dict(rng.sample(list(roles.items()), len(roles)))
    assert parse_json(json.dumps(mixed)) == fact


def test_of_several_marked_triples_the_first_by_name_is_the_main_one(
    read_content: ReadContent,
) -> None:
    roles = {f"P{i}{mark}": f"{i}{mark}" for i in range(9, 0, -1) for mark in ("_h", "_t")}
    fact = read_json(read_content, roles)
    assert (fact.subject, fact.relation, fact.object) == ("1_h", "P1", "1_t")
    assert len(fact.qualifiers) == 16


def test_a_pair_equal_to_the_main_one_stays_a_qualifier(read_content: ReadContent) -> None:
    roles = {"P1_h": ["a", "a"], "P1_t": ["b", "b"]}
    expected = Fact("a", "P1", "b", (("P1_h", "a"), ("P1_t", "b")))
    assert read_json(read_content, roles) == expected


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("rel\ta", "facts:2: 1 tab-separated entities .*; add them or drop the line"),
        ("rel", "facts:2: 0 tab-separated entities"),
        ("rel\ta\t\tb", "facts:2: an empty column; fill it or drop the line"),
    ],
)
def test_a_wrong_line_of_columns_is_reported(
    read_content: ReadContent, line: str, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        read_content(f"rel\ta\tb\n{line}\n", format="nary")


@pytest.mark.parametrize(
    "names",
    ["s p o", "h r t", "source type target", "from label to", "head relation tail", "S P O"],
)
def test_other_names_of_the_parts_of_a_triple_are_to_be_renamed(
    read_content: ReadContent, names: str
) -> None:
    values = ("Ann", "knows", "Bob")
    roles = dict(zip(names.split(), values, strict=True)) | {"since": "1999"}
    parts = ", ".join(names.split())
    with pytest.raises(InputError, match=f"facts:1: the roles {parts} .* to subject, relation, ob"):
        read_json(read_content, roles)
    renamed = dict(zip(("subject", "relation", "object"), values, strict=True))
    assert read_json(read_content, renamed) == Fact(*values)
    other = {f"the {name}": value for name, value in roles.items()}
    assert len(read_json(read_content, other).qualifiers) == 2


def test_two_ends_without_a_relation_are_roles(read_content: ReadContent) -> None:
    roles = {"source": "Ann", "target": "Bob"}
    assert read_json(read_content, roles) == Fact("Ann", "source/target", "Bob")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"a": 1, "b"', r"facts:2: not JSON \(.*\); write one object per line"),
        ("[1, 2]", "facts:2: not a JSON object; write roles and their values"),
        ('{"a": null, "b": "x"}', "facts:2: role 'a' holds None; give texts"),
        ('{"a": true, "b": "x"}', "facts:2: role 'a' holds True"),
        ('{"a": {"b": 1}, "c": "x"}', "facts:2: role 'a' holds"),
        ('{"a": [["b"]], "c": "x"}', "facts:2: role 'a' holds"),
        ('{"a": " ", "b": "x"}', "facts:2: role 'a' has an empty value; fill it or drop"),
        ('{"a": "x"}', r"facts:2: 1 value\(s\), but a fact has 2 or more; add roles"),
        ('{"a": "x", "a": "y"}', "facts:2: .*a role stands twice"),
        ('{"subject": ["a", "b"], "relation": "r", "object": "c"}', "two values for 'subject'"),
        ('{"subject": "a", "relation": "r", "predicate": "p", "object": "c"}', "two values for"),
    ],
)
def test_a_wrong_line_of_json_is_reported(
    read_content: ReadContent, line: str, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        read_content(f'{{"a": "x", "b": "y"}}\n{line}\n')


@pytest.mark.parametrize(
    ("roles", "sentence"),
    [
        ({"subject": "a", "relation": "r"}, "has 'subject' and 'relation' but no 'object'; add"),
        ({"predicate": "r", "object": "b"}, "has 'object' and 'predicate' but no 'subject'; add"),
        ({"object": "a", "buyer": "b"}, "has 'object' but no 'subject' and 'relation'; add"),
        ({"subject": [], "relation": "r", "object": "b"}, "but no 'subject'; add what is missing"),
    ],
)
def test_a_main_triple_that_lacks_a_part_is_a_bad_line(roles: Any, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        parse_json(json.dumps(roles))


def test_a_role_called_object_is_an_attribute_where_endings_mark_the_triple() -> None:
    line = '{"P1_h": "a", "P1_t": "b", "object": "c"}'
    assert parse_json(line) == Fact("a", "P1", "b", (("object", "c"),))


@pytest.mark.parametrize(
    "value",
    ["[" * 100_000 + "]" * 100_000, "[" * 900 + "]" * 900, "null", "[null]", "NaN", "1e999"],
)
def test_a_value_that_is_neither_text_nor_number_is_a_bad_line(value: str) -> None:
    with pytest.raises(InputError, match=r"^(not JSON|role 'a' holds) "):
        parse_json(f'{{"a": {value}, "b": "c"}}')


def test_a_whole_number_is_read_digit_by_digit() -> None:
    digits = "123" * 2_000
    assert parse_json(f'{{"a": {digits}, "b": -7}}') == Fact(digits, "a/b", "-7")


def test_a_lone_surrogate_is_a_bad_line_that_can_be_written(read_content: ReadContent) -> None:
    bad = BadLines(skip=True)
    content = '{"a": "b", "c": "d"}\n{"a": "\\ud800", "c": "d"}\n{"\\ud800": null}\n'
    assert len(read_content(content, bad=bad).graph) == 1
    assert bad.count == 2
    assert "\\ud800" in bad.to_tsv().encode().decode()
