"""Help, version, completion, and what the command line does not import."""

from __future__ import annotations

import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from helpers import COMMAND, nqe, well
from small_runs import write_run

from nqe.cli.app import app
from nqe.demo import demo_dataset
from nqe.version import VERSION


def commands(group: Any, *above: str) -> Iterator[tuple[str, ...]]:
    """The words of every command; a command of a group has two words."""
    for name, command in sorted(group.commands.items()):
        if hasattr(command, "commands"):
            yield from commands(command, *above, name)
        else:
            yield *above, name


PROGRAM = typer.main.get_command(app)
COMMANDS = list(commands(PROGRAM))
OF_GRAPHS = ["demo", "export", "find", "import", "show", "split", "stats"]


def example(text: str) -> list[str]:
    """The words of the example in a command's help."""
    [line] = [line for line in text.splitlines() if "Example:" in line]
    return shlex.split(line.partition("Example:")[2])


def test_the_commands_about_graphs_exist() -> None:
    assert {(name,) for name in OF_GRAPHS} <= set(COMMANDS)


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_the_help_of_every_command_has_an_example(tmp_path: Path, words: tuple[str, ...]) -> None:
    out = well(nqe(*words, "--help", cwd=tmp_path))
    assert example(out)[: len(words) + 1] == ["nqe", *words]


@pytest.mark.parametrize(
    "command",
    # The demo trains for 45 seconds; test_demo.py runs a shorter one.
    [pytest.param(one, marks=[pytest.mark.long] if one == "demo" else []) for one in OF_GRAPHS],
)
def test_the_example_in_the_help_works(tmp_path: Path, command: str) -> None:
    (tmp_path / "wd50k").mkdir()
    (tmp_path / "wd50k" / "train.txt").write_text("Q1,P1,Q2\n")
    (tmp_path / "labels.tsv").write_text("Q1\tone\n")
    words = example(well(nqe(command, "--help", cwd=tmp_path)))
    run = nqe(*words[1:], cwd=tmp_path)
    assert well(run) or run.err.endswith(": written\n")


def test_help_of_the_program_lists_commands_and_exit_codes(tmp_path: Path) -> None:
    for option in ("--help", "-h"):
        out = well(nqe(option, cwd=tmp_path))
        words = " ".join(out.split())
        assert "Exit codes: 0 success, 1 part of a batch failed, 2 wrong input or usage" in words
        assert "130 interrupted" in words
        assert all(f"\n  {name} " in out for name in PROGRAM.commands)  # type: ignore[attr-defined]


def test_version_is_printed(tmp_path: Path) -> None:
    assert well(nqe("--version", cwd=tmp_path)) == f"nqe {VERSION}\n"


def test_the_installed_script_is_the_same_program(tmp_path: Path) -> None:
    script = Path(sys.executable).parent / "nqe"
    if not script.exists():
        pytest.skip("nqe is not installed beside this Python")
    done = subprocess.run([script, "--version"], capture_output=True, cwd=tmp_path, check=True)
    assert done.stdout.decode() == f"nqe {VERSION}\n"


@pytest.mark.parametrize(
    ("shell", "sign"),
    [("bash", "complete -o default -F"), ("zsh", "#compdef nqe"), ("fish", "complete ")],
)
def test_a_completion_script_is_printed_for_each_shell(
    tmp_path: Path, shell: str, sign: str
) -> None:
    out = well(nqe(cwd=tmp_path, env={"_NQE_COMPLETE": f"source_{shell}"}))
    assert sign in out
    assert "_NQE_COMPLETE" in out


def test_show_completion_detects_the_shell(tmp_path: Path) -> None:
    script = f"{shlex.join(COMMAND)} --show-completion; :"
    done = subprocess.run(["bash", "-c", script], capture_output=True, cwd=tmp_path, check=True)
    assert b"complete -o default -F _nqe_completion nqe" in done.stdout


def test_completion_completes_a_command(tmp_path: Path) -> None:
    words = {"_NQE_COMPLETE": "complete_bash", "COMP_WORDS": "nqe st", "COMP_CWORD": "1"}
    assert "stats" in well(nqe(cwd=tmp_path, env=words)).split()


@pytest.mark.parametrize(
    "command",
    [
        ["stats", "atlas"],
        ["show", "atlas", "Japan"],
        ["find", "atlas", "japan"],
        ["export", "atlas", "-o", "a.parquet"],
        ["import", "f", "-o", "g.graph"],
        ["ask", "atlas", "?x: borders(?x, Japan)"],
        ["--help"],
    ],
)
def test_looking_at_graphs_never_imports_torch(tmp_path: Path, command: list[str]) -> None:
    (tmp_path / "f").write_text("a,r,b\n")
    imported = list_imports(command, tmp_path)
    assert "nqe.cli.app" in imported
    assert not {name for name in imported if name.partition(".")[0] == "torch"}


def test_asking_a_run_does_not_import_the_compiler_of_torch(tmp_path: Path) -> None:
    write_run(tmp_path / "run", demo_dataset(), seed=0)
    imported = list_imports(["ask", "run", "?x: borders(?x, Japan)"], tmp_path)
    assert {"torch", "nqe.answering.hybrid"} <= imported
    assert not {"torch._dynamo", "sympy"} & imported


def list_imports(command: list[str], folder: Path) -> set[str]:
    """The modules that a command imports."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "nqe", *command],
        capture_output=True,
        cwd=folder,
        check=True,
    )
    return {
        line.rpartition("|")[2].strip() for line in done.stderr.decode().splitlines() if "|" in line
    }


def test_a_command_leaves_its_objects_to_the_system_when_it_ends() -> None:
    script = (
        "import atexit, gc, sys\n"
        "from nqe.cli import main\n"
        "sys.argv = ['nqe', '--version']\n"
        "atexit.register(lambda: print(gc.get_freeze_count() > 0))\n"
        "main()"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    assert done.stdout.decode().splitlines()[-1] == "True"


def test_importing_the_package_imports_nothing_heavy() -> None:
    script = (
        "import sys, nqe; print(*{'torch', 'pyarrow', 'numpy', 'rich', 'typer'} & {*sys.modules})"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    assert done.stdout.decode().split() == []
