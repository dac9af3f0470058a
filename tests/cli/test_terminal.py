"""Output on a terminal: progress, tables and markup."""

from __future__ import annotations

import os
import pty
import re
import subprocess
from pathlib import Path

import pytest
from helpers import COMMAND, ENVIRONMENT


def on_terminal(*arguments: str, cwd: Path) -> str:
    """The output of `nqe` on a terminal."""
    ours, theirs = pty.openpty()
    environment = ENVIRONMENT | {"TERM": "xterm", "COLUMNS": "160", "LINES": "50"}
    with subprocess.Popen(
        [*COMMAND, *arguments], cwd=cwd, env=environment, stdin=theirs, stdout=theirs, stderr=theirs
    ) as process:
        os.close(theirs)
        seen = b""
        try:
            while chunk := os.read(ours, 1 << 16):
                seen += chunk
        except OSError:
            # A terminal whose last program has ended cannot be read any more.
            pass
        os.close(ours)
    assert process.returncode == 0, seen
    return seen.decode()


@pytest.fixture
def place(tmp_path: Path) -> Path:
    lines = (f"e{i},r,e{i + 1}\n" for i in range(30_000))
    (tmp_path / "train.txt").write_text("".join(lines))
    (tmp_path / "labels.tsv").write_text("e0\t[bold]zero[/bold]\n")
    return tmp_path


def test_import_shows_its_progress_and_rate(place: Path) -> None:
    seen = on_terminal("import", "train.txt", "-o", "g.graph", cwd=place)
    assert re.search(r"train\.txt .*[\d,]+ facts, [\d,]+/s", seen)
    assert "g.graph: train 30,000 facts" in seen


def test_tables_are_drawn_and_numbers_grouped(place: Path) -> None:
    on_terminal("import", "train.txt", "-o", "g.graph", cwd=place)
    seen = on_terminal("stats", "g.graph", cwd=place)
    assert "───" in seen
    assert "\x1b[1m" in seen
    assert "30,001" in seen


def test_brackets_in_a_label_are_not_markup(place: Path) -> None:
    on_terminal("import", "train.txt", "-o", "g.graph", "--labels", "labels.tsv", cwd=place)
    seen = on_terminal("show", "g.graph", "e0", cwd=place)
    assert "[bold]zero[/bold]" in seen
    assert "[bold]zero[/bold]" in on_terminal("find", "g.graph", "e0", cwd=place)
