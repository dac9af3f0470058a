"""SPARQL endpoints as sources, against a real one on localhost: what is read, and pages of it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyoxigraph", reason="pyoxigraph, which the endpoint runs on, is missing")

from sparql_server import TURTLE, XML, Endpoint, Reply, serve

from nqe.errors import InputError, NqeError
from nqe.graph import Dataset
from nqe.readers import BadLines, Columns, EndpointQuery, LeftOut, WikidataPolicy, read

PREFIXES = """
PREFIX : <http://e/>
PREFIX wd: <http://www.wikidata.org/entity/>
PREFIX wds: <http://www.wikidata.org/entity/statement/>
PREFIX p: <http://www.wikidata.org/prop/>
PREFIX ps: <http://www.wikidata.org/prop/statement/>
PREFIX pq: <http://www.wikidata.org/prop/qualifier/>
PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>
PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#>
"""
TOWNS = (
    PREFIXES
    + """
:a :road :b . :b :road :c . :c :road :d . :d :road :e . :e :road :a .
:a :founded "1903-06-01"^^xsd:date . :a :people 1200 . :a :motto "Hey"@en, "a\\nb" .
:a rdfs:label "Aville"@en .
"""
)
ROADS = PREFIXES + "SELECT ?subject ?relation ?object { ?subject ?relation ?object } "
ROAD_FACTS = [f"({one}, road, {other})" for one, other in ("ab", "bc", "cd", "de", "ea")]


@dataclass
class Heard:
    """What an import said, and how long it waited."""

    told: list[str] = field(default_factory=list)
    waits: list[float] = field(default_factory=list)


@pytest.fixture
def heard() -> Heard:
    return Heard()


@pytest.fixture
def towns() -> Iterator[Endpoint]:
    with serve(TOWNS) as endpoint:
        yield endpoint


def ask(
    endpoint: Endpoint,
    text: str,
    page_size: int = 100,
    folder: Path | None = None,
    heard: Heard | None = None,
    **options: Any,
) -> Dataset:
    heard = heard or Heard()
    query = EndpointQuery(text, page_size, folder, heard.told.append, heard.waits.append)
    return read(endpoint.source, query=query, **options)


def list_facts(dataset: Dataset) -> list[str]:
    """The facts without the namespace of the examples."""
    graph = dataset.graph
    return [str(graph.fact(row)).replace("http://e/", "") for row in range(len(graph))]


def road_query(modifiers: str = "") -> str:
    return PREFIXES + (
        "SELECT ?subject (:road AS ?relation) ?object { ?subject :road ?object } " + modifiers
    )


def construct_roads(modifiers: str = "") -> str:
    return PREFIXES + "CONSTRUCT { ?s :road ?o } WHERE { ?s :road ?o } " + modifiers


# What is read.


def test_a_select_gives_a_table_with_the_names_and_values_that_rdf_has(
    towns: Endpoint, tmp_path: Path
) -> None:
    (tmp_path / "towns.ttl").write_text(TOWNS)
    filtered = ROADS + "FILTER(?relation != rdfs:label)"
    filtered = filtered.replace("?object } FILTER", "?object FILTER") + " }"
    found = ask(towns, filtered)
    assert list_facts(found) == list_facts(read(tmp_path / "towns.ttl"))
    assert "(a, founded, 1903-06-01^^time)" in list_facts(found)


def test_a_text_query_is_enough(towns: Endpoint) -> None:
    assert list_facts(read(towns.source, query=road_query())) == ROAD_FACTS


@pytest.mark.parametrize("syntax", ["application/n-triples", TURTLE, XML])
def test_a_construct_gives_rdf_with_labels(towns: Endpoint, tmp_path: Path, syntax: str) -> None:
    (tmp_path / "towns.ttl").write_text(TOWNS)
    towns.rdf = syntax
    found = ask(towns, "CONSTRUCT WHERE { ?s ?p ?o }", 3)
    assert list_facts(found) == list_facts(read(tmp_path / "towns.ttl"))
    assert found.vocabulary.entities.resolve("Aville") == found.vocabulary.entities.resolve(
        "http://e/a"
    )


def test_iris_of_a_select_can_be_asked_for_by_their_last_part(towns: Endpoint) -> None:
    names = ask(towns, road_query()).vocabulary
    assert names.entities.resolve("b") == names.entities.resolve("http://e/b")
    assert names.relations.resolve("road") == names.relations.resolve("http://e/road")


def test_other_columns_of_a_select_are_qualifiers(towns: Endpoint) -> None:
    text = """SELECT ?from ?to ?people { ?from :road ?to OPTIONAL { ?from :people ?people } }"""
    found = ask(towns, PREFIXES + text, columns=Columns("from", None, "to", "road"))
    assert "(a, road, b, {people: 1200^^number})" in list_facts(found)


def test_a_relation_that_is_a_text_is_a_name(towns: Endpoint) -> None:
    text = PREFIXES + 'SELECT ?subject ("road" AS ?relation) ?object { ?subject :road ?object }'
    assert list_facts(ask(towns, text)) == ROAD_FACTS


def test_a_mapping_names_columns_of_labels_and_types(towns: Endpoint, tmp_path: Path) -> None:
    mapping = tmp_path / "map.toml"
    mapping.write_text(
        f'["{towns.source}"]\nsubject = "s"\nobject = "o"\nrelation_name = "road"\nlabel = "l"\n'
        'qualifiers = ["n"]\nliterals = { n = "text" }\n'
    )
    text = "SELECT * { ?s :road ?o . ?s rdfs:label ?l . ?s :people ?n }"
    for sources in ((), (towns.source,)):
        found = read(sources, query=PREFIXES + text, mapping=mapping)
        assert list_facts(found) == ["(a, road, b, {n: 1200^^text})"]
        names = found.vocabulary.entities
        assert names.resolve("Aville") == names.resolve("http://e/a")


def test_a_bad_row_is_a_bad_line(towns: Endpoint) -> None:
    towns.store.update(PREFIXES + 'INSERT DATA { :b :people "many"^^xsd:integer }')
    text = PREFIXES + "SELECT ?s ?o { ?s :people ?o } ORDER BY ?s"
    columns = Columns("s", None, "o", "people")
    with pytest.raises(InputError, match="many"):
        ask(towns, text, columns=columns)
    bad = BadLines(skip=True)
    assert list_facts(ask(towns, text, columns=columns, bad=bad)) == ["(a, people, 1200^^number)"]
    assert bad.count == 1


def test_rows_with_unknown_values_of_wikidata_are_left_out_and_counted(towns: Endpoint) -> None:
    unknown = "<http://www.wikidata.org/.well-known/genid/1>"
    towns.store.update(PREFIXES + f"INSERT DATA {{ :b :road {unknown} . :c :people {unknown} }}")
    left_out = LeftOut()
    text = "SELECT * { ?from :road ?to OPTIONAL { ?from :people ?people } } "
    columns = Columns("from", None, "to", "road")
    found = ask(towns, PREFIXES + text, columns=columns, left_out=left_out)
    assert len(list_facts(found)) == 5
    assert left_out.counts == {
        "rows with an unknown value": 1,
        "qualifiers with an unknown value": 1,
    }


def test_the_last_word_of_an_address_is_no_split() -> None:
    with serve(TOWNS, "/test") as endpoint:
        assert list(ask(endpoint, road_query()).splits) == ["train"]


def test_a_result_without_rows_is_empty(towns: Endpoint) -> None:
    for text in ("SELECT * { ?s :no ?o }", "CONSTRUCT WHERE { ?s :no ?o }"):
        with pytest.raises(InputError, match="empty; there is nothing to import"):
            ask(towns, PREFIXES + text)


def test_without_pyoxigraph_a_construct_says_what_to_install_and_a_select_is_read(
    towns: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "nqe.readers.sparql_triples", raising=False)
    monkeypatch.delattr("nqe.readers.sparql_triples", raising=False)
    monkeypatch.setitem(sys.modules, "pyoxigraph", None)
    with pytest.raises(NqeError, match="install nqe with the extra `rdf`, or write a SELECT"):
        ask(towns, construct_roads())
    assert list_facts(ask(towns, road_query())) == ROAD_FACTS


# Pages.


@pytest.mark.parametrize("query", [road_query, construct_roads])
@pytest.mark.parametrize("cap", [None, 1, 2])
@pytest.mark.parametrize("page_size", [1, 2, 7])
def test_pages_give_the_whole_result_whatever_the_endpoint_s_own_limit(
    towns: Endpoint, query: Any, cap: int | None, page_size: int
) -> None:
    towns.cap = cap
    assert list_facts(ask(towns, query("ORDER BY ?s ?o"), page_size)) == ROAD_FACTS


@pytest.mark.parametrize("query", [road_query, construct_roads])
def test_the_query_s_own_limits_hold_for_all_pages_together(towns: Endpoint, query: Any) -> None:
    towns.cap = 2
    variable = "?subject" if query is road_query else "?s"
    text = query(f"ORDER BY {variable} LIMIT 3 OFFSET 1")
    assert list_facts(ask(towns, text, 10)) == ROAD_FACTS[1:4]


def test_the_end_is_a_page_without_rows(towns: Endpoint) -> None:
    ask(towns, road_query(), 2)
    limits = [query.splitlines()[-1] for query in towns.queries]
    assert limits == [f"LIMIT 2 OFFSET {offset}" for offset in (0, 2, 4, 5)]


def test_solutions_that_give_no_triple_are_not_the_end(towns: Endpoint) -> None:
    text = "CONSTRUCT { ?s :people ?n } WHERE { ?s :road ?o OPTIONAL { ?s :people ?n } } "
    towns.store.update(PREFIXES + "INSERT DATA { :e :people 7 }")
    found = list_facts(ask(towns, PREFIXES + text + "ORDER BY ?s", 1))
    assert found == ["(a, people, 1200^^number)", "(e, people, 7^^number)"]


def test_a_triple_that_several_pages_give_is_stated_once(towns: Endpoint) -> None:
    text = PREFIXES + "CONSTRUCT { :a :has :roads . ?s :road ?o } WHERE { ?s :road ?o }"
    assert ask(towns, text, 2).graph.facts.count.tolist() == [1] * 6


def test_blank_nodes_of_different_pages_are_different(towns: Endpoint) -> None:
    for text in (
        "CONSTRUCT { ?s :has [] } WHERE { ?s :road ?o }",
        "SELECT ?subject (:has AS ?relation) (BNODE() AS ?object) { ?subject :road ?o }",
    ):
        found = ask(towns, PREFIXES + text, 1)
        assert len(found.vocabulary.entities) == 10


def test_a_label_of_a_blank_node_means_nothing_on_another_page(towns: Endpoint) -> None:
    towns.store.update(PREFIXES + "INSERT DATA { _:n :is :x . _:n :is :y }")
    for text in (
        "CONSTRUCT { ?n :is ?x } WHERE { ?n :is ?x }",
        "SELECT ?subject (:is AS ?relation) ?object { ?subject :is ?object }",
    ):
        assert len(ask(towns, PREFIXES + text, 2).vocabulary.entities) == 3
        assert len(ask(towns, PREFIXES + text, 1).vocabulary.entities) == 4


def test_a_statement_of_wikidata_on_several_pages_is_one_fact() -> None:
    wikidata = """
    wd:Q1 p:P1 wds:s . wds:s ps:P1 wd:Q2 ; pq:P2 wd:Q3 ; pq:P3 "1903"^^xsd:gYear .
    """
    with serve(PREFIXES + wikidata) as endpoint:
        found = ask(endpoint, "CONSTRUCT WHERE { ?s ?p ?o }", 1)
    assert list_facts(found) == ["(Q1, P1, Q2, {P2: Q3, P3: 1903^^time})"]


def test_reifiers_are_qualifiers(towns: Endpoint) -> None:
    towns.store.update(
        PREFIXES + "INSERT DATA { :r rdf:reifies <<( :a :road :b )>> . :r :length 5 }"
    )
    text = PREFIXES + "CONSTRUCT WHERE { ?s ?p ?o } ORDER BY ?p"
    for syntax in ("application/n-triples", TURTLE):
        towns.rdf = syntax
        assert "(a, road, b, {length: 5^^number})" in list_facts(ask(towns, text, 2))


def test_quotes_of_rdf_star_on_several_pages_are_one_fact(towns: Endpoint) -> None:
    towns.faults = {
        2: Reply(200, b"<a:a> <a:r> <a:b> .", {"Content-Type": TURTLE}),
        4: Reply(200, b"<< <a:a> <a:r> <a:b> >> <a:p> <a:x> .", {"Content-Type": TURTLE}),
        6: Reply(200, b"<< <a:a> <a:r> <a:b> >> <a:q> <a:y> .", {"Content-Type": TURTLE}),
    }
    found = ask(towns, construct_roads("LIMIT 3"), 1)
    assert list_facts(found) == ["(a:a, a:r, a:b, {a:p: a:x, a:q: a:y})"]


# What is said about pages.


def test_pages_without_an_order_are_noted(towns: Endpoint, heard: Heard) -> None:
    for text in (road_query(), construct_roads()):
        ask(towns, text, 2, heard=heard)
    assert "no ORDER BY, so its 3 pages may repeat or miss rows; " in heard.told[0]
    assert "no ORDER BY, so its 3 pages may repeat or miss solutions; " in heard.told[1]


def test_rows_that_came_on_several_pages_are_counted(towns: Endpoint, heard: Heard) -> None:
    text = PREFIXES + "SELECT ?subject (:is AS ?relation) (:x AS ?object) { ?subject :motto ?m }"
    ask(towns, text, 1, heard=heard)
    assert "(1 came on several)" in heard.told[0]


def test_one_page_or_an_order_needs_no_note(towns: Endpoint, heard: Heard) -> None:
    ask(towns, road_query(), 5, heard=heard)
    ask(towns, road_query("ORDER BY ?subject"), 2, heard=heard)
    assert heard.told == []


# What is refused.


def test_columns_are_checked_after_the_first_page(towns: Endpoint) -> None:
    with pytest.raises(InputError, match=r"item, value lacks subject.*--subject"):
        ask(towns, PREFIXES + "SELECT ?item ?value { ?item :road ?value }", 1)
    assert len(towns.queries) == 1


@pytest.mark.parametrize(
    ("text", "options", "problem"),
    [
        ("CONSTRUCT WHERE { ?s ?p ?o }", {"columns": Columns("s")}, "has no columns; leave out"),
        ("SELECT * { ?s ?p ?o }", {"language": "de"}, "no languages to choose from; leave out"),
        ("SELECT * { ?s ?p ?o }", {"columns": Columns(header=False)}, "leave out --no-header"),
        ("SELECT * { ?s ?p ?o }", {"format": "nary"}, "leave out --format"),
        ("SELECT * { ?s ?p ?o }", {"wikidata": WikidataPolicy(True)}, "leave out --deprecated"),
    ],
)
def test_options_that_do_not_fit_are_refused_before_anything_is_asked(
    towns: Endpoint, text: str, options: dict[str, Any], problem: str
) -> None:
    with pytest.raises(InputError, match=problem):
        ask(towns, text, **options)
    assert towns.queries == []


def test_an_endpoint_needs_a_query_and_a_query_an_endpoint(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="an endpoint needs a query; give --query FILE"):
        read("sparql:http://localhost/")
    (tmp_path / "a.csv").write_text("a,r,b\n")
    with pytest.raises(InputError, match="no source is one; name one"):
        read(tmp_path / "a.csv", query="SELECT * { ?s ?p ?o }")
    read(tmp_path / "a.csv").save(tmp_path / "a.graph")
    with pytest.raises(InputError, match="no source is one; name one"):
        read(tmp_path / "a.graph", query="SELECT * { ?s ?p ?o }")


@pytest.mark.parametrize(
    "address",
    ["", "host/sparql", "ftp://host/", "http://", "http://h:x/", "http://h/a b", "file:/a"],
)
def test_what_is_no_address_is_refused(address: str) -> None:
    with pytest.raises(InputError, match="no address of the web; write sparql:https"):
        read(f"sparql:{address}", query="SELECT * { ?s ?p ?o }")


def test_a_password_in_an_address_is_refused_and_not_shown() -> None:
    with pytest.raises(InputError, match="has a password") as caught:
        read("sparql:http://me:secret@host/", query="SELECT * { ?s ?p ?o }")
    assert "secret" not in str(caught.value)


def test_a_page_size_below_one_is_refused() -> None:
    with pytest.raises(InputError, match="page size of 0; ask for 1 row or more"):
        EndpointQuery("SELECT * { ?s ?p ?o }", 0)
