"""Rules over HTTP: as reasons, as a mode, of a relation, and for facts added while it runs."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import httpx
import pytest
from answering_cases import untrained
from served import serve_answerer
from toy_dataset import towns

import nqe
from nqe.answering import Answerer
from nqe.server import wire
from nqe.server.client import Client

DATASET = towns()
QUERY = "?x: speaks(person0, ?x)"


@cache
def answerer() -> Answerer:
    model = untrained(DATASET.vocabulary)
    return Answerer(DATASET, model, facts="train", rules=nqe.mine_rules(DATASET))


@pytest.fixture(scope="module")
def server() -> Iterator[httpx.Client]:
    with serve_answerer(answerer()) as client:
        yield client


@pytest.fixture(scope="module")
def client(server: httpx.Client) -> Iterator[Client]:
    with Client(str(server.base_url)) as found:
        yield found


def test_a_reason_has_rules_with_their_facts(client: Client) -> None:
    found = client.explain(QUERY, "language0")
    reason = found.reason
    assert reason.kind == "prediction"
    assert reason.more_rules > 0
    assert reason.model is not None
    assert 0 < reason.model < reason.own
    [first, *_] = reason.rules
    assert first.words.startswith("30 of 30 pairs with lives_in(?x, ?a; with: ?z)")
    assert [fact.relation.id for fact in first.facts] == ["lives_in", "speaks"]
    assert first.words in found.text


def test_the_mode_rules_leaves_the_model_out(client: Client) -> None:
    answers = client.answer(QUERY, mode="rules")
    assert answers.mode == "rules"
    assert answers[0].id == "language0"
    found = client.explain(QUERY, mode="rules")
    assert found.reason.model is None
    assert found.reason.own == answers[0].probability


def test_the_rules_of_a_relation_are_listed_surest_first(client: Client) -> None:
    found = client.rules("speaks", top=5)
    assert found.relation.id == "speaks"
    assert len(found.rules) == 5 < found.count
    confidence = [one.confidence for one in found.rules]
    assert confidence == sorted(confidence, reverse=True)
    assert all(one.rule.startswith("speaks(") for one in found.rules)
    assert client.rules("with").count == 0


def test_the_rules_of_an_unknown_relation_are_not_found(server: httpx.Client) -> None:
    reply = server.get("/v1/relations/unknown/rules")
    assert reply.status_code == 404
    assert reply.headers["content-type"] == "application/problem+json"
    assert "no relation has the id 'unknown'" in reply.json()["detail"]


def test_the_graph_says_how_many_rules_there_are(client: Client) -> None:
    rules = answerer().rules
    assert rules is not None
    found = client.graph()
    assert found.rules == len(rules) > 0
    assert found.model is not None


def test_a_score_names_its_strongest_rule(client: Client) -> None:
    found = client.score("speaks(person12, language0)")
    assert found.stated
    assert isinstance(found.rule, wire.FiredRule)
    used = [(one.subject.id, one.relation.id) for one in found.rule.facts]
    assert ("person12", "speaks") not in used


def test_a_graph_with_rules_alone_predicts_and_has_no_model() -> None:
    with (
        serve_answerer(answerer().with_rules_alone()) as server,
        Client(str(server.base_url)) as client,
    ):
        assert client.graph().model is None
        assert client.graph().rules > 0
        assert client.answer(QUERY)[0].id == "language0"
        assert client.suggest("person0", "speaks").suggestions[0].object.id == "language0"


def test_without_rules_the_mode_is_a_problem() -> None:
    with serve_answerer(Answerer(DATASET, facts="train")) as server:
        for path, body in (("answer", {"top": 3}), ("explain", {})):
            reply = server.post(f"/v1/{path}", json={"query": QUERY, "mode": "rules", **body})
            assert reply.status_code == 400
            assert reply.headers["content-type"] == "application/problem+json"
            assert "there are no rules to answer with" in reply.json()["detail"]
        assert server.get("/v1/relations/speaks/rules").json()["count"] == 0
        assert server.get("/v1/graph").json()["rules"] == 0


def test_an_added_entity_gets_predictions_at_once(tmp_path: Path) -> None:
    fact = {"subject": "newcomer", "relation": "lives_in", "object": "town3"}
    headers = {"Authorization": "Bearer secret"}
    served = serve_answerer(answerer(), token="secret", added=tmp_path / "log", headers=headers)
    with served as server:
        body = {"facts": [fact], "new_names": True}
        assert server.post("/v1/facts", json=body).status_code == 200
        asked = {"query": "?x: speaks(newcomer, ?x)"}
        found = server.post("/v1/answer", json=asked).json()
        assert found["answers"][0]["id"] == "language3"
        assert found["unseen"] == ["newcomer"]
        reason = server.post("/v1/explain", json=asked).json()["reason"]
        assert reason["model"] is None
        facts = [one["subject"]["id"] for rule in reason["rules"] for one in rule["facts"]]
        assert "newcomer" in facts
