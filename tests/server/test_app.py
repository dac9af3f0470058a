"""The server's routes, asked by a client over HTTP."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest
from answering_cases import countries, country_model
from pydantic import TypeAdapter
from served import serve_answerer

from nqe.answering import Answerer, Request
from nqe.server import wire
from nqe.server.wire import Problem
from nqe.settings import ServingSettings

DATASET = countries()
NEIGHBOURS = "?x: borders(?x, France)"


@pytest.fixture(scope="module")
def answerer() -> Answerer:
    return Answerer(DATASET, country_model())


@pytest.fixture(scope="module")
def client(answerer: Answerer) -> Iterator[httpx.Client]:
    with serve_answerer(answerer) as found:
        yield found


@pytest.fixture(scope="module")
def facts_alone() -> Iterator[httpx.Client]:
    with serve_answerer(Answerer(DATASET)) as found:
        yield found


def ask(client: httpx.Client, query: str, **options: Any) -> dict[str, Any]:
    reply = client.post("/v1/answer", json={"query": query, **options})
    assert reply.status_code == 200, reply.text
    found: dict[str, Any] = reply.json()
    return found


def refused(reply: httpx.Response) -> Problem:
    """The problem that a reply tells; it must be of the right kind, with the right status."""
    assert reply.headers["content-type"] == "application/problem+json"
    found = Problem.model_validate(reply.json())
    assert found.status == reply.status_code
    return found


@pytest.mark.parametrize("mode", ["hybrid", "embedding", "exact"])
def test_answers_are_those_of_the_answerer(
    client: httpx.Client, answerer: Answerer, mode: str
) -> None:
    found = ask(client, NEIGHBOURS, mode=mode, top=4)
    wanted = answerer.answer(NEIGHBOURS, mode, 4)
    assert [one["id"] for one in found["answers"]] == wanted.ids
    measure = "score" if mode == "embedding" else "probability"
    given = [one[measure] for one in found["answers"]]
    assert given == pytest.approx([one.probability for one in wanted], abs=1e-6)
    assert [one["source"] for one in found["answers"]] == [one.source for one in wanted]


def test_many_questions_get_one_reply_each_in_their_order(client: httpx.Client) -> None:
    requests = [
        {"query": NEIGHBOURS, "mode": "exact"},
        {"query": "?x: borders(?x, Atlantis)"},
        {"query": {"target": "x", "formula": {"relation": "borders", "subject": "France",
                                              "object": {"variable": "x"}}}},
    ]  # fmt: skip
    reply = client.post("/v1/answer", json={"requests": requests})
    kinds = [("answers" in one, one.get("type")) for one in reply.json()["replies"]]
    assert reply.status_code == 200
    assert kinds == [(True, None), (False, "urn:nqe:unknown-name"), (True, None)]


@pytest.mark.parametrize(
    ("query", "kind", "place"),
    [
        ("?x: borders(?x France)", "query-syntax", (1, 16)),
        ("?x: borders(?x,\n  Atlantis)", "unknown-name", (2, 3)),
        ('?x: borders(?x, "At lantis")', "unknown-name", (1, 17)),
        ("?x: borders(?y, France)", "query", (None, None)),
        ("?x, ?y: borders(?x, France)", "query", (None, None)),
        ("count ?x: borders(?x, ?y) and ?y < France", "query", (1, 36)),
    ],
)
def test_a_wrong_question_is_a_problem_that_says_where(
    client: httpx.Client, query: str, kind: str, place: tuple[int | None, int | None]
) -> None:
    problem = refused(client.post("/v1/answer", json={"query": query}))
    assert (problem.status, problem.type) == (400, f"urn:nqe:{kind}")
    assert (problem.line, problem.column) == place
    assert "\n" not in problem.detail


def test_questions_of_many_clients_are_answered_in_one_batch(answerer: Answerer) -> None:
    """The first one is held up; all that come meanwhile are the next batch."""
    slow = HeldUp()
    with serve_answerer(slow) as client, ThreadPoolExecutor(8) as threads:
        first = threads.submit(ask, client, NEIGHBOURS)
        assert slow.begun.wait(10)
        others = [threads.submit(ask, client, NEIGHBOURS, top=n) for n in range(1, 6)]
        _wait_for(lambda: _read_metric(client, "nqe_waiting_questions") == 6)
        assert client.get("/healthz").json() == {"status": "ok"}
        slow.go_on.set()
        found = [one.result() for one in (first, *others)]
    assert slow.sizes == [1, 5]
    assert [len(one["answers"]) for one in found[1:]] == [1, 2, 3, 4, 5]
    assert found[3]["answers"] == found[5]["answers"][:3]
    wanted = answerer.answer_many([Request(NEIGHBOURS, top=5)])
    assert [one["id"] for one in found[5]["answers"]] == wanted[0].ids  # type: ignore[union-attr]


class HeldUp(Answerer):
    """Answers a batch only when it is let, and notes how many questions each batch had."""

    def __init__(self) -> None:
        super().__init__(DATASET, country_model())
        self.sizes: list[int] = []
        self.begun, self.go_on = threading.Event(), threading.Event()

    def answer_many(self, requests: Any) -> Any:
        self.sizes.append(len(requests))
        self.begun.set()
        assert self.go_on.wait(10)
        return super().answer_many(requests)


def test_the_question_of_a_client_that_left_is_not_answered() -> None:
    slow = HeldUp()
    with serve_answerer(slow) as client, ThreadPoolExecutor(2) as threads:
        first = threads.submit(ask, client, NEIGHBOURS)
        assert slow.begun.wait(10)
        with pytest.raises(httpx.ReadTimeout):
            client.post("/v1/answer", json={"query": NEIGHBOURS}, timeout=0.2)
        _wait_for(lambda: _read_metric(client, "nqe_waiting_questions") == 1)
        slow.go_on.set()
        first.result()
        ask(client, NEIGHBOURS)
    assert slow.sizes == [1, 1]


def test_a_question_that_looks_at_many_facts_does_not_hold_up_the_others() -> None:
    """With the limit at one fact, what names no entity is heavy; it waits for its turn alone."""
    slow, heavy = HeldUp(), "?x: borders(?x, ?y)"
    with (
        serve_answerer(slow, ServingSettings(heavy_facts=1)) as client,
        ThreadPoolExecutor(2) as threads,
    ):
        held = threads.submit(ask, client, heavy)
        assert slow.begun.wait(10)
        slow.answer_many = super(HeldUp, slow).answer_many  # type: ignore[method-assign]
        assert ask(client, NEIGHBOURS)["answers"]
        assert not held.done()
        slow.go_on.set()
        assert held.result()["answers"]


def test_what_is_beyond_the_queue_gets_503_and_when_to_come_again() -> None:
    slow = HeldUp()
    limits = ServingSettings(queue=2, share=2)
    with serve_answerer(slow, limits) as client, ThreadPoolExecutor(2) as threads:
        first = threads.submit(ask, client, NEIGHBOURS)
        assert slow.begun.wait(10)
        second = threads.submit(ask, client, NEIGHBOURS)
        _wait_for(lambda: _read_metric(client, "nqe_waiting_questions") == 2)
        reply = client.post("/v1/answer", json={"query": NEIGHBOURS})
        assert refused(reply).status in (429, 503)
        assert reply.headers["retry-after"] == "1"
        slow.go_on.set()
        assert first.result()["answers"] == second.result()["answers"]


def test_an_explanation_has_the_facts_and_predictions_behind_an_answer(
    client: httpx.Client, answerer: Answerer
) -> None:
    query = "?x: borders(?x, ?y) and borders(?y, France)"
    found = client.post("/v1/explain", json={"query": query}).json()
    wanted = answerer.explain(query)
    assert found["answer"]["id"] == DATASET.vocabulary.entities.ids[wanted.entity]
    assert found["reason"]["probability"] == pytest.approx(wanted.reason.probability, abs=1e-6)
    assert found["reason"]["kind"] in ("fact", "prediction")
    assert found["reason"]["because"]
    assert found["text"] == str(wanted)


def test_a_graph_alone_proves_its_answers_and_refuses_to_predict(
    facts_alone: httpx.Client,
) -> None:
    found = facts_alone.post("/v1/explain", json={"query": NEIGHBOURS}).json()
    assert found["reason"]["kind"] == "fact"
    assert found["reason"]["fact"]["relation"]["id"] == "borders"
    for route, body in (
        ("/v1/answer", {"query": NEIGHBOURS, "mode": "hybrid"}),
        ("/v1/score", {"statement": "borders(France, Spain)"}),
        ("/v1/suggest", {"entity": "France"}),
    ):
        assert refused(facts_alone.post(route, json=body)).status == 400


# Every route with a request that it answers, and the type of its reply.
ROUTES: list[tuple[str, str, dict[str, Any] | None, Any]] = [
    ("POST", "/v1/answer", {"query": NEIGHBOURS, "steps": 3}, wire.FoundAnswers),
    ("POST", "/v1/answer", {"requests": [{"query": NEIGHBOURS}, {"query": "no"}]}, wire.FoundMany),
    ("POST", "/v1/explain", {"query": NEIGHBOURS}, wire.FoundExplanation),
    ("POST", "/v1/parse", {"query": NEIGHBOURS}, wire.FoundParse),
    ("POST", "/v1/parse", {"query": "?x: borders("}, wire.FoundParse),
    ("POST", "/v1/sparql", {"query": NEIGHBOURS}, wire.FoundSparql),
    ("POST", "/v1/score", {"statement": "borders(France, Spain)"}, wire.FoundScore),
    ("POST", "/v1/suggest", {"entity": "France"}, wire.FoundSuggestions),
    ("GET", "/v1/complete?prefix=%3Fx%3A%20bor", None, wire.FoundCompletions),
    ("GET", "/v1/entities?search=fra", None, wire.FoundNames),
    ("GET", "/v1/entities?search=bor&kind=relation", None, wire.FoundNames),
    ("GET", "/v1/entities/fr", None, wire.FoundEntity),
    ("GET", "/v1/entities/fr?predicted=3", None, wire.FoundEntity),
    ("GET", "/v1/relations", None, wire.FoundRelations),
    ("GET", "/v1/graph", None, wire.FoundGraph),
    ("GET", "/healthz", None, wire.Health),
    ("GET", "/readyz", None, wire.Health),
]


@pytest.mark.parametrize(("method", "path", "body", "type_"), ROUTES)
def test_replies_are_what_the_wire_types_say(
    client: httpx.Client, method: str, path: str, body: dict[str, Any] | None, type_: Any
) -> None:
    reply = client.request(method, path, json=body)
    assert reply.status_code == 200, reply.text
    TypeAdapter(type_).validate_json(reply.content)


def test_every_route_is_documented_with_its_reply_and_its_problems(client: httpx.Client) -> None:
    document = client.get("/openapi.json").json()
    asked = {path.partition("?")[0].replace("/fr", "/{id}") for _, path, _, _ in ROUTES}
    facts = {"/v1/facts", "/v1/facts/{number}"}  # see test_facts
    rules = {"/v1/relations/{id}/rules"}  # see test_rules
    assert set(document["paths"]) == asked | facts | rules | {"/metrics"}
    for path, methods in document["paths"].items():
        for method in methods.values():
            assert method["summary"], path
            assert method["description"], path
            assert "200" in method["responses"], path
            if path.startswith("/v1/"):
                told = method["responses"]["422"]["content"]
                assert list(told) == ["application/problem+json"], path


def test_an_entity_comes_with_likely_statements_if_they_are_asked_for(
    client: httpx.Client, facts_alone: httpx.Client
) -> None:
    plain = client.get("/v1/entities/fr").json()
    assert plain["label"] == "France"
    assert plain["as_subject"]
    assert plain["predicted"] == []
    suggested = client.post("/v1/suggest", json={"entity": "fr", "top": 3}).json()["suggestions"]
    assert client.get("/v1/entities/fr?predicted=3").json()["predicted"] == suggested != []
    assert refused(facts_alone.get("/v1/entities/fr?predicted=3")).status == 400


def test_completion_knows_what_fits_at_the_cursor(client: httpx.Client) -> None:
    text = "?x: borders(?x, Fra"
    found = client.get("/v1/complete", params={"prefix": text}).json()["completions"]
    assert (found[0]["text"], found[0]["replaces"]) == ("France", 3)
    within = client.get("/v1/complete", params={"prefix": text, "at": 7}).json()["completions"]
    assert within[0]["text"] == "borders"


def join(word: str, count: int) -> str:
    """A question of many parts."""
    ids = DATASET.vocabulary.entities.ids
    return f"?x: {f' {word} '.join(f'borders(?x, {ids[n % 4]})' for n in range(count))}"


LIMITS = ServingSettings(body=2_000, queries=3, steps=4, fan_in=3, top=5)


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        ({"query": NEIGHBOURS, "top": 6}, 422, "at most 5"),
        ({"requests": [{"query": NEIGHBOURS}] * 4}, 422, "at most 3 at once"),
        ({"query": join("and", 4)}, 422, "at most 4"),
        ({"query": join("or", 100)}, 413, "2,000 bytes"),
        ({"query": NEIGHBOURS, "top": 0}, 422, "greater than or equal to 1"),
        ({"query": NEIGHBOURS, "colour": "red"}, 422, "colour"),
        ({"query": 7}, 422, "body"),
    ],
)  # fmt: skip
def test_what_is_beyond_a_limit_is_refused_in_words(
    answerer: Answerer, body: dict[str, Any], status: int, words: str
) -> None:
    with serve_answerer(answerer, LIMITS) as client:
        problem = refused(client.post("/v1/answer", json=body))
        assert problem.status == status
        assert words in problem.detail
        assert len(ask(client, NEIGHBOURS, mode="exact")["answers"]) <= 5


def test_a_body_without_a_length_is_limited_as_well(answerer: Answerer) -> None:
    with serve_answerer(answerer, LIMITS) as client:
        reply = client.post("/v1/answer", content=(b" " * 1_000 for _ in range(5)))
        assert refused(reply).status == 413


def test_a_token_is_needed_for_everything_but_health_and_the_page(answerer: Answerer) -> None:
    with serve_answerer(answerer, token="secret") as client:
        reply = client.get("/v1/graph")
        assert refused(reply).status == 401
        assert reply.headers["www-authenticate"] == "Bearer"
        assert refused(client.get("/metrics")).status == 401
        wrong = {"Authorization": "Bearer secre"}
        assert client.get("/v1/graph", headers=wrong).status_code == 401
        right = {"Authorization": "Bearer secret"}
        assert client.get("/v1/graph", headers=right).status_code == 200
        assert client.get("/healthz").status_code == 200


def test_replies_keep_browsers_from_doing_more_than_the_page_needs(client: httpx.Client) -> None:
    headers = client.get("/v1/graph").headers
    policy = headers["content-security-policy"]
    assert "script-src 'self';" in policy
    assert "unsafe" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert "access-control-allow-origin" not in headers


def test_each_request_gets_one_line_of_json(answerer: Answerer) -> None:
    lines: list[dict[str, Any]] = []
    with serve_answerer(answerer, log=lines.append) as client:
        lines.clear()
        ask(client, NEIGHBOURS)
        client.get("/nothing?token=hidden")
        _wait_for(lambda: len(lines) == 2)
    told = [(one["method"], one["path"], one["status"]) for one in lines]
    assert told == [("POST", "/v1/answer", 200), ("GET", "/nothing", 404)]
    assert "hidden" not in json.dumps(lines)


def _wait_for(condition: Callable[[], bool]) -> None:
    for _ in range(500):
        if condition():
            return
        threading.Event().wait(0.01)
    raise AssertionError("it did not happen in time")


def _read_metric(client: httpx.Client, name: str) -> float:
    lines = client.get("/metrics").text.splitlines()
    return float(next(line for line in lines if line.startswith(name + " ")).split()[1])
