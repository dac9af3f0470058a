"""Relation queries of training steps: how many, about what, repeatable, and part by part."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from toy_dataset import towns

from nqe.errors import NqeError
from nqe.graph import Fact, Graph
from nqe.sampling.relation_queries import RelationQueries
from nqe.settings import ModelSettings, RunSettings, TrainSettings, build_run_settings
from nqe.training.relation_source import RelationSource, open_relation_source

DATASET = towns()


def settings(**changes: Any) -> TrainSettings:
    return TrainSettings(**({"batch": 200, "relation_share": 0.1} | changes))


def identify(queries: RelationQueries) -> list[str]:
    return [str((queries.facts.row(n), queries.easy[n].tolist())) for n in range(len(queries))]


@pytest.mark.parametrize(
    ("batch", "share", "count"),
    [(1024, 0.0, 0), (1024, 0.1, 102), (10, 0.001, 1), (10, 0.99, 9), (2, 0.5, 1)],
)
def test_a_batch_has_its_share_of_relation_queries_but_never_no_others(
    batch: int, share: float, count: int
) -> None:
    assert TrainSettings(batch=batch, relation_share=share).relation_batch == count


@pytest.mark.parametrize("changes", [{"relation_share": 1.0}, {"relation_share": -0.1}])
def test_a_share_that_leaves_no_other_queries_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(NqeError, match=r"setting train\.relation_share is .* from 0 to below 1"):
        settings(**changes)


def test_a_batch_of_one_query_has_no_room_for_two_kinds() -> None:
    with pytest.raises(NqeError, match=r"setting train\.batch is 1; it must be 2 or more"):
        settings(batch=1)


def test_a_share_makes_a_model_that_predicts_relations() -> None:
    assert not RunSettings().model.predict_relations
    assert RunSettings(train=settings()).model.predict_relations
    assert build_run_settings({"train": {"relation_share": 0.2}}).model.predict_relations
    assert RunSettings(ModelSettings(predict_relations=True)).model.predict_relations


def test_without_a_share_there_is_no_source() -> None:
    assert open_relation_source(DATASET, settings(relation_share=0.0)) is None


def test_queries_are_about_facts_to_learn_from_and_have_all_their_answers() -> None:
    source = open_relation_source(DATASET, settings())
    assert source is not None
    facts = DATASET.splits["train"]
    stated = {str(facts.row(number)) for number in range(len(facts))}
    queries = source.draw(3)
    assert len(queries) == 20
    for number in range(len(queries)):
        subject, relation, object_, pairs = queries.facts.row(number)
        for answer in queries.easy[number].tolist():
            main = answer if relation < 0 else relation
            full = [(answer if a < 0 else a, value) for a, value in pairs]
            assert str((subject, main, object_, sorted(full))) in stated


def test_the_number_of_a_step_and_the_seed_decide_what_is_drawn() -> None:
    facts = DATASET.splits["train"]
    first, again = (RelationSource(facts, settings()) for _ in range(2))
    first.draw(7)
    assert identify(first.draw(4)) == identify(again.draw(4))
    assert identify(first.draw(4)) != identify(first.draw(5))
    assert identify(first.draw(4)) != identify(RelationSource(facts, settings(seed=1)).draw(4))


def test_a_query_with_more_answers_is_drawn_more_often_by_the_power() -> None:
    many = [Fact("a", f"r{number}", "b") for number in range(9)]
    graph = Graph.of([*many, Fact("c", "r0", "d")])
    for power, share in ((0.0, 1 / 2), (0.5, 3 / 4), (1.0, 9 / 10)):
        source = RelationSource(graph.facts, settings(batch=8_000, answers_power=power))
        lengths = np.concatenate([source.draw(step).easy.lengths for step in range(10)])
        assert np.mean(lengths == 9) == pytest.approx(share, abs=0.03)


def test_a_large_graph_is_drawn_from_part_by_part_and_all_of_it_in_turn() -> None:
    facts = DATASET.splits["train"]
    whole = set(identify(RelationSource(facts, settings(batch=20_000)).draw(0)))
    in_parts, jumping = (RelationSource(facts, settings(), most=40) for _ in range(2))
    drawn = [identify(in_parts.draw(step)) for step in range(200)]
    assert {one for queries in drawn for one in queries} == whole
    assert all(identify(jumping.draw(step)) == drawn[step] for step in (150, 3, 77))
