"""Small graphs and random queries over them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

from brute_force import find_rows
from hypothesis import strategies as st
from strategies import ENTITIES, RELATIONS, entity_ids, relation_ids, small_facts

from nqe.errors import QueryError
from nqe.graph import Fact, Graph
from nqe.query import And, Atom, Comparison, Not, Or, Query, QueryGraph, Variable, variables
from nqe.query.formula import OPERATORS, Formula, Term

TARGET = Variable("x")

# Facts that mention every name, so that all random queries bind.
EVERY_NAME = [Fact(name, RELATIONS[0], ENTITIES[0]) for name in ENTITIES] + [
    Fact(ENTITIES[0], name, ENTITIES[0]) for name in RELATIONS
]
FILMS = [
    Fact("Ann", "award", "Prize", (("year", "1999"), ("with", "Bob"), ("with", "Cid"))),
    Fact("Bob", "award", "Prize", (("year", "1999"), ("with", "Ann"))),
    Fact("Cid", "award", "Prize"),
    Fact("Ann", "born", "Rome"),
    Fact("Bob", "born", "Oslo"),
    Fact("Cid", "born", "Rome"),
]
LITERALS = [
    "1955^^time",
    "1955-03^^time",
    "195X^^time",
    "5^^number",
    "5 kg^^number",
    "7 kg^^number",
    "5..10 kg^^number",
    "abc^^text",
    "abd^^text@en",
]
WRITTEN_VALUES = ["1955", "1955-03-04", "5", "6.5", "6 kg", "1955^^number", "abc^^text"]
HARD_NAMES = [
    *OPERATORS,
    *(
        "a=b",
        "<a",
        "a>",
        "=>",
        "==",
        "!a",
        "a!=b",
        "count",
        "Count",
        "and",
        "1999",
        "a<=b",
        "COUNT",
    ),
]
literal_facts = st.lists(
    st.builds(
        Fact,
        entity_ids,
        relation_ids,
        st.one_of(entity_ids, st.sampled_from(LITERALS)),
        st.lists(st.tuples(relation_ids, st.sampled_from((*ENTITIES, *LITERALS))), max_size=2).map(
            tuple
        ),
    ),
    max_size=10,
)
fact_lists = st.lists(small_facts, max_size=16)


def graph_of(facts: list[Fact]) -> Graph:
    """A graph of these facts whose vocabulary has every name."""
    return Graph.of([*EVERY_NAME, *facts])


@st.composite
def queries(draw: st.DrawFn, depth: int = 2, prefix: str = "y") -> Query:
    """A query whose variables form a tree, with connectives in any place."""
    names = (Variable(f"{prefix}{number}") for number in count())
    return Query(TARGET, draw(formulas(TARGET, depth, names)))


@st.composite
def positive_queries(draw: st.DrawFn) -> Query:
    """A query of open atoms without `not`: adding facts never removes an answer."""
    names = (Variable(f"y{number}") for number in count())
    return Query(TARGET, draw(formulas(TARGET, 2, names, positive=True)))


@st.composite
def formulas(
    draw: st.DrawFn,
    variable: Variable,
    depth: int,
    names: Iterator[Variable],
    positive: bool = False,
) -> Formula:
    """A formula over one variable; `names` are for the other variables in it."""
    kinds = ["atom", "atom", "and", "or"] + ([] if positive else ["not"])
    kind = draw(st.sampled_from(kinds)) if depth else "atom"
    if kind == "atom":
        return draw(_atoms(variable, depth, names, positive))
    if kind == "not":
        return Not(draw(formulas(variable, depth - 1, names, positive)))
    size = draw(st.integers(2, 3))
    parts = tuple(draw(formulas(variable, depth - 1, names, positive)) for _ in range(size))
    return And(parts) if kind == "and" else Or(parts)


@st.composite
def _atoms(
    draw: st.DrawFn, variable: Variable, depth: int, names: Iterator[Variable], positive: bool
) -> Formula:
    """An atom with the variable in a slot, and what restricts the other variables in it."""
    attributes = draw(st.lists(relation_ids, max_size=2))
    asked = draw(st.integers(0, len(attributes) + 1))
    terms: list[Term] = []
    below: list[Formula] = []
    for place in range(len(attributes) + 2):
        role = draw(st.sampled_from(["anchor", "anchor", "lone", "restricted"]))
        if place == asked:
            terms.append(variable)
        elif role == "anchor" or not depth:
            terms.append(draw(entity_ids))
        else:
            inner = next(names)
            terms.append(inner)
            if role == "restricted":
                below.append(draw(formulas(inner, depth - 1, names, positive)))
    pairs = tuple(zip(attributes, terms[2:], strict=True))
    closed = False if positive else draw(st.booleans())
    atom = Atom(draw(relation_ids), terms[0], terms[1], pairs, closed)
    return And((atom, *below)) if below else atom


@st.composite
def query_graphs(draw: st.DrawFn, with_literals: bool = True) -> QueryGraph:
    """A query graph of any kind: rows, counts, cycles, comparisons, variables for relations."""
    targets = variables("x y")[: draw(st.integers(0, 2))]
    counted = draw(st.sampled_from(variables("x z"))) if not targets else draw(_perhaps_counted)
    leaves = _tangled_leaves(LITERALS if with_literals else [])
    formula = draw(st.recursive(leaves, _connect, max_leaves=5))
    try:
        return QueryGraph.of(targets, formula, counted)
    except QueryError:
        # With all variables in one atom, every formula has a meaning.
        return QueryGraph.of(targets, And((_EVERY_VARIABLE, formula)), counted)


_perhaps_counted = st.sampled_from((None, None, None, Variable("z")))
_EVERY_VARIABLE = Atom(
    Variable("r"), Variable("x"), Variable("y"), ((RELATIONS[0], Variable("z")),)
)


def _tangled_leaves(literals: list[str]) -> st.SearchStrategy[Formula]:
    """Atoms and comparisons of a few variables, which stand in any place."""
    names = variables("x y z")
    terms = st.sampled_from((*names, *names, *ENTITIES, *literals))
    atoms = st.builds(
        Atom,
        st.one_of(relation_ids, relation_ids, st.just(Variable("r"))),
        st.sampled_from(variables("x x y")),
        terms,
        st.lists(st.tuples(relation_ids, terms), max_size=1).map(tuple),
        st.booleans(),
    )
    written = WRITTEN_VALUES if literals else []
    compared = st.sampled_from((*names, *literals, *written))
    comparisons = st.builds(
        Comparison, st.sampled_from(OPERATORS), st.sampled_from(names), compared
    )
    same = st.sampled_from(("=", "!="))
    of_entities = st.builds(Comparison, same, st.sampled_from(names), entity_ids)
    of_relations = st.builds(Comparison, same, st.just(Variable("r")), relation_ids)
    return st.one_of(atoms, atoms, atoms, comparisons, comparisons, of_entities, of_relations)


def _connect(inner: st.SearchStrategy[Formula]) -> st.SearchStrategy[Formula]:
    parts = st.lists(inner, min_size=2, max_size=3).map(tuple)
    return st.one_of(
        st.builds(And, parts), st.builds(And, parts), st.builds(Or, parts), st.builds(Not, inner)
    )


# Names that look like operators, keywords and numbers stand beside names of any kind.
_any_names = st.one_of(st.text(min_size=1), st.sampled_from(HARD_NAMES))
_any_variables = st.one_of(st.from_regex(r"\w+", fullmatch=True), st.just("count")).map(Variable)
_any_terms = st.one_of(_any_names, _any_variables)
_any_atoms = st.builds(
    Atom,
    _any_terms,
    _any_terms,
    _any_terms,
    st.lists(st.tuples(_any_names, _any_terms), max_size=3).map(tuple),
    st.booleans(),
)
_any_comparisons = st.builds(Comparison, st.sampled_from(OPERATORS), _any_variables, _any_terms)


any_queries = st.builds(
    Query,
    st.lists(_any_variables, max_size=3),
    st.recursive(st.one_of(_any_atoms, _any_comparisons), _connect, max_leaves=6),
    st.one_of(st.none(), _any_variables),
).filter(lambda query: query.targets or query.counted)
"""Queries with any names and any structure, most of which have no meaning."""


def answers(query: Query, graph: Graph) -> list[str]:
    """The entities that make the formula true, found by trying each."""
    return sorted(entity for (entity,) in find_rows(query.graph, graph))
