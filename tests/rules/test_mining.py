"""Mining rules: every count agrees with plain loops over tiny graphs."""

from __future__ import annotations

from functools import partial
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rule_brute_force import (
    BruteForce,
    all_rules_kept,
    all_walks_followed,
    few_targets,
    list_counts,
    tiny_graphs,
)

from nqe.graph import Fact, Graph
from nqe.graph.vocabulary import Names, Vocabulary
from nqe.rules import MinedFrom, Rules, mining
from nqe.rules.edges import Edges
from nqe.rules.mining import mine_table
from nqe.rules.walks import split_entities, walk

FEW = settings(max_examples=25)
SOURCE = MinedFrom(None, "all", 0)


@FEW
@given(tiny_graphs, st.sampled_from([None, 7]), st.sampled_from([1, 2]))
def test_counts_agree_with_brute_force(graph: Graph, part: int | None, workers: int) -> None:
    with all_rules_kept(part):
        assert list_counts(mine_table(graph, workers=workers)) == BruteForce(graph).count_all()


@FEW
@given(tiny_graphs, st.sampled_from([1, 2]))
def test_counts_agree_with_brute_force_where_many_edges_are_left_out(
    graph: Graph, most: int
) -> None:
    with all_rules_kept(), few_targets(most):
        assert list_counts(mine_table(graph, workers=1)) == BruteForce(graph).count_all()


@FEW
@given(tiny_graphs)
def test_walks_are_all_those_that_visit_no_entity_twice(graph: Graph) -> None:
    edges, plain = (
        Edges.of(graph.facts, graph.entity_count, graph.relation_count),
        BruteForce(graph),
    )
    for length in (1, 2, 3):
        found = walk(edges, np.arange(graph.entity_count), length)
        paths = [
            tuple((int(edges.fact[one]), int(edges.target[one])) for one in row)
            for row in found.edges
        ]
        expected = [
            tuple((one.fact, one.target) for one in path)
            for start in range(graph.entity_count)
            for path in plain.walk(start, length)
        ]
        assert sorted(paths) == sorted(expected)


@FEW
@given(tiny_graphs)
def test_rare_rules_are_those_that_are_left_out(graph: Graph) -> None:
    with pytest.MonkeyPatch.context() as patch, all_walks_followed():
        patch.setattr(mining, "drop_redundant", lambda table: table)
        found = list_counts(mine_table(graph, workers=1))
    least = {0: mining.LEAST_SUPPORT[1], **mining.LEAST_SUPPORT}
    likely = np.broadcast_to(mining.LEAST_CONFIDENCE, len(least))
    expected = {
        key: (support, predictions)
        for key, (support, predictions) in BruteForce(graph).count_all().items()
        if support >= least[len(key[1])] and support / (predictions + 5) >= likely[len(key[1])]
    }
    assert found == expected


def test_a_fact_is_never_evidence_for_itself() -> None:
    """All that these facts say of x and y is said by one fact each."""
    facts = [Fact(f"x{n}", "p", f"y{n}", (("q", f"z{n}"),)) for n in range(5)]
    with all_rules_kept():
        table = mine_table(Graph.of(facts), workers=1)
    assert not (table.length > 0).any()


def test_the_same_statement_with_other_qualifiers_is_evidence() -> None:
    facts = [Fact("x", "p", "y", (("q", year),)) for year in ("1990", "2000")]
    with all_rules_kept():
        counts = list_counts(mine_table(Graph.of(facts), workers=1))
    kind = (0, 0, 1)
    assert counts[kind, (kind,), -1, -1] == (1, 1)


@FEW
@given(tiny_graphs, st.randoms(use_true_random=False))
def test_the_numbers_of_names_do_not_change_the_rules(graph: Graph, random: Random) -> None:
    shuffled = renumber(graph, random)
    with all_rules_kept():
        one, other = (
            Rules.of(mine_table(each, workers=1), each.vocabulary, SOURCE)
            for each in (graph, shuffled)
        )
    assert one == other


def renumber(graph: Graph, random: Random) -> Graph:
    """The same facts with other numbers for all entities and relations."""
    names, place = {}, {}
    for kind, own in (
        ("entity", graph.vocabulary.entities),
        ("relation", graph.vocabulary.relations),
    ):
        order = list(range(len(own)))
        random.shuffle(order)
        names[kind] = Names.of(kind, [own.ids[number] for number in order])
        place[kind] = np.argsort(order)
    moved = graph.facts.renumber(place["entity"], place["relation"])
    return Graph(Vocabulary(names["entity"], names["relation"]), moved)


def test_a_sample_of_the_walks_does_not_depend_on_workers_or_parts() -> None:
    facts = [Fact(f"e{n % 40}", f"r{n % 3}", f"e{n * 7 % 41}") for n in range(300)]
    graph = Graph.of(facts)
    whole = mine_table(graph, workers=1)
    with pytest.MonkeyPatch.context() as patch:
        for length in mining.MOST_WALKS:
            patch.setitem(mining.MOST_WALKS, length, 500)
        patch.setattr(mining, "MOST_PAIRS", 500)
        sampled = list_counts(mine_table(graph, workers=1))
        patch.setattr(mining, "split_entities", partial(split_entities, rows=50))
        assert list_counts(mine_table(graph, workers=3)) == sampled
    assert 0 < len(sampled) < len(whole)


def test_rules_of_one_head_stand_together_the_likeliest_first() -> None:
    facts = [Fact(f"e{n % 9}", f"r{n % 2}", f"e{n * 5 % 11}", (("q", "e1"),)) for n in range(60)]
    table = mine_table(Graph.of(facts), workers=1)
    falls = np.diff(table.confidence) <= 0
    assert len(table) > 50
    assert (np.diff(table.head) >= 0).all()
    assert falls[np.diff(table.head) == 0].all()
