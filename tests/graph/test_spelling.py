"""Similar spellings: edit distances of many words at once against one pair at a time."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from nqe.graph.spelling import compute_edit_distances, find_nearest_words

words = st.text("abß", max_size=6)


def distance(one: str, other: str) -> int:
    """Insertions, deletions, replacements and swaps of neighbours, no letter edited twice."""
    table = {(i, 0): i for i in range(len(one) + 1)} | {(0, j): j for j in range(len(other) + 1)}
    for i in range(1, len(one) + 1):
        for j in range(1, len(other) + 1):
            same = one[i - 1] == other[j - 1]
            options = [table[i - 1, j] + 1, table[i, j - 1] + 1, table[i - 1, j - 1] + (not same)]
            if i > 1 and j > 1 and one[i - 1] == other[j - 2] and one[i - 2] == other[j - 1]:
                options.append(table[i - 2, j - 2] + 1)
            table[i, j] = min(options)
    return table[len(one), len(other)]


@given(words, st.lists(words, max_size=8))
def test_distances_are_those_of_the_plain_table(text: str, others: list[str]) -> None:
    expected = [distance(text, other) for other in others]
    assert compute_edit_distances(text, others).tolist() == expected


def test_a_swap_of_neighbours_is_one_step() -> None:
    assert compute_edit_distances("Gemrany", ["Germany", "Gemrany", ""]).tolist() == [1, 0, 7]


@given(words, st.lists(words, max_size=8), st.integers(1, 4))
def test_the_nearest_words_come_first_and_far_ones_not_at_all(
    text: str, others: list[str], count: int
) -> None:
    farthest = max(1, len(text) // 3)
    ranked = sorted(
        (distance(text.casefold(), other.casefold()), place)
        for place, other in enumerate(others)
        if abs(len(other) - len(text)) <= farthest
    )
    expected = [place for far, place in ranked if far <= farthest][:count]
    assert find_nearest_words(text, others, count) == expected


def test_case_does_not_make_a_word_farther() -> None:
    assert find_nearest_words("SWITZERLND", ["switzerland", "Swaziland"], 2) == [0]
