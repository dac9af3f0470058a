"""Full disks, closed pipes and Ctrl-C: one sentence at most, and nothing half-written."""

from __future__ import annotations

import os
import select
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from helpers import ENVIRONMENT, Run, files, nqe, quick_command, start, told

INTERRUPTED = "nqe: interrupted; nothing is left half-written\n"
LINES = "".join(f"e{i},r,e{i + 1},q,e{i % 97}\n" for i in range(20_000)).encode()


@contextmanager
def piped(*arguments: str, cwd: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A run of `nqe` with pipes, to be left alone by their reader but not interrupted."""
    command = [*quick_command(), *arguments]
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, cwd=cwd, env=ENVIRONMENT, bufsize=0, stdout=pipe, stderr=pipe
    ) as process:
        try:
            yield process
        finally:
            process.kill()


@contextmanager
def started(*arguments: str, cwd: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A run of `nqe` that can be interrupted, and is killed at the end of the block."""
    with start(*arguments, cwd=cwd) as process:
        try:
            yield process
        finally:
            process.kill()


def ending(process: subprocess.Popen[bytes]) -> tuple[int, str]:
    """The exit code and the standard error of a finished process."""
    assert process.stderr is not None
    code = process.wait(timeout=60)
    return code, process.stderr.read().decode()


def test_ctrl_c_during_an_import_from_a_named_pipe_leaves_nothing(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with (
        started("import", "pipe", "-o", "g.graph", cwd=tmp_path) as process,
        (tmp_path / "pipe").open("wb", buffering=0) as pipe,
    ):
        # The pipe holds 64 kB: when all is written, most of it is read.
        pipe.write(LINES)
        process.send_signal(signal.SIGINT)
        assert ending(process) == (130, INTERRUPTED)
    assert files(tmp_path) == ["pipe"]


def test_sigterm_during_an_import_leaves_nothing_too(tmp_path: Path) -> None:
    with started("import", "-", "-o", "g.graph", cwd=tmp_path) as process:
        assert process.stdin is not None
        process.stdin.write(LINES)
        process.send_signal(signal.SIGTERM)
        assert ending(process) == (143, "nqe: terminated; nothing is left half-written\n")
    assert files(tmp_path) == []


@pytest.mark.parametrize("old", [False, True])
def test_ctrl_c_during_an_import_from_standard_input_leaves_what_was_there(
    tmp_path: Path, old: bool
) -> None:
    if old:
        assert nqe("import", "-", "-o", "g.graph", cwd=tmp_path, given=b"a,r,b\n").code == 0
    before = files(tmp_path)
    with started("import", "-", "-o", "g.graph", cwd=tmp_path) as process:
        assert process.stdin is not None
        process.stdin.write(LINES)
        process.send_signal(signal.SIGINT)
        assert ending(process) == (130, INTERRUPTED)
    assert files(tmp_path) == before


@pytest.mark.parametrize("command", ["export atlas -o -", "stats atlas --top 9999"])
def test_ctrl_c_while_nobody_reads_the_output_ends_the_run(tmp_path: Path, command: str) -> None:
    with started(*command.split(), cwd=tmp_path) as process:
        assert process.stdout is not None
        assert process.stdout.read(1)
        process.send_signal(signal.SIGINT)
        # A signal just before a write to the full pipe is not seen; a person would press again.
        assert process.stderr is not None
        if not select.select([process.stderr], [], [], 10)[0]:
            process.send_signal(signal.SIGINT)
        assert ending(process) == (130, INTERRUPTED)


@pytest.mark.parametrize(
    "arguments",
    [
        ["export", "atlas", "-o", "-"],
        ["export", "atlas", "-o", "-", "--format", "csv"],
        ["export", "atlas", "-o", "-", "--format", "parquet"],
        ["stats", "atlas", "--json", "--top", "5000"],
        ["show", "atlas", "Switzerland", "--limit", "5000"],
    ],
)
def test_a_closed_pipe_ends_the_run_without_a_message(tmp_path: Path, arguments: list[str]) -> None:
    with piped(*arguments, cwd=tmp_path) as process:
        assert process.stdout is not None
        assert process.stdout.read(1)
        process.stdout.close()
        code, text = ending(process)
    assert text == ""
    # A short output may be in the pipe already when the reader goes away.
    assert code in (0, 141)


def test_a_large_output_to_a_closed_pipe_ends_with_141(tmp_path: Path) -> None:
    with piped("export", "atlas", "-o", "-", cwd=tmp_path) as process:
        assert process.stdout is not None
        process.stdout.close()
        assert ending(process) == (141, "")


def limited(kilobytes: int) -> tuple[str, ...]:
    """The words before a command that limit the size of the files it can write."""
    return ("bash", "-c", f'ulimit -f {kilobytes} && exec "$@"', "bash")


def test_an_import_without_disk_space_is_reported_and_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(LINES)
    for output in ("g.graph", "new/place/g.graph"):
        run = nqe("import", "f", "-o", output, cwd=tmp_path, before=limited(20))
        assert told(run).startswith(f"{output}: cannot be written (file too large); raise")
    assert files(tmp_path) == ["f"]


COMPRESSED = [pytest.param(f"a.{one}", marks=pytest.mark.long) for one in ("csv.bz2", "tsv.zst")]


@pytest.mark.parametrize(
    "output",
    ["a.txt", "a.csv", "a.parquet", "a.txt.gz", "a.parquet.gz", "folder", *COMPRESSED],
)
def test_an_export_without_disk_space_is_reported_and_leaves_nothing(
    tmp_path: Path, output: str
) -> None:
    run = nqe("export", "atlas", "-o", output, cwd=tmp_path, before=limited(4))
    assert told(run).startswith(f"{output}: cannot be written (file too large); raise the limit")
    assert files(tmp_path) == []


@pytest.mark.parametrize(
    "command",
    ["stats atlas", "stats atlas --json", "show atlas Japan", "find atlas new", "--help"]
    + [f"export atlas -o - --format {name}" for name in ("statements", "csv", "tsv", "parquet")],
)
def test_a_full_output_is_reported(tmp_path: Path, command: str) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [*quick_command(), *command.split()],
            cwd=tmp_path,
            env=ENVIRONMENT,
            stdin=subprocess.DEVNULL,
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )
    run = Run(done.returncode, "", done.stderr.decode())
    expected = "standard output: cannot be written (no space left on device); free some space"
    assert told(run).startswith(expected)


def test_a_disk_that_fills_is_reported_and_leaves_nothing(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    options = ["-t", "tmpfs", "-o", "size=64k", "tmpfs", str(disk)]
    if subprocess.run(["mount", *options], capture_output=True, check=False).returncode:
        pytest.skip("no right to mount a small disk here")
    try:
        (tmp_path / "f").write_bytes(LINES)
        for arguments in (["import", "f", "-o", "disk/g"], ["export", "atlas", "-o", "disk/a.txt"]):
            sentence = told(nqe(*arguments, cwd=tmp_path))
            assert "cannot be written (no space left on device); free some space" in sentence
            assert sentence.startswith(arguments[-1])
            assert files(disk) == []
    finally:
        subprocess.run(["umount", str(disk)], check=True)
