"""Questions: formulas, their text and JSON, shapes, plans, and exact answers."""

from nqe.query.exact import Result, execute, execute_many
from nqe.query.formula import And, Atom, Not, Or, Query, Variable, atom, variables
from nqe.query.plan import Plan, bind
from nqe.query.shapes import SHAPES
from nqe.query.text import parse

__all__ = [
    "SHAPES",
    "And",
    "Atom",
    "Not",
    "Or",
    "Plan",
    "Query",
    "Result",
    "Variable",
    "atom",
    "bind",
    "execute",
    "execute_many",
    "parse",
    "variables",
]
