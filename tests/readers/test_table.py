"""Tables: a header, one row per fact, one column per attribute."""

from __future__ import annotations

import gzip
import io
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from helpers import ReadContent
from pyarrow import parquet

from nqe.errors import InputError
from nqe.graph import Fact
from nqe.readers import BadLines, Columns, read, table
from nqe.readers.source import Source

EXPECTED = {Fact("a", "r", "b", (("since", "1999"),)), Fact("c", "r", "d", (("until", "2001"),))}
ROWS = [
    ["subject", "relation", "object", "since", "until"],
    ["a", "r", "b", "1999", ""],
    ["c", "r", "d", "", "2001"],
]


def parquet_bytes(columns: dict[str, list[Any]] | pa.Table) -> bytes:
    buffer = io.BytesIO()
    table = columns if isinstance(columns, pa.Table) else pa.table(columns)
    parquet.write_table(table, buffer)
    return buffer.getvalue()


@pytest.mark.parametrize("separator", [",", "\t", ";", "|"])
def test_a_header_and_rows_are_read_and_an_empty_cell_is_no_qualifier(
    read_content: ReadContent, separator: str
) -> None:
    content = "".join(separator.join(row) + "\n" for row in ROWS)
    assert set(read_content(content).graph) == EXPECTED


def test_parquet_is_read_like_text(read_content: ReadContent) -> None:
    columns = {name: [row[place] for row in ROWS[1:]] for place, name in enumerate(ROWS[0])}
    assert set(read_content(parquet_bytes(columns)).graph) == EXPECTED


def test_numbers_dates_and_nothing_in_parquet_are_texts_and_nothing(
    read_content: ReadContent,
) -> None:
    columns = {
        "subject": [1, 2],
        "relation": ["r", "r"],
        "object": [True, False],
        "x": [0, None],
        "y": [float("nan"), 1.5],
    }
    assert set(read_content(parquet_bytes(columns)).graph) == {
        Fact("1", "r", "True", (("x", "0"),)),
        Fact("2", "r", "False", (("y", "1.5"),)),
    }


def test_a_list_in_parquet_is_several_qualifiers(read_content: ReadContent) -> None:
    columns = {
        "subject": ["a", "c"],
        "relation": ["r", "r"],
        "object": ["b", "d"],
        "q": [["x", "x", None, ""], []],
    }
    assert set(read_content(parquet_bytes(columns)).graph) == {
        Fact("a", "r", "b", (("q", "x"), ("q", "x"))),
        Fact("c", "r", "d"),
    }


def test_columns_of_one_name_are_qualifiers_of_one_attribute(read_content: ReadContent) -> None:
    expected = {Fact("a", "r", "b", (("q", "x"), ("q", "y")))}
    text = "subject,relation,object,q,q\na,r,b,x,y\n"
    assert set(read_content(text).graph) == expected
    names = ["subject", "relation", "object", "q", "q"]
    table = pa.Table.from_arrays([pa.array([cell]) for cell in "arbxy"], names=names)
    assert set(read_content(parquet_bytes(table)).graph) == expected


def test_the_main_columns_may_be_in_any_position_and_case(read_content: ReadContent) -> None:
    dataset = read_content("q,OBJECT,Relation, Subject \nx,b,r,a\n")
    assert set(dataset.graph) == {Fact("a", "r", "b", (("q", "x"),))}


def test_a_column_in_the_right_case_goes_before_one_in_another(read_content: ReadContent) -> None:
    dataset = read_content("Subject,subject,relation,object\nx,a,r,b\n")
    assert set(dataset.graph) == {Fact("a", "r", "b", (("Subject", "x"),))}


def test_the_main_columns_may_have_other_names(read_content: ReadContent) -> None:
    columns = Columns(subject="_start", relation="_type", object="_end")
    dataset = read_content("_start,_end,_type,subject\na,b,r,x\n", columns=columns)
    assert set(dataset.graph) == {Fact("a", "r", "b", (("subject", "x"),))}


def test_a_column_without_a_name_is_ignored(read_content: ReadContent) -> None:
    dataset = read_content(",subject,relation,object\n0,a,r,b\n")
    assert set(dataset.graph) == {Fact("a", "r", "b")}


def test_quoted_cells_may_hold_the_separator_and_quotes(read_content: ReadContent) -> None:
    dataset = read_content('subject;relation;object\n"a;""b""";r;"c"\n')
    assert set(dataset.graph) == {Fact('a;"b"', "r", "c")}


def test_a_header_longer_than_the_first_look_is_read(read_content: ReadContent) -> None:
    header = ["subject", "relation", "object", *(f"attribute_{i:06}" for i in range(6_000))]
    row = ["a", "r", "b", *[""] * 5_999, "x"]
    dataset = read_content(f"{','.join(header)}\n{','.join(row)}\n")
    assert set(dataset.graph) == {Fact("a", "r", "b", (("attribute_005999", "x"),))}


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("a,r", "facts:3: 2 cells, but the header has 4; add or drop some"),
        ("a,r,b,x,y", "facts:3: 5 cells, but the header has 4"),
        ("a,,b,", "facts:3: subject, relation and object need one value each; fill them"),
        ('a,r,"b,', "facts:3: .*; close the quotes on the line they are opened"),
    ],
)
def test_a_wrong_row_is_reported(read_content: ReadContent, row: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_content(f"subject,relation,object,q\na,r,b,x\n{row}\nc,r,d,\n")


def test_an_unclosed_quote_costs_its_own_line_alone(read_content: ReadContent) -> None:
    bad = BadLines(skip=True)
    dataset = read_content('subject,relation,object\n"a,r,b\nc,r,d\ne,r,f\n', bad=bad)
    assert set(dataset.graph) == {Fact("c", "r", "d"), Fact("e", "r", "f")}
    assert bad.count == 1


def test_a_structure_in_a_cell_is_reported_with_its_row(read_content: ReadContent) -> None:
    columns = {
        "subject": ["a", "b"],
        "relation": ["r", "r"],
        "object": ["b", "c"],
        "q": [None, {"x": 1}],
    }
    with pytest.raises(InputError, match=r"facts:2: a cell holds \{'x': 1\}; give texts"):
        read_content(parquet_bytes(columns))


@pytest.mark.parametrize("header", ["a,b,c", "subject,relation,value", "x"])
def test_a_header_without_the_main_columns_is_reported(
    read_content: ReadContent, header: str
) -> None:
    names = ", ".join(header.split(","))
    expected = rf"facts:1: the header {names} lacks subject, relation or object; name the columns"
    with pytest.raises(InputError, match=rf"{expected} with --subject, --relation"):
        read_content(f"{header}\n1,2,3\n", format="table")


def test_a_parquet_file_without_the_main_columns_is_reported(read_content: ReadContent) -> None:
    with pytest.raises(InputError, match="the header s, p, o lacks subject"):
        read_content(parquet_bytes({"s": ["a"], "p": ["r"], "o": ["b"]}))


def test_damaged_parquet_is_reported(read_content: ReadContent) -> None:
    whole = parquet_bytes({name: [name] * 500 for name in ("subject", "relation", "object")})
    for size in (20, len(whole) // 2, len(whole) - 1):
        with pytest.raises(InputError, match=r"facts: damaged Parquet \(.*\); get the file again"):
            read_content(whole[:size])


@pytest.mark.parametrize(
    "header", ["head,relation,tail", "Subject,Predicate,Object", ":START_ID,:TYPE,:END_ID"]
)
def test_names_that_other_tools_use_are_known_as_a_header(header: str, tmp_path: Path) -> None:
    file = tmp_path / "edges.csv"
    file.write_text(f"{header},since\na,knows,b,1999\n")
    assert list(read(file).graph) == [Fact("a", "knows", "b", (("since", "1999"),))]


def _wrong_text() -> pa.Array:
    ends = pa.array([0, 1, 2], pa.int32()).buffers()[1]
    return pa.Array.from_buffers(pa.string(), 2, [None, ends, pa.py_buffer(b"\xffx")])


# Columns whose first cell is not a text, and whose second one is.
HOSTILE_COLUMNS: dict[str, tuple[pa.Array, str | None]] = {
    "nanoseconds": (pa.array([1, 1_000], pa.timestamp("ns")), "1970-01-01 00:00:00.000001"),
    "a far time": (pa.array([2**61, 1_000], pa.timestamp("ms")), "1970-01-01 00:00:01"),
    "a far date": (pa.array([2**30, 0], pa.date32()), "1970-01-01"),
    "a short duration": (pa.array([1, 1_000], pa.duration("ns")), "0:00:00.000001"),
    "a list of nanoseconds": (
        pa.array([[1], [1_000]], pa.list_(pa.timestamp("ns"))),
        "1970-01-01 00:00:00.000001",
    ),
    "wrong UTF-8": (_wrong_text(), "x"),
    "bytes": (pa.array([b"x", None]), None),
    "a list of lists": (pa.array([[["x"]], None]), None),
    "a struct": (pa.array([{"x": 1}, None]), None),
    "a map": (pa.array([[("x", 1)], None], pa.map_(pa.string(), pa.int8())), None),
}


@pytest.mark.parametrize(("column", "text"), HOSTILE_COLUMNS.values(), ids=HOSTILE_COLUMNS)
def test_a_parquet_cell_that_is_no_text_is_a_bad_line(
    read_content: ReadContent, column: pa.Array, text: str | None
) -> None:
    names = {"subject": ["a", "c"], "relation": ["r", "r"], "object": ["b", "d"]}
    content = parquet_bytes(pa.table(names | {"q": column}))
    with pytest.raises(
        InputError, match=r"facts:1: a cell holds .*; (give texts|store it as text)"
    ):
        read_content(content)
    bad = BadLines(skip=True)
    expected = Fact("c", "r", "d", (("q", text),) if text else ())
    assert set(read_content(content, bad=bad).graph) == {expected}
    assert bad.count == 1


@pytest.mark.parametrize(
    ("column", "text"),
    [
        (pa.array(["x"]).dictionary_encode(), "x"),
        (pa.array([Decimal("1.10")]), "1.10"),
        (pa.array([1.5], pa.float16()), "1.5"),
        (pa.array([float("nan")], pa.float16()), None),
        (pa.nulls(1), None),
        (pa.array([[None, "x"]]), "x"),
    ],
)
def test_unusual_types_of_parquet_are_texts(
    read_content: ReadContent, column: pa.Array, text: str | None
) -> None:
    names = {"subject": ["a"], "relation": ["r"], "object": ["b"]}
    [fact] = read_content(parquet_bytes(pa.table(names | {"q": column}))).graph
    assert fact.qualifiers == ((("q", text),) if text else ())


def test_parquet_columns_of_one_name_are_values_of_one_attribute(read_content: ReadContent) -> None:
    columns = [pa.array([cell]) for cell in "arbxy"]
    names = ["subject", "relation", "object", "q", "q"]
    [fact] = read_content(parquet_bytes(pa.Table.from_arrays(columns, names=names))).graph
    assert fact == Fact("a", "r", "b", (("q", "x"), ("q", "y")))


def test_a_limit_beyond_every_machine_number_reads_everything(read_content: ReadContent) -> None:
    assert len(read_content("a,r,b\nc,r,d\n", limit=2**63).graph) == 2


@pytest.mark.parametrize("column", [pa.array(["xyz"] * 9), pa.array([["xyz"]] * 9)])
def test_a_text_that_many_rows_of_parquet_share_is_held_once(
    tmp_path: Path, column: pa.Array
) -> None:
    """A long one would fill the memory from a file of a few kilobytes."""
    names = {"subject": list("abcdefghi"), "relation": ["r"] * 9, "object": ["o"] * 9}
    (tmp_path / "facts").write_bytes(parquet_bytes(pa.table(names | {"q": column})))
    with Source(str(tmp_path / "facts")) as source:
        facts = [record for _, record in table.read(source) if isinstance(record, Fact)]
    assert [fact.qualifiers for fact in facts] == [(("q", "xyz"),)] * 9
    assert len({id(fact.qualifiers[0][1]) for fact in facts}) == 1


def test_lists_of_texts_and_nothing_are_read_in_their_rows(read_content: ReadContent) -> None:
    lists = [["x", "y"], None, [], [None, "x"], ["z"]]
    names = {"subject": list("abcde"), "relation": ["r"] * 5, "object": ["o", "p", "o", "o", "p"]}
    content = parquet_bytes(pa.table(names | {"q": lists}))
    expected = {
        Fact(subject, "r", object_, tuple(("q", value) for value in values or () if value))
        for subject, object_, values in zip(names["subject"], names["object"], lists, strict=True)
    }
    assert set(read_content(content).graph) == expected
    assert set(read_content(gzip.compress(content)).graph) == expected
