"""Sampled query sets: answers compared with enumeration, seeds, workers, counts and errors."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from strategies import small_facts

import nqe
from nqe.errors import NqeError
from nqe.graph import Dataset, Fact, Graph
from nqe.query import SHAPES, Plan, execute
from nqe.query.plan import Op
from nqe.sampling import (
    QuerySet,
    choose_preset,
    sample,
    save_queries,
    worker,
)
from nqe.sampling.signature import repeats_itself, signature_of
from nqe.settings import SamplingSettings

FEW = SamplingSettings(train=5, valid=3, test=3)
splits = st.fixed_dictionaries(
    {name: st.lists(small_facts, min_size=4, max_size=14) for name in ("train", "valid", "test")}
)


@pytest.fixture(scope="module")
def atlas() -> Dataset:
    return nqe.demo_dataset()


@pytest.fixture(scope="module")
def sampled(atlas: Dataset) -> QuerySet:
    return sample(atlas, SamplingSettings(train=40, valid=10, test=10), workers=1)


def least_missing(plan: Plan, number: int, entity: int, full: Graph, known: Graph) -> float:
    """Find the least cost of a proof by trying every fact and every value."""
    step = plan.steps[number]
    match step.op:
        case Op.AND:
            return sum(least_missing(plan, one, entity, full, known) for one in step.inputs)
        case Op.OR:
            return min(least_missing(plan, one, entity, full, known) for one in step.inputs)
        case Op.NOT:
            inner = least_missing(plan, step.inputs[0], entity, full, known)
            return 0 if inner == float("inf") else float("inf")
        case Op.ANY:
            return 0
    best = float("inf")
    known_facts = set(known)
    for row in range(len(full)):
        subject, relation, object_, pairs = full.facts.row(row)
        if relation != step.relation or (step.closed and len(pairs) != len(step.attributes)):
            continue
        for chosen in product(range(len(pairs)), repeat=len(step.attributes)):
            if len(set(chosen)) < len(chosen):
                continue
            if [pairs[place][0] for place in chosen] != list(step.attributes):
                continue
            entities = [subject, object_, *(pairs[place][1] for place in chosen)]
            anchors = zip(step.slots, entities, strict=True)
            if entities[step.asked] != entity or any(a not in (None, e) for a, e in anchors):
                continue
            cost = 0 if full.fact(row) in known_facts else 1
            for place, one in zip(step.filled, step.inputs, strict=True):
                cost += least_missing(plan, one, entities[place], full, known)
            best = min(best, cost)
    return best


@given(
    splits,
    st.sampled_from([*SHAPES, "And(P(), Not(And(P(), P())))"]),
    st.sampled_from(["open", "closed"]),
    st.integers(0, 9),
)
@settings(max_examples=50, suppress_health_check=list(HealthCheck))
def test_easy_hard_and_missing_links_are_those_of_enumeration(
    facts: dict[str, list[Fact]], shape: str, match: str, seed: int
) -> None:
    dataset = Dataset.of(facts)
    wanted = SamplingSettings(shapes=(shape,), train=2, valid=2, test=2, match=match, seed=seed)
    with pytest.MonkeyPatch.context() as patch:
        # Small graphs have few queries, so small blocks are enough.
        patch.setattr(worker, "WALKS", 40)
        try:
            queries = sample(dataset, wanted, workers=1)
        except NqeError:
            assume(False)
    for split, table in queries.splits.items():
        full, known = dataset.full_for(split), dataset.known_for(split)
        for row in range(len(table)):
            plan = table.plans.plan(row)
            answers = execute(plan, full).answers.tolist()
            if split == "train":
                assert table.easy[row].tolist() == answers
                continue
            before = execute(plan, known).answers.tolist()
            assert table.hard[row].tolist() == [e for e in answers if e not in before]
            assert table.easy[row].tolist() == [e for e in answers if e in before]
            links = [
                least_missing(plan, len(plan.steps) - 1, entity, full, known)
                for entity in table.hard[row].tolist()
            ]
            assert table.missing[row].tolist() == links


def test_every_shape_has_the_wanted_number_of_queries_with_hard_answers(sampled: QuerySet) -> None:
    for split, count in (("train", 40), ("valid", 10), ("test", 10)):
        table = sampled.splits[split]
        assert {name: table.shape.count(name) for name in SHAPES} == dict.fromkeys(SHAPES, count)
        assert (table.hard.lengths > 0).all() == (split != "train")
        assert all(
            table.plans.plan(row).shape_name == table.shape[row] for row in range(len(table))
        )


def test_validation_and_test_share_no_query_and_no_query_occurs_twice(sampled: QuerySet) -> None:
    signatures = {
        split: [signature_of(table.plans.plan(row)) for row in range(len(table))]
        for split, table in sampled.splits.items()
    }
    for each in signatures.values():
        assert len(set(each)) == len(each)
    assert not set(signatures["valid"]) & set(signatures["test"])
    training = set(signatures["train"])
    assert sampled.overlap == {
        split: len(training & set(signatures[split])) for split in ("valid", "test")
    }


def test_negations_change_something_and_no_atom_occurs_twice(
    sampled: QuerySet, atlas: Dataset
) -> None:
    table = sampled.splits["test"]
    for row in range(len(table)):
        plan = table.plans.plan(row)
        assert not repeats_itself(plan)
        sets = execute(plan, atlas.graph).sets
        for step in plan.steps:
            negated = [one for one in step.inputs if plan.steps[one].op == Op.NOT]
            if step.op == Op.AND and negated:
                others = [sets[one] for one in step.inputs if one not in negated]
                kept = others[0]
                for one in others[1:]:
                    kept = kept & one
                assert len(kept.members) > len((kept & sets[negated[0]]).members)


def test_files_are_identical_for_any_number_of_workers(atlas: Dataset, tmp_path: Path) -> None:
    for workers in (1, 2):
        save_queries(sample(atlas, FEW, workers=workers), tmp_path / str(workers))
    for name in ("train.parquet", "valid.parquet", "test.parquet", "manifest.json"):
        assert (tmp_path / "1" / name).read_bytes() == (tmp_path / "2" / name).read_bytes()


def test_another_seed_draws_other_queries(atlas: Dataset) -> None:
    wanted = SamplingSettings(shapes=("2p",), train=20, valid=0, test=0)
    first = sample(atlas, wanted, workers=1).splits["train"]
    other = sample(atlas, SamplingSettings(**{**vars(wanted), "seed": 1}), workers=1).splits[
        "train"
    ]
    assert [first.plans.plan(row) for row in range(20)] != [
        other.plans.plan(row) for row in range(20)
    ]


def test_the_preset_of_starqe_asks_only_for_objects(atlas: Dataset) -> None:
    wanted = SamplingSettings(
        **{**vars(choose_preset("wd50k-qe")), "train": 5, "valid": 2, "test": 2}
    )
    queries = sample(atlas, wanted, workers=1)
    for table in queries.splits.values():
        for row in range(len(table)):
            atoms = [step for step in table.plans.plan(row).steps if step.op == Op.PROJECTION]
            assert {step.asked for step in atoms} == {1}
            assert {len(step.attributes) for step in atoms} == {1}
            assert not any(step.closed for step in atoms)
            assert {place for step in atoms for place in step.filled} <= {0}


def test_training_queries_keep_some_answers_and_evaluation_queries_keep_all(
    atlas: Dataset,
) -> None:
    wanted = SamplingSettings(shapes=("1p", "2p"), train=60, valid=0, test=20, train_answers=3)
    queries = sample(atlas, wanted, workers=1)
    train, test = queries.splits["train"], queries.splits["test"]
    assert train.easy.lengths.max() == 3
    assert train.answer_count.max() > 3
    assert np.array_equal(test.answer_count, test.easy.lengths + test.hard.lengths)


def test_queries_with_too_many_answers_are_left_out(atlas: Dataset) -> None:
    wanted = SamplingSettings(shapes=("2p",), train=40, valid=0, test=0, max_answers=2)
    queries = sample(atlas, wanted, workers=1)
    assert queries.splits["train"].answer_count.max() <= 2
    assert queries.refused["train"]["2p"]["too many answers"] > 0


def test_balanced_queries_have_more_missing_links(atlas: Dataset) -> None:
    def shares(balance: str) -> float:
        wanted = SamplingSettings(shapes=("3p",), train=0, valid=0, test=30, balance=balance)
        table = sample(atlas, wanted, workers=1).splits["test"]
        most = [table.missing[row].max() for row in range(len(table))]
        return float(np.mean(np.array(most) >= 2))

    assert shares("missing") > shares("none")


def test_drawing_by_relation_gives_more_different_relations(atlas: Dataset) -> None:
    def relations(draw: str) -> int:
        wanted = SamplingSettings(shapes=("1p",), train=60, valid=0, test=0, draw=draw)
        plans = sample(atlas, wanted, workers=1).splits["train"].plans
        return len(np.unique(plans.relation))

    assert relations("relation") > relations("fact")


@pytest.mark.parametrize(
    ("facts", "wanted", "message"),
    [
        (
            {"train": [Fact("a", "r", "b")], "test": []},
            {"test": 5, "valid": 0},
            "the test split is empty",
        ),
        ({"train": [Fact("a", "r", "b")]}, {"valid": 5, "test": 0}, "the valid split is empty"),
        (
            {"train": [Fact("a", "r", "b")]},
            {"shapes": ("3cp",), "valid": 0, "test": 0},
            "no fact has enough slots for the shape 3cp",
        ),
    ],
)
def test_what_cannot_be_sampled_is_an_error_in_one_sentence(
    facts: dict[str, list[Fact]], wanted: dict[str, object], message: str
) -> None:
    with pytest.raises(NqeError, match=message):
        sample(Dataset.of(facts), SamplingSettings(**wanted), workers=1)  # type: ignore[arg-type]


def test_splits_of_different_vocabularies_are_refused() -> None:
    graphs = {"train": Graph.of([Fact("a", "r", "b")]), "test": Graph.of([Fact("a", "r", "c")])}
    with pytest.raises(NqeError, match="different vocabularies"):
        Dataset.of_graphs(graphs)


@pytest.mark.parametrize("name", ["match", "draw", "balance"])
def test_an_unknown_setting_lists_the_known_ones(name: str) -> None:
    with pytest.raises(NqeError, match=f"setting {name} is 'wild'; choose one of"):
        SamplingSettings(**{name: "wild"})


def test_a_formula_belongs_to_validation_or_to_test_for_all_seeds(atlas: Dataset) -> None:
    wanted = SamplingSettings(shapes=("2p",), train=0, valid=20, test=40)
    alone = SamplingSettings(shapes=("2p",), train=0, valid=20, test=40, seed=7)
    first, other = (sample(atlas, one, workers=1).splits for one in (wanted, alone))
    valid_of_first = {signature_of(first["valid"].plans.plan(row)) for row in range(20)}
    test_of_other = {signature_of(other["test"].plans.plan(row)) for row in range(40)}
    assert not valid_of_first & test_of_other


def test_balancing_still_gives_the_wanted_number_of_queries(atlas: Dataset) -> None:
    wanted = SamplingSettings(shapes=("2u", "2in"), train=0, valid=0, test=8, balance="missing")
    assert sample(atlas, wanted, workers=1).splits["test"].shape == ("2u",) * 8 + ("2in",) * 8
