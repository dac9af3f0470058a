"""Drawings of query graphs that need not be trees: as lines of text, Mermaid and SVG."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count
from typing import assert_never

from nqe.graph.pattern import FIRST_QUALIFIER, OBJECT, SUBJECT
from nqe.graph.vocabulary import Names, Vocabulary
from nqe.query.binder import resolve_graph
from nqe.query.drawing import Drawing, Edge, Node
from nqe.query.formula import Atom, Comparison, Term, Variable
from nqe.query.labelled import label_graph
from nqe.query.query_graph import Branches, Condition, Negated, QueryGraph, Scope, to_formula
from nqe.query.text import render_formula, render_targets
from nqe.shown_text import join_visible, make_visible

_LONGEST = 60
"""The most characters of a `not` or an `or` that a picture shows."""


def draw_graph_text(graph: QueryGraph, vocabulary: Vocabulary) -> str:
    """What is asked, and below it the conditions that must hold together, in labels."""
    labelled = label_graph(resolve_graph(graph, vocabulary), vocabulary)
    asked = render_targets(labelled.targets, labelled.counted)
    return join_visible((f"{asked}: all of", *_draw_parts(labelled.scope.conditions, "")))


def _draw_parts(parts: Sequence[Condition | Scope], indent: str) -> Iterator[str]:
    """Conditions or, in an `or`, the scopes of its branches, with what is below them."""
    for place, part in enumerate(parts):
        is_last = place == len(parts) - 1
        branch, below = ("└─ ", "   ") if is_last else ("├─ ", "│  ")
        word, inner = _split_part(part)
        yield indent + branch + word
        yield from _draw_parts(inner, indent + below)


def _split_part(part: Condition | Scope) -> tuple[str, Sequence[Condition | Scope]]:
    match part:
        case Scope(conditions=(condition,)):
            return _split_part(condition)
        case Scope():
            return "all of", part.conditions
        case Atom() | Comparison():
            return render_formula(part), ()
        case Negated(scope):
            return "not", scope.conditions
        case Branches(scopes):
            return "or", scopes
        case _:
            assert_never(part)


def draw_graph(graph: QueryGraph, vocabulary: Vocabulary) -> Drawing:
    """The variables and the conditions between them, with visible texts.

    An edge leads from what is further from the targets to what is nearer. A `not` or an `or` is
    one node with its text.
    """
    resolved = resolve_graph(graph, vocabulary)
    return _GraphDrawer(resolved, label_graph(resolved, vocabulary), vocabulary).draw()


class _GraphDrawer:
    """Adds nodes and edges from the variables that are asked for outwards, by distance."""

    def __init__(self, graph: QueryGraph, labelled: QueryGraph, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary
        self.nodes: list[Node] = []
        self.edges: list[Edge] = []
        self.numbers = count()
        self.variables = {one: self._add_variable(one, graph) for one in graph.asked}
        self.left = list(zip(graph.scope.conditions, labelled.scope.conditions, strict=True))

    def draw(self) -> Drawing:
        """The drawing, with the variables that are asked for first."""
        while self.left:
            known = set(self.variables)
            near = [pair for pair in self.left if not known.isdisjoint(pair[0].variables)]
            # All that is left is connected, as a query graph is checked.
            self.left = [pair for pair in self.left if known.isdisjoint(pair[0].variables)]
            for condition, labelled in near:
                self._add_condition(condition, labelled, known)
        return Drawing(tuple(self.nodes), tuple(self.edges))

    def _add_variable(self, variable: Variable, graph: QueryGraph | None = None) -> Node:
        is_counted = graph is not None and variable == graph.counted
        text = f"count {variable}" if is_counted else str(variable)
        return self._add_node("variable" if graph is None else "asked", text)

    def _add_condition(
        self, condition: Condition, labelled: Condition, known: set[Variable]
    ) -> None:
        node = self._add_node(*self._describe(condition, labelled))
        for term, slot in self._list_slots(condition):
            if not isinstance(term, Variable):
                anchor = self._add_node("anchor", self._name(term, self.vocabulary.entities))
                self.edges.append(Edge(anchor, node, slot))
                continue
            if term not in self.variables:
                self.variables[term] = self._add_variable(term)
            ends = (node, self.variables[term])
            self.edges.append(Edge(*(ends if term in known else ends[::-1]), slot))

    def _describe(self, condition: Condition, labelled: Condition) -> tuple[str, str]:
        """The kind of the node of a condition, and its text."""
        text = render_formula(to_formula(labelled))
        shown = text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
        match condition:
            case Atom():
                return "p", ("only " if condition.closed else "") + self._name(
                    condition.relation, self.vocabulary.relations
                )
            case Comparison():
                return "comparison", shown
            case Negated():
                return "negation", shown
            case Branches():
                return "choice", shown
            case _:
                assert_never(condition)

    def _list_slots(self, condition: Condition) -> Iterator[tuple[Term, str]]:
        """What an edge leads to or comes from, with the name of the slot."""
        if not isinstance(condition, Atom):
            yield from ((name, "") for name in condition.variables)
            return
        if isinstance(condition.relation, Variable):
            yield condition.relation, "relation"
        for place, term in enumerate(condition.terms):
            yield term, self._name_slot(condition, place)

    def _name_slot(self, atom: Atom, place: int) -> str:
        if place in (SUBJECT, OBJECT):
            return "subject" if place == SUBJECT else "object"
        return self._name(atom.attributes[place - FIRST_QUALIFIER], self.vocabulary.relations)

    def _name(self, term: Term, names: Names) -> str:
        return make_visible(str(term) if isinstance(term, Variable) else names.label_of(term))

    def _add_node(self, kind: str, text: str) -> Node:
        self.nodes.append(Node(f"n{next(self.numbers)}", kind, make_visible(text)))
        return self.nodes[-1]
