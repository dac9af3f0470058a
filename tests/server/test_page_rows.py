"""Questions that are no trees in a real browser: rows, counts, comparisons, and building them."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import page_browser
import pytest
from page_browser import (
    NARROW,
    WIDE,
    Visitor,
    fill_slot,
    link_to,
    list_problems,
    type_question,
)

from nqe.graph import Dataset, Fact

pytestmark = [
    pytest.mark.xdist_group("page_rows"),
    pytest.mark.skipif(
        page_browser.find_chromium() is None, reason="chromium is not installed (make browser)"
    ),
    pytest.mark.skipif(find_spec("playwright") is None, reason="playwright is not installed"),
]
SIZES = pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
PAIRS = "?x, ?y: borders(?x, ?y) and borders(?y, France) and borders(?x, France)"
PER_COUNTRY = '?x, count ?y: borders(?x, ?y) and continent(?x, "South America")'
OTHERS = "?x: borders(?x, Germany) and borders(?x, ?y) and borders(?y, Germany) and ?x != France"


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with page_browser.serve("atlas", OMP_NUM_THREADS="1") as found:
        yield found


def list_rows(page: Any) -> list[str]:
    """The cells of each row, once they are there and belong to the question."""
    page.locator("#answers:not([aria-busy]) table.rows").wait_for()
    rows = page.locator("table.rows tbody tr")
    return [" ".join(row.locator("td a").all_inner_texts()) for row in rows.all()]


def wait_for_text(page: Any, text: str) -> None:
    """Wait until the question box has a text, which follows the builder after a reply."""
    page.wait_for_function("q => document.getElementById('question').value === q", arg=text)


@SIZES
def test_rows_stand_in_a_table_whose_cells_are_links(
    visitor: Visitor, size: dict[str, int]
) -> None:
    page = visitor.open(link_to(PAIRS), size)
    rows = list_rows(page)
    assert rows[0] == "Andorra Spain"
    assert len(rows) == 12
    heads = page.locator("table.rows thead .sort").all_inner_texts()
    assert heads == ["?x", "?y"]
    assert "12 rows" in page.locator("#answers .totals").inner_text()
    page.locator("table.rows").get_by_role("link", name="Spain", exact=True).first.click()
    page.get_by_role("heading", name="Spain", level=1).wait_for()


def test_a_relation_in_a_row_leads_to_its_page(visitor: Visitor) -> None:
    page = visitor.open(link_to("?r, ?x: ?r(France, ?x)"))
    page.locator("table.rows").get_by_role("link", name="capital", exact=True).click()
    page.get_by_role("heading", name="capital", level=1).wait_for()


def test_rows_are_sorted_by_a_click_on_a_column(visitor: Visitor) -> None:
    page = visitor.open(link_to(PER_COUNTRY))
    assert list_rows(page)[0].startswith("Argentina")
    head = page.locator("table.rows").get_by_role("button", name="count")
    head.click()
    page.locator("th[aria-sort=ascending]", has_text="count").wait_for()
    head.click()
    page.locator("th[aria-sort=descending]", has_text="count").wait_for()
    counts = [int(row.split()[-1]) for row in list_rows(page)]
    assert counts == sorted(counts, reverse=True)
    assert "order=count+desc" in page.url
    page.locator("#order").select_option("?x desc")
    page.locator("th[aria-sort=descending]", has_text="?x").wait_for()
    assert list_rows(page)[0].startswith("Venezuela")


def test_the_answers_of_a_single_variable_can_be_sorted_as_well(visitor: Visitor) -> None:
    page = visitor.open(link_to(OTHERS, order="?x desc"))
    page.locator(".answer").first.wait_for()
    names = page.locator(".answer .name").all_inner_texts()
    assert names == sorted(names, reverse=True)
    assert len(names) == 7


def test_a_count_leads_to_what_it_counts(visitor: Visitor) -> None:
    page = visitor.open(link_to("count ?x: borders(?x, France)"))
    assert page.locator("#answers .figure strong").inner_text() == "8"
    page.locator("#answers .figure a").click()
    page.wait_for_function("() => document.querySelectorAll('#answers .answer').length === 8")
    page.goto(visitor.address + link_to(PER_COUNTRY))
    page.locator("tr", has_text="Chile").locator(".number a").click()
    page.wait_for_function("() => document.querySelectorAll('#answers .answer').length === 3")
    names = sorted(page.locator(".answer .name").all_inner_texts())
    assert names == ["Argentina", "Bolivia", "Peru"]


@SIZES
def test_a_row_is_explained_by_its_facts(visitor: Visitor, size: dict[str, int]) -> None:
    page = visitor.open(link_to(PAIRS), size)
    list_rows(page)
    page.get_by_role("button", name="Why Belgium, Germany").click()
    detail = page.locator("#detail")
    detail.get_by_text("Why Belgium, Germany?").wait_for()
    assert detail.locator("span.fact").all_inner_texts() == [
        "Belgium borders Germany",
        "Germany borders France",
        "Belgium borders France",
    ]
    captions = page.locator("#plan .node.asked .caption").all_text_contents()
    assert captions == ["Belgium", "Germany"]
    assert page.locator("tr.chosen").count() == 1
    page.reload()
    page.locator("#detail").get_by_text("Why Belgium, Germany?").wait_for()


def test_an_answer_of_a_cycle_is_explained(visitor: Visitor) -> None:
    page = visitor.open(link_to(OTHERS))
    page.locator(".answer", has_text="Austria").click()
    page.locator("#detail").get_by_text("Why Austria?").wait_for()
    assert page.locator("#detail span.fact").count() == 3


@SIZES
def test_several_targets_and_a_comparison_are_built(visitor: Visitor, size: dict[str, int]) -> None:
    page = visitor.open(size=size)
    if size is NARROW:
        page.locator("#builder-field > summary").click()
    fill_slot(page, "Relation", "borders", "borders")
    fill_slot(page, "Object", "?y", "?y")
    page.get_by_role("button", name="Add a variable").click()
    wait_for_text(page, "?x, ?y: borders(?x, ?y)")
    page.get_by_role("button", name="Add a comparison").click()
    page.locator(".comparison.unfinished").wait_for()
    page.get_by_role("combobox", name="Compared").fill("?x")
    page.get_by_label("Comparison", exact=True).locator("select").select_option("!=")
    fill_slot(page, "With", "France", "country or territory")
    wait_for_text(page, "?x, ?y: borders(?x, ?y) and ?x != France")
    page.get_by_role("button", name="count ?x").click()
    wait_for_text(page, "?y, count ?x: borders(?x, ?y) and ?x != France")
    page.get_by_role("button", name="Do not ask for ?y").click()
    wait_for_text(page, "count ?x: borders(?x, ?y) and ?x != France")
    page.locator("#run").click()
    page.locator("#answers .figure").wait_for()


def test_the_builder_shows_targets_comparisons_and_variables_for_relations(
    visitor: Visitor,
) -> None:
    page = visitor.open()
    text = "?x, count ?r: ?r(?x, ?y) and not ?y = France and borders(?x, Spain)"
    type_question(page, text)
    page.locator("#builder .comparison.negated").wait_for()
    chosen = page.locator("#builder .asked select").evaluate_all("all => all.map(o => o.value)")
    assert chosen == ["x", "r"]
    pressed = page.locator("#builder .asked [aria-pressed=true]").all_inner_texts()
    assert pressed == ["count"]
    fields = page.locator("#builder input").evaluate_all("all => all.map(o => o.value)")
    assert fields == ["?x", "?r", "?y", "?y", "France", "?x", "borders", "Spain"]
    page.locator("#builder .comparison select").select_option("!=")
    wait_for_text(page, text.replace("?y = France", "?y != France"))


def test_completion_knows_count_and_what_is_compared(visitor: Visitor) -> None:
    page = visitor.open()
    box = page.locator("#question")
    box.press_sequentially("?x, cou")
    page.locator("#completions [role=option]", has_text="count").first.wait_for()
    box.press("Tab")
    assert box.input_value() == "?x, count "
    box.press_sequentially("?r: ?r(?x, Spain) and ?x != Franc")
    page.locator("#completions [role=option]", has_text="country or territory").first.click()
    assert box.input_value() == "?x, count ?r: ?r(?x, Spain) and ?x != France"
    box.press_sequentially(" and ?r != bord")
    page.locator("#completions [role=option]", has_text="borders").first.click()
    assert box.input_value().endswith(" and ?r != borders")


def test_words_and_signs_of_the_language_are_coloured(visitor: Visitor) -> None:
    page = visitor.open()
    type_question(page, "?x, count ?y: ?r(?x, ?y) and ?y>=1999 and ?x != a<b")
    parts = page.locator("#editor .layer span").evaluate_all(
        "all => all.map(one => [one.className, one.textContent])"
    )
    kinds = {text: kind for kind, text in parts}
    assert (kinds["count"], kinds[">="], kinds["!="]) == ("joining", "comparing", "comparing")
    assert (kinds["1999"], kinds["a<b"]) == ("entity", "entity")
    assert [kind for kind, text in parts if text == "?y"] == ["target", "variable", "variable"]


def test_a_wrong_value_is_marked_at_its_place(visitor: Visitor) -> None:
    page = visitor.open()
    type_question(page, "?x: borders(?x, ?y) and ?y < Spain")
    page.locator("#editor .wrong", has_text="Spain").wait_for()
    assert "< has no meaning for it" in page.locator("#problem").inner_text()


def test_times_and_numbers_are_compared(browser: Any, tmp_path: Path) -> None:
    born = {"Ann": "1955-03-07", "Bob": "1949", "Cid": "1961-01-02"}
    facts = [Fact(name, "born", f"{when}^^time") for name, when in born.items()]
    Dataset.of({"train": facts}).save(tmp_path / "lives")
    with page_browser.serve(str(tmp_path / "lives")) as address:
        visitor = Visitor(browser, address)
        page = visitor.open(link_to("?x, ?d: born(?x, ?d)", order="?d desc"))
        assert [row.split()[0] for row in list_rows(page)] == ["Cid", "Ann", "Bob"]
        page.get_by_role("button", name="Add a comparison").click()
        page.get_by_role("combobox", name="Compared").fill("?d")
        page.locator("#builder .comparison select").select_option("<")
        page.get_by_role("combobox", name="With").fill("1960")
        page.keyboard.press("Tab")
        wait_for_text(page, "?x, ?d: born(?x, ?d) and ?d < 1960")
        page.locator("#run").click()
        page.wait_for_function(
            "() => document.querySelectorAll('table.rows tbody tr').length === 2"
        )
        assert [row.split()[0] for row in list_rows(page)] == ["Ann", "Bob"]
        visitor.contexts[0].close()
    assert visitor.complaints == []


def test_rows_can_be_used_elsewhere(visitor: Visitor, tmp_path: Path) -> None:
    page = visitor.open(link_to(PER_COUNTRY, order="count desc"))
    list_rows(page)
    page.get_by_role("button", name="Use elsewhere").click()
    shown = page.locator("#snippet")
    expected = {
        "curl": '"order_by":"count desc"',
        "Python": "for row in found.rows:",
        "Command": "--order-by 'count desc'",
        "SPARQL": "COUNT",
    }
    for form, text in expected.items():
        page.get_by_role("button", name=form, exact=True).click()
        shown.get_by_text(text).first.wait_for()
    with page.expect_download() as download:
        page.get_by_role("button", name="CSV").click()
    download.value.save_as(tmp_path / "rows.csv")
    lines = (tmp_path / "rows.csv").read_text().splitlines()
    assert lines[:2] == ["x,x_label,count,probability,source", "country_BR,Brazil,10,1,stated"]


def test_labels_in_rows_are_shown_as_text(visitor: Visitor) -> None:
    page = visitor.prepare()

    def rename(route: Any) -> None:
        reply = route.fetch()
        body = reply.text().replace('"Spain"', '"<img src=x onerror=alert(1)>"')
        route.fulfill(response=reply, body=body)

    page.route("**/v1/answer", rename)
    page.goto(visitor.address + link_to(PAIRS))
    page.locator("td", has_text="<img src=x onerror=alert(1)>").first.wait_for()
    assert page.locator("#answers img").count() == 0


PLACES = {
    "rows": link_to(PAIRS, row='["country_ES","country_AD"]'),
    "counts": link_to(PER_COUNTRY, order="count desc"),
    "figure": link_to("count ?x: borders(?x, France)"),
    "cycle": link_to(OTHERS, answer="country_AT"),
}
SHOWN = {"rows": "#detail h3", "counts": "table.rows", "figure": ".figure", "cycle": "#detail h3"}


@pytest.mark.parametrize(("size", "colours"), [(WIDE, "light"), (NARROW, "dark")])
def test_no_view_has_serious_barriers_or_scrolls_sideways(
    visitor: Visitor, size: dict[str, int], colours: str
) -> None:
    page = visitor.open(size=size, color_scheme=colours)
    for name, place in PLACES.items():
        page.goto(visitor.address + place)
        page.locator(SHOWN[name]).first.wait_for()
        page.wait_for_function("() => !document.querySelector('[aria-busy]')")
        page.evaluate("document.getElementById('builder-field').open = true")
        assert list_problems(page) == [], name
        overhang = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert overhang <= 0, f"{name} is {overhang} pixels too wide"
