"""The routes for whoever watches the server."""

from __future__ import annotations

from fastapi import FastAPI
from fastapi.responses import JSONResponse, PlainTextResponse, Response

from nqe.server import wire
from nqe.server.documented import WRONG
from nqe.server.metrics import Metrics
from nqe.server.state import State


def add_health(app: FastAPI, state: State) -> None:
    """The routes for whoever watches the server."""

    @app.get("/healthz", tags=["health"], summary="Whether it lives", response_model=wire.Health)
    async def healthz() -> Response:
        """Answers while the model computes."""
        return JSONResponse({"status": "ok"})

    @app.get(
        "/readyz",
        tags=["health"],
        summary="Whether it is ready",
        response_model=wire.Health,
        responses={503: {"model": wire.Health, "description": "Not ready yet."}},
    )
    async def readyz() -> Response:
        """Ready when the graph and the model are loaded."""
        if state.opened is not None:
            return JSONResponse({"status": "ready"})
        told = state.starting
        if state.failure is not None:
            told = wire.Health(status="stopping", detail=state.failure)
        return JSONResponse(told.model_dump(exclude_none=True), 503, {"Retry-After": "1"})

    @app.get(
        "/metrics",
        tags=["health"],
        summary="Metrics for Prometheus",
        response_class=PlainTextResponse,
        responses={401: WRONG[401]},
    )
    async def metrics() -> Response:
        """Counts and times of requests, sizes of batches, and what waits."""
        return Response(state.metrics.render(), media_type=Metrics.MEDIA_TYPE)
