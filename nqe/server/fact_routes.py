"""The routes that change what is known."""

from __future__ import annotations

from typing import Annotated

from fastapi import Body, FastAPI, Path, Request
from fastapi.responses import JSONResponse, Response
from starlette.concurrency import run_in_threadpool

from nqe.server import wire
from nqe.server.added import AddedFacts
from nqe.server.client_address import client_of
from nqe.server.documented import FORBIDDEN, WRONG
from nqe.server.problems import Forbidden, TooMuch
from nqe.server.state import State


def add_fact_routes(app: FastAPI, state: State) -> None:
    """The routes that change what is known."""

    def find() -> AddedFacts:
        _ = state.service
        if state.added is None:
            raise Forbidden("this server takes no facts; serve with --writable FILE")
        return state.added

    @app.post(
        "/v1/facts",
        tags=["facts"],
        summary="Add facts",
        response_model=wire.AddedFacts,
        responses=WRONG | FORBIDDEN,
    )
    async def add(
        request: Request,
        given: Annotated[
            wire.GivenFacts,
            Body(openapi_examples={"one": {"value": {"facts": [wire.FACT_EXAMPLE]}}}),
        ],
    ) -> Response:
        """They are on the disk and known when the reply comes."""
        if len(given.facts) > state.settings.rows:
            raise TooMuch(
                f"{len(given.facts):,} facts; add at most {state.settings.rows:,} at once"
            )
        facts = find()
        return JSONResponse(await state.call(lambda: facts.add(given), client_of(request)))

    @app.get(
        "/v1/facts",
        tags=["facts"],
        summary="List added facts",
        response_model=wire.AddedFacts,
        responses=WRONG | FORBIDDEN,
    )
    async def list_added() -> Response:
        """Those that were added while the server ran, and not taken back."""
        return JSONResponse(await run_in_threadpool(find().list_all))

    @app.delete(
        "/v1/facts/{number}",
        tags=["facts"],
        summary="Take an added fact back",
        response_model=wire.AddedFacts,
        responses=WRONG | FORBIDDEN,
    )
    async def take_back(request: Request, number: Annotated[int, Path(ge=1, le=2**53)]) -> Response:
        """Gives the added facts that are left."""
        facts = find()
        return JSONResponse(await state.call(lambda: facts.take_back(number), client_of(request)))
