"""NQE: logical questions over incomplete hyper-relational knowledge graphs.

The public names, loaded when first used, so that reading and exact answers never import torch.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from nqe import version

if TYPE_CHECKING:
    from nqe.demo import demo_dataset
    from nqe.errors import NqeError, QueryError
    from nqe.graph import Dataset, EntitySet, Fact, Graph, Pattern
    from nqe.graph.statistics import statistics
    from nqe.query import (
        SHAPES,
        And,
        Atom,
        Not,
        Or,
        Plan,
        Query,
        Variable,
        atom,
        bind,
        execute,
        execute_many,
        parse,
        variables,
    )
    from nqe.readers import read, write
    from nqe.sampling import sample
    from nqe.settings import SamplingSettings

__version__ = version.VERSION

_HOMES = {
    "SHAPES": "nqe.query",
    "And": "nqe.query",
    "Atom": "nqe.query",
    "Dataset": "nqe.graph",
    "EntitySet": "nqe.graph",
    "Fact": "nqe.graph",
    "Graph": "nqe.graph",
    "Not": "nqe.query",
    "NqeError": "nqe.errors",
    "Or": "nqe.query",
    "Pattern": "nqe.graph",
    "Plan": "nqe.query",
    "Query": "nqe.query",
    "QueryError": "nqe.errors",
    "SamplingSettings": "nqe.settings",
    "Variable": "nqe.query",
    "atom": "nqe.query",
    "bind": "nqe.query",
    "demo_dataset": "nqe.demo",
    "execute": "nqe.query",
    "execute_many": "nqe.query",
    "parse": "nqe.query",
    "read": "nqe.readers",
    "sample": "nqe.sampling",
    "statistics": "nqe.graph.statistics",
    "variables": "nqe.query",
    "write": "nqe.readers",
}

__all__ = [
    "SHAPES",
    "And",
    "Atom",
    "Dataset",
    "EntitySet",
    "Fact",
    "Graph",
    "Not",
    "NqeError",
    "Or",
    "Pattern",
    "Plan",
    "Query",
    "QueryError",
    "SamplingSettings",
    "Variable",
    "__version__",
    "atom",
    "bind",
    "demo_dataset",
    "execute",
    "execute_many",
    "parse",
    "read",
    "sample",
    "statistics",
    "variables",
    "write",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'nqe' has no attribute '{name}'")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return __all__
