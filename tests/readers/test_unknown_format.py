"""Files of no known format: the error says what they look like and what to do."""

from __future__ import annotations

import io
import pickle
import sqlite3
import tarfile
import zipfile

import pytest
from helpers import ReadContent

from nqe.errors import InputError
from nqe.readers import Columns


def make_zip() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("facts.csv", "a,r,b\n")
    return buffer.getvalue()


def make_tar() -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("facts.csv"))
    return buffer.getvalue()


def make_database() -> bytes:
    with sqlite3.connect(":memory:") as connection:
        connection.execute("create table facts (a, b)")
        return connection.serialize()


JSON_LD = "JSON-LD; convert it to N-Triples"
BINDINGS = (
    '{"a": {"type": "uri", "value": "http://e.org/x"}, "b": {"value": "x", "type": "literal"}}'
)
RESULTS = "the results of a SPARQL query as .* save them as CSV, or .* sparql:URL --query FILE"

CASES: dict[str, tuple[str | bytes, str]] = {
    "an array": (
        '[{"a": 1, "b": 2, "c": 3},\n{"a": 1}]',
        "a JSON array; write one object per line",
    ),
    "an array from its second line": ('[\n  {"a": 1, "b": 2}\n]\n', "a JSON array"),
    "an array of numbers": ("[1, 2, 3]\n", "a JSON array"),
    "an array of broken objects": ("[{\n", "a JSON array"),
    "a document": ('{\n  "facts": [\n  {"a": 1}]}\n', "one JSON document; write one object"),
    "a document on one line": ('{"facts": [{"a": 1, "b": 2}]}\n', "one JSON document"),
    "XML": ('<?xml version="1.0"?>\n', "an XML document"),
    "a page": ("<!DOCTYPE html>\n<p>a,b,c</p>", "an HTML page; download the file itself"),
    "SQL": ("INSERT INTO facts VALUES (1, 2, 3);\n", "a dump of an SQL database; export a table"),
    "ZIP": (make_zip(), "a ZIP archive or an Excel .* save the sheet as CSV"),
    "tar": (make_tar(), "a tar archive; unpack it"),
    "SQLite": (make_database(), "an SQLite database; export a table as CSV"),
    "a pickle": (pickle.dumps([1]), "a Python pickle; save it as CSV or Parquet"),
    "Excel's separator": (
        "sep=;\r\nsubject;relation;object\r\n",
        "CSV of Excel .* delete this line",
    ),
    "JSON-LD": ('{\n "@context": "https://e.org",\n "name": "x"}', JSON_LD),
    "JSON-LD on one line": ('{"@context": "https://e.org", "name": "x"}\n', JSON_LD),
    "JSON-LD with Wikidata's keys": ('{"@context": {"labels": {"@id": "e:l"}}}', JSON_LD),
    "JSON-LD as an array": ('[{"name": "x", "@id": "http://e.org/x"}]', JSON_LD),
    "results of SPARQL": (f'{{"head": {{}}, "results": {{"bindings": [{BINDINGS}]}}}}', RESULTS),
    "no results of SPARQL": ('{"head":{"vars":["a"]},"results":{"bindings":[]}}', RESULTS),
    "bindings of SPARQL": (BINDINGS, RESULTS),
    "an array of bindings": (f"[\n{BINDINGS}]", RESULTS),
    "TSV of SPARQL": ('?a\t?b\t?c\t?d\n<http://e/a>\t"x"@en\t<http://e/b>\t1\n', RESULTS),
    "TSV of SPARQL in three columns": ("?s\t?p\t?o\n<e:a>\t<e:b>\t<e:c>\n", RESULTS),
    "other entities": ('{"entities": {"Q1": {"name": "x"}}}', "one JSON document"),
    "two columns": ("a,b\nc,d\n", "a table of 2 columns with commas .* --relation-name NAME"),
    "two columns by tabs": ("a\tb\nc\td\n", "a table of 2 columns with tabs"),
    "a header of two columns": (
        "source,target\na,b\n",
        r"name its columns \(--subject source --object target --relation-name NAME\)",
    ),
    "semicolons": (
        "a;r;b\n",
        "a table of 3 columns with semicolons .* --subject, --relation .*and",
    ),
}


@pytest.mark.parametrize(("content", "message"), CASES.values(), ids=CASES)
def test_a_file_of_no_format_is_told_what_it_looks_like(
    read_content: ReadContent, content: str | bytes, message: str
) -> None:
    with pytest.raises(InputError, match=f"facts:1: looks like .*{message}"):
        read_content(content)


@pytest.mark.parametrize("name", ["TSV of SPARQL", "Excel's separator", "JSON-LD"])
def test_it_is_told_too_if_columns_are_named(read_content: ReadContent, name: str) -> None:
    content, message = CASES[name]
    with pytest.raises(InputError, match=f"facts:1: .*looks like .*{message}"):
        read_content(content, columns=Columns("?a", "?b", "?c"))


def test_a_text_that_names_a_key_of_json_ld_is_a_value(read_content: ReadContent) -> None:
    content = r'{"a": "the key \"@id\": a name", "b": "x"}'
    assert [fact.relation for fact in read_content(content).graph] == ["a/b"]


@pytest.mark.parametrize("content", ["[a],r,b\n", "[1,r,b\n", "Begin Again,cast,x\n", "<a,r,b>\n"])
def test_facts_that_begin_in_the_same_way_are_read(read_content: ReadContent, content: str) -> None:
    assert len(read_content(content).graph) == 1


def test_a_broken_line_among_json_lines_is_a_bad_line(read_content: ReadContent) -> None:
    with pytest.raises(InputError, match="facts:1: not JSON"):
        read_content('{"a": "b\n{"a": "b", "c": "d"}\n')
