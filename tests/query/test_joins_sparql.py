"""Random queries that are no trees: a second engine finds the same rows for their SPARQL."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import pytest
from join_patterns import LITERAL_PATTERNS, PATTERNS, Walker, draw_queries

from nqe import demo_dataset
from nqe.graph import Graph
from nqe.query import Query, execute
from nqe.query.sparql import write_sparql
from nqe.readers import read
from nqe.readers.rdf_names import read_iri
from nqe.writers.rdf import list_statement_lines

pyoxigraph = pytest.importorskip("pyoxigraph", reason="pyoxigraph, the second engine, is missing")
read_literal = pytest.importorskip("nqe.readers.rdf_terms").read_literal

QUERIES = 50
FEW = 20
# The second engine takes seconds for some queries that lead to more facts than that, and minutes
# for some over relations with more facts.
MOST_FACTS, LARGEST_RELATION = 500, 2_000


def load(graph: Graph):
    """The facts of a graph in the second engine."""
    engine = pyoxigraph.Store()
    text = "".join(list_statement_lines(graph))
    engine.bulk_load(text.encode(), format=pyoxigraph.RdfFormat.N_TRIPLES)
    return engine


def ask(engine, query: Query, graph: Graph) -> list[tuple[str, ...]]:
    """The rows that the second engine finds; a count is the number of its column."""
    rows = engine.query(write_sparql(query.graph, graph.vocabulary))
    return sorted(tuple(map(name, row)) for row in rows)


def name(term) -> str:
    """The id that a term stands for."""
    return read_iri(term.value) if isinstance(term, pyoxigraph.NamedNode) else read_literal(term)


def compare(graph: Graph, engine, draw, walk: Walker, count: int = QUERIES) -> None:
    """Compare both engines on random queries of a pattern, some of which must have answers."""
    answered = 0
    for query in islice(draw_queries(graph, draw, walk, MOST_FACTS), count):
        rows = [tuple(map(to_id, row)) for row in execute(query, graph).rows]
        assert sorted(rows) == ask(engine, query, graph), str(query)
        answered += bool(rows)
    assert answered >= count // 5


def to_id(cell: str | int) -> str:
    """A cell of a row as the second engine gives it."""
    return cell if isinstance(cell, str) else f"{cell}^^number"


@pytest.fixture(scope="module")
def atlas() -> Graph:
    return demo_dataset().graph


@pytest.fixture(scope="module")
def atlas_store(atlas: Graph):
    return load(atlas)


@pytest.mark.parametrize("pattern", PATTERNS)
def test_random_queries_over_atlas_have_the_same_rows_in_sparql(
    pattern: str, atlas: Graph, atlas_store
) -> None:
    compare(atlas, atlas_store, PATTERNS[pattern], Walker(atlas, len(pattern)))


@pytest.fixture(scope="module")
def wd50k(shared_data: Path) -> Graph:
    return read(shared_data / "wd50k").graph


@pytest.fixture(scope="module")
def wd50k_store(wd50k: Graph):
    return load(wd50k)


@pytest.fixture(scope="module")
def wd50k_facts(wd50k: Graph) -> Walker:
    return Walker(wd50k, 0, LARGEST_RELATION)


@pytest.mark.xdist_group("wd50k-sparql")
@pytest.mark.parametrize("count", [FEW, pytest.param(QUERIES, marks=pytest.mark.long)])
@pytest.mark.parametrize("pattern", PATTERNS)
def test_random_queries_over_wd50k_have_the_same_rows_in_sparql(
    pattern: str, count: int, wd50k: Graph, wd50k_store, wd50k_facts: Walker
) -> None:
    wd50k_facts.rng.seed(pattern)
    compare(wd50k, wd50k_store, PATTERNS[pattern], wd50k_facts, count)


@pytest.fixture(scope="module")
def items(shared_data: Path) -> Graph:
    """A hundred items of Wikidata with their times and numbers."""
    dump = shared_data / "ingest" / "wikidata-json" / "opentapioca_100_items.dump.json.bz2"
    if not dump.is_file():
        pytest.skip("the items of Wikidata are not beside the project, in ../shared/data/ingest")
    pytest.importorskip("msgspec", reason="msgspec, which reads Wikidata, is missing")
    return read(dump).graph


@pytest.fixture(scope="module")
def items_store(items: Graph):
    return load(items)


@pytest.mark.xdist_group("real data")
@pytest.mark.parametrize("pattern", LITERAL_PATTERNS)
def test_random_comparisons_over_wikidata_have_the_same_rows_in_sparql(
    pattern: str, items: Graph, items_store
) -> None:
    compare(items, items_store, LITERAL_PATTERNS[pattern], Walker(items, len(pattern)))
