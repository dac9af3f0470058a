"""Joins of atoms with bindings, against brute force: every fact in every way, for every row."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import ENTITIES, RELATIONS, small_facts

from nqe.errors import TooManyBindings
from nqe.graph import Fact, Graph, candidates, join_atom, read_facts
from nqe.graph.atom_pattern import AtomPattern, Unknown
from nqe.graph.binding_table import BindingTable, stack
from nqe.graph.fact_source import FactSource
from nqe.graph.graph_without import GraphWithout

EVERY_NAME = [Fact(name, RELATIONS[0], ENTITIES[0]) for name in ENTITIES] + [
    Fact(ENTITIES[0], name, ENTITIES[0]) for name in RELATIONS
]
VARIABLES, RELATION = (0, 1, 2), 3
Row = tuple[int, ...]

fact_lists = st.lists(small_facts, max_size=16)
entities, relations = st.integers(0, len(ENTITIES) - 1), st.integers(0, len(RELATIONS) - 1)
terms = st.one_of(st.sampled_from(VARIABLES).map(Unknown), entities)


@st.composite
def atoms(draw: st.DrawFn) -> AtomPattern:
    """An atom with up to three qualifiers, in which variables may stand several times."""
    attributes = tuple(draw(st.lists(relations, max_size=3)))
    slots = tuple(draw(terms) for _ in range(len(attributes) + 2))
    relation = draw(st.one_of(relations, relations, st.just(Unknown(RELATION))))
    return AtomPattern(relation, slots, attributes, draw(st.booleans()))


@st.composite
def tables(draw: st.DrawFn) -> BindingTable:
    """Rows for some of the variables, some perhaps equal."""
    bound = sorted(draw(st.sets(st.sampled_from([*VARIABLES, RELATION]))))
    count = draw(st.integers(0, 6)) if bound else 1
    columns = {
        one: np.array([draw(relations if one == RELATION else entities) for _ in range(count)], int)
        for one in bound
    }
    return BindingTable(columns, count)


def list_ways(source: FactSource, row: int, atom: AtomPattern) -> list[dict[int, int]]:
    """What stands for the variables of an atom in each way in which a fact matches it."""
    subject, relation, object_, pairs = source.facts.row(row)
    found = []
    for chosen in permutations(range(len(pairs)), len(atom.attributes)):
        if tuple(pairs[place][0] for place in chosen) != atom.attributes:
            continue
        if atom.closed and len(pairs) > len(chosen):
            continue
        contents = (relation, subject, object_, *(pairs[place][1] for place in chosen))
        values: dict[int, int] = {}
        fits = all(
            values.setdefault(wanted.number, content) == content
            if isinstance(wanted, Unknown)
            else wanted == content
            for wanted, content in zip((atom.relation, *atom.slots), contents, strict=True)
        )
        if fits:
            found.append(values)
    return found


def join_slowly(
    source: FactSource, rows: list[int], atom: AtomPattern, table: BindingTable, wanted: list[int]
) -> list[Row]:
    found = set()
    for place in range(len(table)):
        bound = {one: int(column[place]) for one, column in table.columns.items()}
        for values in (way for row in rows for way in list_ways(source, row, atom)):
            if all(bound.get(one, value) == value for one, value in values.items()):
                found.add(tuple({**bound, **values}[one] for one in wanted))
    return sorted(found)


def join(
    source: FactSource, atom: AtomPattern, table: BindingTable, wanted: list[int]
) -> list[Row]:
    joined = stack(list(source.prepare(atom).join(table).run(wanted)))
    assert set(joined.columns) == set(wanted)
    columns = [joined.columns[one].tolist() for one in wanted]
    assert all(len(column) == len(joined) for column in columns)
    return sorted(set(zip(*columns, strict=True))) if wanted else [()] * min(len(joined), 1)


def draw_wanted(data: st.DataObject, atom: AtomPattern, table: BindingTable) -> list[int]:
    every = sorted({*atom.variables, *table.columns})
    return sorted(data.draw(st.sets(st.sampled_from(every)))) if every else []


@pytest.mark.parametrize(("block", "worth"), [(1_000_000, 4), (3, 4), (2, 0)])
@given(facts=fact_lists, atom=atoms(), table=tables(), data=st.data())
def test_a_join_gives_what_every_way_of_every_fact_gives(
    block: int,
    worth: int,
    facts: list[Fact],
    atom: AtomPattern,
    table: BindingTable,
    data: st.DataObject,
) -> None:
    graph = Graph.of([*EVERY_NAME, *facts])
    wanted = draw_wanted(data, atom, table)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(join_atom, "BLOCK", block)
        patch.setattr(join_atom, "_WORTH_JOINING", worth)
        patch.setattr(candidates, "_MANY", block)
        patch.setattr(read_facts, "WAYS_BLOCK", block)
        found = join(graph, atom, table, wanted)
    assert found == join_slowly(graph, list(range(len(graph))), atom, table, wanted)


@given(facts=fact_lists, atom=atoms(), table=tables(), data=st.data())
def test_facts_that_are_left_out_add_nothing(
    facts: list[Fact], atom: AtomPattern, table: BindingTable, data: st.DataObject
) -> None:
    graph = Graph.of([*EVERY_NAME, *facts])
    rows = sorted(data.draw(st.sets(st.integers(0, len(graph) - 1), min_size=1)))
    without = GraphWithout.leave_out(graph, np.array(rows))
    kept = [row for row in range(len(graph)) if row not in rows]
    wanted = draw_wanted(data, atom, table)
    assert join(without, atom, table, wanted) == join_slowly(graph, kept, atom, table, wanted)


@given(facts=fact_lists, atom=atoms(), table=tables())
def test_the_cost_is_zero_only_if_nothing_is_found(
    facts: list[Fact], atom: AtomPattern, table: BindingTable
) -> None:
    graph = Graph.of([*EVERY_NAME, *facts])
    step = graph.prepare(atom).join(table)
    if step.cost == 0:
        assert len(stack(list(step.run(atom.variables)))) == 0


def test_more_ways_to_map_qualifiers_than_the_limit_are_refused() -> None:
    pairs = tuple(("q", f"v{number:02}") for number in range(30))
    graph = Graph.of([Fact("a", "r", "b", pairs)])
    names = graph.vocabulary
    slots = (names.entities.resolve("a"), *map(Unknown, range(4)))
    atom = AtomPattern(names.relations.resolve("r"), slots, (names.relations.resolve("q"),) * 3)
    step = graph.prepare(atom, max_bindings=1_000).join(BindingTable.unit())
    with pytest.raises(TooManyBindings, match="limit of 1,000"):
        list(step.run(range(4)))
