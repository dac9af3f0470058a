"""The application: routes, and what every request passes through on its way to them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException

from nqe import version
from nqe.errors import NqeError
from nqe.server import wire
from nqe.server.added import AddedFacts
from nqe.server.fact_routes import add_fact_routes
from nqe.server.graph_routes import add_names
from nqe.server.health_routes import add_health
from nqe.server.middleware import BodyLimit, RequestLog, SecurityHeaders, TokenCheck
from nqe.server.page import add_page
from nqe.server.problems import Malformed, NotFound, ServerError, describe_problem, to_response
from nqe.server.question_routes import add_questions
from nqe.server.service import Service
from nqe.server.state import State
from nqe.settings import ServingSettings

REPLAY_SECONDS = 0.5
"""How often facts that other processes added are looked for."""

DESCRIPTION = """Ask logical questions about a graph whose facts are incomplete.

Answers are stated by facts or predicted by a model, each with its probability. A question is text
such as `?x: borders(?x, France)`, or the JSON form of a query. Errors are problem documents
(RFC 9457) that say where a question is wrong.
"""


def create_app(
    settings: ServingSettings | None = None,
    *,
    load: Callable[[State], Service],
    token: str | None = None,
    added: Path | None = None,
    log: Callable[[dict[str, Any]], None] | None = None,
) -> FastAPI:
    """The application; `load` opens what is served, in a thread of its own, after the start.

    `added` is the file to which added facts are appended; without it, none can be added.
    """
    state = State(settings or ServingSettings())

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        tasks = [asyncio.create_task(_load(state, load, added))]
        if added is not None:
            tasks.append(asyncio.create_task(_replay(state)))
        yield
        for task in tasks:
            task.cancel()
        state.close()

    app = FastAPI(
        title="NQE",
        version=version.VERSION,
        description=DESCRIPTION,
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        openapi_url="/openapi.json",
        strict_content_type=False,
    )
    app.state.nqe = state
    _add_errors(app)
    add_questions(app, state)
    add_names(app, state)
    add_fact_routes(app, state)
    add_health(app, state)
    add_page(app)
    # The last one added is the first that a request passes.
    app.add_middleware(BodyLimit, most=state.settings.body)
    app.add_middleware(TokenCheck, token=token)
    app.add_middleware(SecurityHeaders)
    app.add_middleware(RequestLog, metrics=state.metrics, write=log)
    return app


async def _load(state: State, load: Callable[[State], Service], added: Path | None) -> None:
    def open_all() -> tuple[Service, AddedFacts | None]:
        service = load(state)
        found = None if added is None else AddedFacts(service, added)
        _ = (found.service if found else service).overview
        return service, found

    try:
        service, state.added = await run_in_threadpool(open_all)
        state.opened = service
    except NqeError as error:
        state.failure = str(error)


async def _replay(state: State) -> None:
    """Apply what other processes add, as long as the server runs."""
    while True:
        await asyncio.sleep(REPLAY_SECONDS)
        if state.added is not None:
            await run_in_threadpool(state.added.replay)


def _add_errors(app: FastAPI) -> None:
    """Tell every error as a problem document."""

    @app.exception_handler(NqeError)
    async def tell(request: Request, error: NqeError) -> Response:
        return to_response(describe_problem(error, getattr(request.state, "text", None)))

    @app.exception_handler(RequestValidationError)
    async def tell_malformed(_: Request, error: RequestValidationError) -> Response:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"][1:] if part not in wire.TAGS)
        where = " ".join(filter(None, ("the", str(first["loc"][0]), place)))
        return to_response(describe_problem(Malformed(f"{where}: {first['msg']}")))

    @app.exception_handler(HTTPException)
    async def tell_other(_: Request, error: HTTPException) -> Response:
        found = NotFound("there is nothing at this address; see /openapi.json")
        if error.status_code != found.status:
            other = ServerError(str(error.detail))
            other.status = error.status_code
            return to_response(describe_problem(other))
        return to_response(describe_problem(found))
