"""Answers of queries that are no trees: rows, counts, and what cannot be asked with them."""

from __future__ import annotations

import pytest

from nqe import demo_dataset
from nqe.answering import Answerer, Answers, Request
from nqe.answering.row_answers import RowAnswers
from nqe.errors import NqeError

SWISS = 'currency(?x, "Swiss Franc")'
PAIRS = f"?x, ?y: borders(?x, ?y) and {SWISS}"
CYCLE = f"?x: borders(?x, ?y) and borders(?y, ?z) and borders(?z, ?x) and {SWISS}"
COUNT = "?y, count ?x: borders(?x, ?y) and continent(?y, Africa)"
EXACT = Answerer(demo_dataset())


def ask(query: str, **options: object) -> RowAnswers:
    found = EXACT.answer(query, **options)  # type: ignore[arg-type]
    assert isinstance(found, RowAnswers)
    return found


def test_rows_are_listed_with_ids_and_labels() -> None:
    found = ask(PAIRS)
    assert (found.mode, found.count, len(found)) == ("exact", 7, 7)
    assert found.targets == ("x", "y")
    assert found[0].ids == ("country_CH", "country_AT")
    assert found[0].names == found[0].cells == ("Switzerland", "Austria")
    assert [one.ids for one in found] == found.result.rows


def test_a_question_of_one_target_gets_answers_as_a_tree_does() -> None:
    found = EXACT.answer(CYCLE)
    assert isinstance(found, Answers)
    assert [(one.name, one.known, one.probability) for one in found] == [
        ("Switzerland", True, 1.0),
        ("Liechtenstein", True, 1.0),
    ]
    assert found.to_json(proofs=True)["answers"][0]["proof"]["because"]
    with pytest.raises(ValueError, match="is no tree"):
        found.tree  # noqa: B018
    assert "Liechtenstein" in found._repr_html_()


def test_among_keeps_answers_of_one_target() -> None:
    found = EXACT.answer(CYCLE, among="?x: capital(?x, ?y) and not speaks(?x, French)")
    assert [one.name for one in found] == ["Liechtenstein"]
    within = EXACT.answer("?x: borders(?x, France)", among=CYCLE)
    assert [one.name for one in within] == ["Switzerland"]


def test_rows_stand_in_the_order_that_is_asked_for_and_are_cut_there() -> None:
    most = ask(COUNT, order_by="count desc, ?y", top=2)
    assert (len(most), most.count) == (2, ask(COUNT).count)
    counts = [one.count for one in ask(COUNT) if one.count is not None]
    assert [one.count for one in most] == sorted(counts, reverse=True)[:2]
    named = EXACT.answer("?x: borders(?x, France)", order_by="?x desc", top=2)
    assert [one.name for one in named] == ["Switzerland", "Spain"]


def test_rows_as_json_name_what_stands_for_each_target() -> None:
    data = ask(PAIRS, top=1).to_json(proofs=True)
    [row] = data.pop("rows")
    assert data == {
        "mode": "exact",
        "count": 7,
        "listed": 1,
        "stated_count": 7,
        "targets": ["x", "y"],
    }
    assert row["row"][1] == {"entity": "country_AT", "label": "Austria"}
    assert row["proof"]["because"][0]["fact"]["object"] == "country_AT"
    data = ask("?r, count ?x: ?r(France, ?x)").to_json()
    assert (data["targets"], data["counted"]) == (["r"], "x")
    certain = {"probability": 1.0, "known": True}
    borders = {"row": [{"relation": "borders", "label": "borders"}], "count": 8, **certain}
    assert borders in data["rows"]
    counted = ask("count ?x: borders(?x, France)").to_json()["rows"]
    assert counted == [{"row": [], "count": 8, **certain}]


def test_rows_are_shown_as_a_table_in_a_notebook() -> None:
    html = ask(COUNT, top=1)._repr_html_()
    assert "<th>y</th><th>count</th>" in html
    assert "continent(?y, continent_AF)" in html


def test_rows_are_shown_in_labels() -> None:
    answers = ask(PAIRS, top=2)
    assert answers.rows == [("Switzerland", "Austria"), ("Switzerland", "Germany")]
    assert repr(answers) == "<RowAnswers: 2 of x, y: Switzerland Austria, Switzerland Germany>"


def test_any_mix_of_questions_is_answered_in_one_batch() -> None:
    asked = [PAIRS, "?x: borders(?x, France)", "?x, ?y: borders(?x, Nowhere)", CYCLE]
    found = EXACT.answer_many([Request(one, top=3) for one in asked])
    kinds = [type(one).__name__ for one in found]
    assert kinds == ["RowAnswers", "Answers", "QueryError", "Answers"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"steps": 3}, "is no tree .*, so it has no steps to show; leave out --steps"),
        ({"among": "?x: capital(?x, ?y)"}, r"the answers are rows \(x, y\), not entities"),
        ({"order_by": "?z"}, r"no column \?z"),
        ({"order_by": "up"}, "'up' is no order"),
        ({"mode": "hybrid"}, "needs a model"),
    ],
)
def test_what_rows_do_not_have_is_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(NqeError, match=message):
        ask(PAIRS, **options)
