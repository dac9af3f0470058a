"""The page in a real browser: asking, building, reasons and browsing, as a person does it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import page_browser
import pytest
from page_browser import (
    NARROW,
    QUESTION,
    WIDE,
    Visitor,
    fill_slot,
    link_to,
    list_answers,
    list_problems,
    type_question,
)

from nqe import demo_dataset, mine_rules

pytestmark = [
    pytest.mark.xdist_group("page"),
    pytest.mark.skipif(
        page_browser.find_chromium() is None, reason="chromium is not installed (make browser)"
    ),
    pytest.mark.skipif(find_spec("playwright") is None, reason="playwright is not installed"),
]
PAIRS = "?x, ?y: borders(?x, ?y) and borders(?y, France) and borders(?x, France)"
SIZES = pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    run = page_browser.train_tiny(tmp_path_factory.mktemp("page"))
    with page_browser.serve(str(run), OMP_NUM_THREADS="1") as found:
        yield found


@SIZES
def test_a_question_is_typed_with_completed_names_and_answered(
    visitor: Visitor, size: dict[str, int]
) -> None:
    page = visitor.open(size=size)
    box = page.locator("#question")
    box.press_sequentially("?x: bord")
    page.locator("#completions [role=option]", has_text="borders").wait_for()
    box.press("Tab")
    assert box.input_value() == "?x: borders("
    box.press_sequentially("?x, Franc")
    page.locator("#completions [role=option]", has_text="Franceville").wait_for()
    page.locator("#completions [role=option]", has_text="country or territory").click()
    assert box.input_value() == "?x: borders(?x, France"
    box.press_sequentially(")")
    box.press("Control+Enter")
    assert "Spain" in list_answers(page)
    assert "8 stated" in page.locator("#answers .totals").inner_text()
    assert "borders" in page.evaluate("decodeURIComponent(location.hash)")


@SIZES
def test_the_builder_writes_the_same_question(visitor: Visitor, size: dict[str, int]) -> None:
    page = visitor.open(size=size)
    if size is NARROW:
        page.locator("#builder-field > summary").click()
    fill_slot(page, "Relation", "borders", "borders")
    fill_slot(page, "Object", "France", "country or territory")
    page.get_by_role("button", name="Add a statement").click()
    fill_slot(page, "Relation", "speaks", "speaks", last=True)
    fill_slot(page, "Object", "German", "language", last=True)
    page.get_by_role("button", name="not", exact=True).last.click()
    page.wait_for_function("q => document.getElementById('question').value === q", arg=QUESTION)
    page.locator("#run").click()
    assert "Spain" in list_answers(page)


def test_the_builder_shows_what_is_typed(visitor: Visitor) -> None:
    page = visitor.open()
    type_question(page, "?x: (borders(?x, France) or not capital(?x, ?y)) and speaks(?x, Basque)")
    page.locator("#builder .group.nested").wait_for()
    fields = page.locator("#builder input")
    values = [fields.nth(place).input_value() for place in range(fields.count())]
    assert values == [
        *("?x", "borders", "France", "?x", "capital", "?y"),
        *("?x", "speaks", "Basque"),
    ]
    assert page.locator("#builder .statement.negated").count() == 1
    page.get_by_role("button", name="joined by and; change to or").click()
    page.wait_for_function(
        "() => /^\\?x: borders.* or speaks/.test(document.getElementById('question').value)"
    )


def test_answers_stay_while_a_statement_is_unfinished(visitor: Visitor) -> None:
    page = visitor.open(link_to("?x: capital(Japan, ?x)", mode="exact"))
    list_answers(page)
    page.get_by_role("button", name="Add a statement").click()
    page.locator(".statement.unfinished").wait_for()
    assert page.locator("#answers.outdated").count() == 0
    fill_slot(page, "Relation", "located", "located in", last=True)
    fill_slot(page, "Object", "Japan", "country or territory", last=True)
    page.locator("#answers.outdated").wait_for()
    added = ' and "located in"(?x, Japan)'
    # The text follows the builder after a reply of the server.
    page.wait_for_function(
        "added => document.querySelector('#question').value.endsWith(added)", arg=added
    )


@SIZES
def test_a_step_shows_its_entities(visitor: Visitor, size: dict[str, int]) -> None:
    page = visitor.open(link_to(QUESTION, mode="exact"), size)
    list_answers(page)
    node = page.get_by_role("button", name=re.compile(r"^Step 1, borders\(\?x, France\): 8 entit"))
    node.focus()
    page.keyboard.press("Enter")
    detail = page.locator("#detail")
    detail.get_by_text("Step 1 of 4").wait_for()
    assert "Belgium" in detail.inner_text()
    assert "step=1" in page.url


@SIZES
def test_an_answer_lights_its_chain_and_lists_its_facts(
    visitor: Visitor, size: dict[str, int]
) -> None:
    page = visitor.open(link_to(QUESTION), size)
    list_answers(page)
    page.locator(".answer", has_text="Spain").click()
    detail = page.locator("#detail")
    detail.get_by_text("Why Spain?").wait_for()
    assert "Spain borders France" in detail.inner_text()
    assert "no fact states" in detail.inner_text()
    assert page.locator("#plan .node.p.on").count() >= 1
    assert page.locator("#plan .node.target.on").count() == 1
    assert "answer=country_ES" in page.url


@SIZES
def test_an_error_is_marked_at_its_place_and_can_be_mended(
    visitor: Visitor, size: dict[str, int]
) -> None:
    page = visitor.open(size=size)
    type_question(page, "?x: bordrs(?x, France)")
    page.locator("#editor .wrong", has_text="bordrs").wait_for()
    assert "no relation is called 'bordrs'" in page.locator("#problem").inner_text()
    page.get_by_role("button", name="Use borders").click()
    assert page.locator("#question").input_value() == "?x: borders(?x, France)"
    page.locator("#editor .wrong").wait_for(state="detached")


def test_a_question_that_is_still_typed_is_called_unfinished(visitor: Visitor) -> None:
    page = visitor.open()
    type_question(page, "?x: borders(?x, France")
    page.locator("#problem.unfinished", has_text="Not finished").wait_for()


def test_a_link_carries_the_question_its_options_and_the_chosen_answer(visitor: Visitor) -> None:
    link = link_to("?x: borders(?x, France)", mode="exact", top="10", answer="country_ES")
    page = visitor.open(link)
    page.get_by_text("Why Spain?").wait_for()
    assert page.locator("#mode").input_value() == "exact"
    assert page.locator("#top").input_value() == "10"
    assert page.locator("#builder input").nth(2).input_value() == "France"


def test_back_and_forward_show_earlier_and_later_questions(visitor: Visitor) -> None:
    page = visitor.open(link_to("?x: capital(Japan, ?x)", mode="exact"))
    page.locator(".answer", has_text="Tokyo").wait_for()
    type_question(page, "?x: capital(Peru, ?x)")
    page.locator("#run").click()
    page.locator(".answer", has_text="Lima").wait_for()
    page.go_back()
    page.locator(".answer", has_text="Tokyo").wait_for()
    page.go_forward()
    page.locator(".answer", has_text="Lima").wait_for()


def test_an_example_is_asked_by_a_click(visitor: Visitor) -> None:
    page = visitor.open()
    example = page.locator("#examples a").first
    text = example.inner_text()
    example.click()
    list_answers(page)
    assert page.locator("#question").input_value() == text


def test_filters_change_what_is_asked(visitor: Visitor) -> None:
    page = visitor.open(link_to("?x: borders(?x, France)"))
    list_answers(page)
    page.get_by_role("radio", name="Stated").check()
    page.wait_for_function("() => document.querySelectorAll('#answers .answer').length === 8")
    assert "show=stated" in page.url
    page.get_by_role("radio", name="Predicted").check()
    page.locator("#answers .badge.stated").first.wait_for(state="detached")


def test_modes_are_shown_side_by_side(visitor: Visitor) -> None:
    page = visitor.open(link_to("?x: borders(?x, France)", mode="compare"))
    page.locator(".column").nth(2).wait_for()
    heads = page.locator(".column h3").all_inner_texts()
    assert heads == ["hybrid", "embedding", "exact"]
    assert page.locator(".column").nth(2).locator("li").count() == 8


def test_rows_have_probabilities_and_reasons_with_a_model(visitor: Visitor) -> None:
    page = visitor.open(link_to(PAIRS, show="predicted"))
    row = page.locator("table.rows tbody tr").first
    assert row.locator(".badge").inner_text() == "predicted"
    assert "%" in row.locator(".value").inner_text()
    row.locator("button.why").click()
    detail = page.locator("#detail")
    detail.locator(".reason .badge.predicted").first.wait_for()
    assert "Answer 13" in detail.inner_text()  # twelve are stated


def test_a_question_is_asked_in_a_mode_that_can_answer_it(visitor: Visitor) -> None:
    page = visitor.open(link_to("?x, count ?y: borders(?x, ?y) and borders(?x, France)"))
    page.locator("table.rows .number a").first.wait_for()
    assert page.locator("#mode").input_value() == "exact"
    assert page.locator("#mode option:not(:disabled)").all_inner_texts() == ["exact"]
    type_question(page, "?x: borders(?x, France)")
    page.locator("#run").click()
    page.locator(".answer", has_text="Spain").wait_for()
    assert page.locator("#mode").input_value() == "hybrid"
    assert "mode=" not in page.url


@SIZES
def test_an_entity_has_a_page_with_facts_and_likely_statements(
    visitor: Visitor, size: dict[str, int]
) -> None:
    page = visitor.open(size=size)
    search = page.get_by_role("combobox", name="Find an entity")
    search.fill("France")
    page.locator("#search [role=option]", has_text="country or territory").click()
    page.get_by_role("heading", name="France", level=1).wait_for()
    facts = page.locator(".facts").first
    assert "Andorra" in facts.inner_text()
    page.locator(".suggestions li, .browse .empty").first.wait_for()
    facts.get_by_role("link", name="Spain", exact=True).first.click()
    page.get_by_role("heading", name="Spain", level=1).wait_for()
    page.go_back()
    page.get_by_role("heading", name="France", level=1).wait_for()


def test_a_likely_statement_leads_to_the_reasons_for_it(visitor: Visitor) -> None:
    page = visitor.open("/#/entity/country_FR")
    page.locator(".suggestions a", has_text="Why").first.click()
    page.locator("#detail h3", has_text="Why").wait_for()
    page.locator("#plan .node.target.on").wait_for()


def test_a_graph_alone_offers_no_modes_and_no_predictions(visitor: Visitor) -> None:
    page = visitor.prepare()

    def forget(route: Any) -> None:
        reply = route.fetch()
        route.fulfill(response=reply, json=reply.json() | {"model": None})

    page.route("**/v1/graph", forget)
    page.goto(visitor.address + link_to("?x: capital(Japan, ?x)"))
    list_answers(page)
    assert page.locator("#mode").is_hidden()
    assert page.locator("#threshold").is_hidden()
    page.goto(visitor.address + "/#/model")
    page.get_by_text("No model is served").wait_for()


def test_a_server_that_is_gone_is_told(visitor: Visitor) -> None:
    page = visitor.open()
    page.route("**/v1/**", lambda route: route.abort())
    type_question(page, "?x: capital(Japan, ?x)")
    page.get_by_text("The server cannot be reached").wait_for()
    visitor.complaints = [one for one in visitor.complaints if "ERR_FAILED" not in one]


@pytest.mark.parametrize(
    ("place", "text"),
    [
        ("/#/relations", "relation of a country to each neighbour"),
        ("/#/graph", "Most connected"),
        ("/#/model", "Learning curve"),
        ("/#/entity/nobody", "no entity has the id 'nobody'"),
    ],
)
def test_the_graph_and_the_model_can_be_browsed(visitor: Visitor, place: str, text: str) -> None:
    page = visitor.open(place)
    page.get_by_text(text).first.wait_for()
    if "nobody" in place:  # which the browser reports as an error, too
        visitor.complaints = [one for one in visitor.complaints if "404" not in one]


def test_dark_colours_follow_the_system_and_the_switch(visitor: Visitor) -> None:
    page = visitor.open(color_scheme="dark")
    ground = "getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(ground)
    page.get_by_role("button", name="Dark colours").click()
    light = page.evaluate(ground)
    assert dark != light
    page.reload()
    page.locator("#page").wait_for()
    assert page.evaluate(ground) == light


PLACES = {
    "start": "/",
    "answers": link_to(QUESTION, answer="country_ES"),
    "comparison": link_to(QUESTION, mode="compare"),
    "rows": link_to(PAIRS, row='["country_ES","country_CH"]'),
    "entity": "/#/entity/country_FR",
    "relations": "/#/relations",
    "graph": "/#/graph",
    "model": "/#/model",
}
SHOWN = {
    "answers": "#detail h3",
    "comparison": ".column li",
    "rows": "#detail h3",
    "entity": ".facts",
    "relations": ".relations",
    "graph": ".bars",
    "model": ".figures",
}


@pytest.mark.parametrize(("size", "colours"), [(WIDE, "light"), (NARROW, "dark")])
def test_no_view_has_serious_barriers_or_scrolls_sideways(
    visitor: Visitor, size: dict[str, int], colours: str
) -> None:
    page = visitor.open(size=size, color_scheme=colours)
    found = {}
    for name, place in PLACES.items():
        page.goto(visitor.address + place)
        page.locator(SHOWN.get(name, "#examples li")).first.wait_for()
        page.wait_for_function("() => !document.querySelector('[aria-busy]')")
        found[name] = list_problems(page)
        overhang = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert overhang <= 0, f"{name} is {overhang} pixels too wide"
    assert found == {name: [] for name in PLACES}


def test_labels_are_shown_as_text(visitor: Visitor) -> None:
    page = visitor.prepare()

    def rename(route: Any) -> None:
        reply = route.fetch()
        body = reply.text().replace('"Spain"', json.dumps("<img src=x onerror=alert(1)>\x1b[31m"))
        route.fulfill(response=reply, body=body)

    page.route("**/v1/answer", rename)
    page.goto(visitor.address + link_to("?x: borders(?x, France)", mode="exact"))
    page.locator(".answer", has_text="<img src=x onerror=alert(1)>\\x1b[31m").wait_for()
    assert page.locator("#answers img").count() == 0


def test_only_the_newest_question_is_answered(visitor: Visitor) -> None:
    page = visitor.prepare()
    held = []

    def hold(route: Any) -> None:
        if "Japan" in (route.request.post_data or ""):
            held.append(route)
        else:
            route.continue_()

    page.route("**/v1/answer", hold)
    page.goto(visitor.address + link_to("?x: capital(Japan, ?x)", mode="exact"))
    page.locator("#answers[aria-busy]").wait_for()
    page.locator("body.waiting").wait_for()
    type_question(page, "?x: capital(Peru, ?x)")
    page.locator("#run").click()
    page.locator(".answer", has_text="Lima").wait_for()
    assert len(held) == 1
    held[0].abort()
    assert list_answers(page) == ["Lima"]


def test_a_question_can_be_used_elsewhere(visitor: Visitor, tmp_path: Path) -> None:
    page = visitor.open(link_to("?x: capital(Japan, ?x)", mode="exact"))
    list_answers(page)
    page.get_by_role("button", name="Use elsewhere").click()
    shown = page.locator("#snippet")
    expected = {"curl": "/v1/answer", "Python": "Client", "Command": "nqe ask", "SPARQL": "SELECT"}
    for form, text in expected.items():
        page.get_by_role("button", name=form, exact=True).click()
        shown.get_by_text(text).first.wait_for()
    with page.expect_download() as download:
        page.get_by_role("button", name="CSV").click()
    download.value.save_as(tmp_path / "answers.csv")
    lines = (tmp_path / "answers.csv").read_text().splitlines()
    assert lines[0] == "rank,id,label,description,probability,score,source"
    assert ",Tokyo," in lines[1]


def test_the_start_of_the_server_is_shown(visitor: Visitor) -> None:
    page = visitor.prepare()
    told = [{"status": "starting", "detail": "training a model", "progress": 0.4}]

    def answer(route: Any) -> None:
        if told:
            route.fulfill(status=503, json=told[0])
        else:
            route.continue_()

    page.route("**/readyz", answer)
    page.goto(visitor.address)
    page.get_by_text("training a model").wait_for()
    assert page.locator("#start-progress").get_attribute("value") == "0.4"
    told.clear()
    page.locator("#page").wait_for()
    assert page.locator("#start").is_hidden()
    visitor.complaints = [one for one in visitor.complaints if "503" not in one]


def test_a_token_is_asked_for_and_sent(visitor: Visitor) -> None:
    page = visitor.prepare()

    def guard(route: Any) -> None:
        if route.request.headers.get("authorization") == "Bearer secret":
            route.continue_()
        else:
            route.fulfill(status=401, json={"title": "A token is needed", "detail": "send it"})

    page.route("**/v1/**", guard)
    page.goto(visitor.address)
    page.get_by_label("Token", exact=True).fill("wrong")
    page.get_by_role("button", name="Go on").click()
    page.get_by_text("That token was not accepted").wait_for()
    page.get_by_label("Token", exact=True).fill("secret")
    page.get_by_role("button", name="Go on").click()
    page.locator("#page").wait_for()
    visitor.complaints = [one for one in visitor.complaints if "401" not in one]


def test_rules_stand_in_reasons_and_on_the_page_of_a_relation(browser: Any, tmp_path: Path) -> None:
    mine_rules(demo_dataset()).save(tmp_path / "rules")
    with page_browser.serve("atlas", "--rules", str(tmp_path / "rules")) as address:
        visitor = Visitor(browser, address)
        page = visitor.open(link_to("?x: borders(?x, France)", show="predicted"))
        page.locator("button.answer").first.click()
        rules = page.locator(".reasons .rules")
        assert "pairs with" in rules.locator("li").first.text_content()
        assert rules.locator(".fact").count() > 0
        assert list_problems(page) == []
        page.goto(f"{address}/#/relations")
        page.get_by_role("link", name="borders", exact=True).first.click()
        page.locator(".rule-list li").first.wait_for()
        assert page.locator("h1:visible").text_content() == "borders"
        assert list_problems(page) == []
        visitor.contexts[0].close()
    assert visitor.complaints == []
