"""The command line: parse, call one public function, print."""

from __future__ import annotations

import io
import os
import sys

INTERRUPTED = 130
PIPE_CLOSED = 141
BAD_INPUT = 2


def main() -> None:
    """Run `nqe`; an error a user can cause is one sentence and exit code 2."""
    told = ""
    try:
        code = _run()
    except KeyboardInterrupt as interrupt:
        code, told = INTERRUPTED, str(interrupt)
    if code == INTERRUPTED:
        _drop_output()
        _tell(told or "interrupted; nothing is left half-written")
    sys.exit(code)


def _run() -> int | str | None:
    """Run the program; every error that has a sentence of its own is told."""
    from nqe.errors import NqeError, QueryError
    from nqe.files import explain_os_error

    try:
        code = _call()
        if code != INTERRUPTED:
            sys.stdout.flush()
        return code
    except QueryError as error:
        # It shows the query with a caret, on lines of their own.
        print("nqe:", error, file=sys.stderr)
    except NqeError as error:
        _tell(str(error))
    except BrokenPipeError:
        _drop_output()
        return PIPE_CLOSED
    except OSError as error:
        if error.filename is not None:
            raise
        _drop_output()
        _tell(f"standard output: {explain_os_error(error)}")
    return BAD_INPUT


def _call() -> int | str | None:
    """Parse the arguments and call the command; the exit code it asks for."""
    from nqe.cli.app import app

    if isinstance(sys.stdout, io.TextIOWrapper):
        # A terminal that cannot show a letter is no reason to fail.
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        app(prog_name="nqe")
    except SystemExit as stop:
        # Typer turns a closed pipe into a plain exit with 1.
        if isinstance(stop.__context__, BrokenPipeError):
            raise stop.__context__ from None
        # And Ctrl-C into one with 130, whatever there is to say of it.
        if stop.__context__ and isinstance(stop.__context__.__cause__, KeyboardInterrupt):
            raise stop.__context__.__cause__ from None
        return stop.code
    return 0


def _tell(sentence: str) -> None:
    print("nqe:", " ".join(sentence.splitlines()), file=sys.stderr)


def _drop_output() -> None:
    """Send what is still to be flushed nowhere, as Python would complain of it at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
