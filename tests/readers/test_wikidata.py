"""Wikidata's JSON: statements, ranks, values, terms, slices, and what is no dump."""

from __future__ import annotations

import bz2
import gzip
import json
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import wikidata_dump as wd
from helpers import ReadContent

from nqe.errors import InputError, NqeError
from nqe.graph import Dataset, Fact
from nqe.readers import BadLines, Columns, WikidataPolicy, read
from nqe.readers.source import LONGEST_LINE

Json = dict[str, Any]

COMPRESSIONS = [gzip.compress, bz2.compress, partial(pa.compress, codec="zstd", asbytes=True)]
CURIE_FACTS = {
    Fact("Q7186", "P31", "Q5"),
    Fact(
        "Q7186",
        "P166",
        "Q38104",
        (("P585", "1903^^time"), ("P1706", "Q37463"), ("P1706", "Q41269")),
    ),
    Fact("Q7186", "P569", "1867-11-07^^time"),
}
PARIS_FACTS = {
    Fact("Q90", "P31", "Q515"),
    Fact("Q90", "P1082", "2102650^^number", (("P585", "2023-01-01^^time"),)),
    Fact("Q90", "P625", "Point(2.351388888889 48.856944444444)^^text"),
    Fact("Q90", "P2044", "28.5 Q11573^^number"),
}


def facts_of(dataset: Dataset) -> set[Fact]:
    return set(dataset.graph)


def values_of(read_content: ReadContent, *snaks: Json) -> list[str]:
    """The objects of statements with these snaks."""
    one = wd.entity("Q1", [wd.statement(snak) for snak in snaks])
    return sorted(fact.object for fact in facts_of(read_content(wd.dump(one))))


# Statements


def test_statements_become_facts_with_their_qualifiers(read_content: ReadContent) -> None:
    assert facts_of(read_content(wd.SMALL)) == CURIE_FACTS | PARIS_FACTS


@pytest.mark.parametrize("compress", COMPRESSIONS)
def test_compressed_dumps_are_read(
    read_content: ReadContent, compress: Callable[[bytes], bytes]
) -> None:
    assert facts_of(read_content(compress(wd.SMALL.encode()))) == CURIE_FACTS | PARIS_FACTS


@pytest.mark.parametrize(
    "write",
    [
        "\n".join,
        lambda entities: "[" + ",\n".join(entities) + "]\n",
        lambda entities: "[" + ", ".join(entities) + "]",
        lambda entities: "\ufeff[\r\n" + " ,\r\n".join(entities) + "\r\n]\r\n",
        lambda entities: '{"entities": {' + f'"Q7186": {entities[0]}, "Q90": {entities[1]}' + "}}",
    ],
    ids=["lines", "array", "array on one line", "Windows", "answer of the interface"],
)
def test_entities_may_stand_in_an_array_or_on_lines_alone(
    read_content: ReadContent, write: Callable[[list[str]], str]
) -> None:
    entities = [json.dumps(wd.CURIE), json.dumps(wd.PARIS)]
    assert facts_of(read_content(write(entities))) == CURIE_FACTS | PARIS_FACTS


def test_deprecated_statements_are_left_out_unless_asked_for(read_content: ReadContent) -> None:
    deprecated = Fact("Q7186", "P103", "Q9288")
    policy = WikidataPolicy()
    assert deprecated not in facts_of(read_content(wd.SMALL, wikidata=policy))
    assert policy.left_out["statement"]["deprecated"] == 1
    assert deprecated in facts_of(read_content(wd.SMALL, wikidata=WikidataPolicy(deprecated=True)))


def test_external_ids_are_left_out_unless_asked_for(read_content: ReadContent) -> None:
    external = Fact("Q7186", "P214", "76353174^^text")
    policy = WikidataPolicy()
    assert external not in facts_of(read_content(wd.SMALL, wikidata=policy))
    assert policy.left_out["statement"]["with an external id"] == 1
    taken = read_content(wd.SMALL, wikidata=WikidataPolicy(external_ids=True))
    assert external in facts_of(taken)


def test_unknown_and_missing_values_are_counted(read_content: ReadContent) -> None:
    main = wd.snak("P26", wd.item("Q2"))
    one = wd.entity(
        "Q1",
        [
            wd.statement(wd.snak("P26", "somevalue")),
            wd.statement(wd.snak("P26", "novalue")),
            wd.statement(wd.snak("P26", {"type": "unheard-of", "value": 1})),
            wd.statement(main, [wd.snak("P580", "somevalue"), wd.snak("P582", "novalue")]),
        ],
    )
    policy = WikidataPolicy()
    assert facts_of(read_content(wd.dump(one), wikidata=policy)) == {Fact("Q1", "P26", "Q2")}
    assert policy.describe() == (
        "Wikidata: 1 entity read; left out: 3 statements (1 with an unknown value, 1 without a "
        "value, 1 with an unknown kind of value), 2 qualifiers (1 with an unknown value, 1 "
        "without a value)"
    )


@pytest.mark.parametrize(
    "value",
    [
        wd.time("+2016-06-31T00:00:00Z"),
        wd.time("+2016-06-01T12:00:00Z", 14),
        wd.time("soon"),
        wd.quantity("many"),
        wd.place(None, 2.0),
        wd.labelled("half", "no language"),
        {"type": "wikibase-entityid", "value": {"entity-type": "item"}},
        {"type": "time", "value": "2016"},
    ],
)
def test_values_that_cannot_be_are_left_out_and_counted(
    read_content: ReadContent, value: Json
) -> None:
    good = wd.snak("P2", wd.item("Q2"))
    one = wd.entity(
        "Q1", [wd.statement(wd.snak("P1", value)), wd.statement(good, [wd.snak("P3", value)])]
    )
    policy = WikidataPolicy()
    assert facts_of(read_content(wd.dump(one), wikidata=policy)) == {Fact("Q1", "P2", "Q2")}
    for what in ("statement", "qualifier"):
        assert policy.left_out[what] == {"with an impossible value": 1}


# Values


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (wd.item("Q2"), "Q2"),
        (wd.item("P31"), "P31"),
        ({"type": "wikibase-entityid", "value": {"entity-type": "form", "id": "L1-F2"}}, "L1-F2"),
        (
            {"type": "wikibase-entityid", "value": {"entity-type": "item", "numeric-id": 7}},
            "Q7",
        ),
        (wd.text(r"a\b"), r"a\\b^^text"),
        (wd.labelled("Königreich", "de"), "Königreich^^text@de"),
        (wd.labelled("x", "be-x-old"), "x^^text@be-x-old"),
        (wd.time("+1903-06-00T00:00:00Z", 10), "1903-06^^time"),
        (wd.time("-0044-03-15T00:00:00Z", 11, wd.JULIAN), "0044-03-13 BCE^^time"),
        (wd.time("+1900-00-00T00:00:00Z", 7), "18XX^^time"),
        (wd.quantity("-12.50"), "-12.5^^number"),
        (wd.quantity("+35", wd.METRE), "35 Q11573^^number"),
        (wd.place(48.5, 2), "Point(2 48.5)^^text"),
        (
            wd.place(1, 2.5, "Q405"),
            "<http://www.wikidata.org/entity/Q405> Point(2.5 1)^^text",
        ),
    ],
)
def test_values_become_entities_and_literals(
    read_content: ReadContent, value: Json, expected: str
) -> None:
    assert values_of(read_content, wd.snak("P1", value)) == [expected]


@pytest.mark.parametrize(
    "datatype", ["string", "commonsMedia", "url", "math", "geo-shape", "musical-notation", None]
)
def test_all_kinds_of_strings_but_external_ids_are_texts(
    read_content: ReadContent, datatype: str | None
) -> None:
    assert values_of(read_content, wd.snak("P1", wd.text("x"), datatype)) == ["x^^text"]


def test_the_policy_for_literals_applies(read_content: ReadContent) -> None:
    dataset = read_content(wd.SMALL, literals="skip")
    assert facts_of(dataset) == {
        Fact("Q7186", "P31", "Q5"),
        Fact("Q7186", "P166", "Q38104", (("P1706", "Q37463"), ("P1706", "Q41269"))),
        Fact("Q90", "P31", "Q515"),
    }


# Terms


def test_items_properties_values_and_units_get_labels(read_content: ReadContent) -> None:
    names = read_content(wd.SMALL).vocabulary
    assert names.relations.label_of("P166") == "award received"
    assert names.entities.label_of("Q38104") == "Nobel Prize in Physics"
    assert names.entities.label_of("28.5 Q11573^^number") == "28.5 metre"
    curie = names.entities.resolve("Madame Curie")
    assert names.entities.full_name(curie) == "Marie Curie (Q7186), physicist and chemist"


@pytest.mark.parametrize(
    ("language", "labels", "expected"),
    [
        ("de", {"de": "Köln", "en": "Cologne"}, "Köln"),
        ("DE", {"de": "Köln", "en": "Cologne"}, "Köln"),
        ("pt-br", {"pt": "Colônia", "en": "Cologne"}, "Colônia"),
        ("de", {"mul": "Koeln", "en": "Cologne"}, "Koeln"),
        ("de", {"en": "Cologne", "fr": "Cologne"}, "Cologne"),
        ("de", {"fr": "Cologne"}, "Q365"),
        ("zh-hant", {"zh_hant": "科隆", "zh": "科隆市"}, "科隆"),
    ],
)
def test_a_label_that_a_language_lacks_is_taken_from_the_next(
    read_content: ReadContent, language: str, labels: dict[str, str], expected: str
) -> None:
    cologne = wd.entity("Q365", labels=wd.terms(**labels))
    member = wd.entity("Q1", [wd.statement(wd.snak("P131", wd.item("Q365")))])
    names = read_content(wd.dump(cologne, member), language=language).vocabulary.entities
    assert names.label_of("Q365") == expected


def test_aliases_are_those_of_the_labels_language_and_of_all_languages(
    read_content: ReadContent,
) -> None:
    aliases = {
        code: [{"language": code, "value": text} for text in (f"alias {code}", "Curie")]
        for code in ("en", "de", "mul", "fr")
    }
    described = wd.CURIE | {"labels": wd.terms(en="Curie"), "aliases": aliases}
    names = read_content(wd.dump(described), language="de").vocabulary.entities
    assert names.aliases[names.resolve("Q7186")] == ("alias en", "alias mul")


def test_a_lexeme_is_called_by_its_lemma(read_content: ReadContent) -> None:
    lexeme = {
        "type": "lexeme",
        "id": "L99",
        "lemmas": {"sv": {"language": "sv", "value": "hund"}},
        "claims": {"P5238": [wd.statement(wd.snak("P5238", wd.item("Q144")))]},
        "forms": [{"id": "L99-F1", "claims": []}],
    }
    assert read_content(json.dumps(lexeme)).vocabulary.entities.label_of("L99") == "hund"


def test_a_file_of_commons_has_statements(read_content: ReadContent) -> None:
    depicts = wd.statement(wd.snak("P180", wd.item("Q144")))
    file = {"type": "mediainfo", "id": "M7", "labels": [], "statements": {"P180": [depicts]}}
    assert facts_of(read_content(json.dumps(file))) == {Fact("M7", "P180", "Q144")}


@pytest.mark.parametrize("language", ["", "de_AT", "deutsch!", "d" * 300 + " "])
def test_what_is_no_language_is_refused(read_content: ReadContent, language: str) -> None:
    with pytest.raises(InputError, match="is no language; give a code such as de"):
        read_content(wd.SMALL, language=language)


# Slices


def test_a_slice_of_relations_keeps_their_qualifiers(read_content: ReadContent) -> None:
    policy = WikidataPolicy(keep_relations=["P166", "P1082"])
    dataset = read_content(wd.SMALL, wikidata=policy)
    assert facts_of(dataset) == {
        fact for fact in CURIE_FACTS | PARIS_FACTS if fact.relation in ("P166", "P1082")
    }
    assert policy.left_out["statement"] == {"of other relations": 7}
    assert dataset.vocabulary.relations.label_of("P166") == "award received"


def test_a_slice_of_classes_has_the_statements_about_their_instances(
    read_content: ReadContent,
) -> None:
    policy = WikidataPolicy(keep_classes=["Q5"], keep_relations=["P166"])
    dataset = read_content(wd.SMALL, wikidata=policy)
    assert {fact.subject for fact in facts_of(dataset)} == {"Q7186"}
    assert policy.left_out["entity"] == {"of other classes": 4}
    assert dataset.vocabulary.entities.label_of("Q38104") == "Nobel Prize in Physics"


def test_a_deprecated_class_does_not_count(read_content: ReadContent) -> None:
    one = wd.entity(
        "Q1",
        [
            wd.statement(wd.snak("P31", wd.item("Q5")), rank="deprecated"),
            wd.statement(wd.snak("P31", wd.item("Q6"))),
        ],
    )
    with pytest.raises(InputError, match=r"no statement to take .*1 of other classes"):
        read_content(wd.dump(one), wikidata=WikidataPolicy(keep_classes=["Q5"]))
    policy = WikidataPolicy(keep_classes=["Q5"], deprecated=True)
    assert len(facts_of(read_content(wd.dump(one), wikidata=policy))) == 2


def test_labels_may_come_from_a_dump_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "items.json").write_text(wd.dump(wd.CURIE))
    (tmp_path / "properties.json").write_text(wd.dump(wd.AWARDED))
    dataset = read([tmp_path / "items.json", tmp_path / "properties.json"])
    assert facts_of(dataset) == CURIE_FACTS
    assert dataset.vocabulary.relations.label_of("P166") == "award received"


@pytest.mark.parametrize(
    ("kept", "told"),
    [
        ({"keep_relations": ["instance of"]}, "'instance of' is no relation of Wikidata; give"),
        ({"keep_relations": []}, "no relation is named to keep"),
        ({"keep_classes": ["P31"]}, "'P31' is no class of Wikidata; give ids such as Q5"),
        ({"keep_classes": [""]}, "'' is no class of Wikidata"),
    ],
)
def test_what_is_no_id_cannot_be_kept(kept: dict[str, list[str]], told: str) -> None:
    with pytest.raises(InputError, match=told):
        WikidataPolicy(**kept)  # type: ignore[arg-type]


# Odd and hostile input


def test_an_entity_without_claims_gives_its_labels_alone(read_content: ReadContent) -> None:
    bare = {"type": "item", "id": "Q5", "labels": wd.terms(en="human")}
    dataset = read_content(wd.dump(bare, wd.CURIE))
    assert facts_of(dataset) == CURIE_FACTS
    assert dataset.vocabulary.entities.label_of("Q5") == "human"


def test_redirects_are_counted(read_content: ReadContent) -> None:
    policy = WikidataPolicy()
    redirect = {"entity": "Q20", "redirect": "Q7186"}
    dataset = read_content(wd.dump(wd.CURIE, redirect), wikidata=policy)
    assert facts_of(dataset) == CURIE_FACTS
    assert policy.left_out["entity"] == {"that are redirects": 1}


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (b'{"type": "item", "id": ', r"no entity of Wikidata \(Input data was truncated\); write"),
        (b"nonsense", r"no entity of Wikidata \(JSON is malformed"),
        (b'{"type": "item", "id": 7}', r"no entity of Wikidata \(Expected .str . null., got .int."),
        (b'{"type": "item", "id": "\xff"}', r"not UTF-8 text \(byte 0xff\); save"),
        (b'{"type": "item", "id": "Q\x00"}', "no entity of Wikidata"),
        (b'{"type": "item", "id": "Q1", "claims": [1]}', "no entity of Wikidata"),
        (b'{"type": "item", "id": "Q1", "labels": 3}', "no entity of Wikidata"),
        (b'{"type": "item", "id": "Q1", "labels": {"en": {"value": "\\ud800"}}}', "no entity of"),
        (b'{"type": "item", "id": "Q1", "labels": ' + b"[" * 99_999, "no entity of Wikidata"),
        (b'{"id": "Q1", "name": "x"}', "it needs an id such as Q42 and a type such as item"),
        (b'{"subject": "a", "relation": "r", "object": "b"}', "it needs an id such as Q42"),
        (b"[1, 2]", "no entity of Wikidata"),
        (b"7", "no entity of Wikidata"),
    ],
)
def test_a_line_that_is_no_entity_is_a_bad_line(
    read_content: ReadContent, line: bytes, told: str
) -> None:
    content = json.dumps(wd.CURIE).encode() + b"\n" + line + b"\n" + json.dumps(wd.PARIS).encode()
    with pytest.raises(InputError, match=f"facts:2: .*{told}"):
        read_content(content)
    bad = BadLines(skip=True)
    assert facts_of(read_content(content, bad=bad)) == CURIE_FACTS | PARIS_FACTS
    assert [place.rpartition(":")[2] for place, _ in bad.kept] == ["2"]


def test_an_id_with_a_control_character_is_a_bad_line(read_content: ReadContent) -> None:
    value = {"type": "wikibase-entityid", "value": {"entity-type": "item", "id": "Q1\n"}}
    with pytest.raises(InputError, match=r"facts:2: entity id .* has a line break"):
        read_content(wd.dump(wd.entity("Q1", [wd.statement(wd.snak("P1", value))])))


def test_a_document_of_something_else_is_refused(read_content: ReadContent) -> None:
    content = '{"features": [{"name": "x"}]}\n'
    with pytest.raises(InputError, match="facts:1: no entity of Wikidata"):
        read_content(content, format="wikidata")
    with pytest.raises(InputError):
        read_content(content)


@pytest.mark.parametrize("content", ["[\n]\n", "[]", "{}\n"])
def test_a_dump_without_entities_is_refused(read_content: ReadContent, content: str) -> None:
    with pytest.raises(InputError):
        read_content(content, format="wikidata")


def test_a_line_of_enormous_length_is_refused(read_content: ReadContent) -> None:
    content = wd.dump(wd.CURIE).encode() + b'{"type": "item", "id": "' + bytes(LONGEST_LINE)
    with pytest.raises(InputError, match="facts:4: a line of more than 16 MB"):
        read_content(gzip.compress(content, 1), bad=BadLines(skip=True))


@pytest.mark.parametrize("compress", COMPRESSIONS)
def test_a_truncated_archive_is_refused(
    read_content: ReadContent, compress: Callable[[bytes], bytes]
) -> None:
    whole = compress(wd.SMALL.encode() * 50)
    with pytest.raises(InputError, match="the archive is cut short or damaged"):
        read_content(whole[: len(whole) // 2], format="wikidata", bad=BadLines(skip=True))


# Detection and options


@pytest.mark.parametrize(
    "begin",
    [
        '{"type":"item","id":"Q1","labels":[]}',
        '{"id":"Q1","type":"item"}',
        '{"pageid":1,"ns":0,"title":"Q1","type":"item","id":"Q1","labels":{}}',
        '[\n{"aliases":{"en":[]},"id":"Q1","type":"item"}]',
        '{"entities":{"Q1":{"type":"item","id":"Q1"}}}',
    ],
)
def test_dumps_are_detected_however_their_keys_are_ordered(
    read_content: ReadContent, begin: str
) -> None:
    with pytest.raises(InputError, match="no statement to take"):
        read_content(begin)


def test_the_other_json_is_not_taken_for_a_dump(read_content: ReadContent) -> None:
    line = '{"type": "item", "labels": ["a", "b"], "id": "Q1"}'
    assert len(read_content(line).graph) == 1


@pytest.mark.parametrize("begin", [" ", "[ ", '{"labels" ', '{"type" : "item" '])
def test_a_file_that_begins_with_much_space_is_looked_at_once(
    read_content: ReadContent, begin: str
) -> None:
    with pytest.raises(InputError):
        read_content(begin + " " * 60_000 + "x\n")


@pytest.mark.parametrize(
    "options",
    [
        {"language": "de"},
        {"wikidata": WikidataPolicy(deprecated=True)},
        {"wikidata": WikidataPolicy(external_ids=True)},
        {"wikidata": WikidataPolicy(keep_relations=["P31"])},
        {"wikidata": WikidataPolicy(keep_classes=["Q5"])},
    ],
)
def test_options_for_wikidata_are_refused_elsewhere(
    read_content: ReadContent, tmp_path: Path, options: dict[str, Any]
) -> None:
    with pytest.raises(InputError, match=r"facts: .* and this is statements; leave out --"):
        read_content("a,r,b\n", **options)
    read_content("a,r,b\n").save(tmp_path / "graph")
    with pytest.raises(InputError, match="and this is a saved graph; leave out"):
        read(tmp_path / "graph", **options)


def test_options_about_columns_are_refused_for_a_dump(read_content: ReadContent) -> None:
    columns = Columns(subject="id")
    with pytest.raises(InputError, match="facts:1: not a table; it looks like Wikidata's JSON"):
        read_content(wd.SMALL, columns=columns)
    with pytest.raises(InputError, match="the format wikidata has no columns with names"):
        read_content(wd.SMALL, columns=columns, format="wikidata")


def test_a_dump_of_which_only_literals_are_left_says_how_to_keep_them(
    read_content: ReadContent,
) -> None:
    one = wd.entity("Q1", [wd.statement(wd.snak("P1082", wd.quantity("+1")))])
    with pytest.raises(InputError, match="--literals skip leaves out"):
        read_content(wd.dump(one), literals="skip")


def test_without_msgspec_one_sentence_says_what_to_install(
    read_content: ReadContent, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.startswith("nqe.readers.wikidata")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delattr("nqe.readers.wikidata", raising=False)
    monkeypatch.setitem(sys.modules, "msgspec", None)
    with pytest.raises(NqeError, match="install nqe with the extra `wikidata`"):
        read_content(wd.SMALL)
