"""Serving: opens what is served, and runs the application until it is told to stop."""

from __future__ import annotations

import ipaddress
import json
import os
import signal
import socket
import sys
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import uvicorn
from fastapi import FastAPI

from nqe.answering import open as open_answerer
from nqe.answering.open_graph import open_dataset
from nqe.demo import NAME
from nqe.errors import NqeError
from nqe.rules import load_rules
from nqe.run_folders import is_run
from nqe.server import wire
from nqe.server.app import create_app
from nqe.server.demo_model import train_demo
from nqe.server.service import Service
from nqe.server.state import State
from nqe.settings import ServingSettings

TOKEN, PLAN = "NQE_TOKEN", "NQE_SERVING"
"""The environment variables of the token, and of what the processes of a server are told."""
GRACE = 30
"""Seconds that requests have to finish when the server is told to stop."""


@dataclass(frozen=True)
class Serving:
    """What to serve, and how."""

    place: str
    graph: str | None = None
    facts: str = "all"
    device: str = "auto"
    demo: bool = False
    added: str | None = None
    """The file to which added facts are appended; None to add none."""
    rules: str | None = None
    """The folder of the rules that a graph predicts with; a run has its own."""
    settings: ServingSettings = field(default_factory=ServingSettings)

    def load(self, state: State) -> Service:
        """Open the graph or the run; for the demo, train its model first if there is none."""
        place = self.place
        if self.demo:
            place = str(train_demo(Path(self.place), _Teller(state)))
        answerer = open_answerer(
            place, graph=self.graph, facts=self.facts, device=self.device, rules=self.rules
        )
        run = Path(place) if is_run(Path(place)) else None
        name = NAME if self.demo else Path(place).name
        return Service(answerer, name, self.settings, run=run, writable=self.added is not None)


@dataclass(frozen=True)
class _Teller:
    """Tells on the page how far the training of the demo's model is."""

    state: State

    def __call__(self, detail: str, progress: float) -> None:
        self.state.starting = wire.Health(status="starting", detail=detail, progress=progress)


def serve(
    serving: Serving, host: str, port: int, *, workers: int = 1, insecure: bool = False
) -> None:
    """Serve until SIGINT or SIGTERM; what runs is finished then."""
    token = read_token()
    _check_open(host, token, insecure)
    if serving.added is not None and token is None:
        raise NqeError(f"whoever adds facts needs a token; set {TOKEN} or give --token-file")
    if not serving.demo:
        _check_place(serving)
    _check_free(host, port)
    os.environ[PLAN] = json.dumps(asdict(serving))
    for number in (signal.SIGINT, signal.SIGTERM):
        # Uvicorn raises a signal again when it has finished what runs; then all is done.
        signal.signal(number, lambda *_: None)
    uvicorn.run(
        "nqe.server.serve:create_from_environment",
        factory=True,
        host=host,
        port=port,
        workers=workers,
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=GRACE,
    )


def create_from_environment() -> FastAPI:
    """The application of one process, from what `serve` left in the environment."""
    plan = json.loads(os.environ[PLAN])
    settings = ServingSettings(**plan.pop("settings"))
    serving = Serving(**plan, settings=settings)
    added = None if serving.added is None else Path(serving.added)
    return create_app(settings, load=serving.load, token=read_token(), added=added, log=write_log)


def read_token() -> str | None:
    """The token that requests must carry, from the environment; None if there is none."""
    token = os.environ.get(TOKEN, "").strip()
    if token and not token.isascii():
        raise NqeError(f"{TOKEN}: a token has letters, digits and signs of ASCII; choose another")
    return token or None


def write_log(entry: dict[str, Any]) -> None:
    """Write one line about a request."""
    sys.stderr.write(json.dumps(entry, ensure_ascii=True) + "\n")
    sys.stderr.flush()


def _check_open(host: str, token: str | None, insecure: bool) -> None:
    """Refuse to be reachable from elsewhere without a token."""
    if token is None and not insecure and not is_loopback(host):
        raise NqeError(
            f"{host}: others can reach this address, so a token is needed; set {TOKEN} or give "
            "--token-file, or --insecure if the network is trusted"
        )


def is_loopback(host: str) -> bool:
    """Whether an address can be reached from this machine alone."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _check_place(serving: Serving) -> None:
    """Refuse what cannot be opened, before anything is loaded."""
    if serving.graph is not None or not is_run(Path(serving.place)):
        open_dataset(serving.graph or serving.place)
    if serving.rules is not None:
        load_rules(serving.rules)


def _check_free(host: str, port: int) -> None:
    """Refuse an address that cannot be used."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as one:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            one.bind((host, port))
        except (OSError, OverflowError) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            raise NqeError(
                f"{host}:{port}: cannot be used ({reason}); choose another --port or --host"
            ) from None
