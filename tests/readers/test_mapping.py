"""Mapping files: which columns of which files mean what."""

from __future__ import annotations

from pathlib import Path

import pytest

from nqe.errors import InputError
from nqe.graph import Fact
from nqe.readers import BadLines, LiteralPolicy, read

MAPPING = """
["airports.csv"]
subject = "code"
label = "name"
type = "kind"
properties = { city = "located in", opened = "opened" }

["more/routes.csv"]
header = false
subject = 1
object = 2
relation_name = "route"
qualifiers = { 3 = "airline" }
missing = ["NULL"]
split = "test"
"""
AIRPORTS = """code,name,kind,city,opened,comment
HEL,Helsinki Airport,airport,Helsinki,1952.0,big
LHR,Heathrow,airport,London,,
"""
ROUTES = "HEL,LHR,AY\nLHR,HEL,NULL\n"
OF_AIRPORTS = {
    Fact("HEL", "type", "airport"),
    Fact("HEL", "located in", "Helsinki"),
    Fact("HEL", "opened", "1952"),
    Fact("LHR", "type", "airport"),
    Fact("LHR", "located in", "London"),
}
OF_ROUTES = {Fact("HEL", "route", "LHR", (("airline", "AY"),)), Fact("LHR", "route", "HEL")}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "map.toml").write_text(MAPPING)
    (tmp_path / "airports.csv").write_text(AIRPORTS)
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "routes.csv").write_text(ROUTES)
    return tmp_path


def test_all_files_of_a_mapping_are_read_into_one_graph(place: Path) -> None:
    dataset = read(mapping=place / "map.toml")
    assert set(dataset.split("train")) == OF_AIRPORTS
    assert set(dataset.split("test")) == OF_ROUTES
    names = dataset.vocabulary.entities
    assert names.labels[names.resolve("LHR")] == "Heathrow"


def test_of_a_mapping_only_the_files_that_are_named_are_read(place: Path) -> None:
    for source in (place / "more" / "routes.csv", str(place / "more" / "routes.csv")):
        assert set(read(source, mapping=place / "map.toml").graph) == OF_ROUTES


def test_a_mapping_may_be_kept_apart_from_its_files(place: Path) -> None:
    (place / "maps").mkdir()
    (place / "map.toml").rename(place / "maps" / "map.toml")
    dataset = read(place / "airports.csv", mapping=place / "maps" / "map.toml")
    assert set(dataset.graph) == OF_AIRPORTS


def test_a_file_may_have_several_sections(place: Path) -> None:
    (place / "map.toml").write_text(
        """
        [["airports.csv"]]
        subject = "code"
        label = "name"

        [["airports.csv"]]
        subject = "city"
        relation_name = "has airport"
        object = "code"
        qualifiers = ["kind"]
        """
    )
    dataset = read(mapping=place / "map.toml")
    assert set(dataset.graph) == {
        Fact("Helsinki", "has airport", "HEL", (("kind", "airport"),)),
        Fact("London", "has airport", "LHR", (("kind", "airport"),)),
    }
    assert dataset.vocabulary.entities.resolve("Heathrow") is not None


PEOPLE = """id,name,born,height,motto,spouse,married
1,Marie,1867-11-07,1.60,Rien n'est à craindre,2,1895.0
"""
LITERALS = """
[["people.csv"]]
subject = "id"
label = "name"
properties = ["born", "height", "motto"]
literals.born = "time"
literals.height = { kind = "number", unit = "m" }
literals.motto = { kind = "text", language = "FR" }

[["people.csv"]]
subject = "id"
object = "spouse"
relation_name = "spouse"
qualifiers = { married = "since" }
literals = { married = "time" }
"""
OF_PEOPLE = {
    Fact("1", "born", "1867-11-07^^time"),
    Fact("1", "height", "1.6 m^^number"),
    Fact("1", "motto", "Rien n'est à craindre^^text@fr"),
    Fact("1", "spouse", "2", (("since", "1895^^time"),)),
}
BANDS = {
    Fact("1", "born", "186X^^time"),
    Fact("1", "height", "1..2 m^^number"),
    Fact("1", "motto", "Rien n'est à craindre^^text@fr"),
    Fact("1", "spouse", "2", (("since", "189X^^time"),)),
}


@pytest.mark.parametrize(
    ("literals", "facts"),
    [
        (None, OF_PEOPLE),
        ("keep", OF_PEOPLE),
        ("bands", BANDS),
        ("skip", {Fact("1", "spouse", "2")}),
    ],
)
def test_columns_may_hold_times_numbers_and_texts(
    tmp_path: Path, literals: str | None, facts: set[Fact]
) -> None:
    (tmp_path / "map.toml").write_text(LITERALS)
    (tmp_path / "people.csv").write_text(PEOPLE)
    assert set(read(mapping=tmp_path / "map.toml", literals=literals).graph) == facts


def test_a_value_that_does_not_fit_its_type_is_a_bad_line(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("id,born,height\na,1867-13-01,1.6\nb,1859,5 ft\nc,1859,\n")
    (tmp_path / "map.toml").write_text(
        "['people.csv']\nsubject = 'id'\nproperties = ['born', 'height']\n"
        "literals = { born = 'time', height = { kind = 'number', unit = 'm' } }\n"
    )
    bad = BadLines(skip=True)
    dataset = read(mapping=tmp_path / "map.toml", bad=bad)
    assert set(dataset.graph) == {Fact("c", "born", "1859^^time")}
    assert [place for place, _ in bad.kept] == [f"{tmp_path}/people.csv:{n}" for n in (2, 3)]
    assert [line.problem for _, line in bad.kept] == [
        "1867-13-01 is no time of the calendar; write YYYY, YYYY-MM or YYYY-MM-DD",
        "'5 ft' has another unit than m; convert it",
    ]


def test_a_table_of_which_literals_are_skipped_may_leave_nothing(place: Path) -> None:
    (place / "map.toml").write_text(
        "['airports.csv']\nsubject = 'code'\nproperties = ['opened']\nliterals.opened = 'time'\n"
        "['more/routes.csv']\nheader = false\nrelation_name = 'route'\nliterals.3 = 'text'\n"
    )
    policy = LiteralPolicy("skip")
    dataset = read(mapping=place / "map.toml", literals=policy)
    assert set(dataset.graph) == {Fact("HEL", "route", "LHR"), Fact("LHR", "route", "HEL")}
    assert policy.statements == {"time": 1}
    with pytest.raises(InputError, match=r"airports.csv: every statement is about a literal"):
        read(place / "airports.csv", mapping=place / "map.toml", literals="skip")


def test_descriptions_alone_make_no_graph(place: Path) -> None:
    (place / "map.toml").write_text("['airports.csv']\nsubject = 'code'\nlabel = 'name'\n")
    with pytest.raises(InputError, match=r"no statement to take \(only descriptions of ids\)"):
        read(mapping=place / "map.toml")


WRONG_LITERALS = "['airports.csv']\nsubject = 'code'\nlabel = 'name'\nliterals = "
WRONG = {
    "no table of literals": (WRONG_LITERALS + "'x'", "literals: 'x' is no table; write { column"),
    "no kind of literals": (
        WRONG_LITERALS + "{ name = 'date' }",
        r"\] literals name: unknown kind of values 'date'; choose one of time, number, text",
    ),
    "no kind": (
        WRONG_LITERALS + "{ name = { unit = 'm' } }",
        "literals name: no kind; write { kind",
    ),
    "no key of a literal": (
        WRONG_LITERALS + "{ name = { kind = 'time', zone = 'x' } }",
        "literals name: unknown key 'zone'; write",
    ),
    "a unit of a time": (
        WRONG_LITERALS + "{ name = { kind = 'time', unit = 'm' } }",
        "literals name: a time has no unit; leave it out, or name a number",
    ),
    "no language": (
        WRONG_LITERALS + "{ name = { kind = 'text', language = 'e n' } }",
        "literals name: 'e n' is no language; write a code such as en",
    ),
    "literals that are labels": (
        WRONG_LITERALS + "{ name = 'text' }",
        r"airports.csv:1: the column 'name' has no objects, qualifiers or properties; correct lit",
    ),
    "no column of literals": (
        WRONG_LITERALS + "{ nome = 'text' }",
        r"airports.csv:1: the header .* has no column 'nome'; correct literals in .*map.toml",
    ),
    "no section": ("", "no section in it; write one for each file"),
    "no TOML": ("a = [", "not a TOML file"),
    "a key outside": ("subject = 'a'", r"\[subject\]: not a section; write"),
    "an unknown key": ("['a.csv']\nobjekt = 'a'", "unknown key 'objekt'; use subject, relation"),
    "no name": ("['a.csv']\nsubject = true", r"\[a.csv\] subject: True is no name; give one"),
    "an empty name": ("['a.csv']\nsubject = ' '", "subject: ' ' is no name"),
    "no list": ("['a.csv']\nnames = 'a'", "names: 'a' is no list; write"),
    "no truth": ("['a.csv']\nheader = 'no'", "header: 'no' is neither true nor false"),
    "no split": ("['a.csv']\nsplit = 'dev'", "split: 'dev' is not possible; choose one of 'tr"),
    "no separator": ("['a.csv']\nseparator = '#'", "'#' is not possible; choose one of ','"),
    "no file": ("['a.csv']\nsubject = 'x'", "a.csv: no such file; check the path"),
    "no column": (
        "['airports.csv']\nsubject = 'kode'\nlabel = 'name'",
        r"airports.csv:1: the header .* has no column 'kode'; correct subject in .*map.toml \[",
    ),
    "names that stand in the first line": (
        "['airports.csv']\nnames = ['code', 'name', 'kind', 'city', 'opened', 'comment']\n"
        "subject = 'code'\nlabel = 'name'",
        "the first line is a header with the names that were given; leave out names",
    ),
    "no object": (
        "['airports.csv']\nsubject = 'code'\nrelation_name = 'r'",
        r"lacks object; name the columns with object in .*, or give header = false if",
    ),
}


@pytest.mark.parametrize(("text", "message"), WRONG.values(), ids=WRONG)
def test_a_wrong_mapping_is_reported_with_its_place(place: Path, text: str, message: str) -> None:
    (place / "map.toml").write_text(text)
    with pytest.raises(InputError, match=message):
        read(mapping=place / "map.toml")


def test_a_source_without_a_section_is_reported(place: Path) -> None:
    with pytest.raises(InputError, match=r"x.csv: no section of .*map.toml is about this file"):
        read("x.csv", mapping=place / "map.toml")


def test_a_mapping_and_a_format_exclude_each_other(place: Path) -> None:
    with pytest.raises(InputError, match="a mapping and options about columns or the format; put"):
        read(mapping=place / "map.toml", format="table")


def test_without_any_source_there_is_nothing_to_read() -> None:
    with pytest.raises(InputError, match="no source is given; name files, a folder, or a mapping"):
        read()
