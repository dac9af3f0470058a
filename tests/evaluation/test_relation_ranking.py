"""Ranks of relations against the field's protocol, computed fact by fact in plain Python."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from strategies import small_facts

from nqe.errors import NqeError
from nqe.evaluation import Report, compare, predict_links
from nqe.evaluation.ranks import TIES
from nqe.graph import Dataset, Fact
from nqe.graph.fact_columns import Facts
from nqe.model import EmbeddingRunner, new_model
from nqe.model.embedding_runner import KnownScores
from nqe.query.step_table import StepTable
from nqe.sampling.relation_queries import MASKED
from nqe.settings import ModelSettings

splits = st.fixed_dictionaries(
    {
        "train": st.lists(small_facts, min_size=1, max_size=12),
        "test": st.lists(small_facts, min_size=1, max_size=6),
    }
)
Key = tuple[object, ...]


def key_of(subject: int, relation: int, object_: int, pairs: list[tuple[int, int]]) -> Key:
    """A query, regardless of the order of its qualifiers; the asked relation is -1."""
    return subject, relation, object_, frozenset(Counter(pairs).items())


def score(key: Key, relation: int) -> float:
    """A score that depends only on the query and the relation, with many ties."""
    return float(hash((key, relation)) % 3)


class Indifferent:
    """Gives all entities the same score, and knows nothing of relations."""

    def __init__(self, dataset: Dataset) -> None:
        self.entity_count = len(dataset.vocabulary.entities)

    def run(self, plans: StepTable) -> KnownScores:
        return KnownScores(torch.zeros(len(plans), self.entity_count))


class KeyRunner(Indifferent):
    """Gives each relation a score by the query."""

    predicts_relations = True

    def __init__(self, dataset: Dataset) -> None:
        super().__init__(dataset)
        self.relation_count = len(dataset.vocabulary.relations)

    def run_relations(self, facts: Facts) -> KnownScores:
        keys = [key_of(*facts.row(number)) for number in range(len(facts))]
        rows = [[score(key, relation) for relation in range(self.relation_count)] for key in keys]
        return KnownScores(torch.tensor(rows))


def questions(dataset: Dataset, split: str) -> dict[tuple[Key, int], None]:
    """Each fact of a split without each of its relations: the query, and the relation."""
    found = {}
    facts = dataset.splits[split]
    for number in range(len(facts)):
        subject, relation, object_, pairs = facts.row(number)
        found[key_of(subject, MASKED, object_, pairs), relation] = None
        for place, (attribute, value) in enumerate(pairs):
            masked = [*pairs[:place], (MASKED, value), *pairs[place + 1 :]]
            found[key_of(subject, relation, object_, masked), attribute] = None
    return found


def expected(dataset: Dataset, ties: str) -> dict[str, list[float]]:
    """The reciprocal ranks, by part of the fact."""
    share = {"realistic": 1 / 2, "optimistic": 0, "pessimistic": 1}[ties]
    count = len(dataset.vocabulary.relations)
    true = set().union(*(questions(dataset, split) for split in dataset.splits))
    found: dict[str, list[float]] = {"relation": [], "main_relation": [], "attribute": []}
    for key, answer in questions(dataset, "test"):
        own = score(key, answer)
        wrong = [score(key, r) for r in range(count) if (key, r) not in true]
        rank = 1 + sum(one > own for one in wrong) + sum(one == own for one in wrong) * share
        found["relation"].append(1 / rank)
        found["main_relation" if key[1] == MASKED else "attribute"].append(1 / rank)
    return found


@given(facts=splits, ties=st.sampled_from(list(TIES)), block=st.sampled_from([1, 7, 2**24]))
def test_every_relation_of_every_fact_is_ranked_among_those_that_no_split_states(
    facts: dict[str, list[Fact]], ties: str, block: int
) -> None:
    dataset = Dataset.of(facts)
    report = predict_links(KeyRunner(dataset), dataset, ties=ties, block=block)
    parts = report.group("part")
    for part, reciprocal in expected(dataset, ties).items():
        if not reciprocal:
            assert part not in parts
            continue
        metrics = parts[part]
        assert metrics.answers == len(reciprocal)
        assert metrics.mrr == pytest.approx(np.mean(reciprocal))
        assert metrics["hits@1"] == pytest.approx(np.mean([one == 1 for one in reciprocal]))
        assert metrics["mean_rank"] == pytest.approx(np.mean([1 / one for one in reciprocal]))


TOWNS = Dataset.of(
    {
        "train": [Fact("a", "road", "b", (("since", "c"),)), Fact("b", "river", "c")],
        "test": [Fact("b", "road", "c"), Fact("c", "river", "a", (("until", "b"),))],
    }
)


def test_relations_are_parts_of_their_own_that_change_no_others() -> None:
    runner = KeyRunner(TOWNS)
    with_relations, without = (
        predict_links(runner, TOWNS, relations=wanted) for wanted in (None, False)
    )
    assert list(without.group("part")) == ["subject_object", "value"]
    assert list(with_relations.group("part")) == [
        *without.group("part"),
        *("relation", "main_relation", "attribute"),
    ]
    assert with_relations.all == without.all
    assert with_relations.group("part").items() >= without.group("part").items()
    assert Report.from_json(with_relations.to_json()) == with_relations


def test_reports_with_relations_are_compared_with_those_without() -> None:
    reports = {
        "one": predict_links(KeyRunner(TOWNS), TOWNS),
        "other": predict_links(KeyRunner(TOWNS), TOWNS, relations=False),
    }
    sheet = compare(reports)
    assert sheet.columns[-3:] == ("relation", "main_relation", "attribute")
    assert sheet.rows[1][-3:] == (None, None, None)
    assert compare({"other": reports["other"]}).columns[-1] == "value"


def model_runner(predict_relations: bool) -> EmbeddingRunner:
    names = TOWNS.vocabulary
    sizes = ModelSettings(width=8, layers=1, heads=1, predict_relations=predict_relations)
    return EmbeddingRunner(new_model(sizes, len(names.entities), len(names.relations)))


def test_a_model_that_predicts_relations_ranks_them_by_default() -> None:
    assert "relation" in predict_links(model_runner(True), TOWNS).group("part")
    assert "relation" not in predict_links(model_runner(False), TOWNS).group("part")


def test_a_model_without_relations_to_predict_refuses_to_rank_them() -> None:
    with pytest.raises(NqeError, match="trained without relations to predict; train one with"):
        predict_links(model_runner(False), TOWNS, relations=True)


def test_a_runner_without_relations_is_refused() -> None:
    runner = Indifferent(TOWNS)
    assert "relation" not in predict_links(runner, TOWNS).group("part")
    with pytest.raises(NqeError, match="Indifferent cannot be asked for relations; give an Emb"):
        predict_links(runner, TOWNS, relations=True)


def test_a_runner_with_fewer_relations_is_refused() -> None:
    runner = KeyRunner(TOWNS)
    runner.relation_count = 2
    with pytest.raises(NqeError, match="an answer is relation 3, but the model scores 2 relations"):
        predict_links(runner, TOWNS)
