"""Completion of query text: which names are offered at the cursor."""

from __future__ import annotations

from itertools import islice

import pytest

import nqe
from nqe.graph import Dataset, Description, Fact
from nqe.query.completion import Suggestion, complete, expected_names

ATLAS = nqe.demo_dataset().vocabulary


def suggest(before: str, limit: int = 20) -> list[Suggestion]:
    return list(complete(before, ATLAS, limit))


def test_an_entity_is_completed_inside_the_brackets_of_an_atom() -> None:
    first = suggest("?x: capital(Jap")[0]
    assert (first.text, first.name, first.replaces) == ("Japan", "Japan", 3)
    assert first.description == "country or territory in Asia"


def test_a_name_with_spaces_is_completed_in_quotes() -> None:
    names = [one.text for one in suggest("?x: currency(?x, Swis")]
    assert '"Swiss Franc"' in names
    quoted = [one for one in suggest('?x: currency(?x, "Swiss Fr') if one.name == "Swiss Franc"]
    assert [one.replaces for one in quoted] == [len('"Swiss Fr')]


def test_a_relation_is_completed_outside_brackets() -> None:
    assert "borders" in [one.text for one in suggest("?x: bord")]
    assert "borders" in [one.text for one in suggest("?x: speaks(?x, German) and bord")]
    assert "borders" in [one.text for one in suggest("?x: not (bord")]


def test_keywords_are_offered_where_a_relation_may_stand_and_only_there() -> None:
    assert suggest("?x: speaks(?x, German) an")[0].text == "and"
    assert "and" not in [one.text for one in suggest("?x: speaks(?x, an")]


def test_count_is_offered_among_the_targets_and_only_there() -> None:
    assert suggest("?y, cou")[0].text == "count"
    assert "count" not in [one.text for one in suggest("?x: cou")]


def test_nothing_is_offered_before_anything_is_typed() -> None:
    assert suggest("") == []
    assert suggest("?x: borders(") == []


def test_a_limit_bounds_the_number_of_names() -> None:
    assert len(suggest("?x: capital(a", limit=3)) == 3
    assert len(list(islice(complete("?x: capital(a", ATLAS), 99))) <= 20


def test_an_ambiguous_label_is_replaced_by_its_id() -> None:
    facts = [Fact("Q1", "P1", "Q2"), Fact("Q3", "P1", "Q2")]
    labels = {"Q1": Description("Paris"), "Q3": Description("Paris")}
    vocabulary = Dataset.of({"train": facts}).describe(labels).vocabulary
    found = list(complete("?x: P1(Par", vocabulary))
    assert sorted(one.text for one in found) == ["Q1", "Q3"]


def test_a_label_that_is_the_id_of_something_else_is_replaced_by_its_id() -> None:
    dataset = Dataset.of({"train": [Fact("Q1", "P1", "Paris")]})
    vocabulary = dataset.describe({"Q1": Description("Paris")}).vocabulary
    assert sorted(one.text for one in complete("?x: P1(Par", vocabulary)) == ["Paris", "Q1"]


@pytest.mark.parametrize(
    ("before", "kind"),
    [
        ("?x: ", "relation"),
        ("?x: borders(", "entity"),
        ("?x: borders(?x, ", "entity"),
        ("?x: borders(?x, France) and ", "relation"),
        ("?x: currency(?x, Euro; ", "relation"),
        ("?x: currency(?x, Euro; start_year: ", "entity"),
        ("?x: (borders(?x, France) or ", "relation"),
        ("?x: not (", "relation"),
        ("?x, ?y: ", "relation"),
        ("?x: ?r(", "entity"),
        ("?x: ?r(?x, a) and ?r != ", "relation"),
        ("?x: borders(?x, ?y) and ?y != ", "entity"),
        ("?x: borders(?x, ?y) and (?y>=", "entity"),
        ('?x: "shares border with"(', "entity"),
    ],
)
def test_the_position_decides_between_entities_and_relations(before: str, kind: str) -> None:
    names = ATLAS.entities if kind == "entity" else ATLAS.relations
    assert expected_names(before, ATLAS) is names


def test_entities_that_stand_in_the_slot_come_first() -> None:
    graph = nqe.demo_dataset().graph
    for text, wanted in (("?x: capital(?x, Pa", "capital"), ('?x: "capital"(?x, Pa', "capital")):
        relation = graph.vocabulary.relations.resolve(wanted)
        standing = graph.relation_profile.standing(relation, 1)
        found = [one.text.strip('"') for one in complete(text, graph)]
        places = [graph.vocabulary.entities.resolve(name) in standing for name in found]
        assert places[0]
        assert places == sorted(places, reverse=True)
        assert not all(places)
