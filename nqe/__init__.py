"""NQE: logical questions over incomplete hyper-relational knowledge graphs.

The public names, loaded when first used, so that reading and exact answers never import torch.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from nqe import version

if TYPE_CHECKING:
    from nqe.demo import demo_dataset
    from nqe.errors import NqeError
    from nqe.graph import Dataset, EntitySet, Fact, Graph, Pattern
    from nqe.graph.statistics import statistics
    from nqe.readers import read, write

__version__ = version.VERSION

_HOMES = {
    "Dataset": "nqe.graph",
    "EntitySet": "nqe.graph",
    "Fact": "nqe.graph",
    "Graph": "nqe.graph",
    "NqeError": "nqe.errors",
    "Pattern": "nqe.graph",
    "demo_dataset": "nqe.demo",
    "read": "nqe.readers",
    "statistics": "nqe.graph.statistics",
    "write": "nqe.readers",
}

__all__ = [
    "Dataset",
    "EntitySet",
    "Fact",
    "Graph",
    "NqeError",
    "Pattern",
    "__version__",
    "demo_dataset",
    "read",
    "statistics",
    "write",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'nqe' has no attribute '{name}'")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return __all__
