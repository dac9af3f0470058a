"""The type `Query`: target variables and a formula, with its text, JSON, graph and shape."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from nqe.errors import QueryError
from nqe.query import json_form
from nqe.query.compiler import compile_tree
from nqe.query.formula import Formula, Variable, check_formula
from nqe.query.limits import TARGETS, show_value
from nqe.query.normal_form import to_dnf
from nqe.query.query_graph import QueryGraph
from nqe.query.shapes import Shape
from nqe.query.text import parse_text, render_query, render_targets


@dataclass(frozen=True, slots=True, init=False)
class Query:
    """A question: which entities, in place of the targets, make the formula true?

    If a variable is counted, the answers are numbers: how many entities in its place do, for each
    combination of entities in place of the targets.
    """

    targets: tuple[Variable, ...]
    formula: Formula
    counted: Variable | None = None

    def __init__(
        self,
        targets: Variable | Iterable[Variable],
        formula: Formula,
        counted: Variable | None = None,
    ) -> None:
        found = (targets,) if isinstance(targets, Variable) else _list_targets(targets)
        for one in (*found, *(() if counted is None else (counted,))):
            if not isinstance(one, Variable):
                raise QueryError(_describe_target(one))
        TARGETS.check(len(found))
        check_formula(formula)
        object.__setattr__(self, "targets", found)
        object.__setattr__(self, "formula", formula)
        object.__setattr__(self, "counted", counted)

    @property
    def target(self) -> Variable:
        """The only target; an error if the query has several or counts."""
        if len(self.targets) != 1 or self.counted is not None:
            shown = render_targets(self.targets, self.counted)
            raise QueryError(f"the query asks for {shown}, not for one variable; ask for one")
        return self.targets[0]

    @property
    def text(self) -> str:
        """The query in the text syntax; parsing it gives the same query."""
        return render_query(self.targets, self.formula, self.counted)

    def __str__(self) -> str:
        return self.text

    def to_json(self) -> dict[str, Any]:
        """The query as JSON data; `Query.from_json` reads it."""
        return json_form.to_json(self.targets, self.formula, self.counted)

    @classmethod
    def from_json(cls, data: Any) -> Query:
        """The query of JSON data or JSON text."""
        return cls(*json_form.from_json(data))

    @property
    def graph(self) -> QueryGraph:
        """The query graph; raises a `QueryError` if the formula has no meaning."""
        return QueryGraph.of(self.targets, self.formula, self.counted)

    @property
    def shape(self) -> str:
        """The name of its shape if it is one of the 16, otherwise the shape as a tree."""
        return Shape.of(compile_tree(self.graph)).name

    def dnf(self) -> Query:
        """The query in disjunctive normal form; it has the same exact answers."""
        return Query(self.target, to_dnf(self.graph))


def _list_targets(targets: Any) -> tuple[Any, ...]:
    """The targets of a list of them; anything else is left to be refused."""
    is_list = isinstance(targets, Iterable) and not isinstance(targets, str | bytes)
    return tuple(targets) if is_list else (targets,)


def _describe_target(value: object) -> str:
    return f"the target {show_value(value)} is not a variable; write Variable('x')"


def parse(text: str) -> Query:
    """The query of a text such as `?x: borders(?x, France) and not speaks(?x, German)`."""
    return Query(*parse_text(text))
