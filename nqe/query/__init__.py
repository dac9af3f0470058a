"""Queries: formulas with text and JSON, query graphs, plans, exact answers, proofs, SPARQL."""

from nqe.query.binder import bind
from nqe.query.exact import execute, execute_many
from nqe.query.formula import And, Atom, Not, Or, Variable, atom, variables
from nqe.query.plan import Plan
from nqe.query.query import Query, parse
from nqe.query.query_graph import QueryGraph
from nqe.query.result import Result
from nqe.query.shapes import SHAPES

__all__ = [
    "SHAPES",
    "And",
    "Atom",
    "Not",
    "Or",
    "Plan",
    "Query",
    "QueryGraph",
    "Result",
    "Variable",
    "atom",
    "bind",
    "execute",
    "execute_many",
    "parse",
    "variables",
]
