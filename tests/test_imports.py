"""The direction of imports: a folder imports only from those above it; torch stays below."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

TOP_MODULES = ("errors", "version", "files", "folders", "figures", "progress", "text_format")
ORDER = (
    "settings",
    "graph",
    "readers",
    "writers",
    "demo",
    "query",
    "sampling",
    "model",
    "evaluation",
    "training",
    "rules",
    "answering",
    "reproduction",
    "server",
    "cli",
)
WITH_TORCH = ("model", "evaluation", "training", "answering", "reproduction", "server")
RANKS = dict.fromkeys(TOP_MODULES, 0) | {name: rank for rank, name in enumerate(ORDER, start=1)}


def violations(package: Path) -> list[str]:
    """Every import of a package that goes the wrong way, and every part with no place."""
    found = []
    for path in sorted(package.rglob("*.py")):
        place = path.relative_to(package)
        part = place.parts[0].removesuffix(".py")
        if part == "__main__":
            continue
        if part not in RANKS and part != "__init__":
            found.append(f"{place}: '{part}' has no place in the order of imports")
            continue
        for line, name in imports(ast.parse(path.read_text(encoding="utf-8")), place):
            problem = wrong(part, name)
            if problem:
                found.append(f"{place}:{line}: {problem}")
    return found


def imports(tree: ast.Module, place: Path) -> Iterator[tuple[int, str]]:
    """The dotted names that a file imports, wherever in it they stand."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                above = ("nqe", *place.parts[:-1])[: len(place.parts) - node.level + 1]
                base = ".".join((*above, *([base] if base else [])))
            if base == "nqe":
                yield from ((node.lineno, f"nqe.{alias.name}") for alias in node.names)
            else:
                yield node.lineno, base


def wrong(part: str, name: str) -> str | None:
    """What is wrong with a part of the package importing a name."""
    top, _, rest = name.partition(".")
    if top == "torch" and part not in WITH_TORCH:
        return f"{name} is imported above the model"
    if top != "nqe" or part == "__init__":
        return None
    imported = rest.partition(".")[0]
    if imported not in RANKS:
        return f"{name} is no part of the package that can be imported from within"
    if imported != part and RANKS[imported] >= max(RANKS[part], 1):
        return f"{part} imports {imported}, which stands below it"
    return None


def loaded_at_once(tree: ast.Module) -> Iterator[str]:
    """What a file imports as soon as it is imported itself."""
    for node in tree.body:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module == "nqe":
            yield from (f"nqe.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or "."


def test_a_folder_imports_only_from_those_above_it(root: Path) -> None:
    assert violations(root / "nqe") == []


def test_the_package_loads_its_public_names_only_when_they_are_used(root: Path) -> None:
    tree = ast.parse((root / "nqe" / "__init__.py").read_text(encoding="utf-8"))
    ours = {name for name in loaded_at_once(tree) if name.partition(".")[0] == "nqe"}
    assert ours == {"nqe.version"}


def test_every_public_name_is_where_it_is_said_to_be() -> None:
    import nqe

    assert sorted(set(nqe.__all__) - {"__version__"}) == sorted(nqe._HOMES)
    for name in nqe.__all__:
        assert getattr(nqe, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = nqe.nothing


@pytest.mark.parametrize(
    ("file", "line", "told"),
    [
        ("graph/a.py", "import torch", "torch is imported above"),
        ("cli/a.py", "def f():\n    from torch import nn", "torch is imported above"),
        ("graph/a.py", "from nqe.readers import read", "graph imports readers"),
        ("graph/a.py", "from nqe import readers", "graph imports readers"),
        ("graph/a.py", "import nqe.readers.table", "graph imports readers"),
        ("graph/a.py", "from ..readers import read", "graph imports readers"),
        ("graph/a.py", "from .. import readers", "graph imports readers"),
        ("graph/deep/a.py", "from ...readers import read", "graph imports readers"),
        ("readers/a.py", "def f():\n    import nqe.query", "readers imports query"),
        ("files.py", "from nqe.graph import Fact", "files imports graph"),
        ("graph/a.py", "import nqe", "no part of the package"),
        ("graph/a.py", "from nqe import read", "no part of the package"),
        ("utils/a.py", "", "'utils' has no place"),
        ("helpers.py", "", "'helpers' has no place"),
    ],
)
def test_an_import_in_the_wrong_direction_is_noticed(
    tmp_path: Path, file: str, line: str, told: str
) -> None:
    path = tmp_path / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(line)
    [problem] = violations(tmp_path)
    assert told in problem


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("readers/a.py", "from nqe.graph.fact import Fact"),
        ("readers/a.py", "from nqe.readers import cells\nfrom . import lines"),
        ("files.py", "from nqe.errors import NqeError"),
        ("training/a.py", "import torch\nfrom nqe.evaluation import ranks"),
        ("cli/a.py", "from ..graph import Fact"),
        ("__main__.py", "from nqe.cli import main"),
    ],
)
def test_an_import_in_the_right_direction_is_let_be(tmp_path: Path, file: str, line: str) -> None:
    path = tmp_path / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(line)
    assert violations(tmp_path) == []
