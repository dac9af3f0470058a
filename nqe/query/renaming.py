"""Query graphs with other names: ids in place of labels, or labels in place of ids."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from nqe.query.formula import Atom, Comparison, Leaf, Term, Variable
from nqe.query.query_graph import QueryGraph


@dataclass(frozen=True)
class Renaming:
    """What becomes of each kind of name."""

    entity: Callable[[str], str]
    relation: Callable[[str], str]
    """Of relations and attributes, and of what a variable for a relation is compared with."""
    value: Callable[[str, str], str]
    """Of what a variable for an entity is compared with; the second text is the operator."""

    def apply(self, graph: QueryGraph) -> QueryGraph:
        """The query graph with all names replaced; its variables stay."""
        relations = graph.relation_variables

        def rename(leaf: Leaf) -> Leaf:
            if isinstance(leaf, Atom):
                return self._rename_atom(leaf)
            return self._rename_comparison(leaf, leaf.left in relations)

        return graph.map_leaves(rename)

    def _rename_atom(self, atom: Atom) -> Atom:
        return replace(
            atom,
            relation=_rename(atom.relation, self.relation),
            subject=_rename(atom.subject, self.entity),
            object=_rename(atom.object, self.entity),
            qualifiers=tuple(
                (self.relation(attribute), _rename(value, self.entity))
                for attribute, value in atom.qualifiers
            ),
        )

    def _rename_comparison(self, comparison: Comparison, of_relation: bool) -> Comparison:
        if isinstance(comparison.right, Variable):
            return comparison
        if of_relation:
            return replace(comparison, right=self.relation(comparison.right))
        return replace(comparison, right=self.value(comparison.right, comparison.operator))


def _rename(term: Term, change: Callable[[str], str]) -> Term:
    return term if isinstance(term, Variable) else change(term)
