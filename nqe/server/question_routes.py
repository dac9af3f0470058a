"""The routes that take questions and statements."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Annotated, Any

from fastapi import Body, FastAPI, Request
from fastapi.responses import JSONResponse, Response
from starlette.concurrency import run_in_threadpool

from nqe.answering.answerer import Outcome
from nqe.errors import NqeError
from nqe.server import wire
from nqe.server.client_address import client_of
from nqe.server.documented import WRONG
from nqe.server.problems import TooMuch, describe_problem
from nqe.server.replies import Json
from nqe.server.service import Question, Service
from nqe.server.state import State


def add_questions(app: FastAPI, state: State) -> None:
    """The routes that take questions and statements."""

    @app.post(
        "/v1/answer",
        tags=["questions"],
        summary="Answer one question or many",
        response_model=wire.FoundAnswers | wire.FoundRows | wire.FoundMany,
        responses=WRONG,
    )
    async def answer(
        request: Request,
        asked: Annotated[
            wire.AskedAny,
            Body(
                openapi_examples={
                    "one": {"value": {"query": wire.QUERY_EXAMPLE, "top": 5}},
                    "rows": {
                        "value": {"query": wire.ROWS_EXAMPLE, "mode": "exact", "order_by": "?y"}
                    },
                    "many": {
                        "value": {
                            "requests": [
                                {"query": wire.QUERY_EXAMPLE},
                                {"query": wire.JSON_EXAMPLE, "mode": "exact"},
                            ]
                        }
                    },
                }
            ),
        ],
    ) -> Response:
        """Questions of any form and mode are answered together with those of other clients.

        The reply has answers, or rows if the question asks for several variables, a count or a
        relation.
        """
        started = time.perf_counter()
        service, client = state.service, client_of(request)
        if isinstance(asked, wire.Asked):
            _note_text(request, asked.query)
            question = service.prepare(asked)
            [outcome] = await _until_gone(request, lambda: state.answer([question], client))
            if isinstance(outcome, NqeError):
                raise outcome
            spent = (time.perf_counter() - started) * 1_000
            return JSONResponse(service.replies.answers(outcome, question.shown, spent))
        if len(asked.requests) > state.settings.queries:
            raise TooMuch(
                f"{len(asked.requests):,} questions; ask at most {state.settings.queries:,} at once"
            )
        prepared = [_try(service.prepare, one) for one in asked.requests]
        questions = [one for one in prepared if isinstance(one, Question)]
        found = iter(await _until_gone(request, lambda: state.answer(questions, client)))
        spent = (time.perf_counter() - started) * 1_000
        replies = [
            _reply(service, one, next(found) if isinstance(one, Question) else one, part, spent)
            for one, part in zip(prepared, asked.requests, strict=True)
        ]
        return JSONResponse({"replies": replies})

    @app.post(
        "/v1/explain",
        tags=["questions"],
        summary="Explain an answer",
        response_model=wire.FoundExplanation | wire.FoundRowExplanation,
        responses=WRONG,
    )
    async def explain(
        request: Request,
        asked: Annotated[
            wire.AskedWhy,
            Body(openapi_examples={"best": {"value": {"query": wire.QUERY_EXAMPLE}}}),
        ],
    ) -> Response:
        """The facts, predictions and rules behind an answer, by default the best one."""
        _note_text(request, asked.query)
        return await _call(request, lambda: state.service.explain(asked))

    @app.post(
        "/v1/parse",
        tags=["questions"],
        summary="Say what a question means",
        response_model=wire.FoundParse,
        responses=WRONG,
    )
    async def parse(
        asked: Annotated[
            wire.AskedText,
            Body(openapi_examples={"text": {"value": {"query": wire.QUERY_EXAMPLE}}}),
        ],
    ) -> Response:
        """The steps and the drawing of a question, or where it is wrong; for editors."""
        return JSONResponse(await run_in_threadpool(state.service.parse, asked.query))

    @app.post(
        "/v1/sparql",
        tags=["questions"],
        summary="Write a question as SPARQL",
        response_model=wire.FoundSparql,
        responses=WRONG,
    )
    async def sparql(
        request: Request,
        asked: Annotated[
            wire.AskedText,
            Body(openapi_examples={"text": {"value": {"query": wire.QUERY_EXAMPLE}}}),
        ],
    ) -> Response:
        """For an endpoint that holds the graph with statement nodes, as Wikidata's does."""
        _note_text(request, asked.query)
        return JSONResponse(await run_in_threadpool(state.service.to_sparql, asked.query))

    @app.post(
        "/v1/score",
        tags=["statements"],
        summary="Score a statement",
        response_model=wire.FoundScore,
        responses=WRONG,
    )
    async def score(request: Request, asked: wire.AskedScore) -> Response:
        """How likely a statement would be if no fact stated it, with alternatives for each slot."""
        _note_text(request, asked.statement)
        return await _call(request, lambda: state.service.score(asked))

    @app.post(
        "/v1/suggest",
        tags=["statements"],
        summary="Suggest statements",
        response_model=wire.FoundSuggestions,
        responses=WRONG,
    )
    async def suggest(request: Request, asked: wire.AskedSuggestions) -> Response:
        """Likely statements about an entity that no fact states."""
        return await _call(request, lambda: state.service.suggest(asked))

    async def _call(request: Request, run: Callable[[], Any]) -> Response:
        work = lambda: state.call(run, client_of(request))  # noqa: E731
        return JSONResponse(await _until_gone(request, work))


def _note_text(request: Request, query: object) -> None:
    """Keep the text of a question, into which an error may point."""
    request.state.text = query if isinstance(query, str) else None


async def _until_gone(request: Request, work: Callable[[], Any]) -> Any:
    """Do work, but stop it when the client leaves."""
    task = asyncio.ensure_future(work())

    async def watch() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass
        task.cancel()

    watcher = asyncio.ensure_future(watch())
    try:
        return await task
    finally:
        watcher.cancel()


def _try(prepare: Callable[[wire.Asked], Question], asked: wire.Asked) -> Question | NqeError:
    try:
        return prepare(asked)
    except NqeError as error:
        return error


def _reply(
    service: Service,
    question: Question | NqeError,
    outcome: Outcome,
    asked: wire.Asked,
    milliseconds: float,
) -> Json:
    """The reply to one of several questions: its answers, or what is wrong with it."""
    if isinstance(outcome, NqeError):
        text = asked.query if isinstance(asked.query, str) else None
        return describe_problem(outcome, text).model_dump(exclude_none=True)
    assert isinstance(question, Question)
    return service.replies.answers(outcome, question.shown, milliseconds)
