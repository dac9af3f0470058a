"""Formulas built in Python: operators and builders, and what they refuse."""

from __future__ import annotations

import pytest

from nqe.errors import QueryError
from nqe.query import And, Atom, Query, atom, parse, variables


def test_builders_give_the_same_query_as_the_text() -> None:
    x, y = variables("x y")
    award = atom("award_received", x, "Nobel Prize in Physics", together_with=y)
    built = Query(x, award & atom("citizen_of", y, "Germany") & ~atom("educated_at", x, "MIT"))
    assert built == parse(
        '?x: award_received(?x, "Nobel Prize in Physics"; together_with: ?y) '
        "and citizen_of(?y, Germany) and not educated_at(?x, MIT)"
    )
    assert Query(x, (atom("p", x, "a") | atom("q", x, "b")).parts[1].only()) == parse(
        "?x: only q(?x, b)"
    )


def test_an_and_of_one_part_is_refused() -> None:
    with pytest.raises(QueryError, match="`and` joins two or more parts, not 1"):
        And((Atom("p", "a", "b"),))


def test_formulas_refuse_the_words_and_or_not_of_python() -> None:
    (x,) = variables("x")
    with pytest.raises(QueryError, match=r"joined by &, \| and ~"):
        bool(atom("p", x, "a"))


def test_a_slot_or_target_of_another_type_is_refused() -> None:
    (x,) = variables("x")
    with pytest.raises(QueryError, match="5 in p"):
        atom("p", x, 5)  # type: ignore[arg-type]
    with pytest.raises(QueryError, match="is not a variable"):
        Query("x", atom("p", x, "a"))  # type: ignore[arg-type]
