"""Splitting: every fact in one split, the shares asked for, no name in test alone."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from strategies import small_facts

from nqe.demo import demo_dataset
from nqe.errors import NqeError
from nqe.graph import Dataset, Fact
from nqe.graph.holdout import Share, count_late, count_undated, split

facts = st.lists(small_facts, min_size=12, max_size=60, unique=True)
seeds = st.integers(0, 2**32)
shares = st.sampled_from(["5%", "10%", 0.25, 1, 3])


def names_of(fact: Fact) -> set[str]:
    values = {value for _, value in fact.qualifiers}
    attributes = {attribute for attribute, _ in fact.qualifiers}
    return {fact.subject, fact.object, fact.relation} | values | attributes


def splits_of(dataset: Dataset) -> dict[str, set[Fact]]:
    return {name: set(dataset.split(name)) for name in dataset.splits}


def wanted(share: Share, total: int) -> int:
    if isinstance(share, int):
        return share
    fraction = float(share.strip("%")) / 100 if isinstance(share, str) else share
    return round(fraction * total)


def try_split(dataset: Dataset, **options: object) -> Dataset:
    """The data set split, unless the shares are too small or too large for its facts."""
    try:
        return split(dataset, **options)  # type: ignore[arg-type]
    except NqeError:
        assume(False)
        raise


@given(facts, shares, shares, seeds, st.booleans())
def test_every_fact_is_in_one_split_and_the_shares_are_right(
    given: list[Fact], valid: Share, test: Share, seed: int, allow_unseen: bool
) -> None:
    found = splits_of(
        try_split(
            Dataset.of({"train": given}),
            valid=valid,
            test=test,
            seed=seed,
            allow_unseen=allow_unseen,
        )
    )
    counts = Counter(fact for one in found.values() for fact in one)
    assert counts == Counter(given)
    assert len(found["valid"]) == wanted(valid, len(given))
    assert len(found["test"]) == wanted(test, len(given))


@given(facts, shares, shares, seeds, st.sampled_from(["fact", "subject"]))
def test_nothing_is_in_valid_or_test_alone(
    given: list[Fact], valid: Share, test: Share, seed: int, by: str
) -> None:
    dataset = Dataset.of({"train": given})
    found = splits_of(try_split(dataset, valid=valid, test=test, seed=seed, by=by))
    seen = set().union(*map(names_of, found["train"]))
    assert all(names_of(fact) <= seen for name in ("valid", "test") for fact in found[name])


@given(facts, seeds)
def test_equal_seeds_give_equal_splits_in_whatever_order_the_facts_are(
    given: list[Fact], seed: int
) -> None:
    one = try_split(Dataset.of({"train": given}), valid=1, test=2, seed=seed)
    assert one == try_split(Dataset.of({"train": given[::-1]}), valid=1, test=2, seed=seed)


def test_another_seed_gives_another_split() -> None:
    atlas = demo_dataset()
    assert split(atlas, test="5%", seed=1) != split(atlas, test="5%", seed=2)


@given(facts, shares, seeds, st.booleans())
def test_by_subject_its_facts_stay_together_and_shares_are_of_subjects(
    given: list[Fact], share: Share, seed: int, allow_unseen: bool
) -> None:
    dataset = Dataset.of({"train": given})
    options = {"by": "subject", "seed": seed, "allow_unseen": allow_unseen}
    found = splits_of(try_split(dataset, test=share, **options))
    subjects = {name: {fact.subject for fact in one} for name, one in found.items()}
    assert not subjects["train"] & subjects["test"]
    assert len(subjects["test"]) == wanted(share, len({fact.subject for fact in given}))


years = st.sampled_from(["1903", "1911-05", "1911-05-07", "-44", "+2001-05-01T10:00:00Z"])
ORDER = {"-44": 0, "1903": 1, "1911-05": 2, "1911-05-07": 3, "+2001-05-01T10:00:00Z": 4}


@given(st.lists(st.tuples(small_facts, st.none() | years), min_size=12, max_size=60), seeds)
def test_by_time_no_fact_of_train_is_later_than_one_of_test(
    given: list[tuple[Fact, str | None]], seed: int
) -> None:
    dated = [
        Fact(one.subject, one.relation, one.object, (*one.qualifiers, ("when", year)))
        if year
        else one
        for one, year in given
    ]
    dataset = Dataset.of({"train": dated})
    options = {"by": "time", "attribute": "when", "seed": seed, "allow_unseen": True}
    result = try_split(dataset, valid=2, test=3, **options)
    times = {
        name: [ORDER[dict(fact.qualifiers)["when"]] for fact in one if _is_dated(fact)]
        for name, one in splits_of(result).items()
    }
    assert (len(times["valid"]), len(times["test"])) == (2, 3)
    assert max(times["train"], default=0) <= min(times["valid"])
    assert max(times["valid"]) <= min(times["test"])
    assert count_undated(result, "when") == len({fact for fact in dated if not _is_dated(fact)})
    assert count_late(result, "when", ["valid", "test"]) == 0


def _is_dated(fact: Fact) -> bool:
    return "when" in dict(fact.qualifiers)


def test_by_time_what_nothing_earlier_has_stays_in_train_but_times_may_be_new() -> None:
    train = [Fact("a", "r", "b", (("when", str(year)),)) for year in range(1990, 2000)]
    new = Fact("a", "r", "new", (("when", "2000"),))
    result = split(Dataset.of({"train": [*train, new]}), test=2, by="time", attribute="when")
    assert set(result.split("test")) == set(train[-2:])
    assert new in set(result.split("train"))
    assert count_late(result, "when", ["test"]) == 1


def test_a_fact_with_several_times_counts_as_of_the_latest() -> None:
    early = [Fact("a", "r", "b", (("when", str(year)),)) for year in range(1990, 1999)]
    both = Fact("a", "r", "b", (("when", "1900"), ("when", "1999")))
    result = split(Dataset.of({"train": [*early, both]}), test=1, by="time", attribute="when")
    assert set(result.split("test")) == {both}


# Each is later than those before it; the ids of literals, and plain ids of other tools.
IN_ORDER = (
    *("0044 BCE^^time", "-0042", "1XXX^^time", "19XX^^time", "190X^^time", "1903-00-00"),
    *("1903-5-7", "1903-06^^time", "1903-06-01", "1903-06-01T12:00:00^^time"),
    *("1903-06-01T12:30Z", "1904-02", "+12000^^time"),
)


@pytest.mark.parametrize("held_out", range(1, len(IN_ORDER)))
def test_times_that_are_literals_sort_among_those_that_are_not(held_out: int) -> None:
    facts = [Fact("a", "r", "b", (("when", time),)) for time in IN_ORDER]
    dataset = Dataset.of({"train": facts})
    result = split(dataset, test=held_out, by="time", attribute="when")
    assert set(result.split("test")) == set(facts[-held_out:])


def test_a_number_that_is_shown_as_a_year_is_one_and_a_day_without_a_calendar_is_none() -> None:
    times = ("1903^^number", "1904^^number", "1905-13-01", "12 kg^^number")
    facts = [Fact("a", "r", "b", (("when", time),)) for time in times]
    dataset = Dataset.of({"train": facts})
    assert count_undated(dataset, "when") == 2
    result = split(dataset, test=1, by="time", attribute="when")
    assert set(result.split("test")) == {facts[1]}


def test_a_split_that_is_not_named_stays_as_it_is() -> None:
    atlas = demo_dataset()
    result = split(atlas, valid="10%")
    assert result.splits["test"] is atlas.splits["test"]
    pooled = set(atlas.split("train")) | set(atlas.split("valid"))
    assert set(result.split("train")) | set(result.split("valid")) == pooled
    assert len(result.splits["valid"]) == round(0.1 * len(pooled))


def test_counts_of_statements_are_kept() -> None:
    line = [Fact("a", "r", "b"), Fact("b", "r", "a"), Fact("a", "s", "b"), Fact("b", "s", "a")]
    result = split(Dataset.of({"train": line * 3}), test=1)
    assert [facts.count.tolist() for facts in result.splits.values()] == [[3, 3, 3], [3]]


WRONG: dict[str, tuple[dict[str, object], str]] = {
    "nothing": ({}, "nothing to hold out; give a share, such as --valid 5% --test 5%"),
    "no share": ({"test": "many"}, "a share of 'many'; give one such as 5%, 0.05 or 500"),
    "a share below 0": ({"test": -0.1}, "a share of '-0.1'; give"),
    "everything": ({"test": "100%"}, "a share of '100%'; give"),
    "not a number": ({"test": "nan%"}, "a share of 'nan%'; give"),
    "too little": ({"test": "1%"}, "1% of 4 facts is none; ask for a larger share"),
    "too much": ({"valid": 2, "test": 2}, "4 of 4 facts would be held out, and none be left"),
    "what nothing else has": (
        {"test": 3},
        "3 facts would be held out, but only 2 were found .* or give --allow-unseen",
    ),
    "an unknown way": ({"test": 1, "by": "date"}, "unknown way to split 'date'; choose one of"),
    "no attribute": ({"test": 1, "by": "time"}, "splitting by time needs the attribute whose"),
    "an attribute without a use": ({"test": 1, "attribute": "q"}, "has no meaning by fact; leave"),
    "an unknown attribute": (
        {"test": 1, "by": "time", "attribute": "whenever"},
        "no relation is called 'whenever'",
    ),
    "an attribute without times": (
        {"test": 1, "by": "time", "attribute": "q"},
        "no fact has a time in a qualifier 'q'; name another --attribute, with values such as",
    ),
    "a wrong seed": ({"test": 1, "seed": -1}, "the seed is -1; give 0 or more"),
}


@pytest.mark.parametrize(("options", "message"), WRONG.values(), ids=WRONG)
def test_what_cannot_be_split_is_reported(options: dict[str, object], message: str) -> None:
    # The last fact has a qualifier that no other has, so it stays in train.
    line = [Fact("a", "r", "b"), Fact("b", "r", "a"), Fact("a", "r", "a")]
    dataset = Dataset.of({"train": [*line, Fact("b", "r", "b", (("q", "a"),))]})
    if options == {"test": 3}:
        dataset = Dataset.of({"train": [*line, Fact("c", "s", "d"), Fact("d", "t", "c")]})
    with pytest.raises(NqeError, match=message):
        split(dataset, **options)  # type: ignore[arg-type]


def test_without_train_there_is_nothing_to_draw_from() -> None:
    with pytest.raises(NqeError, match="there is no train split to draw from; there is test"):
        split(Dataset.of({"test": [Fact("a", "r", "b")]}), valid=1)
