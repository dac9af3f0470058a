"""Tables: a header, one row per fact, one column per attribute."""

from __future__ import annotations

import gzip
import io
from datetime import datetime
from decimal import Decimal
from itertools import zip_longest
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


@pytest.mark.parametrize(
    ("header", "lacks"),
    [
        ("a,b,c", "subject, relation or object; name the columns with --subject, --relation and"),
        ("subject,relation,value", "object; name the columns with --object, or give --no-header"),
        ("x", "subject, relation or object"),
    ],
)
def test_a_header_without_the_main_columns_is_reported(
    read_content: ReadContent, header: str, lacks: str
) -> None:
    names = ", ".join(header.split(","))
    with pytest.raises(InputError, match=rf"facts:1: the header {names} lacks {lacks}"):
        read_content(f"{header}\n1,2,3\n", format="table")


def test_a_parquet_file_without_the_main_columns_is_reported(read_content: ReadContent) -> None:
    with pytest.raises(InputError, match="the header s, p, o lacks subject, relation or object"):
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


ROUTES = {Fact("HEL", "route", "LHR", (("airline", "AY"),)), Fact("LHR", "route", "JFK")}
# Tables of the same two facts, and what must be said about their columns.
TABLES: dict[str, tuple[str, Columns]] = {
    "any names": (
        "a,airline,z,what\nHEL,AY,LHR,route\nLHR,,JFK,route\n",
        Columns(subject="a", relation="what", object="z"),
    ),
    "one other name": (
        "source,what,target,airline\nHEL,route,LHR,AY\nLHR,route,JFK,\n",
        Columns(relation="what"),
    ),
    "a constant relation": (
        "source,target,airline\nHEL,LHR,AY\nLHR,JFK,\n",
        Columns(relation_name="route"),
    ),
    "a constant relation beside any names": (
        "a\tairline\tz\nHEL\tAY\tLHR\nLHR\t\tJFK\n",
        Columns(subject="a", object="z", relation_name="route"),
    ),
    "no header, names given": (
        "HEL;LHR;AY\nLHR;JFK;\n",
        Columns(names=("from", "to", "airline"), relation_name="route"),
    ),
    "no header, numbers": (
        "AY|route|HEL|LHR\n|route|LHR|JFK\n",
        Columns("3", "2", "4", qualifiers=(("1", "airline"),), header=False),
    ),
    "no header, a constant relation": (
        "HEL,LHR,AY\nLHR,JFK,\n",
        Columns(relation_name="route", qualifiers=(("3", "airline"),), header=False),
    ),
    "chosen qualifiers": (
        "source,relation,target,note,airline\nHEL,route,LHR,x,AY\nLHR,route,JFK,y,\n",
        Columns(qualifiers=(("airline", "airline"),)),
    ),
    "a mark of missing values": (
        "source,relation,target,airline\nHEL,route,LHR,AY\nLHR,route,JFK,NULL\n",
        Columns(missing=frozenset({"NULL"})),
    ),
    "a given separator": (
        "source|relation|target|airline,\nHEL|route|LHR|AY\nLHR|route|JFK|\n",
        Columns(separator="|", qualifiers=(("airline,", "airline"),)),
    ),
}


@pytest.mark.parametrize(("content", "columns"), TABLES.values(), ids=TABLES)
def test_tables_as_people_have_them_are_read_as_their_columns_mean(
    read_content: ReadContent, content: str, columns: Columns
) -> None:
    assert set(read_content(content, columns=columns).graph) == ROUTES


def test_without_a_header_other_columns_are_attributes_named_by_their_numbers(
    read_content: ReadContent,
) -> None:
    dataset = read_content("a,r,b,x\n", columns=Columns(header=False))
    assert set(dataset.graph) == {Fact("a", "r", "b", (("column_4", "x"),))}


def test_a_column_may_state_further_facts_and_describe_ids(read_content: ReadContent) -> None:
    content = (
        "code,name,about,also,kind,city,to,to_name\n"
        "HEL,Helsinki Airport,big,Vantaa|EFHK,airport,Helsinki,LHR,Heathrow\n"
        "LHR,,,,,London,HEL,\n"
    )
    columns = Columns(
        subject="code",
        object="to",
        relation_name="route",
        properties=(("kind", "type"), ("city", "located in")),
        label="name",
        description="about",
        aliases="also",
        object_label="to_name",
    )
    dataset = read_content(content, columns=columns)
    assert set(dataset.graph) == {
        Fact("HEL", "route", "LHR"),
        Fact("LHR", "route", "HEL"),
        Fact("HEL", "type", "airport"),
        Fact("HEL", "located in", "Helsinki"),
        Fact("LHR", "located in", "London"),
    }
    names = dataset.vocabulary.entities
    assert names.labels[names.resolve("HEL")] == "Helsinki Airport"
    assert names.resolve("EFHK") == names.resolve("Vantaa") == names.resolve("HEL")
    assert names.resolve("Heathrow") == names.resolve("LHR")


# What is said about columns and is wrong, with the content and the error.
WRONG_COLUMNS: dict[str, tuple[str, Columns, str]] = {
    "a column that is not there": (
        "source,target\na,b\n",
        Columns(relation="nosuch"),
        "facts:1: the header source, target has no column 'nosuch'; correct --relation",
    ),
    "one of three is unclear": (
        "source,kind,target\na,r,b\n",
        Columns(subject="source"),
        r"lacks relation; name the columns with --relation \(--relation-name NAME if",
    ),
    "a first line that is no header": (
        "a,b\nc,d\n",
        Columns(relation_name="r"),
        "the header a, b lacks subject or object; .* give --no-header if this line is a row",
    ),
    "one column twice": (
        "a,b\nc,d\n",
        Columns(subject="a", object="a", relation_name="r"),
        "subject and object are the same column, a; name two",
    ),
    "too few columns": (
        "a,b\nc,d\n",
        Columns(header=False),
        "facts:1: the table of columns 1, 2 lacks object; name the columns with --object",
    ),
    "names that stand in the first line": (
        "x,y\na,b\n",
        Columns(subject="x", object="y", relation_name="r", names=("x", "y")),
        "facts:1: the first line is a header with the names .*; leave out --columns",
    ),
    "rows of another width": (
        "a,b,c\n",
        Columns(names=("source", "target"), relation_name="r"),
        "facts:1: 3 cells, but the table has 2; add or drop some",
    ),
    "a qualifier that is not there": (
        "source,relation,target\na,r,b\n",
        Columns(qualifiers=(("year", "year"),)),
        "has no column 'year'; correct --qualifiers",
    ),
    "JSON lines": (
        '{"subject": "a", "relation": "r", "object": "b"}\n',
        Columns(subject="subject"),
        "facts:1: not a table; it looks like JSON lines, .*; leave out --format",
    ),
}


@pytest.mark.parametrize(
    ("content", "columns", "message"), WRONG_COLUMNS.values(), ids=WRONG_COLUMNS
)
def test_columns_that_do_not_fit_are_reported(
    read_content: ReadContent, content: str, columns: Columns, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        read_content(content, columns=columns)


def test_a_column_of_the_relation_and_one_relation_for_all_rows_exclude_each_other() -> None:
    with pytest.raises(InputError, match=r"at once; choose one of them"):
        Columns(relation="r", relation_name="route")


def test_columns_mean_nothing_in_other_formats_and_saved_graphs(
    read_content: ReadContent, tmp_path: Path
) -> None:
    columns = Columns(subject="a")
    with pytest.raises(InputError, match="the format statements has no columns with names; leave"):
        read_content("a,r,b\n", format="statements", columns=columns)
    read_content("a,r,b\n").save(tmp_path / "g.graph")
    with pytest.raises(InputError, match="a saved graph has no columns; leave out"):
        read(tmp_path / "g.graph", columns=columns)


def test_whole_numbers_that_pandas_wrote_with_a_fraction_are_whole(
    read_content: ReadContent,
) -> None:
    text = "subject,relation,object,year,share\na,r,b,1903.0,1.0\nc,r,d,,0.5\ne,r,f,1911.0,2.0\n"
    assert set(read_content(text).graph) == {
        Fact("a", "r", "b", (("share", "1.0"), ("year", "1903"))),
        Fact("c", "r", "d", (("share", "0.5"),)),
        Fact("e", "r", "f", (("share", "2.0"), ("year", "1911"))),
    }


DAY, NOON = datetime(2001, 5, 1), datetime(2001, 5, 1, 12)
# Columns as pandas writes them, with the texts of their cells.
PANDAS_COLUMNS: dict[str, tuple[pa.Array, list[str | None]]] = {
    "integers with gaps": (pa.array([1903.0, None, float("nan")]), ["1903", None, None]),
    "nullable integers": (pa.array([1903, None, 7], pa.int16()), ["1903", None, "7"]),
    "fractions": (pa.array([1.5, 2.0, 1e300]), ["1.5", "2", "1e+300"]),
    "short fractions": (pa.array([0.1, 3, None], pa.float32()), ["0.1", "3", None]),
    "lists of short fractions": (pa.array([[0.1], [], None], pa.list_(pa.float32())), ["0.1"]),
    "booleans": (pa.array([True, False, None]), ["True", "False", None]),
    "dates": (pa.array([DAY, None, DAY], pa.timestamp("ns")), ["2001-05-01", None, "2001-05-01"]),
    "times": (
        pa.array([DAY, NOON, None], pa.timestamp("us")),
        ["2001-05-01 00:00:00", "2001-05-01 12:00:00", None],
    ),
    "times of a zone": (
        pa.array([DAY, None, None], pa.timestamp("us", "UTC")),
        ["2001-05-01 00:00:00+00:00", None, None],
    ),
    "categories": (pa.array(["x", None, "y"]).dictionary_encode(), ["x", None, "y"]),
    "nothing": (pa.nulls(3), [None, None, None]),
}


@pytest.mark.parametrize(("column", "texts"), PANDAS_COLUMNS.values(), ids=PANDAS_COLUMNS)
def test_the_types_of_pandas_are_written_as_people_do(
    read_content: ReadContent, column: pa.Array, texts: list[str | None]
) -> None:
    names = {"subject": list("abc"), "relation": ["r"] * 3, "object": ["o"] * 3}
    dataset = read_content(parquet_bytes(pa.table(names | {"q": column})))
    found = {fact.subject: fact.qualifiers for fact in dataset.graph}
    assert found == {
        subject: (("q", text),) if text else ()
        for subject, text in zip_longest(names["subject"], texts)
    }


def test_the_row_numbers_of_pandas_are_no_qualifiers(read_content: ReadContent) -> None:
    columns = {"subject": ["a"], "relation": ["r"], "object": ["b"], "__index_level_0__": [7]}
    assert set(read_content(parquet_bytes(columns)).graph) == {Fact("a", "r", "b")}


def test_parquet_has_its_own_names(read_content: ReadContent) -> None:
    content = parquet_bytes({"subject": ["a"], "relation": ["r"], "object": ["b"]})
    with pytest.raises(InputError, match="Parquet, whose columns have names; leave out --no-head"):
        read_content(content, columns=Columns(header=False))
    [fact] = read_content(content, columns=Columns(relation_name="knows", qualifiers=())).graph
    assert fact == Fact("a", "knows", "b")


@pytest.mark.parametrize("name", ["relation", "Predicate", ":TYPE"])
def test_one_relation_for_a_table_with_a_column_of_relations_is_refused(
    name: str, read_content: ReadContent
) -> None:
    content = f"subject,{name},object\na,r,b\n"
    with pytest.raises(InputError, match=f"--relation-name gives .* has a column '{name}'; leave"):
        read_content(content, "t.csv", columns=Columns(relation_name="knows"))
    for qualifiers, pairs in (((), ()), (((name, "kind"),), (("kind", "r"),))):
        columns = Columns(relation_name="knows", qualifiers=qualifiers)
        dataset = read_content(content, "t.csv", columns=columns)
        assert list(dataset.graph) == [Fact("a", "knows", "b", pairs)]
