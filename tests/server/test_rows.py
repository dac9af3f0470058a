"""Questions that are no trees, over HTTP: rows, counts, comparisons, cycles, their proofs."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest
from answering_cases import countries, country_model
from served import serve_answerer
from test_app import HeldUp, ask, refused

import nqe
from nqe import demo_dataset
from nqe.answering import Answerer
from nqe.answering.row_answers import RowAnswers
from nqe.query.rows import Rows
from nqe.server import wire
from nqe.settings import ServingSettings

PAIRS = "?x, ?y: borders(?x, ?y) and borders(?y, France) and borders(?x, France)"
CYCLE = "?x: borders(?x, Germany) and borders(?x, ?y) and borders(?y, Germany) and ?x != France"
PER_COUNTRY = "?x, count ?y: borders(?x, ?y) and continent(?x, South_America)"
RELATIONS = "?r, ?x: ?r(France, ?x)"
EARLY = "?x, ?d: population(?x, ?d) and continent(?x, Europe) and ?d < 100000"


@pytest.fixture(scope="module")
def answerer() -> Answerer:
    return Answerer(demo_dataset())


@pytest.fixture(scope="module")
def client(answerer: Answerer) -> Iterator[httpx.Client]:
    with serve_answerer(answerer) as found:
        yield found


@pytest.fixture(scope="module")
def predicting() -> Iterator[httpx.Client]:
    with serve_answerer(Answerer(countries(), country_model())) as found:
        yield found


def ids_of(reply: dict[str, Any]) -> list[tuple[str, ...]]:
    return [tuple(cell["id"] for cell in row["cells"]) for row in reply["rows"]]


@pytest.mark.parametrize("query", [PAIRS, PER_COUNTRY, RELATIONS, "count ?x: borders(?x, France)"])
def test_rows_are_those_of_the_answerer(
    client: httpx.Client, answerer: Answerer, query: str
) -> None:
    found, wanted = ask(client, query, limit=7), answerer.answer(query, top=7)
    assert isinstance(wanted, RowAnswers)
    assert ids_of(found) == [row.ids for row in wanted]
    assert [row["count"] for row in found["rows"]] == [row.count for row in wanted]
    assert (found["targets"], found["counted"]) == (list(wanted.targets), wanted.counted)
    assert (found["mode"], found["stated_count"]) == ("exact", wanted.count)
    assert all(row["known"] and row["probability"] == 1 for row in found["rows"])


def test_cells_say_whether_they_are_entities_or_relations(client: httpx.Client) -> None:
    found = ask(client, RELATIONS, top=5)
    kinds = [[cell["kind"] for cell in row["cells"]] for row in found["rows"]]
    assert kinds == [["relation", "entity"]] * 5
    assert all(cell["label"] for row in found["rows"] for cell in row["cells"])


def test_a_cycle_with_one_target_gives_answers(client: httpx.Client, answerer: Answerer) -> None:
    found = ask(client, CYCLE)
    wanted = answerer.answer(CYCLE)
    assert [one["id"] for one in found["answers"]] == wanted.ids  # type: ignore[union-attr]
    assert found["stated_count"] == len(found["answers"]) > 3


def test_rows_are_sorted_and_cut_as_asked(client: httpx.Client) -> None:
    whole = ask(client, PER_COUNTRY, order_by="count desc, ?x")
    counts = [row["count"] for row in whole["rows"]]
    assert counts == sorted(counts, reverse=True)
    assert len(set(counts)) > 1
    first = ask(client, PER_COUNTRY, order_by="count desc, ?x", top=2)
    assert (first["rows"], first["stated_count"]) == (whole["rows"][:2], len(counts))
    names = [one["label"] for one in ask(client, CYCLE, order_by="?x desc")["answers"]]
    assert names == sorted(names, reverse=True)


def test_a_list_without_a_length_is_limited(answerer: Answerer) -> None:
    with serve_answerer(answerer, ServingSettings(top=5)) as client:
        found = ask(client, "?x, ?y: borders(?x, ?y)")
        assert len(found["rows"]) == 5 < found["stated_count"]


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"query": PAIRS, "steps": 3}, "so it has no steps to show"),
        ({"query": PAIRS, "among": "?x: borders(?x, Spain)"}, "the answers are rows"),
        ({"query": PAIRS, "order_by": "?z"}, "no column ?z to sort by; name ?x, ?y"),
        ({"query": PAIRS, "order_by": "up"}, "'up' is no order"),
        ({"query": "?x, ?y: borders(?x, France)"}, "?y does not occur"),
        ({"query": "?x: borders(?x, ?y) and ?y < France"}, "< has no meaning for it"),
    ],
)
def test_what_cannot_be_asked_of_rows_is_refused_in_a_sentence(
    client: httpx.Client, body: dict[str, Any], words: str
) -> None:
    problem = refused(client.post("/v1/answer", json=body))
    assert problem.status == 400
    assert words in problem.detail


def test_top_and_limit_together_are_refused(client: httpx.Client) -> None:
    problem = refused(client.post("/v1/answer", json={"query": PAIRS, "top": 1, "limit": 2}))
    assert (problem.status, "give one of them" in problem.detail) == (422, True)


def test_among_restricts_the_single_answers_of_a_cycle(client: httpx.Client) -> None:
    found = ask(client, CYCLE, among="?x: speaks(?x, French)")
    assert 0 < len(found["answers"]) < len(ask(client, CYCLE)["answers"])


def test_many_questions_may_mix_rows_and_entities(client: httpx.Client) -> None:
    requests = [
        {"query": PAIRS},
        {"query": "?x: borders(?x, France)"},
        {"query": PAIRS, "steps": 1},
    ]
    replies = client.post("/v1/answer", json={"requests": requests}).json()["replies"]
    assert [sorted(one.keys() & {"rows", "answers", "detail"}) for one in replies] == [
        ["rows"],
        ["answers"],
        ["detail"],
    ]


def test_without_a_mode_a_model_answers_what_it_can_and_facts_the_rest(
    predicting: httpx.Client,
) -> None:
    assert ask(predicting, "?x: borders(?x, France)")["mode"] == "hybrid"
    found = ask(predicting, "count ?x: borders(?x, France)")
    assert found["mode"] == "exact"
    assert found["rows"][0]["count"] > 0
    refusal = predicting.post("/v1/answer", json={"query": PAIRS, "mode": "embedding"})
    assert "is no tree" in refused(refusal).detail


def test_a_model_predicts_rows_and_explains_them(predicting: httpx.Client) -> None:
    answerer = Answerer(countries(), country_model())
    found = ask(predicting, PAIRS, top=6)
    wanted = answerer.answer(PAIRS, top=6)
    assert isinstance(wanted, RowAnswers)
    assert found["mode"] == "hybrid"
    assert ids_of(found) == [row.ids for row in wanted]
    assert [row["known"] for row in found["rows"]] == [row.known for row in wanted]
    given = [row["probability"] for row in found["rows"]]
    assert given == pytest.approx([row.probability for row in wanted], abs=1e-6)
    assert (found["stated_count"], found["likely_count"]) == (
        wanted.stated_count,
        wanted.likely_count,
    )
    row = next(one.ids for one in wanted if not one.known)
    told = predicting.post("/v1/explain", json={"query": PAIRS, "row": row}).json()
    explanation = wire.FoundRowExplanation.model_validate(told)
    assert explanation.text == str(answerer.explain(PAIRS, row))
    assert (explanation.row.ids, explanation.rank) == (row, ids_of(found).index(row) + 1)
    assert explanation.row.source == "predicted"


def test_a_row_that_nothing_makes_likely_has_no_explanation(predicting: httpx.Client) -> None:
    row = ("german", "french")
    reply = predicting.post("/v1/explain", json={"query": PAIRS, "row": row})
    assert refused(reply).detail.endswith("is no answer: no way to it is likely enough")


def test_a_predicted_answer_of_a_cycle_is_explained(predicting: httpx.Client) -> None:
    query = "?x: borders(?x, ?y) and borders(?y, ?x) and borders(?x, Portugal)"
    best = ask(predicting, query, predicted_only=True)["answers"][0]
    told = predicting.post("/v1/explain", json={"query": query, "entity": best["id"]}).json()
    explanation = wire.FoundExplanation.model_validate(told)
    assert explanation.answer.id == best["id"]
    assert explanation.answer.probability == pytest.approx(best["probability"], abs=1e-6)
    assert explanation.weakest is not None


def test_predicted_rows_as_a_table_have_probabilities(predicting: httpx.Client) -> None:
    with nqe.Client(str(predicting.base_url)) as one:
        html = one.answer(PAIRS, limit=3)._repr_html_()
    assert "<th>probability</th><th>source</th>" in html


def test_questions_that_join_wait_in_one_batch_with_others() -> None:
    slow = HeldUp()
    with serve_answerer(slow) as client, ThreadPoolExecutor(4) as threads:
        first = threads.submit(ask, client, "?x: borders(?x, France)")
        assert slow.begun.wait(10)
        queries = ("?x, ?y: borders(?x, ?y)", "count ?x: borders(?x, France)")
        others = [threads.submit(ask, client, one, mode="exact") for one in queries]
        while "nqe_waiting_questions 3" not in client.get("/metrics").text:
            pass
        slow.go_on.set()
        found = [one.result() for one in (first, *others)]
    assert slow.sizes == [1, 2]
    assert all(one.get("answers") or one.get("rows") for one in found)


WIDE = " and ".join(["?x: borders(?x, ?y)", *(f"borders(?y, ?z{n})" for n in range(5)), "?x != ?y"])
DEEP = "?x, ?y: borders(?x, ?y) and not (borders(?y, ?z) and not (borders(?z, ?x) and ?z != Spain))"
BRANCHES = "?x, ?y: " + " or ".join(f"(borders(?x, ?y) and ?x != {n})" for n in range(6))


@pytest.mark.parametrize(
    ("query", "limits", "words"),
    [
        (WIDE, {"fan_in": 6}, "joins 7 parts; join at most 6"),
        (DEEP, {"steps": 5}, "takes 6 steps; ask with at most 5"),
        (BRANCHES, {"fan_in": 5}, "joins 6 parts; join at most 5"),
    ],
)
def test_joins_beyond_the_limits_are_refused(
    answerer: Answerer, query: str, limits: dict[str, int], words: str
) -> None:
    with serve_answerer(answerer, ServingSettings(**limits)) as client:
        problem = refused(client.post("/v1/answer", json={"query": query}))
        assert problem.status == 422
        assert words in problem.detail


def test_a_row_is_proved_by_its_facts(client: httpx.Client, answerer: Answerer) -> None:
    row = ids_of(ask(client, PAIRS))[1]
    found = client.post("/v1/explain", json={"query": PAIRS, "row": row}).json()
    explanation = wire.FoundRowExplanation.model_validate(found)
    assert explanation.row.ids == row
    rows = answerer.answer(PAIRS).result
    assert isinstance(rows, Rows)
    assert explanation.text == str(rows.proof(row))
    facts = [one.fact for one in explanation.reason.because]
    assert {one.relation.id for one in facts if one} == {"borders"}
    assert len(facts) == 3


def test_the_proof_of_a_relation_names_the_relation(client: httpx.Client) -> None:
    row = ids_of(ask(client, RELATIONS, top=3))[2]
    found = client.post("/v1/explain", json={"query": RELATIONS, "row": row}).json()
    assert found["row"]["cells"][0]["kind"] == "relation"
    assert found["reason"]["fact"]["relation"]["id"] == row[0]
    assert found["reason"]["of_relation"] is (found["reason"]["id"] == row[0])


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"query": PER_COUNTRY}, "a count has no proof"),
        ({"query": PAIRS, "row": ["Spain"]}, "a row has 2 targets, not 1"),
        ({"query": PAIRS, "row": ["Spain", "Brazil"]}, "this is not an answer"),
        ({"query": "?x, ?y: borders(?x, ?y) and borders(?x, ?x)"}, "the query has no answer"),
        ({"query": PAIRS, "row": ["Spain", "Atlantis"]}, "no entity is called 'Atlantis'"),
    ],
)
def test_what_has_no_proof_is_refused_in_a_sentence(
    client: httpx.Client, body: dict[str, Any], words: str
) -> None:
    assert words in refused(client.post("/v1/explain", json=body)).detail


def test_a_cycle_with_one_target_is_proved(client: httpx.Client) -> None:
    found = client.post("/v1/explain", json={"query": CYCLE, "entity": "Austria"}).json()
    explanation = wire.FoundExplanation.model_validate(found)
    assert explanation.answer.label == "Austria"
    assert explanation.reason.kind == "and"
    assert explanation.steps == ()


def test_a_run_gives_the_proof_of_an_answer_when_asked_for_it(predicting: httpx.Client) -> None:
    body = {"query": "?x: borders(?x, France)", "mode": "exact"}
    found = predicting.post("/v1/explain", json=body).json()
    assert found["answer"]["probability"] == 1
    assert found["reason"]["kind"] == "fact"


def test_parsing_tells_what_is_asked_for_and_draws_it(client: httpx.Client) -> None:
    found = client.post("/v1/parse", json={"query": f"{PER_COUNTRY} and ?y != Brazil"}).json()
    wire.FoundParse.model_validate(found)
    assert (found["targets"], found["counted"], found["modes"]) == (["x"], "y", ["exact"])
    assert (found["shape"], found["steps"]) == (None, [])
    kinds = [node["kind"] for node in found["drawing"]["nodes"]]
    assert (kinds.count("asked"), kinds.count("comparison")) == (2, 1)
    assert found["json"]["count"] == "y"
    tree = client.post("/v1/parse", json={"query": "?x: borders(?x, France)"}).json()
    assert (tree["targets"], tree["counted"], tree["shape"]) == (["x"], None, "1p")


def test_a_model_tells_which_modes_can_answer(predicting: httpx.Client) -> None:
    tree = predicting.post("/v1/parse", json={"query": "?x: borders(?x, France)"}).json()
    assert tree["modes"] == ["hybrid", "embedding", "exact"]
    counting = predicting.post("/v1/parse", json={"query": "count ?x: borders(?x, France)"}).json()
    assert counting["modes"] == ["exact"]


def test_a_wrong_value_of_a_comparison_is_told_with_its_place(client: httpx.Client) -> None:
    text = "?x: borders(?x, ?y) and\n ?y < France"
    problem = refused(client.post("/v1/answer", json={"query": text}))
    assert (problem.line, problem.column, problem.length) == (2, 7, 6)


def test_clients_give_rows_and_their_proofs(client: httpx.Client) -> None:
    address = str(client.base_url)
    with nqe.Client(address) as one:
        rows = one.answer(PER_COUNTRY, order_by="count desc", limit=3)
        assert isinstance(rows, wire.FoundRows)
        assert len(rows) == 3 < rows.stated_count
        assert rows[0].count is not None
        assert rows[0].names == ("Brazil",)
        assert rows._repr_html_().count("<tr>") == 4
        assert "<th>count</th>" in rows._repr_html_()
        many = one.answer_many([PAIRS, {"query": CYCLE}]).replies
        assert [type(reply) for reply in many] == [wire.FoundRows, wire.FoundAnswers]
        proof = one.explain(PAIRS, one.answer(PAIRS).ids[0])
        assert isinstance(proof, wire.FoundRowExplanation)
        assert "stated" in str(proof)

    async def ask_again() -> Any:
        async with nqe.AsyncClient(address) as other:
            return await other.answer(PAIRS, limit=2), await other.explain(PAIRS)

    found, explained = asyncio.run(ask_again())
    assert len(found) == 2
    assert explained.row.ids == found.ids[0]


def test_rows_become_a_data_frame(client: httpx.Client) -> None:
    pytest.importorskip("pandas")
    with nqe.Client(str(client.base_url)) as one:
        frame = one.answer(PER_COUNTRY, limit=4).to_pandas()
    assert list(frame.columns) == ["x", "count"]
    assert len(frame) == 4
