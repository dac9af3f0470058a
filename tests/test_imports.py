"""The direction of imports: a folder imports only from those above it; torch stays below."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

TOP_MODULES = (
    "errors",
    "version",
    "documents",
    "files",
    "folders",
    "figures",
    "home",
    "progress",
    "cores",
    "locks",
    "run_folders",
    "temporaries",
    "lazy_names",
    "text_format",
    "shown_text",
    "notebook",
    "threads",
)
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


def cycle_inside(folder: Path) -> list[str]:
    """The files of one cycle of imports inside a folder, late imports counted; empty if none."""
    modules = {_module(path, folder): path for path in sorted(folder.rglob("*.py"))}
    edges = {
        name: {one for one in _imported_modules(path, folder) if one in modules and one != name}
        for name, path in modules.items()
    }
    try:
        TopologicalSorter(edges).prepare()
    except CycleError as error:
        return [str(modules[name].relative_to(folder)) for name in error.args[1]]
    return []


def _module(path: Path, folder: Path) -> str:
    parts = path.relative_to(folder.parent.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _imported_modules(path: Path, folder: Path) -> Iterator[str]:
    """What a file imports when it runs; a name imported from a package may be a module of it."""
    package = _module(path.parent / "__init__.py", folder).split(".")
    for node in _running_nodes(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            for alias in node.names:
                below = Path(folder.parent.parent, *base.split("."), alias.name)
                is_module = below.is_dir() or below.with_suffix(".py").is_file()
                yield f"{base}.{alias.name}" if is_module else base


def _running_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """All nodes of a tree but those that only type checkers read."""
    for child in ast.iter_child_nodes(node):
        checked = isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING"
        if not checked:
            yield child
            yield from _running_nodes(child)


@pytest.mark.parametrize("folder", ORDER)
def test_no_files_of_a_folder_import_each_other_in_a_circle(folder: str, root: Path) -> None:
    cycle = cycle_inside(root / "nqe" / folder)
    assert not cycle


@pytest.mark.parametrize(
    "line",
    [
        "from nqe.query import b",
        "from nqe.query.b import f",
        "from . import b",
        "from .b import f",
        "import nqe.query.b",
        "def f():\n    from nqe.query.b import f",
    ],
)
def test_a_circle_of_imports_is_noticed(tmp_path: Path, line: str) -> None:
    folder = tmp_path / "nqe" / "query"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text("from nqe.query.a import f")
    (folder / "a.py").write_text(line)
    (folder / "b.py").write_text("from nqe.query.c import f")
    (folder / "c.py").write_text("import nqe.graph\ndef f():\n    from nqe.query import a")
    assert set(cycle_inside(folder)) == {"a.py", "b.py", "c.py"}
    for_types = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import nqe.query.a"
    (folder / "c.py").write_text(for_types)
    assert cycle_inside(folder) == []


def test_a_folder_imports_only_from_those_above_it(root: Path) -> None:
    assert violations(root / "nqe") == []


def test_the_package_loads_its_public_names_only_when_they_are_used(root: Path) -> None:
    tree = ast.parse((root / "nqe" / "__init__.py").read_text(encoding="utf-8"))
    ours = {name for name in loaded_at_once(tree) if name.partition(".")[0] == "nqe"}
    assert ours == {"nqe.lazy_names", "nqe.version"}


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
