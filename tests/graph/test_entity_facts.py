"""All facts of an entity, and facts in labels."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from strategies import small_facts

from nqe.graph import Description, Fact, Graph
from nqe.graph.entity_facts import FactLabels, collect_entity_facts


@given(st.lists(small_facts, min_size=1, max_size=20))
def test_the_facts_of_an_entity_are_listed_by_the_slot_it_is_in(facts: list[Fact]) -> None:
    graph = Graph.of(facts)
    for number, name in enumerate(graph.vocabulary.entities.ids):
        shown = collect_entity_facts(graph, number)
        assert {fact.ids for fact in shown.as_subject} == {f for f in facts if f.subject == name}
        assert {fact.ids for fact in shown.as_object} == {f for f in facts if f.object == name}
        in_value = {f for f in facts if name in [value for _, value in f.qualifiers]}
        assert {fact.ids for fact in shown.as_value} == in_value


def test_an_entity_and_its_facts_have_labels() -> None:
    graph = Graph.of([Fact("a", "r", "b", (("q", "c"),))]).describe(
        {"a": Description("Alpha", "first", ("A",)), "r": Description("rel"), "c": Description("C")}
    )
    shown = collect_entity_facts(graph, graph.vocabulary.entities.resolve("a"))
    assert (shown.label, shown.description, shown.aliases) == ("Alpha", "first", ("A",))
    assert shown.as_subject[0].labels == FactLabels("Alpha", "rel", "b", (("q", "C"),))
