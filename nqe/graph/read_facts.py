"""Reads from facts what stands for the variables of an atom, in every way in which they match."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

import numpy as np

from nqe.errors import TooManyBindings
from nqe.graph.arrays import Booleans, Integers
from nqe.graph.atom_pattern import AtomPattern, Unknown
from nqe.graph.fact_columns import Facts
from nqe.graph.pattern import FIRST_QUALIFIER, OBJECT, SUBJECT
from nqe.graph.ragged import ranges

# About this many ways to map the qualifiers of an atom are held at once.
WAYS_BLOCK = 4_000_000


@dataclass(frozen=True, eq=False, slots=True)
class Ways:
    """Ways in which facts match an atom, as far as they were followed."""

    place: Integers  # (ways,) the place of the fact among those that were given
    row: Integers  # (ways,)
    values: dict[int, Integers]  # each (ways,): what stands for a variable
    used: tuple[tuple[int, Integers], ...] = ()  # attributes, and the qualifiers taken for them

    def take(self, chosen: Integers | Booleans) -> Ways:
        """The given ways."""
        values = {one: column[chosen] for one, column in self.values.items()}
        used = tuple((attribute, taken[chosen]) for attribute, taken in self.used)
        return Ways(self.place[chosen], self.row[chosen], values, used)


class FactReader:
    """An atom and the columns of facts."""

    def __init__(
        self,
        facts: Facts,
        atom: AtomPattern,
        wanted: Collection[int],
        fitting: int | None = None,
        max_bindings: int | None = None,
    ) -> None:
        """`wanted` are the variables to read. The slot `fitting` is known to fit."""
        self.facts, self.atom, self.wanted = facts, atom, wanted
        self.fitting, self.max_bindings = fitting, max_bindings

    def read(self, row: Integers, given: Mapping[int, Integers]) -> Ways:
        """The ways in which some facts match; `given` has what stands for some of the variables."""
        fits = self._check_main(row, given)
        place = np.arange(len(row)) if fits is None else np.flatnonzero(fits)
        row = row if fits is None else row[place]
        ways = Ways(place, row, self._read_main(row, given))
        for number in range(len(self.atom.attributes)):
            ways = self._read_qualifier(ways, number, given)
        return ways

    # The relation, the subject and the object

    def _check_main(self, row: Integers, given: Mapping[int, Integers]) -> Booleans | None:
        """Whether each fact fits, apart from its qualifiers; None if nothing has to be checked."""
        facts, atom = self.facts, self.atom
        tests = []
        if atom.closed:
            tests.append(facts.qualifier_count[row] == len(atom.attributes))
        if isinstance(atom.relation, Unknown) and atom.relation.number in given:
            tests.append(facts.relation[row] == given[atom.relation.number])
        for slot, column in ((SUBJECT, facts.subject), (OBJECT, facts.object)):
            content = atom.slots[slot]
            if slot == self.fitting:
                continue
            if not isinstance(content, Unknown):
                tests.append(column[row] == content)
            elif content.number in given:
                tests.append(column[row] == given[content.number])
            elif slot == OBJECT and content == atom.slots[SUBJECT]:
                tests.append(column[row] == facts.subject[row])
        fits = tests[0] if tests else None
        for test in tests[1:]:
            fits &= test
        return fits

    def _read_main(self, row: Integers, given: Mapping[int, Integers]) -> dict[int, Integers]:
        """What facts have for the variables that are not given, apart from their qualifiers."""
        facts, slots = self.facts, self.atom.slots
        columns = (facts.relation, facts.subject, facts.object)
        found: dict[int, Integers] = {}
        for content, column in zip((self.atom.relation, *slots[:2]), columns, strict=True):
            if isinstance(content, Unknown) and self._is_read(content.number, given):
                found[content.number] = column[row]
        return found

    def _is_read(self, variable: int, given: Mapping[int, Integers]) -> bool:
        if variable in given:
            return False
        return variable in self.wanted or variable in self.atom.in_qualifiers

    # Qualifiers

    def _read_qualifier(self, ways: Ways, number: int, given: Mapping[int, Integers]) -> Ways:
        """Map one qualifier of the atom to each one of a fact that fits and is not taken yet."""
        if self.fitting == FIRST_QUALIFIER + number and not self._competes(number):
            return ways
        counts = self.facts.qualifier_count[ways.row]
        total = int(counts.sum())
        if self.max_bindings is not None and total > self.max_bindings:
            raise TooManyBindings(total, self.max_bindings)
        if total > WAYS_BLOCK and len(counts) > 1:
            return self._read_in_halves(ways, number, given)
        qualifier, way = ranges(self.facts.offset[ways.row], counts), _repeat(counts)
        fits = self._fits_qualifier(ways, number, given, way, qualifier)
        qualifier, way = qualifier[fits], way[fits]
        if not self._keeps(ways, number, given):
            # The fact has such a qualifier; which one it is does not matter.
            new = np.ones(len(way), dtype=bool)
            np.not_equal(way[1:], way[:-1], out=new[1:])
            return ways.take(way[new])
        return self._enter(ways.take(way), number, qualifier, given)

    def _read_in_halves(self, ways: Ways, number: int, given: Mapping[int, Integers]) -> Ways:
        middle = len(ways.row) // 2
        rows = np.arange(len(ways.row))
        parts = [
            self._read_qualifier(ways.take(half), number, given)
            for half in (rows[:middle], rows[middle:])
        ]
        first, second = parts
        return Ways(
            np.concatenate([first.place, second.place]),
            np.concatenate([first.row, second.row]),
            {one: np.concatenate([first.values[one], second.values[one]]) for one in first.values},
            tuple(
                (attribute, np.concatenate([taken, other]))
                for (attribute, taken), (_, other) in zip(first.used, second.used, strict=True)
            ),
        )

    def _fits_qualifier(
        self,
        ways: Ways,
        number: int,
        given: Mapping[int, Integers],
        way: Integers,
        qualifier: Integers,
    ) -> Booleans:
        attribute, content = self.atom.attributes[number], self.atom.slots[FIRST_QUALIFIER + number]
        fits: Booleans = self.facts.attribute[qualifier] == attribute
        if not isinstance(content, Unknown):
            fits &= self.facts.value[qualifier] == content
        elif content.number in ways.values:
            fits &= self.facts.value[qualifier] == ways.values[content.number][way]
        elif content.number in given:
            fits &= self.facts.value[qualifier] == given[content.number][ways.place[way]]
        for used, taken in ways.used:
            if used == attribute:
                fits &= taken[way] != qualifier
        return fits

    def _competes(self, number: int) -> bool:
        """Whether another qualifier of the atom could take the same one of a fact."""
        return self.atom.attributes.count(self.atom.attributes[number]) > 1

    def _keeps(self, ways: Ways, number: int, given: Mapping[int, Integers]) -> bool:
        """Whether it matters to which qualifier of a fact one of the atom is mapped."""
        content = self.atom.slots[FIRST_QUALIFIER + number]
        if self._competes(number):
            return True
        if not isinstance(content, Unknown) or content.number in given:
            return False
        if content.number in ways.values:
            return False
        later = self.atom.slots[FIRST_QUALIFIER + number + 1 :]
        return content.number in self.wanted or content in later

    def _enter(
        self, ways: Ways, number: int, qualifier: Integers, given: Mapping[int, Integers]
    ) -> Ways:
        """The ways with the qualifiers that were taken, and what they say of a variable."""
        attribute, content = self.atom.attributes[number], self.atom.slots[FIRST_QUALIFIER + number]
        values, used = ways.values, ways.used
        is_new = isinstance(content, Unknown) and content.number not in given
        if isinstance(content, Unknown) and is_new and content.number not in values:
            values = values | {content.number: self.facts.value[qualifier]}
        if self._competes(number):
            used = (*used, (attribute, qualifier))
        return replace(ways, values=values, used=used)


def _repeat(counts: Integers) -> Integers:
    """Each place as often as it counts."""
    return np.arange(len(counts)).repeat(counts)
