"""Random queries that are no trees, walked from the facts of a graph so that many have answers.

A test compares what two engines answer to them, and a benchmark how long they take.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise

from fact_walker import ValuedFact, Walker

from nqe.errors import TooManyBindings
from nqe.graph import Fact, Graph
from nqe.graph.literals import parse_id
from nqe.graph.time_values import Time
from nqe.query import And, Atom, Comparison, Not, Or, Query, execute, variables
from nqe.query.formula import Formula, Term

__all__ = ["LITERAL_PATTERNS", "PATTERNS", "Draw", "Walker", "draw_queries"]

X, Y, Z, V, W, R = variables("x y z v w r")
ORDERS = ("<", "<=", ">", ">=")
ATTEMPTS = 1_000  # after this many walks in a row without a new query, a pattern has no more

Naming = Mapping[str, Term]
"""What stands in a query in place of some ids; all others stay as they are."""
Draw = Callable[[Walker], Query | None]
"""Draws a random query; None if the facts that were picked do not fit."""


def draw_queries(graph: Graph, draw: Draw, walk: Walker, most_facts: int) -> Iterator[Query]:
    """Different random queries, none of which has a condition that leads to more facts."""
    seen: set[Query] = set()
    failed = 0
    while failed < ATTEMPTS:
        query = draw(walk)
        if query is None or query in seen or not _is_small(query, graph, most_facts):
            failed += 1
            continue
        failed = 0
        seen.add(query)
        yield query


def _is_small(query: Query, graph: Graph, most_facts: int) -> bool:
    try:
        execute(query, graph, max_bindings=most_facts)
    except TooManyBindings:
        return False
    return True


# Facts as atoms


def lift(fact: Fact, names: Naming, qualifiers: int = 0) -> Atom:
    """A fact as an atom, with at most the given number of its qualifiers."""
    pairs = tuple((name, names.get(value, value)) for name, value in fact.qualifiers[:qualifiers])
    subject, object_ = (names.get(one, one) for one in (fact.subject, fact.object))
    return Atom(fact.relation, subject, object_, pairs)


def lift_path(walk: Walker, path: Sequence[str], names: Naming) -> list[Atom]:
    """Atoms that link each entity of a path with the next; some have a qualifier."""
    links = (walk.pick_link(*pair) for pair in pairwise(path))
    return [lift(link, names, int(walk.chance(0.2))) for link in links]


def lift_cycle(walk: Walker, cycle: Sequence[str], names: Naming) -> list[Atom]:
    """The atoms of a cycle of entities."""
    return lift_path(walk, [*cycle, cycle[0]], names)


def restrict(walk: Walker, entity: str, names: Naming) -> list[Atom]:
    """An atom that links what stands for an entity with a name; none in half of the queries."""
    fact = walk.rng.choice(walk.at[entity])
    other = fact.object if fact.subject == entity else fact.subject
    return [] if other in names or walk.chance(0.5) else [lift(fact, {entity: names[entity]})]


def conjoin(*parts: Formula) -> Formula:
    """All parts together."""
    return And(parts) if len(parts) > 1 else parts[0]


# Patterns of entities and relations


def draw_cycle(walk: Walker, length: int) -> Query | None:
    """A cycle, of which one variable is asked for."""
    cycle = walk.pick_cycle(length)
    if cycle is None:
        return None
    names = dict(zip(cycle, (X, Y, Z, V), strict=False))
    return Query(X, conjoin(*lift_cycle(walk, cycle, names), *restrict(walk, cycle[0], names)))


def draw_triangle(walk: Walker) -> Query | None:
    """A cycle of three variables."""
    return draw_cycle(walk, 3)


def draw_square(walk: Walker) -> Query | None:
    """A cycle of four variables."""
    return draw_cycle(walk, 4)


def draw_bow_tie(walk: Walker) -> Query | None:
    """Two triangles that share the variable that is asked for."""
    one = walk.pick_cycle(3)
    other = one and walk.pick_cycle(3, one[0])
    if not one or not other or {*one[1:]} & {*other[1:]}:
        return None
    names = dict(zip((*one, *other[1:]), (X, Y, Z, V, W), strict=True))
    atoms = [*lift_cycle(walk, one, names), *lift_cycle(walk, other, names)]
    return Query(X, conjoin(*atoms, *restrict(walk, one[0], names)))


def draw_qualified_cycle(walk: Walker) -> Query | None:
    """A fact, and a second one that links one of its ends with the value of its qualifier."""
    fact = walk.rng.choice(walk.qualified)
    value = walk.rng.choice(fact.qualifiers)[1]
    ends = [one for one in (fact.subject, fact.object) if frozenset((one, value)) in walk.between]
    names = {fact.subject: X, fact.object: Y, value: Z}
    if not ends or len(names) < 3:
        return None
    link = lift(walk.pick_link(walk.rng.choice(ends), value), names)
    return Query(X, conjoin(lift(fact, names, len(fact.qualifiers)), link))


def draw_two_targets(walk: Walker) -> Query | None:
    """The two ends of a path of one or two steps."""
    path = walk.pick_path(walk.rng.randint(2, 3))
    if path is None:
        return None
    names = {path[0]: X, path[1]: Z, path[-1]: Y}
    atoms = lift_path(walk, path, names)
    return Query((X, Y), conjoin(*atoms, *restrict(walk, path[0], names)))


def draw_correlated_not(walk: Walker) -> Query | None:
    """Two variables that one relation links and another one does not."""
    link, other = walk.pick_two_links()
    names = {link.subject: X, link.object: Y}
    targets = (X, Y) if walk.chance(0.5) else (X,)
    # The same two entities are no answer, so the part that restricts is of other ones.
    subject = walk.rng.choice(walk.of_relation[link.relation]).subject
    more = restrict(walk, subject, {subject: X})
    return Query(targets, conjoin(lift(link, names), Not(lift(other, names)), *more))


def draw_correlated_or(walk: Walker) -> Query | None:
    """Two variables that one relation links, and one of two others as well."""
    (link, second), third = walk.pick_two_links(), walk.rng.choice(walk.facts)
    names = {link.subject: X, link.object: Y}
    part = Or((lift(second, names), Atom(third.relation, Y, X)))
    return Query(X, conjoin(lift(link, names), part, *restrict(walk, link.subject, names)))


def draw_unequal(walk: Walker) -> Query | None:
    """The end of a path, which must differ from the other end or from an entity."""
    path = walk.pick_path(3)
    if path is None:
        return None
    names = dict(zip(path, (X, Z, Y), strict=True))
    unequal = Comparison("!=", X, Y if walk.chance(0.7) else path[0])
    atoms = lift_path(walk, path, names)
    return Query(X, conjoin(*atoms, unequal, *restrict(walk, path[1], names)))


def draw_count(walk: Walker) -> Query | None:
    """How many entities there are at the end of a path: for a name, or for each at its start."""
    path = walk.pick_path(3)
    if path is None:
        return None
    targets = (Y,) if walk.chance(0.5) else ()
    names = dict(zip(path, (X, Z, *targets), strict=False))
    atoms = lift_path(walk, path, names)
    return Query(targets, conjoin(*atoms, *restrict(walk, path[0], names)), X)


def draw_qualified_count(walk: Walker) -> Query | None:
    """How many entities stand in one place of facts with qualifiers, also for each in another."""
    fact = walk.rng.choice(walk.qualified)
    names = {fact.subject: X, fact.object: Y, fact.qualifiers[0][1]: Z}
    if len(names) < 3:
        return None
    counted, *targets = walk.rng.sample((X, Y, Z), walk.rng.randint(1, 2))
    atom = lift(fact, names, walk.rng.randint(1, 2))
    return Query(targets, conjoin(atom, *restrict(walk, fact.subject, names)), counted)


def draw_relation(walk: Walker) -> Query | None:
    """By which relations something is linked with a name: the relations, or how many there are."""
    fact = walk.rng.choice(walk.facts)
    one, other = walk.rng.sample((fact.subject, fact.object), 2)
    if one == other:
        return None
    names = {other: X}
    linked = lift(fact, names, int(walk.chance(0.3)))
    atom = Atom(R, linked.subject, linked.object, linked.qualifiers)
    more = [lift(walk.rng.choice(walk.at[other]), names)] if walk.chance(0.5) else []
    targets = walk.rng.choice(((R,), (R, X), (X,)))
    counted = X if targets == (R,) and walk.chance(0.4) else None
    return Query(targets, conjoin(atom, *more), counted)


PATTERNS: Mapping[str, Draw] = {
    "triangle": draw_triangle,
    "4-cycle": draw_square,
    "bow-tie": draw_bow_tie,
    "cycle by a qualifier": draw_qualified_cycle,
    "two targets": draw_two_targets,
    "correlated not": draw_correlated_not,
    "correlated or": draw_correlated_or,
    "!=": draw_unequal,
    "count": draw_count,
    "count with qualifiers": draw_qualified_count,
    "relation": draw_relation,
}
"""Patterns of entities and relations, by name."""


# Patterns with times and numbers


def lift_value(one: ValuedFact, subject: Term, value: Term, object_: Term = Z) -> Atom:
    """An atom with other terms for the subject and the value of a fact.

    If a qualifier has the value, the object becomes another term, too, and other qualifiers are
    left out.
    """
    fact, attribute, _ = one
    if attribute is None:
        return Atom(fact.relation, subject, value)
    return Atom(fact.relation, subject, object_, ((attribute, value),))


def draw_literal(walk: Walker) -> Query | None:
    """Values that are compared with one that another fact has in the same place."""
    one = walk.rng.choice(walk.valued)
    operator = walk.rng.choice((*ORDERS, "=", "!="))
    compared = Comparison(operator, V, walk.pick_value_like(one))
    targets = (X, V) if walk.chance(0.5) else (X,)
    return Query(targets, conjoin(lift_value(one, X, V), compared))


def draw_written(walk: Walker) -> Query | None:
    """Values that are compared with a year or with a number without its unit."""
    one = walk.rng.choice(walk.valued)
    other = parse_id(walk.pick_value_like(one))
    assert other is not None, "it is a time or a number"
    written = str(other.year) if isinstance(other, Time) else other.lexical.split(" ")[0]
    compared = Comparison(walk.rng.choice(ORDERS), V, written)
    return Query(X, conjoin(lift_value(one, X, V), compared))


def draw_range(walk: Walker) -> Query | None:
    """Values between two others, or those outside."""
    one = walk.rng.choice(walk.valued)
    low, high = (walk.pick_value_like(one) for _ in range(2))
    inside = And((Comparison(">=", V, low), Comparison("<=", V, high)))
    part = inside if walk.chance(0.5) else Not(inside)
    return Query((X, V), conjoin(lift_value(one, X, V), part))


def draw_two_values(walk: Walker) -> Query | None:
    """Two values of one entity, or of two, that are compared with each other."""
    one = walk.rng.choice(walk.valued)
    same = [other for other in walk.valued_at[one.fact.subject] if other is not one]
    other = walk.rng.choice(same or [one])
    compared = Comparison(walk.rng.choice(ORDERS), V, W)
    return Query(X, conjoin(lift_value(one, X, V), lift_value(other, X, W, Y), compared))


def draw_extreme(walk: Walker) -> Query | None:
    """The first or the last values: the same entity has none before, or none after."""
    one = walk.rng.choice(walk.valued)
    further = And((lift_value(one, X, W, Y), Comparison(walk.rng.choice("<>"), W, V)))
    return Query((X, V), conjoin(lift_value(one, X, V), Not(further)))


def draw_value_count(walk: Walker) -> Query | None:
    """How many values come before or after another one, also for each entity."""
    one = walk.rng.choice(walk.valued)
    compared = Comparison(walk.rng.choice(ORDERS), V, walk.pick_value_like(one))
    targets = (X,) if walk.chance(0.5) else ()
    return Query(targets, conjoin(lift_value(one, X, V), compared), V)


LITERAL_PATTERNS: Mapping[str, Draw] = {
    "literal": draw_literal,
    "written value": draw_written,
    "range": draw_range,
    "two values": draw_two_values,
    "extreme": draw_extreme,
    "count of values": draw_value_count,
}
"""Patterns with comparisons of times and numbers, by name."""
