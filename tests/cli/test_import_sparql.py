"""`nqe import sparql:URL`: the command as it is typed, against an endpoint on localhost."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from helpers import files, nqe, start, told, well

pytest.importorskip("pyoxigraph", reason="pyoxigraph, which the endpoint runs on, is missing")

from sparql_server import Endpoint, fail, serve

WIKIDATA = """
PREFIX wd: <http://www.wikidata.org/entity/>
PREFIX wds: <http://www.wikidata.org/entity/statement/>
PREFIX wdv: <http://www.wikidata.org/value/>
PREFIX p: <http://www.wikidata.org/prop/>
PREFIX ps: <http://www.wikidata.org/prop/statement/>
PREFIX pq: <http://www.wikidata.org/prop/qualifier/>
PREFIX pqv: <http://www.wikidata.org/prop/qualifier/value/>
PREFIX wikibase: <http://wikiba.se/ontology#>
PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>
"""
"""What Wikidata's query service declares for every query."""
PRIZES = """
wd:Q7186 p:P166 wds:a, wds:b ; rdfs:label "Marie Curie"@en, "Marie Curie"@fr .
wds:a ps:P166 wd:Q38104 ; wikibase:rank wikibase:NormalRank ; pq:P1706 wd:Q37463 ;
  pq:P585 "1903-01-01T00:00:00Z"^^xsd:dateTime ; pqv:P585 wdv:a .
wds:b ps:P166 wd:Q44585 ; wikibase:rank wikibase:NormalRank ;
  pq:P585 "1911-01-01T00:00:00Z"^^xsd:dateTime ; pqv:P585 wdv:b .
wdv:a wikibase:timeValue "1903-01-01T00:00:00Z"^^xsd:dateTime ; wikibase:timePrecision 9 .
wdv:b wikibase:timeValue "1911-01-01T00:00:00Z"^^xsd:dateTime ; wikibase:timePrecision 9 .
wd:Q38104 rdfs:label "Nobel Prize in Physics"@en .
wd:Q44585 rdfs:label "Nobel Prize in Chemistry"@en .
wd:P585 rdfs:label "point in time"@en ; wikibase:qualifier pq:P585 ;
  wikibase:qualifierValue pqv:P585 .
wd:P1706 rdfs:label "together with"@en ; wikibase:qualifier pq:P1706 .
"""
PAGE = Path(__file__).parents[2] / "docs" / "from-wikidata.md"
CONSTRUCT = PAGE.read_text(encoding="utf-8").partition("```sparql\n")[2].partition("```")[0]
"""The query that the documentation shows."""
SELECT = "SELECT ?item ?prize { ?item p:P166/ps:P166 ?prize } ORDER BY ?prize"
TABLE = ("--subject", "item", "--relation-name", "award", "--object", "prize")


@pytest.fixture
def wikidata(tmp_path: Path) -> Iterator[Endpoint]:
    (tmp_path / "prizes.rq").write_text(WIKIDATA + CONSTRUCT)
    (tmp_path / "table.rq").write_text(WIKIDATA + SELECT)
    with serve(WIKIDATA + PRIZES) as endpoint:
        yield endpoint


def test_the_query_of_the_documentation_is_imported_and_asked(
    wikidata: Endpoint, tmp_path: Path
) -> None:
    command = ("import", wikidata.source, "--query", "prizes.rq", "--page-size", "2")
    run = nqe(*command, "-o", "g.graph", cwd=tmp_path)
    assert "train 2 facts" in well(run) + run.err
    question = '?w: "award received"("Marie Curie", ?x; "point in time": 1903, "together with": ?w)'
    assert "Q37463" in well(nqe("ask", "g.graph", question, cwd=tmp_path))
    assert files(tmp_path / "g.graph")
    assert not (tmp_path / "g.graph.pages").exists()


def test_a_select_is_a_table(wikidata: Endpoint, tmp_path: Path) -> None:
    command = ("import", wikidata.source, "--query", "table.rq", *TABLE, "--page-size", "1")
    well(nqe(*command, "-o", "g.graph", cwd=tmp_path))
    assert well(nqe("export", "g.graph", "-o", "-", cwd=tmp_path)).splitlines() == [
        "Q7186,award,Q38104",
        "Q7186,award,Q44585",
    ]


def test_a_failed_import_leaves_no_graph_and_goes_on(wikidata: Endpoint, tmp_path: Path) -> None:
    wikidata.faults = {2: fail(400, "no more today")}
    command = ("import", wikidata.source, "--query", "table.rq", *TABLE, "--page-size", "1")
    run = nqe(*command, "-o", "g.graph", cwd=tmp_path)
    assert "400 Bad Request: no more today" in told(run)
    assert files(tmp_path) == [
        *("g.graph.pages", "g.graph.pages/1.json", "g.graph.pages/1.lines"),
        *("prizes.rq", "table.rq"),
    ]
    run = nqe(*command, "-o", "g.graph", cwd=tmp_path)
    assert "g.graph.pages: going on after page 1" in well(run) + run.err
    assert len(wikidata.queries) == 4
    assert not (tmp_path / "g.graph.pages").exists()


def test_a_wait_is_shown(wikidata: Endpoint, tmp_path: Path) -> None:
    wikidata.faults = {1: fail(429, "", Retry_After="0")}
    run = nqe("import", wikidata.source, "--query", "prizes.rq", "-o", "g.graph", cwd=tmp_path)
    assert "429 Too Many Requests; asking again in 0 s" in well(run) + run.err


def test_ctrl_c_while_waiting_keeps_the_pages_and_no_graph(
    wikidata: Endpoint, tmp_path: Path
) -> None:
    wikidata.faults = {2: fail(503, "", Retry_After="300")}
    command = ("import", wikidata.source, "--query", "table.rq", *TABLE, "--page-size", "1")
    with start(*command, "-o", "g.graph", cwd=tmp_path) as process:
        assert process.stderr is not None
        try:
            line = b""
            while not line.endswith(b"\n"):
                line += process.stderr.read(1)
            assert b"asking again in 300 s" in line
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == 130
    assert b"1 page(s) are kept, to go on with" in errors
    assert not (tmp_path / "g.graph").exists()
    assert (tmp_path / "g.graph.pages" / "1.lines").exists()


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["{source}"], "an endpoint needs a query; give --query FILE"),
        (["{source}", "--query", "no.rq"], "no.rq: no such file; name a file with a SPARQL query"),
        (["{source}", "--query", "ask.rq"], "ask.rq: ASK gives no facts; write a SELECT or"),
        (["{source}", "--query", "binary.rq"], "binary.rq: cannot be read"),
        (["{source}", "--page-size", "5"], "--page-size is for SPARQL endpoints; give --query"),
        (["table.csv", "--query", "table.rq"], "--query is for SPARQL endpoints, and no source"),
        (["sparql:host", "--query", "table.rq"], "host: no address of the web; write sparql:http"),
        (["{source}", "--query", "table.rq"], "item, prize lacks subject, relation or object"),
        (["{source}", "--query", "prizes.rq", "--subject", "a"], "a CONSTRUCT gives RDF"),
    ],
)
def test_what_is_missing_or_does_not_fit_is_said_in_one_sentence(
    wikidata: Endpoint, tmp_path: Path, arguments: list[str], problem: str
) -> None:
    (tmp_path / "ask.rq").write_text("ASK { ?s ?p ?o }")
    (tmp_path / "binary.rq").write_bytes(b"SELECT \xff")
    (tmp_path / "table.csv").write_text("a,r,b\n")
    filled = [word.format(source=wikidata.source) for word in arguments]
    assert problem in told(nqe("import", *filled, "-o", "g.graph", cwd=tmp_path))
    assert not [name for name in files(tmp_path) if name.startswith("g.graph")]
