"""Clients of a server: the same calls at once (`Client`) and awaited (`AsyncClient`)."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Generic, Self, TypeVar, Union
from urllib.parse import quote

from pydantic import BaseModel, TypeAdapter, ValidationError

from nqe.errors import NqeError
from nqe.server import wire

try:
    import httpx
except ImportError:
    raise NqeError("a client takes httpx; install nqe with the extra `client`") from None

ADDRESS, SECONDS = "http://127.0.0.1:8000", 60.0
TOKEN = "NQE_TOKEN"
"""The environment variable of the token."""

Query = str | Mapping[str, Any]
Answered = wire.FoundAnswers | wire.FoundRows
"""The answers of a question: rows if it asks for several variables, a count or a relation."""
Explained = wire.FoundExplanation | wire.FoundRowExplanation
Found = TypeVar("Found", bound=BaseModel)


class ServerProblem(NqeError):
    """The server refused a request; `problem` says why."""

    def __init__(self, problem: wire.Problem) -> None:
        self.problem = problem
        super().__init__(problem.detail)


@dataclass(frozen=True)
class _Call(Generic[Found]):
    """One request: how and where it is sent, what with, and what comes back."""

    method: str
    path: str
    replies: tuple[type[Found], ...]
    """The types of which the reply has one."""
    given: Mapping[str, Any]

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments of the request, without what is not given."""
        given = {name: value for name, value in self.given.items() if value is not None}
        part = "params" if self.method == "GET" else "json"
        return {"method": self.method, "url": self.path, part: given}

    def read(self, response: httpx.Response) -> Found:
        """The reply; raises if the server refused the request."""
        try:
            if response.is_success:
                found: Found = _adapt(self.replies).validate_json(response.content)
                return found
            problem = wire.Problem.model_validate_json(response.content)
        except ValidationError:
            raise NqeError(
                f"{response.url}: replied {response.status_code} with something else than NQE's "
                "server of this version does; check the address"
            ) from None
        raise ServerProblem(problem)


@cache
def _adapt(types: tuple[type[BaseModel], ...]) -> TypeAdapter[Any]:
    """Reads a reply of one of some types."""
    choice: Any = Union[types]  # noqa: UP007 - which types these are is not known before
    return TypeAdapter(choice)


def _answer(query: Query, **options: Any) -> _Call[Answered]:
    replies = (wire.FoundAnswers, wire.FoundRows)
    return _Call("POST", "/v1/answer", replies, {"query": query, **options})


def _answer_many(requests: Sequence[Mapping[str, Any] | str]) -> _Call[wire.FoundMany]:
    asked = [{"query": one} if isinstance(one, str) else dict(one) for one in requests]
    return _Call("POST", "/v1/answer", (wire.FoundMany,), {"requests": asked})


def _explain(
    query: Query, entity: str | Sequence[str] | None = None, mode: str | None = None
) -> _Call[Explained]:
    is_row = entity is not None and not isinstance(entity, str)
    body = {"query": query, "row" if is_row else "entity": entity, "mode": mode}
    return _Call("POST", "/v1/explain", (wire.FoundExplanation, wire.FoundRowExplanation), body)


def _parse(query: Query) -> _Call[wire.FoundParse]:
    return _Call("POST", "/v1/parse", (wire.FoundParse,), {"query": query})


def _sparql(query: Query) -> _Call[wire.FoundSparql]:
    return _Call("POST", "/v1/sparql", (wire.FoundSparql,), {"query": query})


def _score(statement: str, alternatives: int = 3) -> _Call[wire.FoundScore]:
    body = {"statement": statement, "alternatives": alternatives}
    return _Call("POST", "/v1/score", (wire.FoundScore,), body)


def _suggest(
    entity: str, relation: str | None = None, top: int = 10
) -> _Call[wire.FoundSuggestions]:
    body = {"entity": entity, "relation": relation, "top": top}
    return _Call("POST", "/v1/suggest", (wire.FoundSuggestions,), body)


def _search(text: str, kind: str = "entity", limit: int = 20) -> _Call[wire.FoundNames]:
    given = {"search": text, "kind": kind, "limit": limit}
    return _Call("GET", "/v1/entities", (wire.FoundNames,), given)


def _entity(id: str, predicted: int = 0) -> _Call[wire.FoundEntity]:
    address = f"/v1/entities/{quote(id, safe='')}"
    return _Call("GET", address, (wire.FoundEntity,), {"predicted": predicted})


def _relations(limit: int = 100) -> _Call[wire.FoundRelations]:
    return _Call("GET", "/v1/relations", (wire.FoundRelations,), {"limit": limit})


def _rules(relation: str, top: int = 50) -> _Call[wire.FoundRules]:
    address = f"/v1/relations/{quote(relation, safe='')}/rules"
    return _Call("GET", address, (wire.FoundRules,), {"top": top})


def _graph() -> _Call[wire.FoundGraph]:
    return _Call("GET", "/v1/graph", (wire.FoundGraph,), {})


class Client:
    """Asks a server, such as one that `nqe serve` runs; close it, or use it in a `with` block."""

    def __init__(
        self, address: str = ADDRESS, *, token: str | None = None, seconds: float = SECONDS
    ) -> None:
        self._http = httpx.Client(base_url=address, headers=_make_headers(token), timeout=seconds)

    def answer(self, query: Query, **options: Any) -> Answered:
        """Answer one question; the options are those of `wire.Asked`."""
        return self._send(_answer(query, **options))

    def answer_many(self, requests: Sequence[Mapping[str, Any] | str]) -> wire.FoundMany:
        """Answer questions together: texts, or requests with options."""
        return self._send(_answer_many(requests))

    def explain(
        self, query: Query, entity: str | Sequence[str] | None = None, mode: str | None = None
    ) -> Explained:
        """Explain an answer, by default the best one; that of a row by its names."""
        return self._send(_explain(query, entity, mode))

    def parse(self, query: Query) -> wire.FoundParse:
        """Say what a question means, or where it is wrong."""
        return self._send(_parse(query))

    def sparql(self, query: Query) -> wire.FoundSparql:
        """Write a question as SPARQL."""
        return self._send(_sparql(query))

    def score(self, statement: str, alternatives: int = 3) -> wire.FoundScore:
        """Score a statement, as if no fact stated it."""
        return self._send(_score(statement, alternatives))

    def suggest(
        self, entity: str, relation: str | None = None, top: int = 10
    ) -> wire.FoundSuggestions:
        """Suggest likely statements about an entity that no fact states."""
        return self._send(_suggest(entity, relation, top))

    def search(self, text: str, kind: str = "entity", limit: int = 20) -> wire.FoundNames:
        """Search for entities or relations by name."""
        return self._send(_search(text, kind, limit))

    def entity(self, id: str, predicted: int = 0) -> wire.FoundEntity:
        """Show an entity, its facts, and `predicted` likely statements."""
        return self._send(_entity(id, predicted))

    def relations(self, limit: int = 100) -> wire.FoundRelations:
        """List the relations, those of most facts first."""
        return self._send(_relations(limit))

    def rules(self, relation: str, top: int = 50) -> wire.FoundRules:
        """List the rules that predict facts of a relation, given by its id."""
        return self._send(_rules(relation, top))

    def graph(
        self,
    ) -> wire.FoundGraph:
        """Show the graph at a glance, and its model."""
        return self._send(_graph())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def _send(self, call: _Call[Found]) -> Found:
        try:
            response = self._http.request(**call.arguments)
        except httpx.HTTPError as error:
            raise _describe(error, self._http.base_url) from None
        return call.read(response)


class AsyncClient:
    """The calls of `Client`, awaited."""

    def __init__(
        self, address: str = ADDRESS, *, token: str | None = None, seconds: float = SECONDS
    ) -> None:
        self._http = httpx.AsyncClient(
            base_url=address, headers=_make_headers(token), timeout=seconds
        )

    async def answer(self, query: Query, **options: Any) -> Answered:
        """Answer one question; the options are those of `wire.Asked`."""
        return await self._send(_answer(query, **options))

    async def answer_many(self, requests: Sequence[Mapping[str, Any] | str]) -> wire.FoundMany:
        """Answer questions together: texts, or requests with options."""
        return await self._send(_answer_many(requests))

    async def explain(
        self, query: Query, entity: str | Sequence[str] | None = None, mode: str | None = None
    ) -> Explained:
        """Explain an answer, by default the best one; that of a row by its names."""
        return await self._send(_explain(query, entity, mode))

    async def parse(self, query: Query) -> wire.FoundParse:
        """Say what a question means, or where it is wrong."""
        return await self._send(_parse(query))

    async def sparql(self, query: Query) -> wire.FoundSparql:
        """Write a question as SPARQL."""
        return await self._send(_sparql(query))

    async def score(self, statement: str, alternatives: int = 3) -> wire.FoundScore:
        """Score a statement, as if no fact stated it."""
        return await self._send(_score(statement, alternatives))

    async def suggest(
        self, entity: str, relation: str | None = None, top: int = 10
    ) -> wire.FoundSuggestions:
        """Suggest likely statements about an entity that no fact states."""
        return await self._send(_suggest(entity, relation, top))

    async def search(self, text: str, kind: str = "entity", limit: int = 20) -> wire.FoundNames:
        """Search for entities or relations by name."""
        return await self._send(_search(text, kind, limit))

    async def entity(self, id: str, predicted: int = 0) -> wire.FoundEntity:
        """Show an entity, its facts, and `predicted` likely statements."""
        return await self._send(_entity(id, predicted))

    async def relations(self, limit: int = 100) -> wire.FoundRelations:
        """List the relations, those of most facts first."""
        return await self._send(_relations(limit))

    async def rules(self, relation: str, top: int = 50) -> wire.FoundRules:
        """List the rules that predict facts of a relation, given by its id."""
        return await self._send(_rules(relation, top))

    async def graph(
        self,
    ) -> wire.FoundGraph:
        """Show the graph at a glance, and its model."""
        return await self._send(_graph())

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def _send(self, call: _Call[Found]) -> Found:
        try:
            response = await self._http.request(**call.arguments)
        except httpx.HTTPError as error:
            raise _describe(error, self._http.base_url) from None
        return call.read(response)


def _make_headers(token: str | None) -> dict[str, str]:
    given = os.environ.get(TOKEN) if token is None else token
    return {"Authorization": f"Bearer {given}"} if given else {}


def _describe(error: httpx.HTTPError, address: httpx.URL) -> NqeError:
    return NqeError(f"{address}: not reached ({error or type(error).__name__}); check the address")
