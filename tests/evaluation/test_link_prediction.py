"""Link prediction against the field's protocol, computed fact by fact in plain Python."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from sample_reports import link_report_of
from scorers import MatrixRunner, Question, table_of
from strategies import small_facts
from torch import Tensor

from nqe.errors import NqeError
from nqe.evaluation import Bootstrap, Report, evaluate, predict_links
from nqe.evaluation.groupings import OF_LINKS
from nqe.evaluation.link_prediction import FILTERS
from nqe.graph import Dataset, Fact
from nqe.query.step_table import StepTable
from nqe.sampling.one_hop import add_loose_answers, make_link_queries

splits = st.fixed_dictionaries(
    {
        "train": st.lists(small_facts, min_size=1, max_size=12),
        "test": st.lists(small_facts, min_size=1, max_size=6),
    }
)
Key = tuple[object, ...]


def key_of(parts: list[int], attributes: list[int], relation: int, asked: int) -> Key:
    """A query, regardless of the order of its qualifiers; the asked entity is -1."""
    pairs = list(zip(attributes, parts[2:], strict=True))
    return relation, asked, parts[0], parts[1], frozenset(Counter(pairs).items())


def score(key: Key, entity: int) -> float:
    """A score that depends only on the query and the entity, with many ties."""
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
    """Each fact of a split without each of its entities: the query, and the entity."""
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
    """The reciprocal realistic ranks, by part of the fact."""
    count = len(dataset.vocabulary.entities)
    true = set().union(*(questions(dataset, split) for split in dataset.splits))
    found: dict[str, list[float]] = {"all": [], "subject_object": [], "value": []}
    for key, answer in questions(dataset, "test"):
        own = score(key, answer)
        wrong = [score(key, e) for e in range(count) if (key, e) not in true]
        rank = 1 + sum(one > own for one in wrong) + sum(one == own for one in wrong) / 2
        found["all"].append(1 / rank)
        found["value" if key[1] == 2 else "subject_object"].append(1 / rank)
    return found


@given(facts=splits)
def test_every_entity_of_every_fact_is_ranked_among_those_that_no_split_states(
    facts: dict[str, list[Fact]],
) -> None:
    dataset = Dataset.of(facts)
    report = predict_links(KeyRunner(len(dataset.vocabulary.entities)), dataset)
    parts = {"all": report.all, **report.group("part")}
    for part, reciprocal in expected(dataset).items():
        if not reciprocal:
            assert part not in parts
            continue
        metrics = parts[part]
        assert metrics.answers == len(reciprocal)
        assert metrics.mrr == pytest.approx(np.mean(reciprocal))
        assert metrics["hits@3"] == pytest.approx(np.mean([one >= 1 / 3 for one in reciprocal]))
        assert metrics["mean_rank"] == pytest.approx(np.mean([1 / one for one in reciprocal]))


def loose_questions(dataset: Dataset) -> set[tuple[Key, int]]:
    """Each fact of any split without each of its entities, as its main triple alone.

    Of a qualifier that is asked for, the attribute counts as well.
    """
    found = set()
    for facts in dataset.splits.values():
        for number in range(len(facts)):
            subject, relation, object_, pairs = facts.row(number)
            found |= {((relation, 0, -1, object_, -1), subject)}
            found |= {((relation, 1, subject, -1, -1), object_)}
            found |= {((relation, 2, subject, object_, name), value) for name, value in pairs}
    return found


@given(facts=splits)
def test_the_loose_filter_leaves_out_what_the_main_triple_has_with_any_qualifiers(
    facts: dict[str, list[Fact]],
) -> None:
    dataset = Dataset.of(facts)
    count, true = len(dataset.vocabulary.entities), loose_questions(dataset)
    queries = add_loose_answers(
        make_link_queries(dataset.splits["test"], dataset.graph), dataset.graph
    )
    for row in range(len(queries)):
        [step] = queries.plans.plan(row).steps
        subject, object_ = (-1 if slot is None else slot for slot in step.slots[:2])
        attribute = step.attributes[0] if step.asked == 2 else -1
        key = (step.relation, step.asked, subject, object_, attribute)
        left_out = {*queries.easy[row].tolist(), *queries.hard[row].tolist()}
        assert left_out == {entity for entity in range(count) if (key, entity) in true}


def test_the_loose_filter_never_makes_a_rank_worse() -> None:
    plain, dated = Fact("a", "r", "b"), Fact("a", "r", "c", (("at", "d"),))
    dataset = Dataset.of({"train": [dated], "test": [plain]})
    runner = KeyRunner(len(dataset.vocabulary.entities))
    strict, loose = (predict_links(runner, dataset, filter=name) for name in FILTERS)
    # Of 5 entities, c also stands beside a and r, in a fact with other qualifiers.
    assert loose.all["mean_rank"] <= strict.all["mean_rank"]
    assert loose.all["adjusted_mean_rank"] != strict.all["adjusted_mean_rank"]


def test_an_unknown_filter_is_refused() -> None:
    dataset = Dataset.of({"train": [Fact("a", "r", "b")], "test": [Fact("b", "r", "a")]})
    with pytest.raises(NqeError, match="unknown filter 'lax'; choose one of strict, loose"):
        predict_links(KeyRunner(2), dataset, filter="lax")


def test_a_split_that_does_not_exist_is_refused() -> None:
    dataset = Dataset.of({"train": [Fact("a", "r", "b")]})
    with pytest.raises(NqeError, match="there is no test split; the data set has train"):
        predict_links(KeyRunner(2), dataset)


def test_each_answer_has_the_same_weight() -> None:
    questions = [Question(hard=[0, 1], asked=0), Question(hard=[2], asked=1)]
    matrix = torch.tensor([[2.0, 0.0, 1.0, 1.0], [3.0, 2.0, 1.0, 0.0]])
    ranking = evaluate(MatrixRunner(matrix), table_of(questions))
    report = Report.of(ranking, per="answer", by=OF_LINKS)
    assert report.all.mrr == pytest.approx((1 + 1 / 3 + 1 / 3) / 3)
    assert list(report.group("part")) == ["subject_object"]


def test_a_report_of_links_has_the_parts_of_the_fact_and_no_other_groups() -> None:
    report = link_report_of(2, trained_on="train")
    assert report.is_link_prediction
    data = report.to_json()
    assert {name for name in data if name.startswith("by_")} == {"by_part"}
    assert (data["split"], data["per"], data["trained_on"]) == ("test", "answer", "train")
    assert data["all"]["mrr"] == 0.75
    assert data["by_part"]["subject_object"]["answers"] == 1
    assert data["by_part"]["value"]["mrr"] == 0.5
    assert Report.from_json(data) == report


def test_links_have_intervals_on_request() -> None:
    dataset = Dataset.of({"train": [Fact("a", "r", "b")], "test": [Fact("b", "r", "a")]})
    assert predict_links(KeyRunner(2), dataset).all.intervals == {}
    assert predict_links(KeyRunner(2), dataset, bootstrap=Bootstrap(samples=9)).all.intervals
