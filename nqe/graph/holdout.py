"""Holdout: moves facts of train into valid and test, by fact, by subject or by time."""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from itertools import takewhile

import numpy as np

from nqe.errors import InputError, NqeError, choose
from nqe.graph.arrays import Booleans, Integers
from nqe.graph.dataset import Dataset
from nqe.graph.fact_columns import Facts, concatenate
from nqe.graph.literals import KINDS
from nqe.graph.time_values import Time, parse_xsd_time
from nqe.graph.vocabulary import Names

Share = str | float
"""How much to hold out: '5%', a fraction below 1, or a whole number of facts or subjects."""
UNITS = {"fact": "facts", "subject": "subjects", "time": "facts"}
"""What is divided, by the way of dividing it."""
# What is or is like a time: a year, perhaps with a month, a day and a time of day.
TIME = re.compile(r"([+-]?[0-9]{1,9})(?:-([0-9]{1,2})(?:-([0-9]{1,2})(?:[T ](.*))?)?)?")

_TimeKey = tuple[float, float, str]
"""When a time begins, minus when it ends, and what is not understood of its time of day."""


def split(
    dataset: Dataset,
    *,
    valid: Share | None = None,
    test: Share | None = None,
    by: str = "fact",
    attribute: str | None = None,
    seed: int = 0,
    allow_unseen: bool = False,
) -> Dataset:
    """The data set with valid and test facts drawn from train, each fact in exactly one split.

    `valid` and `test` are '5%', a fraction such as 0.05, or a number. The splits that are named are
    drawn from train and from what they held before; a split that is not named stays as it is.

    `by` is 'fact', 'subject' (all facts of a subject stay together, and shares are of subjects) or
    'time' (the latest facts, by the time in the qualifier `attribute`, are tested; facts without
    one stay in train). Equal seeds give equal splits.

    Every entity and relation of the drawn facts keeps a fact in train, unless `allow_unseen`. Times
    themselves need not when facts are divided by time.
    """
    wanted = {
        name: share for name, share in (("test", test), ("valid", valid)) if share is not None
    }
    _check(dataset, wanted, by, attribute, seed)
    pooled = [name for name in dataset.splits if name == "train" or name in wanted]
    facts = dataset.known(",".join(pooled)).facts
    units = _divide(dataset, facts, by, attribute, np.random.default_rng(seed))
    counts = {name: _count(share, units.count, UNITS[by]) for name, share in wanted.items()}
    free = units.order
    if not allow_unseen:
        free = free[~_protect(dataset, facts, units)[free]]
    _check_counts(counts, units, len(free), UNITS[by])
    return Dataset(dataset.vocabulary, {**dataset.splits, **_draw(facts, units, free, counts)})


def _draw(facts: Facts, units: _Units, free: Integers, counts: dict[str, int]) -> dict[str, Facts]:
    """The facts of train and of each split, which takes its number of the free units in turn."""
    place = np.zeros(units.count, dtype=np.int64)  # 0 is train, then the splits in order
    place[free[: sum(counts.values())]] = np.repeat(
        np.arange(1, len(counts) + 1), list(counts.values())
    )
    return {
        name: facts.take(np.flatnonzero(place[units.of_fact] == number))
        for number, name in enumerate(("train", *counts))
    }


def count_undated(dataset: Dataset, attribute: str) -> int:
    """How many facts of train have no time in the qualifiers of an attribute."""
    facts = dataset.splits["train"]
    return len(facts) - int((_find_times(dataset, facts, attribute) >= 0).sum())


def count_late(dataset: Dataset, attribute: str, held_out: Iterable[str]) -> int:
    """How many facts of train are later than the first fact of the splits that are held out."""
    tables = [dataset.splits[name] for name in ("train", *held_out)]
    times = _find_times(dataset, concatenate(tables), attribute)
    train, others = np.split(times, [len(tables[0])])
    first = min(others[others >= 0], default=len(times))
    return int((train > first).sum())


@dataclass(frozen=True, eq=False)
class _Units:
    """What is held out as a whole: single facts, or all facts of a subject."""

    of_fact: Integers  # (facts,)
    order: Integers
    """The units that may be held out, the first of which are tested."""
    count: int
    ignored: int | None = None
    """The attribute whose values need not stand in train."""


def _divide(
    dataset: Dataset, facts: Facts, by: str, attribute: str | None, rng: np.random.Generator
) -> _Units:
    """The units of facts, in the order in which they are held out."""
    if by == "subject":
        subjects, of_fact = np.unique(facts.subject, return_inverse=True)
        return _Units(of_fact, rng.permutation(len(subjects)), len(subjects))
    order = rng.permutation(len(facts))
    if by == "fact" or attribute is None:
        return _Units(np.arange(len(facts)), order, len(facts))
    times = _find_times(dataset, facts, attribute)
    if not (times >= 0).any():
        raise NqeError(
            f"no fact has a time in a qualifier '{attribute:.100}'; name another --attribute, with "
            "values such as 1903 or 2001-05-31"
        )
    # The order of facts with equal times remains that of the permutation.
    latest = order[np.argsort(-times[order], kind="stable")]
    number = dataset.vocabulary.relations.resolve(attribute)
    return _Units(np.arange(len(facts)), latest[times[latest] >= 0], len(facts), number)


def _find_times(dataset: Dataset, facts: Facts, attribute: str) -> Integers:
    """The latest time of each fact in the qualifiers of an attribute, by rank; -1 without one."""
    number = dataset.vocabulary.relations.resolve(attribute)
    rows = np.flatnonzero(facts.attribute == number)
    values, places = np.unique(facts.value[rows], return_inverse=True)
    keys = [_parse_time(dataset.vocabulary.entities, value) for value in values.tolist()]
    ranks = {key: rank for rank, key in enumerate(sorted({key for key in keys if key}))}
    of_value = np.array([-1 if key is None else ranks[key] for key in keys], dtype=np.int64)
    times = np.full(len(facts), -1, dtype=np.int64)
    np.maximum.at(times, facts.qualifier_fact[rows], of_value[places])
    return times


def _parse_time(names: Names, number: int) -> _TimeKey | None:
    """The time that an entity is, or its id or label, in a form that sorts; None if none is one."""
    literals = names.literals
    if literals is not None and literals.kind[number] == KINDS.index(Time.kind):
        return float(literals.value[number]), -float(literals.until[number]), ""
    texts = (names.ids[number], names.labels[number])
    return next(filter(None, (_read_time(text or "") for text in texts)), None)


def _read_time(text: str) -> _TimeKey | None:
    """The time that a text is, also if it is not written as that of a literal is: 2001-5-31."""
    found = TIME.fullmatch(text)
    if found is None:
        return None
    year, *parts, clock = found.groups()
    # Some tools write the year 1903 as 1903-00-00.
    known = takewhile(bool, (int(part or 0) for part in parts))
    date = year + "".join(f"-{part:02}" for part in known)
    for written, rest in ((f"{date}T{clock}", ""), (date, clock or "")):
        with suppress(InputError):
            return (*parse_xsd_time(written).sort_key, rest)
    return None


def _protect(dataset: Dataset, facts: Facts, units: _Units) -> Booleans:
    """For each unit, whether it stays in train so that every name keeps a fact there.

    Of the units that have a name, one stays: one that must stay for another name if there is one,
    otherwise the one that would be held out last.
    """
    entity_count = len(dataset.vocabulary.entities)
    chosen = facts.attribute != (-1 if units.ignored is None else units.ignored)
    of_qualifier = units.of_fact[facts.qualifier_fact]
    names = [facts.subject, facts.object, facts.value[chosen]]
    names += [entity_count + facts.relation, entity_count + facts.attribute]
    owners = [units.of_fact, units.of_fact, of_qualifier[chosen], units.of_fact, of_qualifier]
    name, owner = np.concatenate(names), np.concatenate(owners)
    rank = _rank_units(name, owner, units)
    best = np.full(entity_count + len(dataset.vocabulary.relations), units.count, dtype=np.int64)
    np.minimum.at(best, name, rank[owner])
    protected = np.zeros(units.count, dtype=bool)
    protected[np.argsort(rank)[best[best < units.count]]] = True
    return protected


def _rank_units(name: Integers, owner: Integers, units: _Units) -> Integers:
    """The rank of each unit: first those that must stay, last the one that is held out first."""
    key = np.zeros(units.count, dtype=np.int64)  # units that are never held out
    key[units.order] = np.arange(len(units.order), 0, -1)
    used = np.unique(name * units.count + owner)
    _, first, times = np.unique(used // units.count, return_index=True, return_counts=True)
    key[used[first[times == 1]] % units.count] = -1  # the only unit that has some name
    rank = np.empty(units.count, dtype=np.int64)
    rank[np.argsort(key, kind="stable")] = np.arange(units.count)
    return rank


def _check(
    dataset: Dataset, wanted: dict[str, Share], by: str, attribute: str | None, seed: int
) -> None:
    """Refuse what cannot be meant."""
    choose(UNITS, by, "way to split")
    if not wanted:
        raise NqeError("nothing to hold out; give a share, such as --valid 5% --test 5%")
    if "train" not in dataset.splits:
        raise NqeError(
            f"there is no train split to draw from; there is {', '.join(dataset.splits)}"
        )
    if (by == "time") != (attribute is not None):
        problem = "by time needs the attribute whose values are times; name it with --attribute"
        none = f"--attribute has no meaning by {by}; leave it out, or give --by time"
        raise NqeError(f"splitting {problem}" if by == "time" else none)
    if seed < 0:
        raise NqeError(f"the seed is {seed}; give 0 or more")


def _count(share: Share, total: int, units: str) -> int:
    """How many of the units a share is."""
    count = _read_share(share, total)
    if count is None or count < 0:
        raise NqeError(f"a share of '{share!s:.60}'; give one such as 5%, 0.05 or 500")
    if count == 0:
        raise NqeError(f"{share} of {total:,} {units} is none; ask for a larger share")
    return count


def _read_share(share: Share, total: int) -> int | None:
    """The number that a share is of a total; None if it is no share."""
    text = str(share).strip()
    try:
        if text.endswith("%"):
            return _round(float(text[:-1]) / 100, total)
        return int(text) if text.isdecimal() else _round(float(text), total)
    except ValueError:
        return None


def _round(fraction: float, total: int) -> int | None:
    return round(fraction * total) if 0 <= fraction < 1 else None


def _check_counts(counts: dict[str, int], units: _Units, free: int, noun: str) -> None:
    """Refuse to hold out more than there is, or all of it."""
    asked = sum(counts.values())
    if asked >= units.count:
        raise NqeError(
            f"{asked:,} of {units.count:,} {noun} would be held out, and none be left in train; "
            "ask for less"
        )
    if asked > len(units.order):
        raise NqeError(
            f"{asked:,} facts would be held out, but {len(units.order):,} have a time; ask for less"
        )
    if asked > free:
        raise NqeError(
            f"{asked:,} {noun} would be held out, but only {free:,} were found without which every "
            "entity and relation keeps a fact in train; ask for less, or give --allow-unseen"
        )
