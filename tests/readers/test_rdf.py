"""RDF: what states a fact and what annotates one, names, labels, and the files of the W3C."""

from __future__ import annotations

import bz2
import gzip
import os
import sys
from collections import Counter
from itertools import pairwise
from pathlib import Path
from threading import Thread

import pytest
from helpers import ReadContent

from nqe.errors import InputError, NqeError
from nqe.graph import Dataset
from nqe.graph.fact import Fact
from nqe.readers import BadLines, LeftOut, WikidataPolicy, read
from nqe.readers.formats import choose_reader, detect_format
from nqe.readers.records import BadLine, DescribedId, Record, Skipped
from nqe.readers.source import Source
from nqe.readers.table import Columns
from nqe.readers.typed_values import RDF
from nqe.writers import write

pytest.importorskip("pyoxigraph", reason="pyoxigraph, which reads RDF, is missing")

PREFIX = "PREFIX : <http://e/>\n"
WIKIDATA = """
PREFIX wd: <http://www.wikidata.org/entity/>
PREFIX wds: <http://www.wikidata.org/entity/statement/>
PREFIX wdv: <http://www.wikidata.org/value/>
PREFIX wdno: <http://www.wikidata.org/prop/novalue/>
PREFIX wdt: <http://www.wikidata.org/prop/direct/>
PREFIX p: <http://www.wikidata.org/prop/>
PREFIX ps: <http://www.wikidata.org/prop/statement/>
PREFIX psv: <http://www.wikidata.org/prop/statement/value/>
PREFIX pq: <http://www.wikidata.org/prop/qualifier/>
PREFIX pqv: <http://www.wikidata.org/prop/qualifier/value/>
PREFIX wikibase: <http://wikiba.se/ontology#>
PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>
"""


def list_facts(dataset: Dataset) -> Counter[str]:
    """The facts without the namespace of the examples, as often as they are stated."""
    graph = dataset.graph
    counts = graph.facts.count.tolist()
    return Counter(
        {str(graph.fact(row)).replace("http://e/", ""): counts[row] for row in range(len(graph))}
    )


def list_records(path: Path, format: str | None = None) -> list[Record]:
    with Source(str(path)) as source:
        name = format or detect_format(source, Columns())
        return [record for _, record in choose_reader(name, Columns())(source)]


# What states a fact.

REIFICATION = """PREFIX : <http://e/>
PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#>
PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
PREFIX owl: <http://www.w3.org/2002/07/owl#>
"""
STATEMENT = "rdf:subject :s ; rdf:predicate :p ; rdf:object :o"
AXIOM = "owl:annotatedSource :s ; owl:annotatedProperty :p ; owl:annotatedTarget :o"


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        (f":s :p :o . [] a rdf:Statement ; {STATEMENT} ; :a :b .", ["(s, p, o, {a: b})"]),
        (f":s :p :o . [] a owl:Axiom ; {AXIOM} ; :a :b .", ["(s, p, o, {a: b})"]),
        (f":x {STATEMENT} ; :a :b . :s :p :o . :x :c :d .", ["(s, p, o, {a: b, c: d})"]),
        # A node that says nothing else is no further fact, and each that does is one.
        (f":s :p :o . [] a rdf:Statement ; {STATEMENT} .", ["(s, p, o)"]),
        (
            f":s :p :o . [] {STATEMENT} ; :a :b . [] {STATEMENT} ; :a :c .",
            ["(s, p, o, {a: b})", "(s, p, o, {a: c})"],
        ),
        # Its other types are qualifiers, as all other triples about it.
        (f":s :p :o . :x a :Claim ; {STATEMENT} .", [f"(s, p, o, {{{RDF}type: Claim}})"]),
        # What names a part of a triple twice, or not all three, is no reifier.
        (":x rdf:subject :s ; rdf:object :o .", [f"(x, {RDF}subject, s)", f"(x, {RDF}object, o)"]),
    ],
)
def test_nodes_that_name_the_parts_of_a_triple_annotate_it(
    text: str, facts: list[str], read_content: ReadContent
) -> None:
    assert list_facts(read_content(REIFICATION + text, "facts.ttl")) == Counter(facts)


def test_a_named_property_of_rdf_xml_is_annotated(read_content: ReadContent) -> None:
    content = f"""<rdf:RDF xmlns:rdf="{RDF}" xmlns="http://e/" xml:base="http://e/x">
    <rdf:Description rdf:about="http://e/s"><p rdf:ID="r" rdf:resource="http://e/o"/>
    </rdf:Description>
    <rdf:Description rdf:about="#r"><a rdf:resource="http://e/b"/></rdf:Description></rdf:RDF>"""
    assert list_facts(read_content(content, "facts.rdf")) == Counter(["(s, p, o, {a: b})"])


@pytest.mark.parametrize(
    ("text", "left_out"),
    [
        (f"[] {STATEMENT} ; :a :b .", "quoted triples that are stated nowhere"),
        (f"[] {AXIOM} ; :a :b .", "quoted triples that are stated nowhere"),
        (
            ':s rdfs:label "S" . [] owl:annotatedSource :s ; owl:annotatedProperty rdfs:label ; '
            'owl:annotatedTarget "S" ; :a :b .',
            "annotations of labels and descriptions",
        ),
        (
            "[] owl:annotatedSource :x ; owl:annotatedProperty :y ; owl:annotatedTarget :z ; "
            'rdfs:comment "c" .',
            "labels and descriptions of facts",
        ),
    ],
)
def test_annotations_of_what_is_no_fact_are_left_out_and_counted(
    text: str, left_out: str, read_content: ReadContent
) -> None:
    told = LeftOut()
    dataset = read_content(f"{REIFICATION}{text}\n:x :y :z .", "facts.ttl", left_out=told)
    assert list_facts(dataset) == Counter(["(x, y, z)"])
    assert told.counts == {left_out: 1}


def test_names_of_parts_of_triples_are_no_reification_after_an_export(tmp_path: Path) -> None:
    parts = [Fact("x", f"{RDF}{part}", part[0]) for part in ("subject", "predicate", "object")]
    dataset = Dataset.of({"train": [*parts, Fact("s", "p", "o")]})
    write(dataset, tmp_path / "facts.nt", format="wikidata-rdf")
    assert read(tmp_path / "facts.nt") == dataset


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        (":s :p :o .", ["(s, p, o)"]),
        (":s :p :o {| :a :b |} .", ["(s, p, o, {a: b})"]),
        (":s :p :o {| :a :b; :c :d |} .", ["(s, p, o, {a: b, c: d})"]),
        # Each annotation is a fact, as Richard and Liz married twice.
        (":s :p :o {| :a :b |} {| :a :c |} .", ["(s, p, o, {a: b})", "(s, p, o, {a: c})"]),
        (":s :p :o ~ :r {| :a :b |} . :r :c :d .", ["(s, p, o, {a: b, c: d})"]),
        (":s :p :o ~ :r .", ["(s, p, o)"]),
        (":r :a :b . << :s :p :o ~ :r >> :c :d . :s :p :o .", ["(s, p, o, {a: b, c: d})"]),
        # RDF-star: all quotes of a triple mean the same one, wherever it is stated.
        ("<<:s :p :o>> :a :b . :s :p :o . <<:s :p :o>> :c :d .", ["(s, p, o, {a: b, c: d})"]),
        # A set of triples holds each of them once.
        (":s :p :o {| :a :b, :b |} .", ["(s, p, o, {a: b})"]),
        # A reifier of two triples annotates both.
        (
            "PREFIX r: <http://www.w3.org/1999/02/22-rdf-syntax-ns#>\n"
            ":s :p :o, :o2 . :r r:reifies <<( :s :p :o )>>, <<( :s :p :o2 )>> ; :a :b .",
            ["(s, p, o, {a: b})", "(s, p, o2, {a: b})"],
        ),
    ],
)
def test_triples_state_facts_and_reifiers_annotate_them(
    text: str, facts: list[str], read_content: ReadContent
) -> None:
    assert list_facts(read_content(PREFIX + text, "facts.ttl")) == Counter(facts)


@pytest.mark.parametrize(
    ("text", "facts", "left_out"),
    [
        ("<<:s :p :o>> :a :b .", [], {"quoted triples that are stated nowhere": 1}),
        (":x :says <<:s :p :o>> . :s :p :o .", ["(s, p, o)"], {"triples about facts": 1}),
        (":s :p :o {| :a :b {| :c :d |} |} .", ["(s, p, o, {a: b})"], {"triples about facts": 1}),
        (
            ":s :p :o {| :a <<:u :v :w>> ; :c :d |} .",
            ["(s, p, o, {c: d})"],
            {"triples about facts": 1, "quoted triples that are stated nowhere": 1},
        ),
        (":x :says <<( :s :p :o )>> . :s :p :o .", ["(s, p, o)"], {"triples about facts": 1}),
    ],
)
def test_quotes_without_a_form_here_are_left_out_and_counted(
    text: str, facts: list[str], left_out: dict[str, int], read_content: ReadContent
) -> None:
    told = LeftOut()
    dataset = read_content(f"{PREFIX}{text}\n:x :y :z .", "facts.ttl", left_out=told)
    assert list_facts(dataset) == Counter([*facts, "(x, y, z)"])
    assert told.counts == left_out


def test_a_file_in_which_nothing_is_stated_says_what_was_left_out(
    read_content: ReadContent,
) -> None:
    with pytest.raises(InputError, match=r"no fact in it; left out: quoted triples .* \(1\)"):
        read_content(f"{PREFIX}<<:s :p :o>> :a :b .", "facts.ttl")


def test_facts_from_a_pipe_are_the_same(tmp_path: Path) -> None:
    text = f"{PREFIX}:s :p :o . :x :y :z . <<:s :p :o>> :a :b ."
    os.mkfifo(tmp_path / "pipe")
    writer = Thread(target=(tmp_path / "pipe").write_text, args=(text,))
    writer.start()
    assert list_facts(read(tmp_path / "pipe")) == Counter(["(s, p, o, {a: b})", "(x, y, z)"])
    writer.join()


def test_statement_nodes_of_wikidata_are_facts_with_qualifiers(read_content: ReadContent) -> None:
    told = LeftOut()
    text = (
        WIKIDATA
        + """
    wd:Q1 p:P1 wds:a ; wdt:P1 wd:Q2 ; wikibase:sitelinks 3 ; a wikibase:Item .
    wds:a a wikibase:Statement ; wikibase:rank wikibase:NormalRank ; ps:P1 wd:Q2 ; pq:P2 wd:Q3 .
    wds:b ps:P1 wd:Q4 ; pq:P2 _:unknown ; pq:P3 "x"@en .
    wd:Q1 p:P1 wds:b, wds:c, wds:d, wds:e .
    wds:c ps:P1 wd:Q5 ; wikibase:rank wikibase:DeprecatedRank .
    wds:d a wikibase:Statement, wdno:P1 .
    wds:e ps:P1 <http://www.wikidata.org/.well-known/genid/1> .
    wd:Q9 wdt:P1 wd:Q8 .
    """
    )
    assert list_facts(read_content(text, "facts.ttl", left_out=told)) == Counter(
        ["(Q1, P1, Q2, {P2: Q3})", "(Q1, P1, Q4, {P3: x^^text@en})", "(Q9, P1, Q8)"]
    )
    assert told.counts == {
        "statements of deprecated rank": 1,
        "statements without a value": 1,
        "statements with an unknown value": 1,
        "qualifiers with an unknown value": 1,
        "triples about Wikidata's pages, references and schema": 5,
    }


def test_values_of_wikidata_have_their_precision_and_unit(read_content: ReadContent) -> None:
    text = (
        WIKIDATA
        + """
    wd:Q1 p:P1 wds:a, wds:b, wds:c .
    wds:a ps:P1 "1903-01-01T00:00:00Z"^^xsd:dateTime ; psv:P1 wdv:year ;
          pq:P2 "-0043-03-15T00:00:00Z"^^xsd:dateTime ; pqv:P2 wdv:ides .
    wds:b ps:P1 "+35"^^xsd:decimal ; psv:P1 wdv:metres .
    wds:c ps:P1 "1903-06-01T00:00:00Z"^^xsd:dateTime .
    wdv:year wikibase:timeValue "1903-01-01T00:00:00Z"^^xsd:dateTime ; wikibase:timePrecision 9 .
    wdv:ides wikibase:timeValue "-0043-03-15T00:00:00Z"^^xsd:dateTime ; wikibase:timePrecision 11 .
    wdv:metres wikibase:quantityAmount "+35"^^xsd:decimal ; wikibase:quantityUnit wd:Q11573 .
    """
    )
    assert list_facts(read_content(text, "facts.ttl")) == Counter(
        [
            "(Q1, P1, 1903^^time, {P2: 0044-03-15 BCE^^time})",
            "(Q1, P1, 35 Q11573^^number)",
            "(Q1, P1, 1903-06-01^^time)",
        ]
    )


# Names, values and labels.


def test_literals_have_the_types_of_rdf(read_content: ReadContent) -> None:
    text = PREFIX + (
        "PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>\n"
        ':s :p 1.50, 1e3, true, "x", "x"@EN-us, "x"@ar--rtl, "1903"^^xsd:gYear, "y"^^:unknown,'
        '"1903-06-01T12:30:00+02:00"^^xsd:dateTime .'
    )
    objects = read_content(text, "facts.ttl").vocabulary.entities.ids
    assert sorted(objects) == sorted(
        [
            *("http://e/s", "1.5^^number", "1000^^number", "true^^text", "x^^text"),
            *("x^^text@en-us", "x^^text@ar--rtl", "1903^^time", "y^^text"),
            "1903-06-01T10:30:00^^time",
        ]
    )


def test_a_value_that_does_not_fit_its_type_is_a_bad_line(read_content: ReadContent) -> None:
    text = (
        "<http://e/s> <http://e/p> <http://e/o> .\n"
        '<http://e/s> <http://e/p> "x"^^<http://www.w3.org/2001/XMLSchema#integer> .\n'
    )
    with pytest.raises(InputError, match=r"facts:2: triple 2: 'x' is no number"):
        read_content(text)
    bad = BadLines(skip=True)
    assert len(read_content(text, bad=bad).graph) == 1
    assert bad.count == 1


def test_labels_are_those_of_the_chosen_language(read_content: ReadContent) -> None:
    text = PREFIX + (
        "PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>\n"
        "PREFIX skos: <http://www.w3.org/2004/02/skos/core#>\n"
        "PREFIX schema: <http://schema.org/>\n"
        ':s :p :o ; rdfs:label "Wien"@de, "Bécs"@hu, "Vienna (gb)"@en-gb, "W", "Vienna"@en ;\n'
        'skos:altLabel "Wean"@de-at, "Vindobona"@en ; rdfs:comment "a city" ;\n'
        'schema:description "Hauptstadt"@de . :p skos:prefLabel "part of"@en .'
    )
    told = LeftOut()
    dataset = read_content(text, "facts.ttl", left_out=told)
    entities = dataset.vocabulary.entities
    number = entities.resolve("Vienna")
    assert entities.ids[number] == "http://e/s"
    assert entities.descriptions[number] == "a city"
    assert entities.aliases[number] == ("W", "Vienna (gb)", "Vindobona")
    assert told.counts == {"labels and descriptions in other languages": 4}
    assert dataset.vocabulary.relations.labels == ["part of"]
    german = read_content(text, "facts.ttl", language="DE").vocabulary.entities
    assert german.labels[number] == "Wien"
    assert german.descriptions[number] == "Hauptstadt"


def test_what_is_no_language_is_refused(read_content: ReadContent) -> None:
    with pytest.raises(InputError, match="'en us' is no language; give a code such as de"):
        read_content(NT, language="en us")


def test_an_iri_without_a_label_can_be_asked_for_by_its_last_part(
    read_content: ReadContent,
) -> None:
    text = "<http://e/a#Marie%20Curie> <http://e/knows> <urn:isbn:12> ."
    vocabulary = read_content(text).vocabulary
    assert vocabulary.entities.ids[vocabulary.entities.resolve("Marie Curie")].endswith("%20Curie")
    assert vocabulary.entities.resolve("12") == 1
    assert vocabulary.relations.resolve("knows") == 0


def test_labels_may_be_in_another_file(tmp_path: Path) -> None:
    label = '<http://e/s> <http://www.w3.org/2000/01/rdf-schema#label> "Vienna" .\n'
    (tmp_path / "facts.nt").write_text(NT)
    (tmp_path / "labels.nt").write_text(label)
    for names in (["facts.nt", "labels.nt"], ["labels.nt", "facts.nt"]):
        entities = read([tmp_path / name for name in names]).vocabulary.entities
        assert entities.labels[entities.resolve("Vienna")] == "Vienna"
        assert entities.resolve("Vienna") == entities.resolve("s")
    with pytest.raises(InputError, match=r"labels\.nt: no statement to take \(only descr"):
        read(tmp_path / "labels.nt")
    (tmp_path / "labels.nt").write_text(label + label.replace(" .", "@de ."))
    with pytest.raises(InputError, match=r"no statement to take \(left out: .* languages \(1\)\)"):
        read(tmp_path / "labels.nt")


def test_blank_nodes_have_the_same_ids_every_time_and_others_in_each_file(tmp_path: Path) -> None:
    text = f"{PREFIX}[] :p _:x . _:x :q [] . :s :p :o {{| :a :b |}} ."
    (tmp_path / "a.ttl").write_text(text)
    (tmp_path / "b.ttl").write_text(text)
    alone, again = read(tmp_path / "a.ttl"), read(tmp_path / "b.ttl")
    assert alone.fingerprint == again.fingerprint
    assert {"_:x", "_:[1]", "_:[2]"} < set(alone.vocabulary.entities.ids)
    both = read([tmp_path / "a.ttl", tmp_path / "b.ttl"]).vocabulary.entities.ids
    assert {"_:x", "_:[1]", "_:[2]", "_:x@2", "_:[1]@2", "_:[2]@2"} < set(both)


def test_the_names_of_graphs_are_left_out_and_counted(read_content: ReadContent) -> None:
    told = LeftOut()
    text = f"{PREFIX}:s :p :o . :g {{ :s :p :o . :x :y :z {{| :a :b |}} }}"
    dataset = read_content(text, "facts.trig", left_out=told)
    assert list_facts(dataset) == Counter({"(s, p, o)": 2, "(x, y, z, {a: b})": 1})
    assert told.counts == {"names of graphs": 4}


# Syntaxes and their detection.

NT = "<http://e/s> <http://e/p> <http://e/o> .\n"
NQ = "<http://e/s> <http://e/p> <http://e/o> <http://e/g> .\n"
XML = """<?xml version="1.0" encoding="utf-8"?>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://e/">
  <rdf:Description rdf:about="http://e/s"><e:p rdf:resource="http://e/o"/></rdf:Description>
</rdf:RDF>
"""
TURTLE = f"# a comment\n{PREFIX}:s :p :o .\n"
TRIG = f"{PREFIX}:g {{ :s :p :o }}\n"


@pytest.mark.parametrize(
    ("content", "name", "format"),
    [
        (NT, "facts", "n-triples"),
        (NQ, "facts", "n-quads"),
        (XML, "facts", "rdf-xml"),
        (XML, "facts.ttl", "rdf-xml"),
        (TURTLE, "facts", "trig"),
        (TRIG, "facts", "trig"),
        (TURTLE, "facts.ttl.gz", "turtle"),
        (NT, "facts.nq", "n-quads"),
        (f"[] <http://e/p> <http://e/o> .\n{NT}", "facts.ttl", "turtle"),
        (f"@base <http://e/> .\n<s> <p> <o> .\n{NT}", "facts", "trig"),
        (f"\ufeff{NT}", "facts", "n-triples"),
        ("{ <http://e/s> <http://e/p> <http://e/o> }\n", "facts", "trig"),
        (f"{{\n{NT}}}\n", "facts.trig", "trig"),
        (XML.replace("rdf:", "r:").replace(":rdf", ":r"), "facts.rdf", "rdf-xml"),
    ],
)
def test_the_syntax_is_detected(content: str, name: str, format: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(content)
    with Source(str(tmp_path / name)) as source:
        assert detect_format(source, Columns()) == format
    assert "(s, p, o)" in list_facts(read(tmp_path / name))


def test_triples_with_commas_are_no_statements(read_content: ReadContent) -> None:
    facts = list_facts(read_content("<http://e/s> <http://e/p> <http://e/o>, <http://e/x>, 1 .\n"))
    assert facts == Counter(["(s, p, o)", "(s, p, x)", "(s, p, 1^^number)"])


@pytest.mark.parametrize("content", [NT, TURTLE, XML])
def test_rdf_is_no_table(content: str, read_content: ReadContent) -> None:
    for options in ({"format": "table"}, {"columns": Columns(subject="s")}):
        with pytest.raises(InputError, match="facts:1: not a table; it looks like RDF; leave out"):
            read_content(content, **options)
    with pytest.raises(InputError, match="the format turtle has no columns with names"):
        read_content(content, format="turtle", columns=Columns(subject="s"))


def test_iris_with_tabs_between_them_may_be_a_table(read_content: ReadContent) -> None:
    columns = Columns("1", "2", "3", header=False)
    fact = "(<http://e/s>, <http://e/p>, <http://e/o>.)"
    assert (
        str(
            read_content("<http://e/s>\t<http://e/p>\t<http://e/o>.\n", columns=columns).graph.fact(
                0
            )
        )
        == fact
    )


def test_options_about_wikidatas_json_are_refused(read_content: ReadContent) -> None:
    with pytest.raises(InputError, match="and this is n-triples; leave out --deprecated"):
        read_content(NT, wikidata=WikidataPolicy(deprecated=True))


@pytest.mark.parametrize("format", ["turtle", "trig", "n-triples", "n-quads"])
@pytest.mark.parametrize("compress", [bytes, gzip.compress, bz2.compress])
def test_compressed_files_are_read(format: str, compress, tmp_path: Path) -> None:
    (tmp_path / "facts").write_bytes(compress(NT.encode()))
    assert list_facts(read(tmp_path / "facts", format=format)) == Counter(["(s, p, o)"])


@pytest.mark.parametrize(
    "content",
    [
        "a,r,b\n",
        "<http://e/s>,<http://e/p>,<http://e/o>\n",
        "<http://e/s>\t<http://e/p>\t<http://e/o>\n<http://e/x>\t<http://e/p>\t<http://e/x>\n",
        "_:s,a:p,o is here.\n",
    ],
)
def test_tables_of_iris_are_not_taken_for_rdf(content: str, tmp_path: Path) -> None:
    for name in ("facts", "facts.nt"):
        (tmp_path / name).write_text(content)
        with Source(str(tmp_path / name)) as source:
            assert detect_format(source, Columns()) == "statements"


def test_facts_are_read_while_the_file_is(tmp_path: Path) -> None:
    (tmp_path / "facts.nt").write_text(NT * 100_000)
    with Source(str(tmp_path / "facts.nt")) as source:
        records = choose_reader("n-triples", Columns())(source)
        assert isinstance(next(records)[1], Fact)
        assert source.position < (source.size or 0)


def test_without_pyoxigraph_one_sentence_says_what_to_install(
    read_content: ReadContent, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.startswith("nqe.readers.rdf")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delattr("nqe.readers.rdf", raising=False)
    monkeypatch.setitem(sys.modules, "pyoxigraph", None)
    with pytest.raises(NqeError, match="install nqe with the extra `rdf`"):
        read_content(NT)


# Bad and hostile files.


@pytest.mark.parametrize(
    ("content", "name", "told"),
    [
        (f"{PREFIX}:s :p :o .\n:s :p .\n", "f.ttl", r"f\.ttl:3: \. is not a valid RDF object"),
        (f"{NT}{NT[:-20]}", "f.nt", r"f\.nt:2: .*"),
        (TURTLE, "f.nt", r"f\.nt:2: .* if it is not n-triples, name its format with --format \(t"),
        (f"{PREFIX}<s> :p :o .", "f.ttl", r"f\.ttl:2: No scheme .*needs a base; add one"),
        (b'<http://e/s> <http://e/p> "\xff" .', "f.nt", r"f\.nt:1: not UTF-8 text"),
        (NT.encode() + b'<http://e/s> <http://e/p> "\xff" .', "f.nt", r"f\.nt:2: .* save the f"),
        (PREFIX.encode() + b':s :p "\xff" .', "f.ttl", r"f\.ttl:2: .* save the file as UTF-8"),
        (XML.encode("utf-16"), "f.rdf", r"f\.rdf:1: not UTF-8 text"),
        (XML.replace("</rdf:RDF>", ""), "f.rdf", r"f\.rdf:5: no element found; .* cut short"),
        (XML.replace("</rdf:Des", "</Des"), "f.rdf", r"f\.rdf:3: mismatched tag; mend it"),
        (XML.replace("http://e/s", "s"), "f.rdf", r"f\.rdf: .*a relative IRI needs a base"),
        ("", "f.ttl", "empty; there is nothing to import"),
        (PREFIX, "f.ttl", "empty; there is nothing to import"),
        (gzip.compress(NT.encode() * 99, mtime=0)[:40], "f.nt.gz", "the archive is cut short"),
    ],
)
def test_a_bad_file_says_where_what_and_what_next(
    content: str | bytes, name: str, told: str, read_content: ReadContent
) -> None:
    with pytest.raises(InputError, match=told):
        read_content(content, name)


@pytest.mark.parametrize(
    ("before", "line", "after", "told"),
    [
        ('<http://e/s> <http://e/p> "', "x", '" .', "1: a line of more than 16 MB"),
        (f'{NT}<http://e/s> <http://e/p> "', "x", '" .', "a line of more than 16 MB"),
        (f'{PREFIX}:s :p """', "x\n", '""" .', "a triple of more than 16 MB"),
        (
            XML.partition("<e:p")[0] + "<e:p>",
            "x\n",
            "",
            "a text between two tags of more than 16 MB",
        ),
    ],
)
def test_a_text_without_end_is_refused(
    before: str, line: str, after: str, told: str, read_content: ReadContent
) -> None:
    with pytest.raises(InputError, match=told):
        read_content(before + line * ((17 << 20) // len(line)) + after)


def test_bad_lines_of_n_triples_can_be_skipped(read_content: ReadContent) -> None:
    bad = BadLines(skip=True)
    content = f"{NT}<http://e/s> <http://e/p> .\n# comment\n{NT}"
    assert list_facts(read_content(content, "f.nt", bad=bad)) == Counter({"(s, p, o)": 2})
    assert [place.rpartition(":")[2] for place, _ in bad.kept] == ["2"]


def test_a_large_literal_is_read(read_content: ReadContent) -> None:
    content = f'<http://e/s> <http://e/p> "{"x" * (1 << 20)}" .'
    assert max(map(len, read_content(content).vocabulary.entities.ids)) > 1 << 20


ENTITY_NAMES = "abcdefghij"


@pytest.mark.parametrize("padding", ["", " " * (1 << 20), " " * 65_500])
def test_xml_entities_that_would_fill_the_memory_are_refused(
    padding: str, read_content: ReadContent
) -> None:
    pairs = pairwise(ENTITY_NAMES)
    entities = "".join(f'<!ENTITY {new} "{f"&{old};" * 10}">' for old, new in pairs)
    declared = f'<!DOCTYPE rdf:RDF [{padding}<!ENTITY a "ha">{entities}]>'
    content = XML.replace("<rdf:RDF", f"{declared}<rdf:RDF").replace(
        '<e:p rdf:resource="http://e/o"/>', "<e:p>&j;</e:p>"
    )
    with pytest.raises(InputError, match="an XML entity that is longer than 200 characters or us"):
        read_content(content, "f.rdf")


DEEP = 200_000


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (f"{NT[:-15]}{'<<( <http://e/s> <http://e/p> ' * DEEP}", "more than 100 triple terms in"),
        (f"{PREFIX}:s :p {'<<(:s :p' * DEEP}", "more than 100 triple terms in each other"),
        # Comments and escapes do not hide them.
        (f"{PREFIX}:s :p {'<<(:s :p # )>>;' * DEEP}".replace(";", "\n"), "more than 100 triple"),
        (f"{PREFIX}:s :p {'<<(:s;# :p' * DEEP}".replace(";", "\\"), "more than 100 triple"),
    ],
    ids=range(4),
)
def test_deep_triple_terms_are_refused_as_the_parser_would_crash(
    content: str, told: str, read_content: ReadContent
) -> None:
    with pytest.raises(InputError, match=told):
        read_content(content, "f.nt" if content.startswith("<") else "f.ttl")


def test_many_triple_terms_one_after_another_are_read(read_content: ReadContent) -> None:
    content = f"{PREFIX}:s :p :o, \"<<(\", '<<(' {{| :a :b |}} . :s :q <<( :s :p :o )>> . # <<(\n"
    assert "(s, p, o)" in list_facts(
        read_content(content + content[len(PREFIX) :] * 2_000, "f.ttl")
    )


def test_deep_xml_is_refused(read_content: ReadContent) -> None:
    content = XML.partition("\n  <")[0] + "<rdf:Description><e:p>\n" * 100_000
    with pytest.raises(InputError, match=r"f\.rdf:10\d\d: more than 2,000 elements in each other"):
        read_content(content, "f.rdf")


def test_plain_xml_entities_are_read(read_content: ReadContent) -> None:
    content = XML.replace("<rdf:RDF", '<!DOCTYPE rdf:RDF [<!ENTITY e "http://e/">]><rdf:RDF')
    content = content.replace("http://e/o", "&e;o")
    assert list_facts(read_content(content, "f.rdf")) == Counter(["(s, p, o)"])


def test_a_text_of_many_entities_is_refused(read_content: ReadContent) -> None:
    content = XML.replace("<rdf:RDF", f'<!DOCTYPE rdf:RDF [<!ENTITY e "{"x" * 200}">]><rdf:RDF')
    content = content.replace('<e:p rdf:resource="http://e/o"/>', f"<e:p>{'&e;' * 500_000}</e:p>")
    with pytest.raises(InputError, match="a text between two tags of more than 1 MB"):
        read_content(content, "f.rdf")


# The test files of the W3C.


@pytest.fixture(scope="module")
def w3c(shared_data: Path) -> Path:
    folder = shared_data / "ingest" / "w3c-rdf-star" / "tests"
    if not folder.is_dir():
        pytest.skip("the W3C's tests are not in ../shared/data/ingest")
    return folder


E = "http://example/"
# The facts of each evaluation file; the namespace http://example/ is left out.
EVALUATIONS: dict[str, list[str]] = {
    "01": [],
    "02": [],
    "bnode-1": ["(1, p, o, {q: z})"],
    "bnode-2": ["(1, p1, 1)"],
    "annotation-1": ["(s, p, o, {r: z})"],
    "annotation-2": [
        "(s, p, o, {source: 1, source: 2})",
        "(1, graph, http://host1/)",
        "(1, date, 2020-01-20^^time)",
        "(2, graph, http://host2/)",
        "(2, date, 2020-12-31^^time)",
    ],
    "annotation-3": ["(s, p, o, {a: b})", "(s, p2, o2, {a2: b2})", "(s, p2, o3, {a3: b3})"],
    "annotation-4": ["(s, p, o, {a: b})"],
    "annotation-5": ["(s, p, o1)", "(s, p, o2, {a: b})"],
    "quoted-annotation-1": ["(s, p, o)"],
    "quoted-annotation-2": [],
    "quoted-annotation-3": [],
}


@pytest.mark.parametrize("ending", [".ttl", ".nt"])
@pytest.mark.parametrize("name", EVALUATIONS)
def test_the_evaluation_files_give_their_facts(name: str, ending: str, w3c: Path) -> None:
    path = w3c / "turtle" / "eval" / f"turtle-star-eval-{name}{ending}"
    records = list_records(path)
    facts = [record for record in records if isinstance(record, Fact)]
    blank: dict[str, str] = {}

    def simplify(name: str) -> str:
        if name.startswith("_:"):
            return blank.setdefault(name, str(len(blank) + 1))
        return name.removeprefix(E)

    simple = [
        Fact(
            simplify(fact.subject),
            simplify(fact.relation),
            simplify(fact.object),
            tuple((simplify(attribute), simplify(value)) for attribute, value in fact.qualifiers),
        )
        for fact in facts
    ]
    assert sorted(map(str, simple)) == sorted(EVALUATIONS[name])
    expected_skips = name not in ("bnode-1", *(f"annotation-{n}" for n in (1, 2, 3, 5)))
    assert any(isinstance(record, Skipped) for record in records) == expected_skips


def is_legal_now(path: Path) -> bool:
    """Whether a file that RDF-star calls bad is legal in RDF 1.2."""
    return path.name == "turtle-star-syntax-bad-02.ttl"


def list_syntax_files(w3c: Path) -> tuple[list[Path], list[Path]]:
    """The good and the bad files."""
    files = [path for path in w3c.rglob("syntax/*") if path.stem != "manifest"]
    bad = [path for path in files if "bad" in path.name and not is_legal_now(path)]
    return [path for path in files if path not in bad], bad


def test_the_good_syntax_files_are_read(w3c: Path) -> None:
    good, _ = list_syntax_files(w3c)
    assert len(good) > 25
    for path in good:
        records = list_records(path)
        assert records
        assert not any(isinstance(record, BadLine) for record in records)
        assert all(isinstance(record, Fact | DescribedId | Skipped) for record in records)


def test_the_bad_syntax_files_say_file_line_and_reason(w3c: Path) -> None:
    _, bad = list_syntax_files(w3c)
    assert len(bad) > 15
    for path in bad:
        with pytest.raises(InputError, match=rf"{path.name}:[1-4]: .+ \(.*column.*\); mend it, or"):
            read(path)
