"""The routes that show what is in the graph."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import FastAPI, Path, Query, Request
from fastapi.responses import JSONResponse, Response
from starlette.concurrency import run_in_threadpool

from nqe.server import wire
from nqe.server.client_address import client_of
from nqe.server.documented import MISSING, WRONG
from nqe.server.state import State


def add_names(app: FastAPI, state: State) -> None:
    """The routes that show what is in the graph."""

    @app.get(
        "/v1/complete",
        tags=["graph"],
        summary="Complete a name",
        response_model=wire.FoundCompletions,
        responses=WRONG,
    )
    async def complete(
        prefix: Annotated[str, Query(description="The text of a question.", examples=["?x: bord"])],
        at: Annotated[
            int | None, Query(ge=0, description="Where the cursor is; by default at the end.")
        ] = None,
    ) -> Response:
        """Relations or entities that fit where the cursor is."""
        return JSONResponse(await run_in_threadpool(state.service.complete, prefix, at))

    @app.get(
        "/v1/entities",
        tags=["graph"],
        summary="Search for entities",
        response_model=wire.FoundNames,
        responses=WRONG,
    )
    async def search(
        search: Annotated[str, Query(min_length=1, description="A name, or part of one.")],
        kind: Annotated[
            Literal["entity", "relation"], Query(description="What to search for.")
        ] = "entity",
        limit: Annotated[int, Query(ge=1, le=200)] = 20,
    ) -> Response:
        """Names by id, label, beginning, part or spelling, those that fit best first."""
        return JSONResponse(await run_in_threadpool(state.service.search, search, kind, limit))

    @app.get(
        "/v1/entities/{id:path}",
        tags=["graph"],
        summary="Show an entity",
        response_model=wire.FoundEntity,
        responses=WRONG | MISSING,
    )
    async def show(
        request: Request,
        id: Annotated[str, Path(description="The id of an entity.")],
        predicted: Annotated[
            int, Query(ge=0, le=100, description="How many likely statements to show as well.")
        ] = 0,
    ) -> Response:
        """An entity's names, its facts by the slot that it is in, and predicted ones if asked."""
        if not predicted:
            return JSONResponse(await run_in_threadpool(state.service.show_entity, id, 0))
        client = client_of(request)
        found = await state.call(lambda: state.service.show_entity(id, predicted), client)
        return JSONResponse(found)

    @app.get(
        "/v1/relations",
        tags=["graph"],
        summary="List the relations",
        response_model=wire.FoundRelations,
        responses=WRONG,
    )
    async def relations(limit: Annotated[int, Query(ge=1, le=200)] = 100) -> Response:
        """Relations with examples, those of most facts first."""
        return JSONResponse(await run_in_threadpool(state.service.list_relations, limit))

    @app.get(
        "/v1/relations/{id:path}/rules",
        tags=["graph"],
        summary="List the rules of a relation",
        response_model=wire.FoundRules,
        responses=WRONG | MISSING,
    )
    async def rules(
        id: Annotated[str, Path(description="The id of a relation.")],
        top: Annotated[int, Query(ge=1, le=1_000, description="How many rules.")] = 50,
    ) -> Response:
        """The rules that predict facts of a relation, in words with their counts."""
        return JSONResponse(await run_in_threadpool(state.service.list_rules, id, top))

    @app.get(
        "/v1/graph",
        tags=["graph"],
        summary="The graph at a glance",
        response_model=wire.FoundGraph,
        responses=WRONG,
    )
    async def graph() -> Response:
        """Counts, what is most connected, the model's card, and questions to begin with."""
        service = state.service
        return JSONResponse(await run_in_threadpool(lambda: service.overview))
