"""A quick `nqe` program for tests: each run is forked from a process that has it imported.

Starting Python and importing PyTorch takes seconds, and tests run the program hundreds of times.
Here the program is a small client that hands its arguments, folder, environment and standard
streams to a server. The server forks a process that runs them as `python -m nqe` would, and the
client exits with that process's code. Signals and limits set on the client do not reach the
forked process: a test of those starts Python anew.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import select
import shutil
import socket
import subprocess
import sys
import tempfile
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import NoReturn, TextIO

CLIENT = """#!{python} -IS
import json, os, socket, sys
server = socket.socket(socket.AF_UNIX)
server.connect({address!r})
request = json.dumps([sys.argv[1:], os.getcwd(), dict(os.environ)]).encode()
socket.send_fds(server, [len(request).to_bytes(4, "big")], [0, 1, 2])
server.sendall(request)
code = server.recv(1)
os._exit(code[0] if code else 70)
"""


@cache
def forked_program() -> Path:
    """The path of the quick `nqe`; the first call starts the server, which ends with the caller."""
    folder = Path(tempfile.mkdtemp(prefix="nqe-"))
    address = folder / "socket"
    program = folder / "nqe"
    program.write_text(CLIENT.format(python=sys.executable, address=str(address)))
    program.chmod(0o755)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(address))
        listener.listen()
        number = listener.fileno()
        command = [sys.executable, __file__, str(number), str(folder)]
        server = subprocess.Popen(command, stdin=subprocess.PIPE, pass_fds=[number])
    atexit.register(server.communicate)  # closes its standard input and waits for its end
    return program


def serve(listener: socket.socket) -> None:
    """Fork a process per request until standard input closes."""
    while listener in select.select([listener, sys.stdin], [], [])[0]:
        connection, _ = listener.accept()
        if os.fork() == 0:
            listener.close()
            run_and_answer(connection)
        connection.close()
        reap()


def reap() -> None:
    """Collect the processes that have ended."""
    while True:
        try:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                return
        except ChildProcessError:
            return


def run_and_answer(connection: socket.socket) -> NoReturn:
    """Run a request in a process of its own, and answer with its exit code."""
    head, streams, _, _ = socket.recv_fds(connection, 4, 3)
    with connection.makefile("rb") as file:
        arguments, folder, environment = json.loads(file.read(int.from_bytes(head, "big")))
    process = os.fork()
    if process == 0:
        connection.close()
        run_program(arguments, folder, environment, streams)
    code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    connection.sendall(bytes([code if code >= 0 else 128 - code]))
    os._exit(0)


def run_program(
    arguments: list[str], folder: str, environment: dict[str, str], streams: list[int]
) -> NoReturn:
    """Run `nqe` as a new process would, and exit."""
    from nqe.cli import main

    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = ["nqe", *arguments]
    sys.stdin = sys.__stdin__ = open(0, encoding="utf-8")  # type: ignore[misc] # noqa: SIM115
    sys.stdout = sys.__stdout__ = output(1, "strict")  # type: ignore[misc]
    sys.stderr = sys.__stderr__ = output(2, "backslashreplace")  # type: ignore[misc]
    try:
        main()
    except SystemExit as stop:
        sys.stdout.flush()
        # At once: freeing everything that was preloaded would take longer than most commands.
        os._exit(stop.code if isinstance(stop.code, int) else 0)
    raise AssertionError("main() always exits")


def output(number: int, errors: str) -> TextIO:
    """A standard stream, buffered as in a new process."""
    lines = number == 2 or os.isatty(number)
    return open(number, "w", encoding="utf-8", errors=errors, buffering=1 if lines else -1)


def preload() -> None:
    """Import the whole package, so that no forked process has to."""
    import nqe

    for module in walk_packages(nqe.__path__, "nqe."):
        if not module.name.endswith("__main__"):
            import_module(module.name)
    gc.freeze()


if __name__ == "__main__":
    sys.path.pop(0)  # the folder of this file, which is not on the path of `nqe`
    preload()
    serve(socket.socket(fileno=int(sys.argv[1])))
    shutil.rmtree(sys.argv[2])
