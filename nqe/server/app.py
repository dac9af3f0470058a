"""The application: routes, and what every request passes through on its way to them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path as PathOnDisk
from typing import Annotated, Any, Literal, TypeVar

from fastapi import Body, FastAPI, Path, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, PlainTextResponse, Response
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException

from nqe import version
from nqe.answering.answerer import Outcome
from nqe.errors import NqeError
from nqe.server import wire
from nqe.server.added import AddedFacts
from nqe.server.batching import Lane, Waiting, gather
from nqe.server.metrics import Metrics
from nqe.server.middleware import BodyLimit, RequestLog, SecurityHeaders, TokenCheck
from nqe.server.page import add_page
from nqe.server.problems import (
    MEDIA_TYPE,
    Forbidden,
    Malformed,
    NotFound,
    NotReady,
    ServerError,
    TooMuch,
    describe_problem,
    to_response,
)
from nqe.server.replies import Json
from nqe.server.service import Question, Service
from nqe.settings import ServingSettings

Found = TypeVar("Found")

REPLAY_SECONDS = 0.5
"""How often facts that other processes added are looked for."""

DESCRIPTION = """Ask logical questions about a graph whose facts are incomplete.

Answers are stated by facts or predicted by a model, each with its probability. A question is text
such as `?x: borders(?x, France)`, or the JSON form of a query. Errors are problem documents
(RFC 9457) that say where a question is wrong.
"""
_PROBLEM = {"content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}}
WRONG: dict[int | str, dict[str, Any]] = {
    400: {**_PROBLEM, "description": "The question is wrong."},
    401: {**_PROBLEM, "description": "The token is missing or wrong."},
    413: {**_PROBLEM, "description": "The body is too large."},
    422: {**_PROBLEM, "description": "The request is malformed, or beyond a limit."},
    429: {**_PROBLEM, "description": "This client has too much waiting."},
    503: {**_PROBLEM, "description": "Too much to do, too slow, or not ready."},
}
MISSING: dict[int | str, dict[str, Any]] = {
    404: {**_PROBLEM, "description": "There is nothing there."}
}


FORBIDDEN: dict[int | str, dict[str, Any]] = {
    403: {**_PROBLEM, "description": "The server takes no facts."}
}


class State:
    """What the routes share: the service when it is ready, the lanes and the counts."""

    def __init__(self, settings: ServingSettings) -> None:
        self.settings = settings
        self.opened: Service | None = None
        self.added: AddedFacts | None = None
        self.starting = wire.Health(status="starting", detail="loading")
        self.failure: str | None = None
        self.waiting = Waiting(settings)
        self.light: Lane[Question, Outcome] = Lane(self._answer, settings.batch)
        self.heavy: Lane[Question, Outcome] = Lane(self._answer, 1)
        self.calls: Lane[Callable[[], Any], Any] = Lane(_run_calls, 1)
        self.metrics = Metrics(lambda: self.waiting.count)

    @property
    def service(self) -> Service:
        """What is served; raises if it is not ready."""
        if self.opened is None:
            raise NotReady(self.failure or f"{self.starting.detail}; ask again in a moment")
        return self.opened if self.added is None else self.added.service

    async def answer(self, questions: Sequence[Question], client: str) -> list[Outcome]:
        """Answer the questions of one request, together with those of others."""
        with self.waiting.admit(client, len(questions)):
            lanes = (self.light, self.heavy)
            chosen = [[one for one in questions if one.heavy is heavy] for heavy in (False, True)]
            futures = [
                lane.submit(some) if some else [] for lane, some in zip(lanes, chosen, strict=True)
            ]
            found = await gather([*futures[0], *futures[1]], self.settings.seconds)
        self.metrics.count_batches(self.light.take_sizes() + self.heavy.take_sizes())
        by_question = dict(zip(map(id, [*chosen[0], *chosen[1]]), found, strict=True))
        return [by_question[id(one)] for one in questions]

    async def call(self, run: Callable[[], Found], client: str) -> Found:
        """Run something that takes the model, one at a time."""
        with self.waiting.admit(client, 1):
            [found] = await gather(self.calls.submit([run]), self.settings.seconds)
        if isinstance(found, NqeError):
            raise found
        result: Found = found
        return result

    def close(self) -> None:
        """End the threads."""
        for lane in (self.light, self.heavy, self.calls):
            lane.close()

    def _answer(self, questions: Sequence[Question]) -> list[Outcome]:
        return self.service.answer(questions)


def _run_calls(calls: Sequence[Callable[[], Any]]) -> list[Any]:
    """The result of each call, or the error that a user caused."""
    found: list[Any] = []
    for call in calls:
        try:
            found.append(call())
        except NqeError as error:
            found.append(error)
    return found


def create_app(
    settings: ServingSettings | None = None,
    *,
    load: Callable[[State], Service],
    token: str | None = None,
    added: PathOnDisk | None = None,
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
    _add_questions(app, state)
    _add_names(app, state)
    _add_facts(app, state)
    _add_health(app, state)
    add_page(app)
    # The last one added is the first that a request passes.
    app.add_middleware(BodyLimit, most=state.settings.body)
    app.add_middleware(TokenCheck, token=token)
    app.add_middleware(SecurityHeaders)
    app.add_middleware(RequestLog, metrics=state.metrics, write=log)
    return app


async def _load(state: State, load: Callable[[State], Service], added: PathOnDisk | None) -> None:
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


def _client_of(request: Request) -> str:
    return request.client.host if request.client else ""


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


def _add_questions(app: FastAPI, state: State) -> None:
    """The routes that take questions and statements."""

    @app.post(
        "/v1/answer",
        tags=["questions"],
        summary="Answer one question or many",
        response_model=wire.FoundAnswers | wire.FoundMany,
        responses=WRONG,
    )
    async def answer(
        request: Request,
        asked: Annotated[
            wire.AskedAny,
            Body(
                openapi_examples={
                    "one": {"value": {"query": wire.QUERY_EXAMPLE, "top": 5}},
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
        """Questions of any shape and mode are answered together with those of other clients."""
        started = time.perf_counter()
        service, client = state.service, _client_of(request)
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
        response_model=wire.FoundExplanation,
        responses=WRONG,
    )
    async def explain(
        request: Request,
        asked: Annotated[
            wire.AskedWhy,
            Body(openapi_examples={"best": {"value": {"query": wire.QUERY_EXAMPLE}}}),
        ],
    ) -> Response:
        """The facts and predictions behind an answer, by default the best one."""
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
        """How likely a statement is by the model alone, with alternatives for each slot."""
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
        work = lambda: state.call(run, _client_of(request))  # noqa: E731
        return JSONResponse(await _until_gone(request, work))


def _add_names(app: FastAPI, state: State) -> None:
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
            int, Query(ge=0, le=100, description="Also show so many likely statements.")
        ] = 0,
    ) -> Response:
        """An entity's names, its facts by the slot that it is in, and predicted ones if asked."""
        if not predicted:
            return JSONResponse(await run_in_threadpool(state.service.show_entity, id, 0))
        client = _client_of(request)
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


def _add_facts(app: FastAPI, state: State) -> None:
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
        return JSONResponse(await state.call(lambda: facts.add(given), _client_of(request)))

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
        return JSONResponse(await state.call(lambda: facts.take_back(number), _client_of(request)))


def _add_health(app: FastAPI, state: State) -> None:
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
