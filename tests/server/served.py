"""A real server on a free port of this machine, in a thread of its own."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import uvicorn
from fastapi import FastAPI

from nqe.answering import Answerer
from nqe.server.app import create_app
from nqe.server.service import Service
from nqe.settings import ServingSettings


@contextmanager
def serve(app: FastAPI, **options: Any) -> Iterator[httpx.Client]:
    """A client of an application that runs on a free port; waits until it is ready."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        config = uvicorn.Config(app, log_level="error", access_log=False)
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
        thread.start()
        address = f"http://127.0.0.1:{listener.getsockname()[1]}"
        try:
            with httpx.Client(base_url=address, timeout=20, **options) as client:
                wait_until_ready(client)
                yield client
        finally:
            server.should_exit = True
            thread.join(10)


@contextmanager
def serve_answerer(
    answerer: Answerer,
    settings: ServingSettings | None = None,
    *,
    token: str | None = None,
    added: Path | None = None,
    log: Any = None,
    **options: Any,
) -> Iterator[httpx.Client]:
    """A client of a server that answers with an answerer."""
    app = create_app(
        settings,
        load=lambda state: Service(answerer, "toy", state.settings),
        token=token,
        added=added,
        log=log,
    )
    with serve(app, **options) as client:
        yield client


def wait_until_ready(client: httpx.Client) -> None:
    """Wait until a server is ready."""
    for _ in range(400):
        try:
            if client.get("/readyz").status_code == 200:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.05)
    raise AssertionError("the server was not ready in time")
