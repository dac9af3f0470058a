"""Draws random queries of patterns beyond trees by walking over the facts of a graph."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from nqe.errors import TooManyBindings
from nqe.graph.arrays import Integers
from nqe.graph.graph import Graph
from nqe.graph.pattern import FIRST_QUALIFIER, OBJECT, SUBJECT
from nqe.query.formula import And, Atom, Comparison, Formula, Not, Term, Variable
from nqe.query.query import Query
from nqe.sampling.patterns import Pair, QueryPattern
from nqe.sampling.random_walk import FACT_TRIES, NAMED, DeadEnd, Match, Walker
from nqe.sampling.row_answers import MAX_LOOKED_AT, bind_rows, find_row_numbers

Names = Mapping[int, str]
"""The variables of an atom, by the slots of its fact."""


@dataclass(frozen=True, eq=False)
class Drawn:
    """A query in ids, which has an answer unless a condition removes it."""

    query: Query
    without: Query | None = None
    """The query without the condition that was added to its facts, if it has one."""


@dataclass(frozen=True, eq=False)
class PatternWalker:
    """Draws queries over a graph: different entities in place of all variables, and their facts."""

    graph: Graph
    match: Match = "closed"

    def try_to_draw(self, pattern: QueryPattern, rng: np.random.Generator) -> Drawn | None:
        """A query of the pattern by one walk; None if the walk comes to a dead end."""
        try:
            return _Walk(self, pattern, rng).draw()
        except (DeadEnd, TooManyBindings):
            return None

    def list_facts(self, entity: int) -> tuple[Integers, Integers]:
        """The rows of the facts that have an entity, and the slot of each."""
        start, rows, slots = self._mentions
        first, last = int(start[entity]), int(start[entity + 1])
        return rows[first:last], slots[first:last]

    def list_neighbours(self, entity: int) -> Integers:
        """The entities that stand in a fact with this one, in ascending order."""
        rows, facts = np.unique(self.list_facts(entity)[0]), self.graph.facts
        values = facts.value[facts.find_qualifiers(rows).values]
        return np.unique(np.concatenate([facts.subject[rows], facts.object[rows], values]))

    def list_entities(self, row: int) -> list[int]:
        """The entities in the slots of a fact."""
        subject, _, object_, pairs = self.graph.facts.row(row)
        return [subject, object_, *(value for _, value in pairs)]

    @cached_property
    def _mentions(self) -> tuple[Integers, Integers, Integers]:
        return Walker(self.graph).mentions


@dataclass(eq=False)
class _Walk:
    """One walk: the entities in place of variables, and the atoms made so far."""

    walker: PatternWalker
    pattern: QueryPattern
    rng: np.random.Generator
    values: dict[str, int] = field(default_factory=dict)
    used: set[int] = field(default_factory=set)
    """The rows of the facts that became atoms; none is used twice."""
    atoms: list[Atom] = field(default_factory=list)

    def draw(self) -> Drawn:
        """Draw the facts of all links and anchors, then the condition that is added."""
        first = self.pattern.links[0][0]
        self.values[first] = self._draw_start()
        for link in self.pattern.links:
            self._draw_link(link)
        for name in self.pattern.anchored:
            self._draw_anchor(name)
        if _repeats(self.atoms, [Variable(name) for name in self.pattern.targets]):
            raise DeadEnd
        return self._add_condition()

    # The entities and facts of links

    def _draw_start(self) -> int:
        row = int(self.rng.integers(len(self.walker.graph)))
        entities = self.walker.list_entities(row)
        return entities[int(self.rng.integers(len(entities)))]

    def _draw_link(self, link: Pair) -> None:
        """Draw a fact with both variables; one that stands for nothing yet gets its entity."""
        new = next((name for name in link if name not in self.values), None)
        if new is not None and self.pattern.alike and self.atoms:
            self._draw_alike(new, link)
            return
        if new is not None:
            linked = [one for one in self.pattern.find_linked(new) if one in self.values]
            self.values[new] = self._draw_neighbour([self.values[one] for one in linked])
        row, slots = self._draw_shared_fact(link)
        self._add_atom(row, dict(zip(slots, link, strict=True)))

    def _draw_neighbour(self, linked: Sequence[int]) -> int:
        """Draw an entity that stands in facts with all of some others."""
        if len(linked) == 1:
            return self._draw_other_in_fact(linked[0])
        found = self.walker.list_neighbours(linked[0])
        for one in linked[1:]:
            found = np.intersect1d(found, self.walker.list_neighbours(one), assume_unique=True)
        return self._choose(np.setdiff1d(found, list(self.values.values())))

    def _draw_other_in_fact(self, entity: int) -> int:
        """Draw a fact of an entity, and another entity in it."""
        rows, _ = self.walker.list_facts(entity)
        for _ in range(FACT_TRIES):
            others = set(self.walker.list_entities(self._choose(rows)))
            others -= set(self.values.values())
            if others:
                return self._choose(sorted(others))
        raise DeadEnd

    def _draw_shared_fact(self, link: Pair) -> tuple[int, tuple[int, int]]:
        """Draw a fact of two entities that is not used yet, and their slots in it."""
        one, other = (self.values[name] for name in link)
        rows = np.intersect1d(self.walker.list_facts(one)[0], self.walker.list_facts(other)[0])
        row = self._choose(np.setdiff1d(rows, list(self.used)))
        entities = self.walker.list_entities(row)
        return row, (self._choose_slot(entities, one), self._choose_slot(entities, other))

    def _choose_slot(self, entities: Sequence[int], entity: int) -> int:
        return self._choose([slot for slot, one in enumerate(entities) if one == entity])

    def _draw_alike(self, new: str, link: Pair) -> None:
        """Draw a fact with the relation and the slots of the first atom."""
        first, known = self.atoms[0], next(name for name in link if name != new)
        mains = (first.subject, first.object)
        if Variable(known) not in mains or not all(isinstance(one, Variable) for one in mains):
            raise DeadEnd
        slot = mains.index(Variable(known))
        graph = self.walker.graph
        rows, slots = self.walker.list_facts(self.values[known])
        relation = graph.vocabulary.relations.number(str(first.relation))
        rows = rows[(slots == slot) & (graph.facts.relation[rows] == relation)]
        ends = graph.facts.object[rows] if slot == SUBJECT else graph.facts.subject[rows]
        row = self._choose(rows[~np.isin(ends, list(self.values.values()))])
        self.values[new] = self.walker.list_entities(row)[OBJECT if slot == SUBJECT else SUBJECT]
        self._add_atom(row, {slot: known, 1 - slot: new})

    def _draw_anchor(self, name: str) -> None:
        """Draw a further fact of a variable, in which all else is named."""
        rows, slots = self.walker.list_facts(self.values[name])
        place = self._choose(np.flatnonzero(~np.isin(rows, list(self.used))))
        self._add_atom(int(rows[place]), {int(slots[place]): name})

    def _choose(self, found: Sequence[int] | Integers) -> int:
        if not len(found):
            raise DeadEnd
        return int(found[int(self.rng.integers(len(found)))])

    # Atoms and conditions

    def _add_atom(self, row: int, names: Names) -> None:
        self.used.add(row)
        self.atoms.append(self._make_atom(row, names))

    def _make_atom(self, row: int, names: Names) -> Atom:
        """A fact as an atom with variables in some slots."""
        vocabulary = self.walker.graph.vocabulary
        _, relation, _, pairs = self.walker.graph.facts.row(row)
        ids = [vocabulary.entities.ids[one] for one in self.walker.list_entities(row)]
        terms: list[Term] = [
            Variable(names[slot]) if slot in names else one for slot, one in enumerate(ids)
        ]
        closed = self.walker.match == "closed" or (
            self.walker.match == "any" and bool(self.rng.random() < 0.5)
        )
        qualifiers = [
            (vocabulary.relations.ids[attribute], terms[slot])
            for slot, (attribute, _) in enumerate(pairs, start=FIRST_QUALIFIER)
            if closed or slot in names or self.rng.random() < NAMED
        ]
        name = vocabulary.relations.ids[relation]
        return Atom(name, terms[SUBJECT], terms[OBJECT], tuple(qualifiers), closed)

    def _add_condition(self) -> Drawn:
        """The query of the atoms, with the condition that the pattern adds."""
        pattern = self.pattern
        plain = self._make_query()
        if pattern.different is not None:
            one, other = map(Variable, pattern.different)
            return Drawn(self._make_query(Comparison("!=", one, other)), plain)
        if pattern.another is not None:
            [entity] = self._draw_other_binding((pattern.another,))
            name = self.walker.graph.vocabulary.entities.ids[entity]
            part = Comparison("!=", Variable(pattern.another), name)
            return Drawn(self._make_query(part), plain)
        if pattern.absent is not None:
            return Drawn(self._make_query(Not(self._draw_absent(pattern.absent))), plain)
        return Drawn(plain)

    def _make_query(self, *more: Formula) -> Query:
        parts = (*self.atoms, *more)
        targets = tuple(map(Variable, self.pattern.targets))
        return Query(targets, And(parts) if len(parts) > 1 else parts[0])

    def _draw_absent(self, pair: Pair) -> Atom:
        """An atom of other entities that the facts have in place of two variables."""
        others = self._draw_other_binding(pair)
        self.values.update(zip(pair, others, strict=True))
        row, slots = self._draw_shared_fact(pair)
        atom = self._make_atom(row, dict(zip(slots, pair, strict=True)))
        if any(_implies(one, atom) for one in self.atoms):
            raise DeadEnd
        return atom

    def _draw_other_binding(self, names: Sequence[str]) -> list[int]:
        """Other entities than those of the walk for which all atoms hold."""
        query = Query(tuple(map(Variable, names)), self._make_query().formula)
        graph = self.walker.graph
        rows = find_row_numbers(bind_rows(query, graph.vocabulary), graph, MAX_LOOKED_AT)
        own = [self.values[name] for name in names]
        others = rows[(rows != own).any(axis=1)]
        found: list[int] = others[self._choose(np.arange(len(others)))].tolist()
        return found


def _repeats(atoms: Sequence[Atom], targets: Sequence[Variable]) -> bool:
    """Whether fewer atoms say the same: one implies another, or they do with a variable replaced.

    Where `?z` can be `?x`, `p(?x, ?y) and p(?z, ?y)` asks for no more than `p(?x, ?y)`. Atoms count
    as open, because a closed one asks for hardly more.
    """
    atoms = [replace(atom, closed=False) for atom in atoms]
    own = dict.fromkeys(name for atom in atoms for name in atom.variables)
    if any(_implies(one, atom) for one in atoms for atom in atoms if one is not atom):
        return True
    return any(_folds(atoms, variable) for variable in own if variable not in targets)


def _folds(atoms: Sequence[Atom], variable: Variable) -> bool:
    """Whether the atoms without a variable imply those with it, for something in its place."""
    mine = [atom for atom in atoms if variable in atom.variables]
    rest = [atom for atom in atoms if variable not in atom.variables]
    candidates = dict.fromkeys(term for atom in rest for term in atom.terms)
    return any(
        all(_is_implied(_replace(atom, variable, term), rest) for atom in mine)
        for term in candidates
    )


def _replace(atom: Atom, variable: Variable, term: Term) -> Atom:
    subject, object_, *values = (term if one == variable else one for one in atom.terms)
    pairs = tuple(zip(atom.attributes, values, strict=True))
    return Atom(atom.relation, subject, object_, pairs, atom.closed)


def _is_implied(atom: Atom, by: Iterable[Atom]) -> bool:
    return any(_implies(one, atom) for one in by)


def _implies(one: Atom, other: Atom) -> bool:
    """Whether every fact that matches one atom matches another, as their parts say."""
    if one.terms[:FIRST_QUALIFIER] != other.terms[:FIRST_QUALIFIER]:
        return False
    if one.relation != other.relation:
        return False
    left = list(one.qualifiers)
    for pair in other.qualifiers:
        if pair not in left:
            return False
        left.remove(pair)
    return (one.closed and not left) if other.closed else True
