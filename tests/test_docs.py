"""The documentation: its examples run and print what it shows, its links lead somewhere.

An HTML comment above a fenced block says what the block is:
- `<!-- file: films.csv -->`: a file that the examples after it read;
- `<!-- exit: 2 -->`: commands that end with this code, not 0;
- `<!-- output -->`: what the Python block before it prints.
Blocks of `python` and commands (`$ …`) of `console` run in the order of the page, in one folder.
What a page shows of the output must be the output; `…` stands for what it leaves out.
A drawing (.svg) that the page shows is one that its examples have drawn, under the same name.
"""

from __future__ import annotations

import io
import json
import os
import pty
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from helpers import quick_command

from nqe.settings import RunSettings

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
TEXTS = [*PAGES, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]

BLOCK = re.compile(
    r"(?:^<!-- (?P<marker>.*?) -->\n+)?^```(?P<language>\w*)\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
COMMAND = re.compile(r"^\$ (?P<command>(?:.*\\\n)*.*)\n(?P<shown>(?:(?!\$ ).*\n)*)", re.MULTILINE)
PICTURE = re.compile(r"!\[[^\]]*\]\((?P<path>pictures/[^)]+\.svg)\)")
LINK = re.compile(r"\]\((?!\w+:)(?P<path>[^)#]+)[^)]*\)")
SETTING = re.compile(
    r"^\| `(?P<section>\w+)` \| `(?P<name>\w+)` \| (?P<default>.+?) \| .+ \|$", re.MULTILINE
)
OMITTED = "…"
# Each of these pages trains and calibrates several models, which takes half a minute and more.
TRAINING_PAGES = {
    "answering.md",
    "evaluating.md",
    "extending.md",
    "reproducing.md",
    "training.md",
}
# What would make a terminal differ from one machine to another.
UNWANTED = {"COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR"}


@dataclass(frozen=True)
class Block:
    """One fenced block of a page."""

    language: str
    text: str
    marker: str
    value: str
    line: int


def blocks_of(page: Path) -> Iterator[Block]:
    text = page.read_text(encoding="utf-8")
    for found in BLOCK.finditer(text):
        marker, _, value = (found["marker"] or "").partition(": ")
        line = text.count("\n", 0, found.start("text"))
        yield Block(found["language"], found["text"], marker, value, line)


def run_in_terminal(command: str) -> tuple[int, str]:
    """A command's exit code and all that a person sees of it, on 80 columns and in no colour."""
    kept = {name: value for name, value in os.environ.items() if name not in UNWANTED}
    programs = (Path(quick_command()[0]).parent, Path(sys.executable).parent)
    path = os.pathsep.join((*map(str, programs), kept["PATH"]))
    env = kept | {"PATH": path, "TERM": "dumb", "PYTHONIOENCODING": "utf-8"}
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        command, shell=True, stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs, env=env
    ) as process:
        os.close(theirs)
        seen = b"".join(read_all(ours))
        os.close(ours)
    return process.returncode, seen.decode().replace("\r\n", "\n")


def read_all(terminal: int) -> Iterator[bytes]:
    while True:
        try:
            chunk = os.read(terminal, 1 << 16)
        except OSError:  # how Linux says that the other side is closed
            return
        if not chunk:
            return
        yield chunk


def trimmed(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.splitlines()).strip("\n") + "\n"


def fits(shown: str, real: str) -> bool:
    """Whether the output is as shown; `…` is the rest of a line, or alone any lines."""
    parts = (
        r"(?:.*\n)*?" if line.strip() == OMITTED else re.escape(line).replace(OMITTED, ".*") + r"\n"
        for line in trimmed(shown).splitlines()
    )
    return re.fullmatch("".join(parts), trimmed(real)) is not None


def check_output(where: str, shown: str, real: str) -> None:
    assert fits(shown, real), f"{where} prints\n\n{trimmed(real)}\nbut the page shows\n\n{shown}"


def run_commands(page: Path, block: Block) -> None:
    expected = int(block.value) if block.marker == "exit" else 0
    for found in COMMAND.finditer(block.text):
        code, seen = run_in_terminal(found["command"])
        where = f"{page.name}: `{found['command']}`"
        assert code == expected, f"{where} ends with {code}, not {expected}:\n{seen}"
        if found["shown"].strip():
            check_output(where, found["shown"], seen)


def run_python(page: Path, block: Block, namespace: dict[str, object]) -> str:
    # Empty lines before it, so that a traceback gives the page's line numbers.
    code = compile("\n" * block.line + block.text, str(page), "exec")
    with redirect_stdout(io.StringIO()) as printed:
        exec(code, namespace)
    return printed.getvalue()


def check_pictures(page: Path) -> None:
    for found in PICTURE.finditer(page.read_text(encoding="utf-8")):
        shown = page.parent / found["path"]
        drawn = Path(shown.name).read_text(encoding="utf-8")
        assert shown.read_text(encoding="utf-8") == drawn, f"{page.name}: draw {shown.name} again"


def mark_page(page: Path) -> Any:
    marks = [pytest.mark.long] if page.name in TRAINING_PAGES else []
    return pytest.param(page, marks=marks, id=page.name)


@pytest.mark.parametrize("page", [mark_page(page) for page in PAGES])
def test_a_pages_examples_run_and_print_what_it_shows(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {"__name__": page.stem}
    printed = ""
    for block in blocks_of(page):
        if block.marker == "file":
            file = Path(block.value)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(block.text, encoding="utf-8")
        elif block.marker == "output":
            check_output(f"{page.name}: Python above line {block.line}", block.text, printed)
        elif block.language == "python":
            printed = run_python(page, block, namespace)
        elif block.language == "console":
            run_commands(page, block)
    check_pictures(page)


@pytest.mark.parametrize("page", TEXTS, ids=lambda page: page.name)
def test_a_pages_links_to_files_lead_to_them(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    paths = [page.parent / link["path"] for link in LINK.finditer(text)]
    missing = [str(path) for path in paths if not path.exists()]
    assert not missing


def test_the_training_guide_has_every_setting_with_its_default() -> None:
    text = (ROOT / "docs" / "training.md").read_text(encoding="utf-8")
    told = [(row["section"], row["name"], row["default"]) for row in SETTING.finditer(text)]
    assert told == [
        (section, name, "not set" if value is None else f"`{json.dumps(value)}`")
        for section, values in RunSettings().to_json().items()
        for name, value in values.items()
    ]


@pytest.mark.parametrize("command", ["make demo", "make test"])
def test_the_readme_names_the_two_commands(command: str) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert re.search(rf"^{command}\b", readme, re.MULTILINE)


def test_the_site_builds_without_a_warning(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict"]
    done = subprocess.run(
        [*build, "--site-dir", str(tmp_path)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "index.html").exists()


@pytest.mark.parametrize(
    ("shown", "real", "expected"),
    [
        ("one\ntwo\n", "one  \r\ntwo\n\n", True),
        ("one\n…\nfour\n", "one\ntwo\nthree\nfour\n", True),
        ("o…e\n", "one\n", True),
        ("o…e\n", "o\ne\n", False),
        ("one\n", "one\ntwo\n", False),
        ("a.c\n", "abc\n", False),
    ],
)
def test_an_ellipsis_stands_for_what_is_left_out_and_for_nothing_else(
    shown: str, real: str, *, expected: bool
) -> None:
    assert fits(shown, real) == expected
