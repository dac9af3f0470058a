"""RDF that is written and read again is the same graph, with its labels and literals."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import wild_ids

from nqe.errors import InputError
from nqe.graph import Dataset, Description, Fact
from nqe.graph.literals import Text, to_id
from nqe.graph.number_values import make_number
from nqe.graph.time_values import Time
from nqe.readers import read
from nqe.readers.rdf_names import find_local_name, read_iri, to_iri
from nqe.writers import write
from nqe.writers.rdf_literals import write_literal

pytest.importorskip("pyoxigraph", reason="pyoxigraph, which reads RDF, is missing")

FORMS = ("wikidata-rdf", "rdf-1.2")


def make_id(*parts: object) -> str | None:
    """The id of a time, or None if there is no such time."""
    try:
        return to_id(Time(*parts))  # type: ignore[arg-type]
    except InputError:
        return None


years = st.integers(1, 99_999)
times = st.one_of(
    st.builds(lambda year, bce: to_id(Time(year, bce=bce)), years, st.booleans()),
    st.builds(lambda year: to_id(Time(year, bce=True).widen(1)), years),
    st.builds(
        make_id,
        years,
        st.integers(1, 12),
        st.integers(1, 28) | st.none(),
        st.none() | st.sampled_from(["12:30:00", "23:59:59.5"]),
        st.booleans(),
    ).filter(bool),
)
decimals = st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**30), max_value=10**30)
numbers = st.builds(
    lambda value, unit: to_id(make_number(value, unit)),
    decimals,
    st.none() | st.sampled_from(["kg", "Q11573", 'a "unit"']),
)
languages = st.none() | st.sampled_from(["en", "de-at", "ar--rtl", "abcdefghijk", "1"])
texts = st.builds(
    lambda text, language: to_id(Text(text, language)),
    st.text(st.characters(exclude_categories=("Cs",)), max_size=8),
    languages,
)
literals = st.one_of(times, numbers, texts)
iris = st.sampled_from(
    [
        *("http://example/s", "https://example.org:80/ü?x#y", "urn:isbn:12", "http://example"),
        *("http://www.wikidata.org/entity/Q1", "http://a b", "http://e/%zz", "_:x", "Q1", "P%31"),
        *("http://www.w3.org/2000/01/rdf-schema#label", "http://wikiba.se/ontology#rank"),
        *("http://www.w3.org/1999/02/22-rdf-syntax-ns#reifies", "http://e/.well-known/genid/1"),
        "http://schema.org/description",
    ]
)
names = st.one_of(wild_ids, iris)


@st.composite
def datasets(draw: st.DrawFn) -> Dataset:
    """Data sets of one split; RDF is a set of triples, so no fact has a qualifier twice."""
    ids = st.sampled_from(draw(st.lists(names, min_size=1, max_size=5)))
    entities = st.one_of(ids, st.sampled_from(draw(st.lists(literals, min_size=1, max_size=5))))
    pairs = st.lists(st.tuples(ids, entities), max_size=4, unique=True).map(tuple)
    facts = st.builds(Fact, entities, ids, entities, pairs)
    return Dataset.of({"train": draw(st.lists(facts, min_size=1, max_size=8))})


@pytest.mark.parametrize("form", FORMS)
@given(dataset=datasets())
def test_a_graph_in_rdf_is_read_as_the_same_graph(dataset: Dataset, form: str) -> None:
    with TemporaryDirectory() as folder:
        write(dataset, Path(folder) / "graph.nt", format=form)
        again = read(Path(folder) / "graph.nt")
    assert again.graph == dataset.graph
    assert again.fingerprint == dataset.fingerprint


shown = st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=6)
described = st.builds(
    Description, shown, st.none() | shown, st.lists(shown, unique=True, max_size=3).map(tuple)
)


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=50)
@given(dataset=datasets(), data=st.data())
def test_labels_in_rdf_are_read_as_the_same_labels(
    dataset: Dataset, form: str, data: st.DataObject
) -> None:
    ids = [*dataset.vocabulary.entities.ids, *dataset.vocabulary.relations.ids]
    dataset = dataset.describe(data.draw(st.dictionaries(st.sampled_from(ids), described)))
    with TemporaryDirectory() as folder:
        write(dataset, Path(folder) / "graph.nt", format=form)
        again = read(Path(folder) / "graph.nt")
    for mine, theirs in (
        (again.vocabulary.entities, dataset.vocabulary.entities),
        (again.vocabulary.relations, dataset.vocabulary.relations),
    ):
        assert mine.labels == theirs.labels
        assert mine.descriptions == theirs.descriptions
        for number, name in enumerate(mine.ids):
            # An IRI without a label has its last part as an alias.
            local = {find_local_name(name)} if not mine.labels[number] else set()
            own = {theirs.labels[number]} | local
            found, expected = (set(one.aliases.get(number, ())) for one in (mine, theirs))
            assert found - own == expected - own


@given(names, names)
def test_different_ids_have_different_iris_that_are_read_as_the_ids(one: str, other: str) -> None:
    assert read_iri(to_iri(one)) == one
    assert (to_iri(one) == to_iri(other)) == (one == other)


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("1903^^time", '"1903"^^<http://www.w3.org/2001/XMLSchema#gYear>'),
        ("0044-03-15 BCE^^time", '"-0043-03-15"^^<http://www.w3.org/2001/XMLSchema#date>'),
        ("+12000-06^^time", '"12000-06"^^<http://www.w3.org/2001/XMLSchema#gYearMonth>'),
        ("190X^^time", '"190X"^^<urn:nqe:time>'),
        ("12.5^^number", '"12.5"^^<http://www.w3.org/2001/XMLSchema#decimal>'),
        ("12^^number", '"12"^^<http://www.w3.org/2001/XMLSchema#integer>'),
        ("6.02e+23^^number", '"6.02e+23"^^<http://www.w3.org/2001/XMLSchema#double>'),
        ("12.5 kg^^number", '"12.5 kg"^^<urn:nqe:number>'),
        (to_id(Text('a "b"\n\0')), r'"a \"b\"\n\u0000"'),
        ("hi^^text@en", '"hi"@en'),
        ("hi^^text@abcdefghi", None),
        ("1903", None),
    ],
)
def test_a_literal_has_a_type_of_xsd_where_there_is_one(name: str, written: str | None) -> None:
    assert write_literal(name) == written


def test_a_fact_stated_twice_has_two_statements(tmp_path: Path) -> None:
    dataset = Dataset.of({"train": [Fact("a", "r", "b")] * 2})
    for form in FORMS:
        write(dataset, tmp_path / "graph.nt", format=form)
        assert read(tmp_path / "graph.nt").fingerprint == dataset.fingerprint


@pytest.mark.parametrize("text", ["<<", "<<(", "{|", "~", "reifies", "<< {|"])
def test_signs_of_rdf_in_texts_mean_nothing(text: str, tmp_path: Path) -> None:
    facts = [Fact("a", "r", to_id(Text(text))), Fact("a", "r", "b", (("q", "c"),))]
    dataset = Dataset.of({"train": facts}).describe({"a": Description(text)})
    for form in FORMS:
        write(dataset, tmp_path / "graph.nt.gz", format=form)
        again = read(tmp_path / "graph.nt.gz")
        assert again == dataset
        assert again.vocabulary.entities.labels == dataset.vocabulary.entities.labels


def test_iris_are_written_as_they_are(tmp_path: Path) -> None:
    fact = Fact("http://e/s", "http://e/p", "http://e/o", (("http://e/a", "http://e/b"),))
    write(Dataset.of({"train": [fact]}), tmp_path / "graph.nt", format="rdf-1.2")
    first = (tmp_path / "graph.nt").read_text().splitlines()[0]
    assert first == "<http://e/s> <http://e/p> <http://e/o> ."
