"""The page for users of SPARQL: both columns of its table have the same answers."""

from __future__ import annotations

import html
import re

import pytest
from test_docs import ROOT, blocks_of

import nqe
from nqe.graph import Graph
from nqe.readers.rdf_names import read_iri
from nqe.writers.rdf import list_statement_lines

pyoxigraph = pytest.importorskip("pyoxigraph", reason="pyoxigraph, the second engine, is missing")
read_literal = pytest.importorskip("nqe.readers.rdf_terms").read_literal

PAGE = ROOT / "docs" / "coming-from-sparql.md"
PROPERTY = "http://www.wikidata.org/prop/"
PREFIXES = {
    "wd": "http://www.wikidata.org/entity/",
    "p": PROPERTY,
    "ps": f"{PROPERTY}statement/",
    "pq": f"{PROPERTY}qualifier/",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
}
HEAD = "".join(f"PREFIX {name}: <{iri}>\n" for name, iri in PREFIXES.items())
ROW = re.compile(
    r"^\| .+ \| (?:`|<code>)(?P<sparql>(?:SELECT|ASK) .+?)(?:`|</code>) "
    r"\| `(?P<query>\?.+|count .+)` \|$",
    re.MULTILINE,
)
TABLE_HEAD = "| construct | SPARQL | NQE |\n|---|---|---|\n"
TABLE = PAGE.read_text(encoding="utf-8").partition(TABLE_HEAD)[2].partition("\n\n")[0]
EXAMPLES = [
    pytest.param(html.unescape(row["sparql"]), row["query"], id=row["query"])
    for row in ROW.finditer(TABLE)
]


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Graph:
    folder = tmp_path_factory.mktemp("people")
    for block in blocks_of(PAGE):
        if block.marker == "file":
            (folder / block.value).write_text(block.text, encoding="utf-8")
    return nqe.read(mapping=folder / "people.toml").graph


@pytest.fixture(scope="module")
def store(people: Graph):
    engine = pyoxigraph.Store()
    text = "".join(list_statement_lines(people))
    engine.bulk_load(text.encode(), format=pyoxigraph.RdfFormat.N_TRIPLES)
    return engine


def name(term) -> str | int:
    """The id of what a store gives, or a count."""
    if isinstance(term, pyoxigraph.NamedNode):
        return read_iri(term.value)
    literal = read_literal(term)
    return int(term.value) if literal.endswith("^^number") else literal


def answer(found) -> set[tuple[str | int, ...]] | bool:
    """The solutions of a SELECT as a set, or what an ASK says."""
    if isinstance(found, pyoxigraph.QueryBoolean):
        return bool(found)
    return {tuple(map(name, solution)) for solution in found}


@pytest.mark.parametrize(("sparql", "query"), EXAMPLES)
def test_both_columns_have_the_same_answers(sparql: str, query: str, people: Graph, store) -> None:
    expected = answer(store.query(HEAD + sparql))
    found = {(row,) if isinstance(row, str) else row for row in nqe.execute(query, people)}
    assert expected, "a row without answers shows nothing"
    assert (bool(found) if expected is True else found) == expected


def test_every_row_of_the_table_is_tested() -> None:
    assert len(EXAMPLES) == len(TABLE.splitlines()) > 25
