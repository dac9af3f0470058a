"""Detection of formats from the content alone."""

from __future__ import annotations

import pytest
from helpers import ReadContent
from hypothesis import given
from hypothesis import strategies as st

from nqe.errors import InputError
from nqe.graph import Fact
from nqe.readers import Columns
from nqe.readers.relation_column import is_relation_first, may_be_statements, suggest_names


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("a,r,b\n", Fact("a", "r", "b")),
        ("a,r,b", Fact("a", "r", "b")),
        ("\n  \na,r,b\n", Fact("a", "r", "b")),
        ("BZhang,knows,Li\n", Fact("BZhang", "knows", "Li")),
        ("BZh5,r,b\n", Fact("BZh5", "r", "b")),
        ("PAR1s,r,o\n", Fact("PAR1s", "r", "o")),
        ('"{a",r,b\n', Fact("{a", "r", "b")),
        ('{"subject": "a", "relation": "r", "object": "b"}', Fact("a", "r", "b")),
        ('  {"P1_h": "a", "P1_t": "b"}\n', Fact("a", "P1", "b")),
        ("Subject,Relation,Object\na,r,b\n", Fact("a", "r", "b")),
        ("subject\trelation\tobject\na\tr\tb\n", Fact("a", "r", "b")),
    ],
)
def test_one_line_is_enough_to_detect_the_format(
    read_content: ReadContent, content: str, expected: Fact
) -> None:
    assert set(read_content(content).graph) == {expected}


def test_of_tab_separated_columns_the_relation_is_what_varies_less(
    read_content: ReadContent,
) -> None:
    statements = read_content("a\tr\tb\nc\tr\td\ne\tr\tf\tq\tg\n")
    assert set(statements.vocabulary.relations.ids) == {"r", "q"}
    nary = read_content("r\ta\tb\nr\tc\td\nr\te\tf\tg\th\n")
    assert set(nary.vocabulary.relations.ids) == {"r", "r_0", "r_1"}


def test_a_bad_line_among_tab_separated_statements_does_not_make_them_something_else(
    read_content: ReadContent,
) -> None:
    with pytest.raises(InputError, match="facts:3: qualifier 'q' has no value"):
        read_content("a\tr\tb\nc\tr\td\ne\tr\tf\tq\ng\tr\th\n")


def test_tab_separated_columns_that_could_be_either_ask_for_the_format(
    read_content: ReadContent,
) -> None:
    content = "a\tr\tb\n"
    with pytest.raises(InputError, match=r"give --format nary \(first\) or --format statements"):
        read_content(content)
    assert set(read_content(content, format="statements").graph) == {Fact("a", "r", "b")}
    assert set(read_content(content, format="nary").graph) == {Fact("r", "a", "b")}


QUADRUPLES = {
    "a time": "Ann\tmet\tBob\t2014-01-09\nCid\tmet\tDan\t2014-01-16\nEve\tsaw\tAnn\t2014-02-01\n",
    "a time, sorted by subject": "A\tmet\tB\t2014\nA\tsaw\tC\t2015\nA\thit\tD\t2016\n",
    "a score": "Ann\tmet\tBob\t0.04\nCid\tmet\tDan\t0.9\nEve\tsaw\tAnn\t0.5\n",
    "a word": "Ann\tmet\tBob\tx\nCid\tmet\tDan\ty\nEve\tsaw\tAnn\tz\n",
    "a longer line": "A\tmet\tB\tx\nC\tmet\tD\tx\nE\tmet\tF\tx\ty\tz\n",
    "one line": "Ann\tmet\tBob\there\n",
}


@pytest.mark.parametrize("content", QUADRUPLES.values(), ids=QUADRUPLES)
def test_quadruples_are_not_taken_for_a_relation_and_its_entities(
    read_content: ReadContent, content: str
) -> None:
    advice = r"columns in .* \(such as --columns subject,relation,object,column_4\), or .* nary if"
    with pytest.raises(InputError, match=f"facts:1: cannot tell which of the 4 cells .*{advice}"):
        read_content(content)


def test_the_names_that_are_suggested_follow_the_column_that_varies_least(
    read_content: ReadContent,
) -> None:
    content = "<1>\tAnn\tmet\tBob\n<2>\tCid\tmet\tDan\n<3>\tAnn\tmet\tCid\n"
    with pytest.raises(InputError, match=r"\(such as --columns column_1,subject,relation,object\)"):
        read_content(content)


@given(st.lists(st.lists(st.sampled_from(["", "a", "b", "1"]), min_size=1), min_size=1))
def test_whatever_the_rows_are_the_questions_have_answers(rows: list[list[str]]) -> None:
    assert is_relation_first(rows) in (True, False, None)
    assert may_be_statements(rows) in (True, False)
    assert {"subject", "relation", "object"} <= set(suggest_names(rows))


def test_the_options_that_are_named_for_quadruples_read_them(read_content: ReadContent) -> None:
    content = QUADRUPLES["one line"]
    columns = Columns(names=("subject", "relation", "object", "column_4"))
    asserted = set(read_content(content, columns=columns).graph)
    assert asserted == {Fact("Ann", "met", "Bob", (("column_4", "here"),))}
    nary = set(read_content(content, format="nary").graph)
    assert nary == {Fact("met", "Ann", "Bob", (("Ann_0", "here"),))}


def test_a_first_column_that_varies_much_less_is_the_relation_of_equally_long_lines(
    read_content: ReadContent,
) -> None:
    dataset = read_content("won\ta\tb\tc\nwon\td\te\tf\n")
    assert set(dataset.vocabulary.relations.ids) == {"won", "won_0"}


@pytest.mark.parametrize("separator", ["\t", ","])
@pytest.mark.parametrize(
    "content",
    [
        "/a/1 /r/Not hot cold {x}\n/a/2 /r/IsA cat pet {x}\n/a/3 /r/IsA dog pet {x}\n",
        "A met B 2014 2015\nC met D 2016 2017\nE met F 2016 2018\n",
        "".join(f"A{n} met B{n} C{n} D{n}\n" for n in range(8)),
        "".join(f"A{n} B{n} bleeding\n" for n in range(8)),
    ],
)
def test_rows_that_do_not_vary_as_statements_do_are_asked_about(
    read_content: ReadContent, content: str, separator: str
) -> None:
    with pytest.raises(
        InputError, match=r"facts:1: cannot tell which .*format statements if|first or second"
    ):
        read_content(content.replace(" ", separator))


def test_rows_of_an_even_number_of_cells_with_commas_are_a_table(read_content: ReadContent) -> None:
    advice = r"--subject, --relation \(or --relation-name NAME .* and --no-header if"
    for content in ("staff,unit,chief,place\na,b,c,d\ne,b,c,d\n", ",one,two,three\n0,a,b,c\n"):
        with pytest.raises(InputError, match=f"looks like a table of 4 columns .*{advice}"):
            read_content(content)


@pytest.mark.parametrize("content", ["a b c\n", "a\n", "s p o .\n"])
def test_a_format_that_cannot_be_detected_lists_the_formats(
    read_content: ReadContent, content: str
) -> None:
    with pytest.raises(InputError, match=r"cannot be detected .*--format \(statements, nary, tab"):
        read_content(content)


@pytest.mark.parametrize("content", [b"", b"\n\n", b" \r\n", b"\xef\xbb\xbf"])
def test_an_empty_file_is_reported(read_content: ReadContent, content: bytes) -> None:
    with pytest.raises(InputError, match="facts: empty; there is nothing to import"):
        read_content(content)


@pytest.mark.parametrize("format", ["statements", "nary", "table"])
def test_an_empty_file_is_reported_with_a_format_too(
    read_content: ReadContent, format: str
) -> None:
    with pytest.raises(InputError, match="facts: empty; there is nothing to import"):
        read_content("", format=format)


def test_a_header_alone_is_empty(read_content: ReadContent) -> None:
    with pytest.raises(InputError, match="facts: empty"):
        read_content("subject,relation,object\n")


def test_an_unknown_format_lists_the_known_ones(read_content: ReadContent) -> None:
    with pytest.raises(InputError, match="unknown format 'cvs'; choose one of statements, nary"):
        read_content("a,r,b\n", format="cvs")


def test_a_table_whose_columns_have_other_names_is_detected_by_them(
    read_content: ReadContent,
) -> None:
    columns = Columns("from", "type", "to")
    dataset = read_content("from,type,to\na,r,b\n", columns=columns)
    assert set(dataset.graph) == {Fact("a", "r", "b")}
