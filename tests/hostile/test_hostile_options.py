"""Hostile values of options: numbers out of range, impossible paths and damaged settings."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import get_args, get_type_hints

import pytest
import typer
from helpers import Run, files

from nqe import cli
from nqe.cli.app import app
from nqe.errors import NqeError
from nqe.graph import Dataset, Fact
from nqe.sampling import sample, save_queries
from nqe.settings import SamplingSettings, build_run_settings, parse_assignment, read_settings

NUMBERS = ("-1", "9223372036854775808", "1" * 23, "9" * 4_000, "nan", "inf")
PATHS = ("x" * 300, f"new/{'x' * 300}", "a\0b", "f", "f/x", "q", "loop", "")
QUERY = "?x: road(?x, town1)"
# A command that works, and the places of the paths in it.
COMMANDS: dict[tuple[str, ...], tuple[int, ...]] = {
    ("import", "f", "-o", "out", "--labels", "l.tsv"): (1, 3, 5),
    ("export", "g", "-o", "out"): (1, 3),
    ("stats", "g"): (1,),
    ("show", "g", "town1"): (1,),
    ("find", "g", "town"): (1,),
    ("ask", "g", QUERY): (1,),
    ("ask", "g", "--file", "f", "-o", "out.jsonl"): (1, 3, 5),
    ("explain", "g", QUERY, "town0"): (1,),
    ("plan", "g", QUERY, "--svg", "out.svg"): (1, 4),
    ("sparql", "g", QUERY): (1,),
    ("sample", "g", "-o", "out", "--shape", "1p", "--train", "1", "--workers", "1"): (1, 3),
    ("queries", "show", "q"): (2,),
    ("queries", "stats", "q"): (2,),
    ("queries", "import", "f", "-o", "out", "--graph", "new.graph"): (2, 4, 6),
    ("queries", "export", "q", "-o", "out"): (2, 4),
    ("train", "no-graph", "-o", "out", "-c", "f"): (1, 3, 5),
    ("evaluate", "no-run", "q"): (1, 2),
    ("calibrate", "no-run"): (1,),
    ("compare", "no-run"): (1,),
    ("score", "no-run", "road(town1, town2)"): (1,),
    ("suggest", "no-run", "town1"): (1,),
}


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a graph, a query set, and files."""
    folder = tmp_path_factory.mktemp("hostile") / "options"
    road = [Fact(f"town{i}", "road", f"town{i + 1}") for i in range(4)]
    towns = Dataset.of({"train": road[:3], "valid": road[3:]})
    towns.save(folder / "g")
    few = SamplingSettings(shapes=("1p",), train=2, valid=1, test=0)
    save_queries(sample(towns, few, workers=1), folder / "q", "g")
    (folder / "f").write_text("a,r,b\n")
    (folder / "l.tsv").write_text("a\tA\n")
    (folder / "loop").symlink_to("loop")
    return folder


@pytest.fixture
def folder(template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Go to a copy of the folder."""
    shutil.copytree(template, tmp_path / "here", symlinks=True)
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path / "here"


def run(
    words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Run:
    """Run `nqe` in this process; any other exception than its exit fails the test."""
    monkeypatch.setattr(sys, "argv", ["nqe", *words])
    with pytest.raises(SystemExit) as stopped:
        cli.main()
    out, err = capsys.readouterr()
    return Run(stopped.value.code if isinstance(stopped.value.code, int) else 0, out, err)


def number_options(program: typer.Typer, before: str = "") -> Iterator[tuple[str, str]]:
    """Yield every command with each of its options that takes a number."""
    for group in program.registered_groups:
        assert group.typer_instance is not None
        yield from number_options(group.typer_instance, f"{group.name} ")
    for command in program.registered_commands:
        assert command.callback is not None
        name = command.name or command.callback.__name__
        for option, hint in get_type_hints(command.callback, include_extras=True).items():
            kind, *about = get_args(hint) or (hint,)
            if {int, float} & {kind, *get_args(kind)}:
                yield before + name, (about[0].param_decls or (f"--{option}",))[-1]


OPTIONS = sorted(number_options(app))


def test_the_options_that_take_numbers_are_found() -> None:
    assert ("sample", "--seed") in OPTIONS
    assert ("queries show", "--count") in OPTIONS
    assert len(OPTIONS) > 15


@pytest.mark.parametrize(("command", "option"), OPTIONS)
def test_a_number_out_of_range_is_taken_or_refused_in_a_sentence(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    command: str,
    option: str,
) -> None:
    words = next((one for one in COMMANDS if " ".join(one).startswith(f"{command} ")), (command,))
    for number in NUMBERS:
        done = run((*words, option, number), monkeypatch, capsys)
        assert done.code == 0 or (done.code == 2 and done.err), (number, done)
    assert not any(path.startswith(".nqe-") for path in files(folder))


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_an_impossible_path_is_refused_in_a_sentence(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: tuple[str, ...],
) -> None:
    for place in COMMANDS[words]:
        for path in PATHS:
            changed = (*words[:place], path, *words[place + 1 :])
            done = run(changed, monkeypatch, capsys)
            assert done.code in (0, 1, 2), (changed, done)
            if len(path) > 255 or "\0" in path:
                assert done.code == 2, (changed, done)
                assert done.err.splitlines()[-1].startswith("nqe: "), (changed, done)
    assert not any(path.startswith(".nqe-") for path in files(folder))


def test_the_demo_replaces_only_what_is_its_own(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("out.demo.run", "out.queries"):
        (folder / name).mkdir()
        (folder / name / "mine.txt").write_text("mine")
        before = files(folder)
        done = run(("demo", "-o", "out"), monkeypatch, capsys)
        assert done.err.startswith(f"nqe: {name}: the folder holds other files")
        assert files(folder) == before
        shutil.rmtree(folder / name)
    for output in ("", ".", "/", "x" * 300, "f", "q"):
        assert run(("demo", "-o", output), monkeypatch, capsys).code == 2


@pytest.mark.parametrize(
    "value",
    ["1" * 23, "9" * 5_000, "0x" + "f" * 6_000, "nan", "inf", "-1", "1e400", "[" * 5_000, "[1]"],
)
def test_a_setting_that_is_no_number_of_its_range_is_refused(value: str) -> None:
    for name in ("train.seed", "train.batch", "train.rate", "train.workers", "model.width"):
        if name == "train.rate" and value in ("1" * 23,):
            continue
        with pytest.raises(NqeError) as refused:
            build_run_settings(parse_assignment(f"{name}={value}"))
        assert len(str(refused.value)) < 300


@pytest.mark.parametrize(
    "content",
    [
        b"\0\1\2\xff",
        b"a = " + b"[" * 100_000,
        b"[train]\nseed = " + b"9" * 5_000,
        b"[train]\nrate = 0x" + b"f" * 6_000,
        b"x" * 2_000_000,
        b"train = 1",
        b"[[train]]",
        b"[train.rate]\nx = 1",
    ],
)
def test_a_damaged_file_of_settings_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "settings.toml"
    path.write_bytes(content)
    with pytest.raises(NqeError) as refused:
        read_settings(path)
    assert str(refused.value).startswith(f"{path}: ")
    assert len(str(refused.value)) < 500


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="needs /dev/zero")
def test_an_endless_file_of_settings_is_refused() -> None:
    with pytest.raises(NqeError, match="more than 1,000,000 bytes"):
        read_settings("/dev/zero")
