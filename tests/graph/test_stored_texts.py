"""Texts in a mapped file: they are what the same texts in a list are."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nqe.graph.stored_texts import (
    MANY,
    SparseTexts,
    StoredAliases,
    StoredIds,
    StoredTexts,
    encode_texts,
)

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=4)


@given(st.lists(texts), st.data())
def test_stored_texts_are_a_list_of_texts(several: list[str], data: st.DataObject) -> None:
    stored = StoredTexts(*encode_texts(several))
    for place in data.draw(
        st.lists(st.integers(-len(several), len(several) - 1)) if several else st.just([])
    ):
        assert stored[place] == several[place]
    assert len(stored) == len(several)
    assert list(stored) == several
    assert stored == several
    assert several == stored
    assert stored == StoredTexts(*encode_texts(several))
    assert stored[1:3] == several[1:3]
    first = data.draw(st.integers(0, len(several)))
    assert list(stored.cut(first, len(several))) == several[first:]
    assert pickle.loads(pickle.dumps(stored)) == several
    for place in (len(several), -len(several) - 1):
        with pytest.raises(IndexError):
            stored[place]


@given(st.sets(texts), texts)
def test_ids_are_found_before_and_after_all_are_decoded(several: set[str], other: str) -> None:
    ids = sorted(several)
    stored = StoredIds(*encode_texts(ids))
    for _ in range(2):
        for text in [*ids, other]:
            assert stored.find(text) == (ids.index(text) if text in ids else None)
        assert list(stored) == ids


def test_few_of_many_texts_are_decoded_one_by_one() -> None:
    ids = sorted(map(str, range(1000)))
    stored = StoredIds(*encode_texts(ids))
    assert stored.find("77") == ids.index("77")
    assert "_all" not in stored.__dict__
    for place in range(len(ids) // MANY):
        assert stored[place] == ids[place]
    assert "_all" in stored.__dict__


@given(st.lists(st.none() | texts))
def test_sparse_texts_are_a_list_with_gaps(several: list[str | None]) -> None:
    owner = [number for number, text in enumerate(several) if text is not None]
    kept = StoredTexts(*encode_texts(text for text in several if text is not None))
    stored = SparseTexts(len(several), np.array(owner, np.int32), kept)
    assert [stored[number] for number in range(len(several))] == several
    assert stored == several
    assert stored[-2:] == several[-2:]
    with pytest.raises(IndexError):
        stored[len(several)]


def test_aliases_are_those_of_their_owner() -> None:
    stored = StoredAliases(np.array([2, 2, 5], np.int32), StoredTexts(*encode_texts("abc")))
    assert stored == {2: ("a", "b"), 5: ("c",)}
    assert len(stored) == 2
    assert 3 not in stored
    assert stored.get(9, ()) == ()
