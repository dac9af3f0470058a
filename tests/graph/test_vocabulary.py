"""Lookup of names: ids, labels and aliases, ambiguous and unknown names, search."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import wild_facts, wild_ids

from nqe.errors import AmbiguousName, UnknownName
from nqe.graph import Description, Fact, Graph, Names

DESCRIPTIONS = {
    "Q90": Description("Paris", "capital of France", ("City of Light", "Lutetia")),
    "Q830149": Description("Paris", "city in Texas"),
    "Q60": Description("New York City", "largest city of the USA", ("NYC", "Big Apple")),
    "Q1384": Description("New York", "state of the USA"),
    "Q183": Description("Germany", None, ("Deutschland",)),
    "Q17": Description("germany", "a namesake in lower case"),
    "Q5": Description("human"),
}
UNLABELLED = ("Los_Angeles", "Q404")


@pytest.fixture(scope="module")
def names() -> Names:
    ids = (*DESCRIPTIONS, *UNLABELLED)
    graph = Graph.of(Fact(name, "r", ids[0]) for name in ids)
    return graph.describe(DESCRIPTIONS).vocabulary.entities


def id_of(names: Names, text: str) -> str:
    return names.ids[names.resolve(text)]


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("Q90", "Q90"),
        ("New York City", "Q60"),
        ("New_York_City", "Q60"),
        ("new_york", "Q1384"),
        ("NEW YORK", "Q1384"),
        ("nyc", "Q60"),
        ("Big_Apple", "Q60"),
        ("city of light", "Q90"),
        ("Los_Angeles", "Los_Angeles"),
        ("Los Angeles", "Los_Angeles"),
    ],
)
def test_a_text_means_the_one_thing_with_that_id_label_or_alias(
    names: Names, text: str, meant: str
) -> None:
    assert id_of(names, text) == meant


def test_an_exact_label_goes_before_one_in_another_case(names: Names) -> None:
    assert id_of(names, "Germany") == "Q183"
    assert id_of(names, "germany") == "Q17"


def test_an_id_goes_before_a_label() -> None:
    graph = Graph.of([Fact("a", "r", "b")]).describe({"a": Description("b")})
    assert graph.vocabulary.entities.resolve("b") == 1


def test_a_label_goes_before_an_alias() -> None:
    described = {"a": Description("x", None, ("Y",)), "b": Description("y")}
    graph = Graph.of([Fact("a", "r", "b")]).describe(described)
    assert graph.vocabulary.entities.resolve("Y") == 1


def test_an_ambiguous_label_lists_its_candidates_with_ids_and_descriptions(names: Names) -> None:
    with pytest.raises(AmbiguousName) as caught:
        names.resolve("Paris")
    assert caught.value.candidates == (
        "Paris (Q830149), city in Texas",
        "Paris (Q90), capital of France",
    )
    assert "'Paris' names 2 entities; use an id instead: Paris (Q830149)" in str(caught.value)


def test_an_ambiguity_in_case_alone_is_reported_too(names: Names) -> None:
    with pytest.raises(AmbiguousName, match="Q17"):
        names.resolve("GERMANY")


def test_very_many_candidates_are_cut_short() -> None:
    ids = [f"p{i:02}" for i in range(12)]
    graph = Graph.of(Fact(name, "r", "o") for name in ids)
    same = graph.describe({name: Description("Springfield") for name in ids})
    with pytest.raises(AmbiguousName, match=r"names 12 entities.*p07\); …$"):
        same.vocabulary.entities.resolve("Springfield")


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("Germny", "Germany"),
        ("Los_Angels", "Los_Angeles"),
        ("Lutezia", "Paris"),
        ("hmuan", "human"),
    ],
)
def test_an_unknown_name_suggests_the_nearest(names: Names, text: str, meant: str) -> None:
    with pytest.raises(UnknownName, match=f"no entity is called '{text}'; did you mean") as caught:
        names.resolve(text)
    assert meant in caught.value.nearest


def test_a_name_is_suggested_once_even_if_two_entities_have_it(names: Names) -> None:
    with pytest.raises(UnknownName, match=r"did you mean 'Paris'\?"):
        names.resolve("Pariss")


def test_a_name_like_no_other_says_how_to_search(names: Names) -> None:
    with pytest.raises(UnknownName, match="no entity is called 'zzzzzzzz'; try `nqe find`"):
        names.resolve("zzzzzzzz")


def test_search_gives_id_label_prefix_part_and_spelling_in_this_order() -> None:
    labels = {
        "york": Description("an id"),
        "b": Description("York"),
        "c": Description("Yorkshire"),
        "d": Description("New York"),
        "e": Description("Yrok"),
        "f": Description("Cork and more"),
    }
    graph = Graph.of(Fact(name, "r", "b") for name in labels).describe(labels)
    names = graph.vocabulary.entities
    hits = [(names.ids[hit.number], hit.how) for hit in names.search("york", 10)]
    assert hits == [
        ("york", "id"),
        ("b", "label"),
        ("c", "prefix"),
        ("d", "part"),
        ("e", "spelling"),
    ]
    assert len(names.search("york", 2)) == 2


@pytest.mark.parametrize("text", ["los_ang", "Los Ang", "LOS_ANG"])
def test_search_takes_an_underscore_for_a_space(names: Names, text: str) -> None:
    hits = names.search(text, 5)
    assert (names.ids[hits[0].number], hits[0].how) == ("Los_Angeles", "prefix")


def test_search_finds_by_alias_and_names_each_thing_once(names: Names) -> None:
    hits = [names.ids[hit.number] for hit in names.search("lut", 5)]
    assert hits[0] == "Q90"
    found = [hit.number for hit in names.search("new york", 10)]
    assert len(found) == len(set(found))


def test_a_second_description_adds_aliases_and_keeps_the_first_label() -> None:
    first = Description("Kiev", None, ("Kyjiv",))
    merged = first.merge(Description("Kyiv", "capital of Ukraine", ("Kyjiv", "Kiew")))
    assert merged == Description("Kiev", "capital of Ukraine", ("Kyjiv", "Kyiv", "Kiew"))
    assert Description().merge(first) == first


def test_ids_that_are_not_in_the_graph_are_ignored() -> None:
    graph = Graph.of([Fact("a", "r", "b")]).describe({"z": Description("Z")})
    assert set(graph.vocabulary.entities.labels) == {None}


@given(wild_facts())
def test_every_id_means_itself(facts: list[Fact]) -> None:
    vocabulary = Graph.of(facts).vocabulary
    for kind in (vocabulary.entities, vocabulary.relations):
        assert [kind.resolve(name) for name in kind.ids] == list(range(len(kind)))


def test_an_error_does_not_repeat_a_very_long_name() -> None:
    with pytest.raises(UnknownName) as caught:
        Names.of("entity", ["a"]).resolve("x" * 90_000)
    assert len(str(caught.value)) < 300


def test_names_are_ordered_by_id_whatever_their_numbers() -> None:
    kept = Names.of("entity", ["a", "b", "c"])
    assert kept.id_order.tolist() == [0, 1, 2]
    mixed = Names.of("entity", ["c", "a", "d", "b"])
    assert mixed.id_order.tolist() == [2, 0, 3, 1]
    assert Names.of("entity", []).id_order.tolist() == []


@given(st.lists(wild_ids, unique=True, max_size=12))
def test_the_order_of_ids_is_that_of_sorting_them(ids: list[str]) -> None:
    places = Names.of("entity", ids).id_order.tolist()
    assert [ids[places.index(place)] for place in range(len(ids))] == sorted(ids)
