"""What an import does with literals: skip, keep, bands."""

from __future__ import annotations

import io
from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from nqe.errors import InputError, NqeError
from nqe.graph import Fact
from nqe.readers import Columns, LiteralPolicy, LiteralType, read
from nqe.readers.literal_policy import find_band

LINES = """Curie,born,1867-11-07^^time
Curie,award,Nobel,year,1903^^time,with,Pierre
Curie,name,Marie^^text@fr
Paris,population,2102650^^number,year,2023^^time
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "facts.txt"
    path.write_text(LINES)
    return path


def test_literals_are_kept_by_default(file: Path) -> None:
    dataset = read(file)
    assert Fact("Curie", "born", "1867-11-07^^time") in set(dataset.graph)
    assert LiteralPolicy().describe(dataset) == "literals kept: 1 number, 1 text, 3 times"


def test_statements_and_qualifiers_with_literals_are_left_out(file: Path) -> None:
    policy = LiteralPolicy("skip")
    dataset = read(file, literals=policy)
    assert list(dataset.graph) == [Fact("Curie", "award", "Nobel", (("with", "Pierre"),))]
    assert dataset.vocabulary.entities.literals is None
    assert policy.describe(dataset) == (
        "literals left out: 3 statements (1 number, 1 text, 1 time), 1 qualifier (1 time)"
    )


@pytest.mark.parametrize("name", ["skip", "bands"])
def test_a_policy_that_found_no_literals_says_so(tmp_path: Path, name: str) -> None:
    (tmp_path / "table.csv").write_text("subject,relation,object,year\nCurie,award,Nobel,1903\n")
    policy = LiteralPolicy(name)
    told = policy.describe(read(tmp_path / "table.csv", literals=policy))
    assert told is not None
    assert told.startswith(f"--literals {name}: no literals were found, so nothing was changed; ")
    assert "mapping file" in told
    assert LiteralPolicy().describe(read(tmp_path / "table.csv")) is None


def test_times_go_into_decades_and_numbers_into_bands(file: Path) -> None:
    policy = LiteralPolicy("bands")
    dataset = read(file, literals=policy)
    assert set(dataset.graph) == {
        Fact("Curie", "born", "186X^^time"),
        Fact("Curie", "award", "Nobel", (("year", "190X^^time"), ("with", "Pierre"))),
        Fact("Curie", "name", "Marie^^text@fr"),
        Fact("Paris", "population", "2000000..5000000^^number", (("year", "202X^^time"),)),
    }
    assert policy.describe(dataset) == "literals in bands: 1 number, 1 text, 3 times"


@given(st.floats(allow_nan=False, allow_infinity=False, min_value=-1e300, max_value=1e300))
def test_a_band_is_its_own_band(value: float) -> None:
    from nqe.readers.typed_values import read_cell

    band = find_band(read_cell(value))
    assert find_band(band) == band


def test_longer_spans_texts_and_ordinary_ids_stay_as_they_are() -> None:
    for name in ("17XX^^time", "some text^^text", "Q42", "a^^b"):
        assert find_band(name) == name


def test_a_file_of_which_nothing_is_left_says_why(tmp_path: Path) -> None:
    path = tmp_path / "facts.txt"
    path.write_text("Curie,born,1867-11-07^^time\n")
    with pytest.raises(InputError, match="give --literals keep or bands"):
        read(path, literals="skip")


def test_a_literal_that_is_not_in_its_form_is_a_bad_line(tmp_path: Path) -> None:
    path = tmp_path / "facts.txt"
    path.write_text("Curie,born,1867-11-7^^time\n")
    for policy in (None, "keep", "bands"):
        with pytest.raises(InputError, match=r"facts\.txt:1: .*is written like a value"):
            read(path, literals=policy)


def test_an_unknown_policy_is_refused() -> None:
    with pytest.raises(NqeError, match="choose one of skip, keep, bands"):
        LiteralPolicy("all")


def test_a_saved_graph_is_read_as_it_is(file: Path, tmp_path: Path) -> None:
    read(file).save(tmp_path / "graph")
    with pytest.raises(InputError, match="leave out --format, --limit and --literals"):
        read(tmp_path / "graph", literals="skip")


def test_numbers_and_dates_of_parquet_are_literals_if_asked_for(tmp_path: Path) -> None:
    columns = {
        "subject": [1, 2],
        "relation": ["born", "height"],
        "object": [date(1867, 11, 7), None],
        "metres": [None, 1.6],
    }
    buffer = io.BytesIO()
    parquet.write_table(pa.table(columns).slice(0, 1), buffer)
    path = tmp_path / "table.parquet"
    path.write_bytes(buffer.getvalue())
    assert list(read(path).graph) == [Fact("1", "born", "1867-11-07")]
    assert list(read(path, literals="keep").graph) == [Fact("1", "born", "1867-11-07^^time")]


def test_every_number_and_date_of_pandas_is_a_literal_if_asked_for(tmp_path: Path) -> None:
    columns = {
        "subject": pa.array([7.0, None]),
        "relation": pa.array(["r", None]),
        "object": pa.array([1903.0, None]),
        "single": pa.array([0.1, None], pa.float32()),
        "list": pa.array([[2.5, 3.0], None], pa.list_(pa.float32())),
        "exact": pa.array([Decimal("1.50"), None]),
        "day": pa.array([datetime(2001, 5, 31), None]),
        "moment": pa.array([datetime(2001, 5, 31, 12), None], pa.timestamp("us", "UTC")),
        "category": pa.array(["a", None]).dictionary_encode(),
    }
    path = tmp_path / "table.parquet"
    parquet.write_table(pa.table(columns).slice(0, 1), path)
    assert list(read(path, literals="keep").graph) == [
        Fact(
            "7",
            "r",
            "1903^^number",
            (
                *(("single", "0.1^^number"), ("list", "2.5^^number"), ("list", "3^^number")),
                *(("exact", "1.5^^number"), ("day", "2001-05-31^^time"), ("category", "a")),
                ("moment", "2001-05-31T12:00:00^^time"),
            ),
        )
    ]


def test_a_declared_type_goes_before_that_of_a_column_of_parquet(tmp_path: Path) -> None:
    path = tmp_path / "table.parquet"
    columns = {"a": ["x"], "b": [1903.0], "c": [12], "number": [7], "name": ["seven"]}
    parquet.write_table(pa.table(columns), path)
    literals = (("b", LiteralType("time")), ("c", LiteralType("number", unit="kg")))
    meaning = Columns("a", object="b", relation_name="r", qualifiers=(("c", "c"),))
    for policy in (None, "keep"):
        [fact] = read(path, columns=replace(meaning, literals=literals), literals=policy).graph
        assert fact == Fact("x", "r", "1903^^time", (("c", "12 kg^^number"),))


def test_an_object_that_has_a_label_is_no_literal(tmp_path: Path) -> None:
    path = tmp_path / "table.parquet"
    parquet.write_table(pa.table({"a": [1], "b": [7], "name": ["seven"]}), path)
    meaning = Columns("a", object="b", relation_name="r", object_label="name")
    dataset = read(path, columns=meaning, literals="keep")
    assert list(dataset.graph) == [Fact("1", "r", "7")]
    assert dataset.vocabulary.entities.resolve("seven") is not None


def test_numbers_of_json_are_literals_if_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "facts.json"
    path.write_text(
        '{"subject": 7, "relation": "population", "object": 2.10e6, "year": [2023, "2024"]}\n'
    )
    [plain] = read(path).graph
    assert plain == Fact("7", "population", "2100000.0", (("year", "2023"), ("year", "2024")))
    [typed] = read(path, literals="keep").graph
    assert typed == Fact(
        "7", "population", "2100000^^number", (("year", "2023^^number"), ("year", "2024"))
    )
