"""Names that are found regardless of case."""

from __future__ import annotations

import pickle

from hypothesis import given
from hypothesis import strategies as st
from strategies import wild_ids

from nqe.graph.folded_names import FoldedNames, fold

texts = st.one_of(wild_ids, st.text(st.sampled_from("aAsSßẞ_ "), max_size=3))


def test_case_and_underscores_make_no_difference() -> None:
    names = FoldedNames.of(["New York", "york", "NEW_YORK", "Straße", "new york"])
    assert names.find("New_york") == [0, 2, 4]
    assert names.find("STRASSE") == [3]
    assert names.find("Yor") == []
    assert FoldedNames.of([]).find("a") == []


@given(st.lists(texts, max_size=12), texts)
def test_the_names_found_are_those_that_are_equal_when_folded(names: list[str], text: str) -> None:
    found = FoldedNames.of(names)
    for one in (text, *names):
        expected = [place for place, name in enumerate(names) if fold(name) == fold(one)]
        assert found.find(one) == expected
        assert pickle.loads(pickle.dumps(found)).find(one) == expected
