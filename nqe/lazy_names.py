"""Names of a package that are imported when they are first used.

Reading graphs and exact answers must not wait seconds for PyTorch to load.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from nqe.threads import let_threads_sleep

_WITH_TORCH = ("nqe.model", "nqe.evaluation", "nqe.training", "nqe.answering")
"""The folders that may load PyTorch, before which the waiting of its threads is set up."""


def load_on_use(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """The `__getattr__` of a package; `homes` has the module of each of its public names."""

    def load(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module '{package}' has no attribute '{name}'")
        if homes[name].startswith(_WITH_TORCH):
            let_threads_sleep()
        return getattr(import_module(homes[name]), name)

    return load
