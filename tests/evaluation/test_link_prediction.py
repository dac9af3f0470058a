"""Link prediction against the field's protocol, spelt out fact by fact."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from strategies import small_facts
from torch import Tensor

from nqe.errors import NqeError
from nqe.evaluation import predict_links
from nqe.graph import Dataset, Fact
from nqe.query.step_table import StepTable

splits = st.fixed_dictionaries(
    {
        "train": st.lists(small_facts, min_size=1, max_size=12),
        "test": st.lists(small_facts, min_size=1, max_size=6),
    }
)
Key = tuple[object, ...]


def key_of(parts: list[int], attributes: list[int], relation: int, asked: int) -> Key:
    """What a query says, whatever the order of its qualifiers; the asked entity is -1."""
    pairs = list(zip(attributes, parts[2:], strict=True))
    return relation, asked, parts[0], parts[1], frozenset(Counter(pairs).items())


def score(key: Key, entity: int) -> float:
    """A score with many ties that anyone can compute."""
    return float(hash((key, entity)) % 5)


class KeyScores:
    def __init__(self, keys: list[Key]) -> None:
        self.keys = keys

    def block(self, first: int, last: int) -> Tensor:
        return torch.tensor([[score(key, e) for e in range(first, last)] for key in self.keys])


class KeyRunner:
    def __init__(self, entity_count: int) -> None:
        self.entity_count = entity_count

    def run(self, plans: StepTable) -> KeyScores:
        keys = []
        for row in range(len(plans)):
            [step] = plans.plan(row).steps
            parts = [-1 if slot is None else slot for slot in step.slots]
            keys.append(key_of(parts, list(step.attributes), step.relation, min(step.asked, 2)))
        return KeyScores(keys)


def questions(dataset: Dataset, split: str) -> dict[tuple[Key, int], None]:
    """Each fact of a split with each entity taken out: what is left, and the entity."""
    found = {}
    facts = dataset.splits[split]
    for number in range(len(facts)):
        subject, relation, object_, pairs = facts.row(number)
        parts, attributes = [subject, object_, *(v for _, v in pairs)], [a for a, _ in pairs]
        for place, entity in enumerate(parts):
            masked = [*parts[:place], -1, *parts[place + 1 :]]
            found[key_of(masked, attributes, relation, min(place, 2)), entity] = None
    return found


def expected(dataset: Dataset) -> dict[str, list[float]]:
    """The reciprocal realistic ranks, by the kinds of slots."""
    count = len(dataset.vocabulary.entities)
    true = set().union(*(questions(dataset, split) for split in dataset.splits))
    told: dict[str, list[float]] = {"all": [], "subject_object": [], "value": []}
    for key, answer in questions(dataset, "test"):
        own = score(key, answer)
        wrong = [score(key, e) for e in range(count) if (key, e) not in true]
        rank = 1 + sum(one > own for one in wrong) + sum(one == own for one in wrong) / 2
        told["all"].append(1 / rank)
        told["value" if key[1] == 2 else "subject_object"].append(1 / rank)
    return told


@given(facts=splits)
def test_every_slot_of_every_fact_is_ranked_among_what_no_split_states(
    facts: dict[str, list[Fact]],
) -> None:
    dataset = Dataset.of(facts)
    report = predict_links(KeyRunner(len(dataset.vocabulary.entities)), dataset)
    for part, reciprocal in expected(dataset).items():
        metrics = report.parts[part]
        assert metrics.count == len(reciprocal)
        assert metrics.mrr == pytest.approx(np.mean(reciprocal) if reciprocal else 0)
        hits = np.mean([one >= 1 / 3 for one in reciprocal]) if reciprocal else 0
        assert metrics.hits[1] == pytest.approx(hits)


def test_a_split_that_is_not_there_is_told() -> None:
    dataset = Dataset.of({"train": [Fact("a", "r", "b")]})
    with pytest.raises(NqeError, match="there is no test split; the data set has train"):
        predict_links(KeyRunner(2), dataset)
