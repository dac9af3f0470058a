"""Text as people see it: what is replaced, what stays, and the forms of Markdown and JSON."""

from __future__ import annotations

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nqe.errors import AmbiguousName, NqeError, UnknownName
from nqe.shown_text import (
    count_cells,
    dump_json,
    escape_markdown,
    join_visible,
    make_lines_visible,
    make_visible,
    to_code_span,
)

HIDDEN_KINDS = {"Cc", "Cs", "Zl", "Zp"}
any_texts = st.text(st.characters(codec=None))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred", r"\x1b[31mred"),
        ("a\tb\r\nc\x00\x7f", r"a\tb\r\nc\x00\x7f"),
        ("\x9b31m\x85", r"\x9b31m\x85"),
        ("\u2028\u2029", r"\u2028\u2029"),
        ("\u202etxt.exe\u202c \u2066a\u2069", r"\u202etxt.exe\u202c \u2066a\u2069"),
        ("\ud83d", r"\ud83d"),
        ("\ufffe\uffff", r"\ufffe\uffff"),
    ],
)
def test_hidden_characters_are_shown_as_escapes(text: str, shown: str) -> None:
    assert make_visible(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "plain, with a back\\slash and \\x1b spelt out",
        "می\u200cخواهم",
        "👩\u200d🚀 🏴\U000e0067\U000e0062\U000e007f",
        "עברית\u200f (a)\u200e",
        "漢字 ｶﾅ é\u0301 \u00a0\u00ad",
    ],
)
def test_other_text_stays_as_it_is(text: str) -> None:
    assert make_visible(text) == text


@given(any_texts)
def test_what_is_visible_has_no_control_character_and_is_not_changed_again(text: str) -> None:
    shown = make_visible(text)
    assert not HIDDEN_KINDS & set(map(unicodedata.category, shown))
    assert make_visible(shown) == shown
    shown.encode("utf-8")


def test_lines_keep_their_ends_but_a_joined_line_is_one() -> None:
    assert make_lines_visible("a\x1b\nb\r") == "a\\x1b\nb\\r"
    assert join_visible(["a\nb", "c"]) == "a\\nb\nc"


@given(any_texts, st.sampled_from([None, 2]))
def test_json_is_exact_and_holds_no_hidden_character(text: str, indent: int | None) -> None:
    written = dump_json({"label": [text]}, indent)
    assert json.loads(written) == {"label": [text]}
    assert make_lines_visible(written) == written


def test_the_signs_of_markdown_and_html_are_escaped() -> None:
    assert escape_markdown("a|b_c\\ <i>&\n") == r"a\|b\_c\\ \<i\>\&\\n"
    assert to_code_span("?x: r(?x, a)") == "`?x: r(?x, a)`"
    assert to_code_span("a``b`") == "``` a``b` ```"


def test_a_caret_counts_the_cells_of_a_line() -> None:
    widths = {"": 0, "ab": 2, "漢字": 4, "e\u0301": 1, "می\u200cخ": 3}
    assert {text: count_cells(text) for text in widths} == widths


def test_an_error_is_shown_visibly_and_keeps_the_data() -> None:
    error = NqeError("a\x1b[31m\nsecond line")
    assert str(error) == "a\\x1b[31m\nsecond line"
    assert error.args == ("a\x1b[31m\nsecond line",)
    unknown = UnknownName("entity", "a\nb", ["c\nd"])
    assert str(unknown) == r"no entity is called 'a\nb'; did you mean 'c\nd'?"
    assert (unknown.text, unknown.nearest) == ("a\nb", ("c\nd",))
    assert str(AmbiguousName("entity", "a", ["b\n", "c"])).endswith(r"use an id instead: b\n; c")
