"""Sampled queries that are no trees: answers against enumeration, seeds, splits and errors."""

from __future__ import annotations

from dataclasses import replace

import pytest
from brute_force import count_missing_links, find_rows
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from strategies import small_facts

import nqe
from nqe.errors import NqeError
from nqe.graph import Dataset, Fact
from nqe.query import Query, bind
from nqe.query.join_plan import JoinPlan
from nqe.sampling import PATTERNS, RowQuery, RowQuerySet, choose_preset, row_sampler, sample_rows
from nqe.sampling.row_answers import KNOWN
from nqe.sampling.row_query import ask_for
from nqe.sampling.row_storage import save_row_queries
from nqe.sampling.signature import signature_of_query
from nqe.settings import SamplingSettings

FEW = SamplingSettings(
    shapes=tuple(PATTERNS), match="any", train=0, valid=3, test=5, max_answers=100
)
splits = st.fixed_dictionaries(
    {name: st.lists(small_facts, min_size=6, max_size=16) for name in ("train", "valid", "test")}
)


@pytest.fixture(scope="module")
def atlas() -> Dataset:
    return nqe.demo_dataset()


@pytest.fixture(scope="module")
def sampled(atlas: Dataset) -> RowQuerySet:
    return sample_rows(atlas, FEW)


def to_ids(rows, dataset: Dataset) -> list[tuple[str, ...]]:
    ids = dataset.vocabulary.entities.ids
    return [tuple(ids[number] for number in row) for row in rows.tolist()]


@given(splits, st.sampled_from(list(PATTERNS)), st.sampled_from(["open", "any"]))
@settings(max_examples=40, suppress_health_check=list(HealthCheck))
def test_rows_and_missing_links_are_those_of_enumeration(
    facts: dict[str, list[Fact]], pattern: str, match: str
) -> None:
    dataset = Dataset.of(facts)
    wanted = SamplingSettings(shapes=(pattern,), valid=2, test=2, match=match)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(row_sampler, "MAX_BARREN", 60)
        queries = sample_rows(dataset, wanted)
    for split, found in queries.splits.items():
        full, known = dataset.full_for(split), dataset.known_for(split)
        for one in found:
            graph = one.query.graph
            rows, before = find_rows(graph, full), find_rows(graph, known)
            assert to_ids(one.hard, dataset) == sorted(rows - before)
            assert to_ids(one.easy, dataset) == sorted(rows & before)
            links = count_missing_links(graph, full, known)
            assert one.missing.tolist() == [links[row] for row in to_ids(one.hard, dataset)]
            check_links_of_targets(one, dataset, split)


def check_links_of_targets(one: RowQuery, dataset: Dataset, split: str) -> None:
    """Compare the missing links of each target's question with enumeration."""
    full, known = dataset.full_for(split), dataset.known_for(split)
    for row, links in zip(to_ids(one.hard, dataset), one.missing_of_targets.tolist(), strict=True):
        for place, target in enumerate(one.query.targets):
            values = dict(zip(one.query.targets, row, strict=True))
            del values[target]
            graph = ask_for(one.query, target, values).graph
            expected = count_missing_links(graph, full, known)[row[place],]
            if (row[place],) in find_rows(graph, known):
                expected = KNOWN
            assert links[place] == expected


def test_every_pattern_has_the_wanted_number_of_queries_with_hard_rows(
    sampled: RowQuerySet,
) -> None:
    for split, count in (("valid", 3), ("test", 5)):
        names = [one.pattern for one in sampled.splits[split]]
        assert {name: names.count(name) for name in PATTERNS} == dict.fromkeys(PATTERNS, count)
        for one in sampled.splits[split]:
            assert len(one.hard) > 0
            assert len(one.hard) + len(one.easy) <= FEW.max_answers
            assert (one.missing >= 1).all()
            assert (one.missing_of_targets != KNOWN).any(axis=1).all()


def test_no_query_is_a_tree(sampled: RowQuerySet, atlas: Dataset) -> None:
    for queries in sampled.splits.values():
        for one in queries:
            assert isinstance(bind(one.query, atlas), JoinPlan), one.query.text


def test_each_query_has_the_links_and_the_condition_of_its_pattern(sampled: RowQuerySet) -> None:
    for one in sampled.splits["test"]:
        pattern = PATTERNS[one.pattern]
        atoms = one.query.graph.scope.atoms
        assert tuple(target.name for target in one.query.targets) == pattern.targets
        linked = [{name.name for name in atom.variables} for atom in atoms]
        for place, pair in enumerate(pattern.links):
            assert linked[place] == set(pair)
        assert linked[len(pattern.links) :] == [{name} for name in pattern.anchored]
        conditions = len(one.query.graph.scope.conditions) - len(atoms)
        added = (pattern.absent, pattern.different, pattern.another)
        assert conditions == sum(part is not None for part in added)


def test_the_same_seed_gives_the_same_bytes_and_another_seed_other_queries(
    atlas: Dataset, sampled: RowQuerySet, tmp_path
) -> None:
    again = sample_rows(atlas, FEW)
    other = sample_rows(atlas, replace(FEW, seed=1))
    for name, queries in (("one", sampled), ("again", again), ("other", other)):
        save_row_queries(queries, tmp_path / name)
    one, same, differs = (
        (tmp_path / name / "test.jsonl").read_bytes() for name in ("one", "again", "other")
    )
    assert one == same
    assert one != differs


def test_no_query_is_in_both_splits_and_none_is_drawn_twice(sampled: RowQuerySet) -> None:
    signatures = [
        signature_of_query(one.query) for queries in sampled.splits.values() for one in queries
    ]
    assert len(set(signatures)) == len(signatures)


def test_conditions_change_the_rows_of_every_query_that_has_one(
    sampled: RowQuerySet, atlas: Dataset
) -> None:
    for one in sampled.splits["test"]:
        atoms = one.query.graph.scope.atoms
        if len(atoms) == len(one.query.graph.scope.conditions):
            continue
        formula = atoms[0]
        for atom in atoms[1:]:
            formula = formula & atom
        plain = nqe.execute(Query(one.query.targets, formula), atlas)
        assert len(plain) > len(nqe.execute(one.query, atlas))


def test_the_preset_draws_all_patterns_and_none_for_training() -> None:
    preset = choose_preset("beyond-trees")
    assert preset.shapes == tuple(PATTERNS)
    assert preset.train == 0
    assert preset.test * len(PATTERNS) == 2_000


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"shapes": ("triangle", "2p")}, "triangle is no tree, and 2p is not the name of such"),
        ({"shapes": ("2p",)}, "no pattern is named"),
        ({"shapes": ()}, "no pattern is named"),
        ({"train": 5}, "no model is trained on queries that are no trees"),
        ({"slots": ("object",)}, "--slots has no meaning for 2-cycle"),
        ({"balance": "missing"}, "--balance has no meaning"),
        ({"train_answers": 5}, "--train-answers has no meaning"),
        ({"valid": 0, "test": 0}, "no queries are asked for"),
    ],
)
def test_what_cannot_be_sampled_is_refused(
    changes: dict[str, object], sentence: str, atlas: Dataset
) -> None:
    with pytest.raises(NqeError, match=sentence):
        sample_rows(atlas, replace(FEW, **changes))


def test_an_empty_split_is_refused() -> None:
    dataset = Dataset.of({"train": [Fact("a", "r", "b")]})
    with pytest.raises(NqeError, match="the test split is empty"):
        sample_rows(dataset, replace(FEW, valid=0))


def test_the_sampler_of_trees_refuses_patterns(atlas: Dataset) -> None:
    with pytest.raises(NqeError, match="triangle is no tree; draw it with nqe"):
        nqe.sample(atlas, SamplingSettings(shapes=("triangle",)))


def test_a_pattern_that_the_graph_does_not_have_gives_no_queries() -> None:
    facts = [Fact(f"a{n}", "r", f"a{n + 1}") for n in range(12)]
    dataset = Dataset.of({"train": facts[:6], "test": facts[6:]})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(row_sampler, "MAX_BARREN", 40)
        found = sample_rows(dataset, SamplingSettings(shapes=("triangle",), valid=0, test=2))
    assert found.splits["test"] == ()
    assert found.refused["test"]["triangle"] == {"walks that came to a dead end": 40}
