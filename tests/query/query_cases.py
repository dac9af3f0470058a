"""Small graphs, random queries over them, and their answers by enumeration."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import count, product
from typing import assert_never

from hypothesis import reject
from hypothesis import strategies as st
from strategies import ENTITIES, RELATIONS, entity_ids, relation_ids, small_facts

from nqe.errors import QueryError
from nqe.graph import Fact, Graph
from nqe.query import And, Atom, Not, Or, Query, QueryGraph, Variable, variables
from nqe.query.formula import Formula, Term, split_and

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
def query_graphs(draw: st.DrawFn) -> QueryGraph:
    """A query graph with one or two targets, whose variables need not form a tree."""
    targets = variables("x y")[: draw(st.integers(1, 2))]
    formula = draw(st.recursive(_tangled_atoms, _connect, max_leaves=5))
    try:
        return QueryGraph.of(targets, formula)
    except QueryError:
        reject()


_tangled_atoms = st.builds(
    Atom,
    relation_ids,
    st.sampled_from(variables("x x y")),
    st.one_of(st.sampled_from(variables("y z")), entity_ids),
    st.lists(st.tuples(relation_ids, st.sampled_from(variables("x y z"))), max_size=1).map(tuple),
    st.booleans(),
)


def _connect(inner: st.SearchStrategy[Formula]) -> st.SearchStrategy[Formula]:
    parts = st.lists(inner, min_size=2, max_size=3).map(tuple)
    return st.one_of(st.builds(And, parts), st.builds(Or, parts), st.builds(Not, inner))


_any_names = st.text(min_size=1)
_any_variables = st.from_regex(r"\w+", fullmatch=True).map(Variable)
_any_terms = st.one_of(_any_names, _any_variables)
_any_atoms = st.builds(
    Atom,
    _any_names,
    _any_terms,
    _any_terms,
    st.lists(st.tuples(_any_names, _any_terms), max_size=3).map(tuple),
    st.booleans(),
)


any_queries = st.builds(Query, _any_variables, st.recursive(_any_atoms, _connect, max_leaves=6))
"""Queries with any names and any structure, most of which have no meaning."""


def answers(query: Query, graph: Graph) -> list[str]:
    """The entities that make the formula true, found by trying each."""
    return [entity for (entity,) in answer_rows(query.graph, graph)]


def answer_rows(query: QueryGraph, graph: Graph) -> list[tuple[str, ...]]:
    """The combinations of entities that make the query true, found by trying each."""
    return [
        row
        for row in product(graph.vocabulary.entities.ids, repeat=len(query.targets))
        if _holds(query.formula, dict(zip(query.targets, row, strict=True)), graph)
    ]


def _holds(formula: Formula, values: Mapping[Variable, str], graph: Graph) -> bool:
    """Whether some values of the variables of this scope make all conjuncts true."""
    parts = list(split_and(formula))
    bound = {
        t for part in parts if isinstance(part, Atom) for t in part.terms if isinstance(t, Variable)
    }
    free = sorted(bound - values.keys(), key=str)
    for choice in product(graph.vocabulary.entities.ids, repeat=len(free)):
        chosen = {**values, **dict(zip(free, choice, strict=True))}
        if all(_literal(part, chosen, graph) for part in parts):
            return True
    return False


def _literal(part: Formula, values: Mapping[Variable, str], graph: Graph) -> bool:
    match part:
        case Atom():
            return _stated(part, values, graph)
        case Not():
            return not _holds(part.part, values, graph)
        case Or():
            return any(_holds(branch, values, graph) for branch in part.parts)
        case And():
            return all(_holds(one, values, graph) for one in part.parts)
        case _:
            assert_never(part)


def _stated(atom: Atom, values: Mapping[Variable, str], graph: Graph) -> bool:
    """Whether a fact matches the atom; each qualifier needs a pair of its own in the fact."""
    subject, object_, *fillers = (
        values[term] if isinstance(term, Variable) else term for term in atom.terms
    )
    wanted = [(a, filler) for (a, _), filler in zip(atom.qualifiers, fillers, strict=True)]
    for fact in graph:
        if (fact.subject, fact.relation, fact.object) != (subject, atom.relation, object_):
            continue
        left = list(fact.qualifiers)
        try:
            for pair in wanted:
                left.remove(pair)
        except ValueError:
            continue
        if not (atom.closed and left):
            return True
    return False
