"""Systems that lack what Linux has, such as macOS and Windows: everything falls back."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]

# Removes what macOS or Windows lack, before anything of nqe is imported.
REMOVE = """
import os, select, signal, sys

for holder, names in (
    (os, "sched_getaffinity sched_setaffinity fork forkpty mkfifo getuid geteuid sync pread"),
    (select, "poll epoll"),
    (signal, "SIGKILL SIGHUP SIGALRM SIGUSR1 pthread_sigmask setitimer alarm"),
):
    for name in names.split():
        if hasattr(holder, name):
            delattr(holder, name)
for name in ("fcntl", "resource", "termios", "pwd", "grp", "readline"):
    sys.modules[name] = None
"""
ASK = """
import importlib, pkgutil
import nqe
from nqe.readers import read

for part in ("graph", "readers", "writers", "query", "sampling", "cli"):
    package = importlib.import_module(f"nqe.{part}")
    for module in pkgutil.walk_packages(package.__path__, f"nqe.{part}."):
        importlib.import_module(module.name)
print(len(read("-").graph))
print([answer.name for answer in nqe.open("atlas").answer("?x: capital(France, ?x)")])
"""


def test_files_are_read_and_questions_answered_without_what_linux_alone_has() -> None:
    done = subprocess.run(
        [sys.executable, "-c", REMOVE + ASK],
        cwd=ROOT,
        input=b"a,r,b\nc,r,d\n",
        capture_output=True,
        check=False,
    )
    assert done.stderr.decode() == ""
    assert done.stdout.decode().split() == ["2", "['Paris']"]
