"""The command line: parse, call one public function, print."""

from __future__ import annotations

import sys

INTERRUPTED = 130
BAD_INPUT = 2


def main() -> None:
    """Run `nqe`; an error a user can cause is one sentence and exit code 2."""
    from nqe.cli.app import app
    from nqe.errors import NqeError

    try:
        app(prog_name="nqe")
    except NqeError as error:
        print(f"nqe: {error}", file=sys.stderr)
        sys.exit(BAD_INPUT)
    except SystemExit as stop:
        if stop.code == INTERRUPTED:
            print("nqe: interrupted; nothing is left half-written", file=sys.stderr)
        raise
