"""The Python clients: typed replies, problems as errors, and tables for notebooks."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest
from answering_cases import countries, country_model
from served import serve_answerer

import nqe
from nqe.answering import Answerer
from nqe.errors import NqeError
from nqe.server.client import ServerProblem

NEIGHBOURS = "?x: borders(?x, France)"


@pytest.fixture(scope="module")
def answerer() -> Answerer:
    return Answerer(countries(), country_model())


@pytest.fixture(scope="module")
def address(answerer: Answerer) -> Iterator[str]:
    with serve_answerer(answerer) as client:
        yield str(client.base_url)


@pytest.fixture
def client(address: str) -> Iterator[nqe.Client]:
    with nqe.Client(address) as found:
        yield found


def test_a_client_answers_as_the_answerer_does(client: nqe.Client, answerer: Answerer) -> None:
    found = client.answer(NEIGHBOURS, top=3)
    assert found.ids == answerer.answer(NEIGHBOURS, top=3).ids
    assert found[0].probability == pytest.approx(1.0)


def test_an_awaited_client_has_the_same_calls(address: str, client: nqe.Client) -> None:
    async def main() -> None:
        async with nqe.AsyncClient(address) as other:
            many = await asyncio.gather(*(other.answer(NEIGHBOURS, top=n) for n in (1, 2, 3)))
            assert [len(one) for one in many] == [1, 2, 3]
            assert (await other.entity("fr")).label == client.entity("fr").label == "France"

    asyncio.run(main())
    public = {name for name in dir(nqe.Client) if not name.startswith("_")}
    assert public == {name for name in dir(nqe.AsyncClient) if not name.startswith("_")}


def test_each_call_gives_what_it_is_named_after(client: nqe.Client) -> None:
    assert client.answer_many([NEIGHBOURS, {"query": NEIGHBOURS, "mode": "exact"}]).replies
    assert client.explain(NEIGHBOURS).rank == 1
    assert client.parse(NEIGHBOURS).shape == "1p"
    assert "SELECT" in client.sparql(NEIGHBOURS).sparql
    assert client.score("borders(France, Spain)").stated
    assert client.suggest("France", top=2).suggestions
    assert client.search("Fra").names[0].id == "fr"
    assert client.relations().count == 3
    assert client.graph().model is not None


def test_what_the_server_refuses_is_an_error_that_says_where(client: nqe.Client) -> None:
    with pytest.raises(ServerProblem, match="no entity is called 'Atlantis'") as refused:
        client.answer("?x: borders(?x, Atlantis)")
    assert refused.value.problem.column == 17


def test_an_address_without_a_server_is_named() -> None:
    with pytest.raises(NqeError, match=r"http://127\.0\.0\.1:9: not reached"):
        nqe.Client("http://127.0.0.1:9").graph()


def test_answers_show_as_a_table_in_a_notebook(client: nqe.Client, answerer: Answerer) -> None:
    shown = [one._repr_html_() for one in (client.answer(NEIGHBOURS), answerer.answer(NEIGHBOURS))]
    for html in shown:
        assert html.count("<tr>") == 1 + len(answerer.answer(NEIGHBOURS))
        assert "<td>Germany</td>" in html


def test_an_explanation_shows_as_a_picture_and_text(client: nqe.Client, answerer: Answerer) -> None:
    own = answerer.explain(NEIGHBOURS)._repr_html_()
    assert own.startswith("<svg")
    assert "<pre>Why" in own
    assert client.explain(NEIGHBOURS)._repr_html_().startswith("<pre>")


def test_markup_in_labels_shows_as_text() -> None:
    from nqe.notebook import render_table

    assert "<script>" not in render_table(["a"], [["<script>x</script>"]], "<b>")


def test_answers_become_a_data_frame(client: nqe.Client, answerer: Answerer) -> None:
    pytest.importorskip("pandas")
    both = [one.to_pandas() for one in (client.answer(NEIGHBOURS), answerer.answer(NEIGHBOURS))]
    assert list(both[0].columns) == ["id", "label", "probability", "source"]
    assert both[0]["id"].tolist() == both[1]["id"].tolist()
