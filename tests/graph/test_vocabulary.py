"""Lookup of names: ids, labels and aliases, ambiguous and unknown names, search."""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Callable
from random import Random

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
MAN, HUMAN = Description("Man", "city"), Description("person")


@pytest.fixture(scope="module")
def names() -> Names:
    ids = (*DESCRIPTIONS, *UNLABELLED)
    graph = Graph.of(Fact(name, "r", ids[0]) for name in ids)
    return graph.describe(DESCRIPTIONS).vocabulary.entities


def describe(descriptions: dict[str, Description]) -> Names:
    """The names of a graph with these ids."""
    ids = list(descriptions)
    graph = Graph.of(Fact(name, "r", ids[0]) for name in ids)
    return graph.describe(descriptions).vocabulary.entities


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


def test_an_alias_in_the_same_case_goes_before_a_label_in_another() -> None:
    names = describe({"airport": Description("Manchester", None, ("MAN",)), "city": MAN})
    assert id_of(names, "MAN") == "airport"
    assert id_of(names, "Man") == "city"


def test_a_label_and_an_alias_in_the_same_case_are_ambiguous() -> None:
    names = describe({"a": Description("x", None, ("Man",)), "city": MAN})
    with pytest.raises(AmbiguousName, match=r"'Man' names 2 entities.*x \(a\); Man \(city\)"):
        names.resolve("Man")


def test_a_label_and_an_alias_that_both_differ_in_case_are_ambiguous() -> None:
    names = describe({"airport": Description("Manchester", None, ("MAN",)), "city": MAN})
    with pytest.raises(AmbiguousName, match="'man' names 2 entities"):
        names.resolve("man")


def test_one_thing_with_a_name_in_several_cases_is_not_ambiguous() -> None:
    names = describe({"a": Description("NATO", None, ("Nato", "nato"))})
    assert id_of(names, "NatO") == "a"
    assert names.find_namesakes("NatO") == []


def test_an_id_in_another_case_is_unknown_and_suggested() -> None:
    names = describe({"MAN": Description("Manchester"), "b": Description("other")})
    with pytest.raises(UnknownName, match="did you mean 'Manchester'"):
        names.resolve("man")


def test_a_name_with_spaces_goes_before_one_in_another_case() -> None:
    names = describe({"a": Description("new_york"), "b": Description("New York")})
    assert id_of(names, "New_York") == "b"
    assert id_of(names, "new_york") == "a"


@pytest.mark.parametrize(
    ("text", "others"),
    [
        ("MAN", ["city", "man"]),
        ("Man", ["airport", "man"]),
        ("man", ["airport", "city"]),
        ("city", []),
        ("Manchester", []),
    ],
)
def test_namesakes_are_what_a_name_would_mean_in_another_case(text: str, others: list[str]) -> None:
    described = {"airport": Description("Manchester", None, ("MAN",)), "city": MAN, "man": HUMAN}
    names = describe(described)
    assert [names.ids[number] for number in names.find_namesakes(text)] == others


def test_an_id_in_another_case_is_a_namesake() -> None:
    names = describe({"MAN": Description("Manchester"), "city": MAN})
    assert [names.ids[number] for number in names.find_namesakes("Man")] == ["MAN"]
    assert [names.ids[number] for number in names.find_namesakes("man")] == ["MAN"]
    assert [names.ids[number] for number in names.find_namesakes("MAN")] == ["city"]


def describe_with_texts(descriptions: dict[str, Description], *texts: str) -> Names:
    """The names of a graph with these ids and the literals that are these texts."""
    ids = [*descriptions, *(f"{text}^^text" for text in texts)]
    graph = Graph.of(Fact(next(iter(descriptions)), "r", name) for name in ids)
    return graph.describe(descriptions).vocabulary.entities


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("New York", "state"),
        ("New_York", "state"),
        ("NEW YORK", "NEW YORK^^text"),
        ("NEW_YORK", "NEW YORK^^text"),
        ("new york", "state"),
        ("Los Angeles", "Los_Angeles"),
        ("los angeles", "Los Angeles^^text"),
    ],
)
def test_a_literal_goes_before_names_in_another_case_and_after_those_in_the_same(
    text: str, meant: str
) -> None:
    described = {"state": Description("New York"), "Los_Angeles": Description()}
    names = describe_with_texts(described, "New York", "NEW YORK", "Los Angeles")
    assert id_of(names, text) == meant


def test_a_value_in_another_form_goes_before_a_name_in_another_case() -> None:
    facts = [Fact("a", "r", "1000^^number"), Fact("a", "r", "b")]
    graph = Graph.of(facts).describe({"b": Description("1E3")})
    assert id_of(graph.vocabulary.entities, "1e3") == "1000^^number"
    assert id_of(graph.vocabulary.entities, "1E3") == "b"


def test_a_literal_is_a_namesake_unless_an_entity_is_called_the_same() -> None:
    names = describe_with_texts({"state": Description("New York")}, "New York", "NEW YORK")
    for text in ("New York", "new york"):
        assert [names.ids[n] for n in names.find_namesakes(text)] == ["NEW YORK^^text"]
    assert [names.ids[n] for n in names.find_namesakes("NEW YORK")] == ["state"]


# Few letters, so that names often differ in case alone; some fold to several letters.
similar_texts = st.text(st.sampled_from("aAsSßẞ_ "), min_size=1, max_size=3)


@st.composite
def similar_names(draw: st.DrawFn) -> Names:
    """Names of which many are the same apart from case and `_`."""
    ids = sorted(draw(st.sets(similar_texts, min_size=1, max_size=5)))
    labels = [draw(st.none() | similar_texts) for _ in ids]
    aliases = {n: tuple(draw(st.lists(similar_texts, max_size=2))) for n in range(len(ids))}
    return Names("entity", ids, labels, [None] * len(ids), aliases)


def owners(names: Names, is_meant: Callable[[str], bool], *, with_ids: bool) -> set[int]:
    """The numbers of all names with an id, if wanted, a label or an alias that is meant."""
    found = set()
    for number, name in enumerate(names.ids):
        others = [names.labels[number], *names.aliases.get(number, ())]
        texts = [name, *others] if with_ids else others
        if any(text and is_meant(text) for text in texts):
            found.add(number)
    return found


def read(names: Names, text: str) -> int | str:
    """What a text means, or the kind of error that it causes."""
    try:
        return names.resolve(text)
    except (AmbiguousName, UnknownName) as error:
        return type(error).__name__


@given(similar_names(), similar_texts)
def test_exact_case_always_wins(names: Names, text: str) -> None:
    exact = owners(names, lambda name: name == text, with_ids=False)
    if text in names.ids:
        assert read(names, text) == names.ids.index(text)
    elif exact:
        assert read(names, text) == (exact.pop() if len(exact) == 1 else "AmbiguousName")


@given(similar_names(), similar_texts)
def test_a_text_means_only_what_has_that_name_in_some_case(names: Names, text: str) -> None:
    def is_same(name: str) -> bool:
        return name.replace("_", " ").casefold() == text.replace("_", " ").casefold()

    meant, possible = read(names, text), owners(names, is_same, with_ids=True)
    named = owners(names, is_same, with_ids=False)
    assert meant in possible or isinstance(meant, str)
    assert meant != "AmbiguousName" or len(possible) > 1
    assert meant != "UnknownName" or not named
    if isinstance(meant, int):
        assert set(names.find_namesakes(text)) == possible - {meant}


@given(similar_names(), similar_texts, st.randoms())
def test_what_a_text_means_does_not_depend_on_the_numbers(
    names: Names, text: str, random: Random
) -> None:
    order = list(range(len(names)))
    random.shuffle(order)
    shuffled = Names(
        "entity",
        [names.ids[n] for n in order],
        [names.labels[n] for n in order],
        [None] * len(order),
        {place: names.aliases[n] for place, n in enumerate(order)},
    )
    meant, again = read(names, text), read(shuffled, text)
    assert meant == (again if isinstance(again, str) else order[again])


@given(similar_names(), similar_texts)
def test_a_name_in_another_case_never_changes_an_exact_one(names: Names, text: str) -> None:
    meant = read(names, text)
    others = [other for other in (text.upper(), text.lower(), text.swapcase()) if other != text]
    if meant == "UnknownName" or not is_exact(names, text):
        return
    ids = [*names.ids, "another thing"]
    aliases = {**names.aliases, len(names): tuple(others)}
    more = Names("entity", ids, [*names.labels, None], [None] * len(ids), aliases)
    assert read(more, text) == meant


def is_exact(names: Names, text: str) -> bool:
    return bool(owners(names, lambda name: name == text, with_ids=True))


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


def test_names_that_were_looked_up_can_go_to_another_process(names: Names) -> None:
    assert id_of(names, "nyc") == "Q60"  # The index is built by now.
    code = "import pickle, sys; print(pickle.load(sys.stdin.buffer).resolve('nyc'))"
    done = subprocess.run(
        [sys.executable, "-c", code], input=pickle.dumps(names), capture_output=True, check=True
    )
    assert int(done.stdout) == names.resolve("nyc")
