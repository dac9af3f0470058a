"""Random facts, graphs, patterns and names for property tests."""

from __future__ import annotations

from hypothesis import strategies as st

from nqe.graph import Dataset, EntitySet, Fact, Graph, Pattern

ENTITIES = [f"e{number}" for number in range(6)]
RELATIONS = [f"r{number}" for number in range(3)]

entity_ids = st.sampled_from(ENTITIES)
relation_ids = st.sampled_from(RELATIONS)

# Few names, so that facts share entities and qualifiers repeat attributes and whole pairs.
small_facts = st.builds(
    Fact,
    entity_ids,
    relation_ids,
    entity_ids,
    st.lists(st.tuples(relation_ids, entity_ids), max_size=4).map(tuple),
)
small_graphs = st.lists(small_facts, min_size=1, max_size=24).map(Graph.of)

# Names with whatever the text formats use as signs, and letters of all the world.
letters = st.one_of(
    st.sampled_from(",;|\t\"'{}[]\\/_ #:-äßΩ漢字🙂\u200d\u00a0\u200f").filter(lambda c: c != "\t"),
    st.characters(exclude_categories=("Cc", "Cs", "Zl", "Zp"), exclude_characters="\ufeff"),
)
wild_ids = st.text(letters, min_size=1, max_size=6).map(str.strip).filter(bool)


@st.composite
def wild_facts(draw: st.DrawFn, max_size: int = 12) -> list[Fact]:
    """Facts whose few names are hard to write."""
    names = st.sampled_from(draw(st.lists(wild_ids, min_size=1, max_size=5)))
    pairs = st.lists(st.tuples(names, names), max_size=4).map(tuple)
    return draw(
        st.lists(st.builds(Fact, names, names, names, pairs), min_size=1, max_size=max_size)
    )


@st.composite
def wild_datasets(draw: st.DrawFn) -> Dataset:
    """Data sets of some splits, none of them empty."""
    splits = draw(st.sets(st.sampled_from(["train", "valid", "test"]), min_size=1))
    return Dataset.of({split: draw(wild_facts(max_size=6)) for split in sorted(splits)})


def restrictions(entity_count: int) -> st.SearchStrategy[int | EntitySet | None]:
    """What may stand in a slot: anything, one entity, a set, all but a set."""
    entities = st.integers(0, entity_count - 1)
    sets = st.builds(
        lambda members, inverted: EntitySet(EntitySet.of(members).members, inverted),
        st.sets(entities),
        st.booleans(),
    )
    return st.one_of(st.none(), entities, sets)


@st.composite
def patterns(draw: st.DrawFn, entity_count: int, relation_count: int) -> Pattern:
    """A pattern with up to three qualifiers, of which some may share an attribute."""
    attributes = draw(st.lists(st.integers(0, relation_count - 1), max_size=3))
    slots = [draw(restrictions(entity_count)) for _ in range(len(attributes) + 2)]
    return Pattern(
        relation=draw(st.integers(0, relation_count - 1)),
        slots=tuple(slots),
        attributes=tuple(attributes),
        asked=draw(st.integers(0, len(slots) - 1)),
        closed=draw(st.booleans()),
    )
