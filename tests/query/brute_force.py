"""The judge of queries: every combination of entities is tried, by the words of the definition.

Nothing here is quick, and nothing is shared with the code that it judges except the types of
queries and of literals. It is meant for graphs of a dozen facts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import assert_never

from nqe.errors import InputError
from nqe.graph import Fact, Graph
from nqe.graph.literals import Literal, Text, parse_id
from nqe.graph.number_values import Number, parse_number
from nqe.graph.time_values import Time, parse_time
from nqe.query import Atom, Comparison, QueryGraph, Variable
from nqe.query.query_graph import Branches, Condition, Negated, Scope

Values = Mapping[Variable, str]
Row = tuple[str, ...]


def find_rows(query: QueryGraph, graph: Graph) -> set[Row]:
    """The ids that can stand in place of the targets; the names of the query are ids."""
    return set(count_rows(query, graph))


def count_rows(query: QueryGraph, graph: Graph) -> dict[Row, int]:
    """For each row of targets, how many entities stand in place of the counted variable.

    Without a counted variable every row counts once; without targets the only row has no ids.
    """
    judge = _Judge(graph, list(graph), query.relation_variables)
    size = len(query.targets)
    answers = {
        tuple(values[name] for name in query.asked)
        for values in judge.bind(query.scope, query.asked, {})
    }
    counts = Counter(row[:size] for row in answers)
    return dict(counts) if size else {(): counts[()]}


def count_missing_links(query: QueryGraph, full: Graph, known: Graph) -> dict[Row, float]:
    """For each row, the least number of atoms of a proof in `full` that no fact of `known` states.

    An `or` takes the least of its branches; a `not` and a comparison cost nothing.
    """
    judge = _Judge(full, list(full), query.relation_variables)
    least: dict[Row, float] = {}
    for values in judge.bind(query.scope, query.asked, {}):
        row = tuple(values[name] for name in query.targets)
        cost = sum(judge.cost(one, values, list(known)) for one in query.scope.conditions)
        least[row] = min(cost, least.get(row, float("inf")))
    return least


@dataclass(frozen=True)
class _Judge:
    graph: Graph
    facts: list[Fact]
    relation_variables: frozenset[Variable]

    def bind(
        self, scope: Scope, outer: Sequence[Variable], values: Values
    ) -> Iterator[dict[Variable, str]]:
        """All ways to choose ids for these variables and those of the scope that make it true."""
        yield from self._choose((*outer, *scope.variables), list(scope.conditions), dict(values))

    def cost(self, condition: Condition, values: Values, known: list[Fact]) -> float:
        """The atoms that facts must still be found for, under a condition that holds."""
        match condition:
            case Atom():
                return 0 if any(_fits(condition, fact, values) for fact in known) else 1
            case Branches(scopes):
                proofs = (
                    sum(self.cost(one, proof, known) for one in scope.conditions)
                    for scope in scopes
                    for proof in self.bind(scope, (), values)
                )
                return min(proofs)
            case _:
                return 0

    def _choose(
        self, names: tuple[Variable, ...], left: list[Condition], values: dict[Variable, str]
    ) -> Iterator[dict[Variable, str]]:
        ready = [one for one in left if all(name in values for name in one.variables)]
        if not all(self._holds(one, values) for one in ready):
            return
        if not names:
            yield values
            return
        left = [one for one in left if one not in ready]
        for name in self._list_ids(names[0], left, values):
            yield from self._choose(names[1:], left, {**values, names[0]: name})

    def _list_ids(self, variable: Variable, left: list[Condition], values: Values) -> list[str]:
        """All ids that a variable can stand for, but those that no atom could hold for."""
        vocabulary = self.graph.vocabulary
        is_relation = variable in self.relation_variables
        ids = list((vocabulary.relations if is_relation else vocabulary.entities).ids)
        for atom in left:
            if isinstance(atom, Atom) and variable in atom.variables:
                places = {
                    name for fact in self.facts for name in _find(variable, atom, fact, values)
                }
                ids = [name for name in ids if name in places]
        return ids

    def _holds(self, condition: Condition, values: Values) -> bool:
        match condition:
            case Atom():
                return any(_fits(condition, fact, values) for fact in self.facts)
            case Comparison(operator, left, Variable() as right):
                return compare(operator, values[left], values[right])
            case Comparison(operator, left, str() as right):
                if left in self.relation_variables:
                    return (values[left] == right) == (operator == "=")
                return compare_with(operator, values[left], right, self.graph)
            case Negated(scope):
                return not any(True for _ in self.bind(scope, (), values))
            case Branches(scopes):
                return any(True for scope in scopes for _ in self.bind(scope, (), values))
            case _:
                assert_never(condition)


def _find(variable: Variable, atom: Atom, fact: Fact, values: Values) -> set[str]:
    """The ids that a fact has where an atom has a variable; none if the rest does not fit."""
    mains = [
        (atom.subject, fact.subject),
        (atom.relation, fact.relation),
        (atom.object, fact.object),
    ]
    for term, name in mains:
        wanted = values.get(term) if isinstance(term, Variable) else term
        if wanted not in (None, name):
            return set()
    found = {name for term, name in mains if term == variable}
    attributes = {attribute for attribute, value in atom.qualifiers if value == variable}
    return found | {value for attribute, value in fact.qualifiers if attribute in attributes}


def _fits(atom: Atom, fact: Fact, values: Values) -> bool:
    """Whether a fact matches an atom; each of its qualifiers needs one of its own in the fact."""

    def read(term: Variable | str) -> str:
        return values[term] if isinstance(term, Variable) else term

    if (fact.subject, fact.relation, fact.object) != (
        read(atom.subject),
        read(atom.relation),
        read(atom.object),
    ):
        return False
    wanted = Counter((attribute, read(value)) for attribute, value in atom.qualifiers)
    left = Counter(fact.qualifiers)
    return wanted == left if atom.closed else wanted <= left


def compare(operator: str, left: str, right: str) -> bool:
    """Whether a comparison of two ids holds.

    = is identity, and also holds between times of different precision, one of which is within the
    other, and between a number and its band. < and > hold between literals of one kind, and between
    numbers of one unit. Of two times, or two numbers of one unit, exactly one of <, = and > holds.
    """
    same, less = _compare_ids(left, right)
    if operator in (">", ">="):
        less = _compare_ids(right, left)[1]
    match operator:
        case "=":
            return same
        case "!=":
            return not same
        case "<" | ">":
            return less
        case _:
            return less or (same and parse_id(left) is not None)


def compare_with(operator: str, left: str, text: str, graph: Graph) -> bool:
    """Whether a comparison of an id with a written value or an id holds.

    A written value is read as a literal of the kind of the other side, and a written number
    without a unit has the unit of the other side.
    """
    literal = parse_id(left)
    reading = None if literal is None else _read_as(text, literal)
    is_name = parse_id(text) is None and graph.vocabulary.entities.number(text) is not None
    if is_name and operator in ("=", "!="):
        reading = None
    if literal is None or reading is None:
        return operator == "!=" if left != text else operator == "="
    less, same, more = _order(literal, reading)
    return {
        "=": same,
        "!=": not same,
        "<": less,
        "<=": less or same,
        ">": more,
        ">=": more or same,
    }[operator]


def _compare_ids(left: str, right: str) -> tuple[bool, bool]:
    """Whether two ids are equal, and whether the first is less."""
    one, other = parse_id(left), parse_id(right)
    if one is None or other is None:
        return left == right, False
    less, same, _ = _order(one, other)
    return same, less


def _read_as(text: str, other: Literal) -> Literal | None:
    """The literal of the kind of another one that a text stands for; None if it stands for none."""
    literal = parse_id(text)
    if literal is None:
        try:
            match other:
                case Time():
                    literal = parse_time(text)
                case Number():
                    literal = parse_number(text)
                case Text():
                    # What is a time or a number is no text unless it is written `…^^text`.
                    literal = None if _is_time_or_number(text) else Text(text)
        except InputError:
            return None
    if isinstance(literal, Number) and isinstance(other, Number) and literal.unit is None:
        return Number(literal.value, other.unit, literal.until)
    return literal


def _is_time_or_number(text: str) -> bool:
    for parse in (parse_time, parse_number):
        try:
            parse(text)
        except InputError:
            continue
        return True
    return False


def _order(one: Literal, other: Literal) -> tuple[bool, bool, bool]:
    """Whether a literal is less than another one, equal, and more."""
    match one, other:
        case Text(), Text():
            return one.text < other.text, one == other, one.text > other.text
        case (Time(), Time()) | (Number(), Number()):
            if isinstance(one, Number) and isinstance(other, Number) and one.unit != other.unit:
                return False, False, False
            first, second = one.sort_key, other.sort_key
            return _order_spans(_bounds(one, first), _bounds(other, second))
        case _:
            return False, False, False


def _bounds(literal: Literal, key):
    return literal.bounds if isinstance(literal, Time) else key


def _order_spans(one, other) -> tuple[bool, bool, bool]:
    """The order of two spans, each from its first to before its second bound; a point has both.

    They are equal if neither is wholly before the other.
    """
    less, more = _is_before(one, other), _is_before(other, one)
    return less, not (less or more), more


def _is_before(one, other) -> bool:
    return one[0] < other[0] and one[1] <= other[0]
