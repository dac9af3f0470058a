"""`nqe shell`: questions at a prompt."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
import time
from pathlib import Path

from answering_commands import FRANCE
from helpers import nqe, well


def test_the_shell_answers_completes_and_remembers(tmp_path: Path) -> None:
    master, slave = pty.openpty()
    environment = {**os.environ, "NQE_HOME": str(tmp_path), "TERM": "xterm", "COLUMNS": "120"}
    shell = subprocess.Popen(
        [sys.executable, "-m", "nqe", "shell", "atlas"],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        env=environment,
    )
    os.close(slave)
    try:
        _read_until(master, b"Ctrl-D to leave")
        os.write(master, b"?x: capital(Jap\t")
        _read_until(master, b"country or territory in Asia")
        os.write(master, b"\t, ?x)\r")
        _read_until(master, b"Tokyo")
        os.write(master, b"?x: capital(\r")
        _read_until(master, b"not understood")
        os.write(master, b"quit\r")
        assert shell.wait(timeout=30) == 0
    finally:
        shell.kill()
        shell.wait()
        os.close(master)
    assert "?x: capital(Japan, ?x)" in (tmp_path / "shell_history").read_text()


def test_the_shell_answers_from_a_run(runs: Path) -> None:
    query = "?x: borders(?x, ?y) and speaks(?y, German)"
    lines = (f"?x: {FRANCE[4:]}", f"steps {query}", f"proof {FRANCE}", f"why {query}", "quit")
    given = "\n".join(lines).encode()
    run = nqe("shell", "atlas.run", "--facts", "train", cwd=runs, given=given)
    out = well(run)
    assert run.err.startswith("atlas.run: ")
    assert "id\tlabel\tprobability\tknown by" in out
    assert "step\tvariable\tsays\tof\tlikely\tsuch as" in out
    assert "?x = Andorra: stated (Andorra, borders, France" in out
    assert "Why " in out


def test_the_shell_lists_stated_or_predicted_answers_alone(runs: Path) -> None:
    for word in ("stated", "predicted"):
        given = f"{word} {FRANCE}\n".encode()
        run = nqe("shell", "atlas.run", "--facts", "train", cwd=runs, given=given)
        head, *rows = well(run).splitlines()
        assert head.endswith("known by")
        assert {row.split("\t")[3].split(", ")[0] for row in rows} == {word}


def test_the_plan_of_a_query_is_shown_for_a_run(runs: Path) -> None:
    out = well(nqe("shell", "atlas.run", cwd=runs, given=f"plan {FRANCE}\n".encode()))
    assert out.startswith("shape 1p\n")


def test_an_error_does_not_end_the_shell(runs: Path) -> None:
    given = b"?x: borders(?x\n?x: capital(Japan, ?x)\n"
    run = nqe("shell", "atlas", cwd=runs, given=given)
    assert "Tokyo" in well(run)
    assert "nqe: query not understood" in run.err


def _read_until(terminal: int, text: bytes, seconds: float = 20) -> bytes:
    seen, end = b"", time.monotonic() + seconds
    while text not in seen:
        ready, _, _ = select.select([terminal], [], [], max(0.0, end - time.monotonic()))
        assert ready, f"never saw {text!r} in {seen!r}"
        seen += os.read(terminal, 4096)
    return seen
