"""Queries: formulas with text and JSON, query graphs, plans, exact answers, proofs, SPARQL."""

from nqe.query.binder import bind
from nqe.query.builders import atom, comparison, variables
from nqe.query.exact import execute, execute_many
from nqe.query.formula import And, Atom, Comparison, Not, Or, Variable
from nqe.query.plan import Plan
from nqe.query.query import Query, parse
from nqe.query.query_graph import QueryGraph
from nqe.query.result import Result
from nqe.query.shapes import SHAPES

__all__ = [
    "SHAPES",
    "And",
    "Atom",
    "Comparison",
    "Not",
    "Or",
    "Plan",
    "Query",
    "QueryGraph",
    "Result",
    "Variable",
    "atom",
    "bind",
    "comparison",
    "execute",
    "execute_many",
    "parse",
    "variables",
]
