"""Cuts: the order in which variables of a query are bound, so that what is left are trees.

A query that is no tree becomes one when entities take the place of some of its variables. A cut
names these variables, in the order in which they are bound, and a target that comes last. Each
variable is restricted by trees in which it is the only unknown that is asked for.
"""

from __future__ import annotations

from dataclasses import dataclass

from nqe.errors import QueryError
from nqe.query.formula import Comparison, Variable
from nqe.query.query_graph import QueryGraph
from nqe.query.scope import Branches, Condition, Negated
from nqe.query.substitution import Values
from nqe.query.subtrees import loosen, make_tree, substitute_if_possible

PLACEHOLDER = "-"
"""Stands for what a variable is bound to, while a cut is looked for."""


class NoCut(QueryError):
    """No cut makes trees of a query."""


@dataclass(frozen=True)
class Same:
    """Two variables, or a variable and an id, that stand for the same entity."""

    left: Variable
    right: Variable | str

    @property
    def variables(self) -> tuple[Variable, ...]:
        """Its variables."""
        return (self.left, self.right) if isinstance(self.right, Variable) else (self.left,)


Filter = Comparison | Negated | Branches | Same
"""What keeps some of the entities that a variable may stand for; it has no atoms."""


@dataclass(frozen=True)
class CutStep:
    """What restricts one variable, once those before it are bound."""

    variable: Variable
    tree: tuple[Condition, ...]
    """Conditions that are a tree whose target is the variable."""
    nested: tuple[Negated | Branches, ...]
    """A `not` or an `or` that is no tree; each needs a cut of its own."""
    filters: tuple[Filter, ...]
    later: tuple[Condition, ...]
    """Conditions that also need variables that are bound later, or are no condition of a tree."""

    @property
    def uses(self) -> frozenset[Variable]:
        """The variables that its own conditions have, the variable itself included."""
        return frozenset(name for one in (*self.tree, *self.nested) for name in one.variables)

    def ask(self, values: Values) -> QueryGraph | None:
        """The tree for what the variables before are bound to; None without a condition."""
        return make_tree(self.variable, self.tree, values) if self.tree else None

    def ask_loosely(self, values: Values) -> QueryGraph | None:
        """A tree that holds wherever the whole query does, and maybe elsewhere.

        Variables that would close a cycle are taken for different ones, and what cannot be said
        by a tree is left out. None if nothing is left.
        """
        parts = (substitute_if_possible(one, values) for one in (*self.tree, *self.later))
        possible = tuple(one for one in parts if one is not None)
        conditions = tuple(loosen(self.variable, possible))
        return make_tree(self.variable, conditions, {}) if conditions else None


@dataclass(frozen=True)
class Cut:
    """The variables of a query in the order in which they are bound, and what restricts each."""

    graph: QueryGraph
    """The query, with a variable of its own in every slot."""
    steps: tuple[CutStep, ...]

    @property
    def order(self) -> tuple[Variable, ...]:
        """The variables in the order in which they are bound."""
        return tuple(step.variable for step in self.steps)
