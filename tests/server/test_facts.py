"""Facts that are added while the server runs: known at once, and never lost."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from answering_cases import countries, country_model
from helpers import nqe
from served import serve_answerer
from test_serve import serving

from nqe.answering import Answerer, Answers
from nqe.graph import Dataset, Fact
from nqe.server import wire
from nqe.server.added import AddedFacts
from nqe.server.service import Service
from nqe.server.state import State
from nqe.settings import ServingSettings

BORDER = {"subject": "Portugal", "relation": "borders", "object": "France"}
NEIGHBOURS = {"query": "?x: borders(?x, France)", "mode": "exact"}


def neighbours(client: httpx.Client) -> set[str]:
    reply = client.post("/v1/answer", json=NEIGHBOURS)
    return {one["id"] for one in reply.json()["answers"]}


def add(client: httpx.Client, *facts: dict[str, Any], **options: Any) -> httpx.Response:
    return client.post("/v1/facts", json={"facts": facts, **options})


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "added.jsonl"


@pytest.fixture(params=["a graph", "a model"])
def client(request: pytest.FixtureRequest, log: Path) -> Iterator[httpx.Client]:
    model = country_model() if request.param == "a model" else None
    with serve_answerer(Answerer(countries(), model), added=log) as found:
        yield found


def test_an_added_fact_is_known_at_once_and_can_be_taken_back(client: httpx.Client) -> None:
    before = neighbours(client)
    told = add(client, BORDER)
    assert told.status_code == 200
    assert [one["number"] for one in told.json()["facts"]] == [1]
    assert neighbours(client) == before | {"pt"}
    found = client.get("/v1/facts").json()["facts"]
    assert [one["subject"]["label"] for one in found] == ["Portugal"]
    assert client.delete("/v1/facts/1").json()["facts"] == []
    assert neighbours(client) == before


def test_an_unknown_name_is_refused_unless_it_may_be_new(client: httpx.Client) -> None:
    fact = {"subject": "Andorra", "relation": "borders", "object": "France"}
    problem = add(client, BORDER, fact).json()
    assert problem["type"] == "urn:nqe:unknown-name"
    assert client.get("/v1/facts").json()["facts"] == []
    assert add(client, fact, new_names=True).status_code == 200
    assert "Andorra" in neighbours(client)


def test_qualifiers_are_added_with_their_fact(client: httpx.Client) -> None:
    add(client, {**BORDER, "qualifiers": [["since", "y1990"]]})
    query = "?x: borders(Portugal, France; since: ?x)"
    found = client.post("/v1/answer", json={"query": query, "mode": "exact"}).json()
    assert [one["id"] for one in found["answers"]] == ["y1990"]


def test_what_was_added_is_there_after_a_restart(log: Path) -> None:
    answerer = Answerer(countries())
    with serve_answerer(answerer, added=log) as client:
        before = neighbours(client)
        add(client, BORDER)
    with serve_answerer(answerer, added=log) as client:
        assert neighbours(client) == before | {"pt"}


def test_another_server_replays_what_one_wrote(log: Path) -> None:
    answerer = Answerer(countries())
    with (
        serve_answerer(answerer, added=log) as one,
        serve_answerer(answerer, added=log) as other,
    ):
        add(one, BORDER)
        for _ in range(100):
            if "pt" in neighbours(other):
                break
            time.sleep(0.05)
        assert "pt" in neighbours(other)
        add(other, {**BORDER, "subject": "Germany"})
        assert [one["number"] for one in other.get("/v1/facts").json()["facts"]] == [1, 2]


def test_a_server_takes_no_facts_unless_it_was_told_to() -> None:
    with serve_answerer(Answerer(countries())) as client:
        for reply in (add(client, BORDER), client.get("/v1/facts"), client.delete("/v1/facts/1")):
            assert reply.status_code == 403
            assert "--writable" in reply.json()["detail"]


def test_serving_facts_needs_a_token(tmp_path: Path) -> None:
    done = nqe("serve", "atlas", "--writable", "added.jsonl", cwd=tmp_path)
    assert done.code == 2
    assert "whoever adds facts needs a token" in done.err
    assert not (tmp_path / "added.jsonl").exists()


def test_a_question_is_answered_by_the_names_that_it_was_bound_to(log: Path) -> None:
    """Taking a fact back renumbers the names that came after it."""
    base = Service(Answerer(countries()), "toy", ServingSettings())
    added = AddedFacts(base, log)
    facts = [{**BORDER, "subject": "New A"}, {**BORDER, "subject": "New B", "object": "Spain"}]
    added.add(wire.GivenFacts.model_validate({"facts": facts, "new_names": True}))
    query = wire.Asked.model_validate({"query": '?x: borders("New A", ?x)', "mode": "exact"})
    question = added.service.prepare(query)
    added.take_back(1)
    state = State(ServingSettings())
    [outcome] = state._answer([question])
    state.close()
    assert isinstance(outcome, Answers)
    assert outcome.ids == ["fr"]


@pytest.mark.long
def test_no_acknowledged_fact_is_lost_when_the_server_is_killed(tmp_path: Path) -> None:
    """Killed and restarted under load; what was acknowledged must be there in the end."""
    countries().save(tmp_path / "graph")
    (tmp_path / "token").write_text("secret\n", encoding="utf-8")
    arguments = ("graph", "--writable", "added.jsonl", "--token-file", "token")
    acknowledged: list[str] = []
    for kill in range(20):
        with serving(*arguments, cwd=tmp_path) as (process, client):
            client.headers["Authorization"] = "Bearer secret"
            gone = threading.Event()

            def write(kill: int = kill, client: httpx.Client = client, gone: Any = gone) -> None:
                for number in range(1_000):
                    fact = {**BORDER, "subject": f"new{kill}_{number}"}
                    try:
                        if add(client, fact, new_names=True).status_code == 200:
                            acknowledged.append(fact["subject"])
                    except httpx.TransportError:
                        return
                    if gone.is_set():
                        return

            writer = threading.Thread(target=write)
            writer.start()
            time.sleep(0.3)
            process.kill()
            process.wait(10)
            gone.set()
            writer.join(20)
    assert len(acknowledged) > 20
    with serving(*arguments, cwd=tmp_path) as (_, client):
        client.headers["Authorization"] = "Bearer secret"
        kept = client.get("/v1/facts").json()["facts"]
        assert set(acknowledged) <= {fact["subject"]["id"] for fact in kept}
        query = {"query": f"?x: borders({acknowledged[-1]}, ?x)", "mode": "exact"}
        answers = client.post("/v1/answer", json=query).json()["answers"]
        assert [one["id"] for one in answers] == ["fr"]
    done = nqe("compact", "graph", "added.jsonl", cwd=tmp_path)
    assert done.code == 0, done.err
    folded = Dataset.load(tmp_path / "graph")
    assert {Fact(name, "borders", "fr") for name in acknowledged} <= set(folded.split("train"))
    assert not (tmp_path / "added.jsonl").exists()
