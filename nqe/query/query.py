"""The type `Query`: a target variable and a formula, with its text, JSON, graph and shape."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from nqe.errors import QueryError
from nqe.query import json_form
from nqe.query.compiler import compile_tree
from nqe.query.formula import Formula, Variable, check_formula
from nqe.query.limits import show_value
from nqe.query.normal_form import to_dnf
from nqe.query.query_graph import QueryGraph
from nqe.query.shapes import Shape
from nqe.query.text import parse_text, render_query


@dataclass(frozen=True, slots=True)
class Query:
    """A question: which entities, in place of the target, make the formula true?"""

    target: Variable
    formula: Formula

    def __post_init__(self) -> None:
        if not isinstance(self.target, Variable):
            raise QueryError(
                f"the target {show_value(self.target)} is not a variable; write Variable('x')"
            )
        check_formula(self.formula)

    @property
    def text(self) -> str:
        """The query in the text syntax; parsing it gives the same query."""
        return render_query((self.target,), self.formula)

    def __str__(self) -> str:
        return self.text

    def to_json(self) -> dict[str, Any]:
        """The query as JSON data; `Query.from_json` reads it."""
        return json_form.to_json(self.target, self.formula)

    @classmethod
    def from_json(cls, data: Any) -> Query:
        """The query of JSON data or JSON text."""
        return cls(*json_form.from_json(data))

    @property
    def graph(self) -> QueryGraph:
        """The query graph; raises a `QueryError` if the formula has no meaning."""
        return QueryGraph.of((self.target,), self.formula)

    @property
    def shape(self) -> str:
        """The name of its shape if it is one of the 16, otherwise the shape as a tree."""
        return Shape.of(compile_tree(self.graph)).name

    def dnf(self) -> Query:
        """The query in disjunctive normal form; it has the same exact answers."""
        return Query(self.target, to_dnf(self.graph))


def parse(text: str) -> Query:
    """The query of a text such as `?x: borders(?x, France) and not speaks(?x, German)`."""
    return Query(*parse_text(text))
