"""The entry point of the command line: runs `nqe` and turns errors into exit codes."""

from __future__ import annotations

import gc
import io
import os
import signal
import sys
from types import FrameType

from nqe.threads import let_threads_sleep

INTERRUPTED = 130
TERMINATED = 143
PIPE_CLOSED = 141
BAD_INPUT = 2
_ALLOCATIONS = 20_000
"""Objects created between two searches for garbage.

Python's 700 make it search dozens of times while PyTorch is imported, and find none.
"""


def main() -> None:
    """Run `nqe`; an error that a user can cause is printed in one sentence, with exit code 2."""
    message = ""
    gc.set_threshold(_ALLOCATIONS)
    let_threads_sleep()
    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, _terminate)
    try:
        code = _run()
    except KeyboardInterrupt as interrupt:
        code = TERMINATED if isinstance(interrupt, Terminated) else INTERRUPTED
        message = str(interrupt)
    if code in (INTERRUPTED, TERMINATED):
        _drop_output()
        _print_error(message or "interrupted; nothing is left half-written")
    if "RANK" in os.environ and isinstance(code, int):
        # Under torchrun, threads of the connection to other processes may abort one that ends.
        sys.stderr.flush()
        os._exit(code)
    gc.freeze()  # A process that ends need not search all of PyTorch for garbage.
    sys.exit(code)


class Terminated(KeyboardInterrupt):
    """SIGTERM was received; what Ctrl-C cleans up is cleaned up in the same way."""


def _terminate(_number: int, _frame: FrameType | None) -> None:
    raise Terminated("terminated; nothing is left half-written")


def _run() -> int | str | None:
    """Run the program and print the errors that have a message for the user."""
    from nqe.errors import NqeError, QueryError
    from nqe.files import explain_os_error

    try:
        code = _call()
        if code != INTERRUPTED:
            sys.stdout.flush()
        return code
    except QueryError as error:
        # Its message has several lines: the query, and a caret under the error.
        print("nqe:", error, file=sys.stderr)
    except NqeError as error:
        _print_error(str(error))
    except BrokenPipeError:
        _drop_output()
        return PIPE_CLOSED
    except (MemoryError, RuntimeError) as error:
        if not _is_out_of_memory(error):
            raise
        _print_error("the memory does not suffice; ask for less, or use a larger machine")
    except OSError as error:
        if error.filename is None:
            _drop_output()
            _print_error(f"standard output: {explain_os_error(error)}")
        else:
            _print_error(_explain_path(error))
    return BAD_INPUT


def _explain_path(error: OSError) -> str:
    """Say what is wrong with a path that no command could use, such as one that is too long."""
    path = os.fsdecode(error.filename) if isinstance(error.filename, bytes) else error.filename
    reason = (error.strerror or str(error)).lower()
    return f"{path!s:.200}: cannot be used ({reason}); check the path"


def _is_out_of_memory(error: BaseException) -> bool:
    """Whether memory ran out; PyTorch has no kind of error of its own for it on a CPU."""
    return isinstance(error, MemoryError) or "can't allocate memory" in str(error)


def _call() -> int | str | None:
    """Parse the arguments, call the command, and return its exit code."""
    from nqe.cli.app import app
    from nqe.errors import NqeError

    if isinstance(sys.stdout, io.TextIOWrapper):
        # Escape characters that the terminal cannot show instead of failing.
        sys.stdout.reconfigure(errors="backslashreplace")
    if any("\0" in word for word in sys.argv):
        raise NqeError("an argument has a NUL character, which no path may have; remove it")
    try:
        app(prog_name="nqe")
    except SystemExit as stop:
        # Typer turns a closed pipe into exit code 1.
        if isinstance(stop.__context__, BrokenPipeError):
            raise stop.__context__ from None
        # Typer turns Ctrl-C into exit code 130 and drops its message.
        if stop.__context__ and isinstance(stop.__context__.__cause__, KeyboardInterrupt):
            raise stop.__context__.__cause__ from None
        return stop.code
    return 0


def _print_error(sentence: str) -> None:
    from nqe.shown_text import make_visible

    print("nqe:", make_visible(" ".join(sentence.splitlines())), file=sys.stderr)


def _drop_output() -> None:
    """Discard buffered output, because Python would fail to flush it at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
