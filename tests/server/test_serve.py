"""The command `nqe serve`: what it refuses, its page, and how it ends."""

from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from helpers import COMMAND, ENVIRONMENT, nqe
from served import wait_until_ready

from nqe.server.serve import is_loopback


@contextmanager
def serving(*arguments: str, cwd: Path) -> Iterator[tuple[subprocess.Popen[str], httpx.Client]]:
    """A server that was started as a user would, and a client of it."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
    process = subprocess.Popen(
        [*COMMAND, "serve", *arguments, "--port", str(port)],
        cwd=cwd,
        env=ENVIRONMENT,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=20) as client:
            wait_until_ready(client)
            yield process, client
    finally:
        process.kill()
        process.wait(10)
        assert process.stderr is not None
        process.stderr.close()


@pytest.mark.xdist_group("serve")
def test_a_served_graph_answers_logs_json_and_ends_with_0(tmp_path: Path) -> None:
    with serving("atlas", cwd=tmp_path) as (process, client):
        found = client.post("/v1/answer", json={"query": "?x: borders(?x, Portugal)"}).json()
        assert [one["label"] for one in found["answers"]] == ["Spain"]
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0
        assert process.stderr is not None
        lines = process.stderr.read().splitlines()
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/ is the page; Ctrl-C to stop", lines[0])
    told = [json.loads(line) for line in lines[1:]]
    assert (told[-1]["path"], told[-1]["status"]) == ("/v1/answer", 200)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nowhere"], "nowhere: not a graph folder"),
        ([], "name a GRAPH or a RUN to serve, or give --demo"),
        (["atlas", "--demo"], "name a GRAPH or a RUN to serve, or give --demo"),
        (["atlas", "--host", "0.0.0.0"], "0.0.0.0: others can reach this address"),
        (["atlas", "--host", "256.1.1.1", "--insecure"], "cannot be used"),
        (["atlas", "--token-file", "none"], "none: no token can be read"),
    ],
)
def test_what_cannot_be_served_is_one_sentence(
    tmp_path: Path, arguments: list[str], words: str
) -> None:
    done = nqe("serve", *arguments, cwd=tmp_path)
    assert done.code == 2
    assert words in done.err.splitlines()[-1]
    assert "Traceback" not in done.err


def test_a_port_in_use_is_named(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = nqe("serve", "atlas", "--port", str(port), cwd=tmp_path)
    assert done.code == 2
    assert f"127.0.0.1:{port}: cannot be used (Address already in use)" in done.err


@pytest.mark.parametrize(
    ("host", "loopback"),
    [("127.0.0.1", True), ("localhost", True), ("::1", True), ("0.0.0.0", False), ("a.b", False)],
)
def test_only_loopback_addresses_need_no_token(host: str, loopback: bool) -> None:
    assert is_loopback(host) is loopback
