"""The command `nqe serve`: questions over HTTP, and a page to ask them on."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from nqe.cli import printing
from nqe.cli.options import DeviceOption, FactsOption, GraphOption, RulesOption, refuse_options
from nqe.errors import NqeError
from nqe.home import find_home
from nqe.run_folders import is_run

LARGEST_TOKEN = 4_096
DEMO_RUN = "atlas.run"
"""The RUN of the demo's model, in NQE_HOME."""


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command()(serve)


def serve(
    place: Annotated[
        str | None,
        typer.Argument(
            metavar="[GRAPH|RUN]",
            help="A graph (made by `nqe import`, or `atlas`) or a RUN (made by `nqe train`).",
        ),
    ] = None,
    demo: Annotated[
        bool,
        typer.Option("--demo", help="Serve atlas with a model, which is trained if there is none."),
    ] = False,
    host: Annotated[str, typer.Option("--host", help="The address to listen at.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=1, max=65_535, help="The port.")] = 8000,
    facts: FactsOption = "all",
    graph: GraphOption = None,
    rules: RulesOption = None,
    device: DeviceOption = "auto",
    workers: Annotated[
        int, typer.Option("--workers", min=1, max=64, help="Processes; they share the graph.")
    ] = 1,
    writable: Annotated[
        str | None,
        typer.Option("--writable", help="Take new facts, and append them to this file."),
    ] = None,
    token_file: Annotated[
        str | None,
        typer.Option("--token-file", help="A file with the token; default: NQE_TOKEN, if set."),
    ] = None,
    insecure: Annotated[
        bool, typer.Option("--insecure", help="Let others reach it without a token.")
    ] = False,
) -> None:
    """Serve a graph or a run over HTTP, with a page to ask questions on.

    Example: nqe serve atlas --port 8000

    Each request gets one line of JSON on standard error. Ctrl-C or SIGTERM finish what runs.
    """
    if demo == (place is not None):
        raise NqeError("name a GRAPH or a RUN to serve, or give --demo")
    try:
        from nqe.server.serve import TOKEN, Serving
        from nqe.server.serve import serve as run
    except ImportError as error:
        if error.name not in ("fastapi", "uvicorn", "prometheus_client", "starlette"):
            raise
        raise NqeError("serving takes FastAPI; install nqe with the extra `serve`") from None
    if demo or is_run(Path(place or "")):
        refuse_options("with a RUN, which has its own", rules=rules)
    if token_file is not None:
        os.environ[TOKEN] = _read_token(Path(token_file))
    shown = f"[{host}]" if ":" in host else host
    run_of_demo = str(find_home() / DEMO_RUN)
    serving = Serving(place or run_of_demo, graph, facts, device, demo, writable, rules)
    printing.note(f"http://{shown}:{port}/ is the page; Ctrl-C to stop")
    run(serving, host, port, workers=workers, insecure=insecure)


def _read_token(path: Path) -> str:
    try:
        text = path.read_bytes()[:LARGEST_TOKEN].decode("ascii").strip()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not ASCII text"
        raise NqeError(f"{path}: no token can be read ({reason}); write one line") from None
    if not text or "\n" in text:
        raise NqeError(f"{path}: holds no token; write one line with the token alone")
    return text
