"""Rules in words: atoms of the query language in labels, with the counts."""

from __future__ import annotations

import pytest
from rule_brute_force import all_rules_kept

import nqe
from nqe.graph import Fact, Graph
from nqe.graph.vocabulary import Description
from nqe.query import parse
from nqe.rules import Rules, RuleText


def list_texts(facts: list[Fact], **labels: str) -> dict[str, RuleText]:
    """All rules of some facts, however rare, by their logic."""
    graph = Graph.of(facts).describe({one: Description(label) for one, label in labels.items()})
    with all_rules_kept():
        rules = nqe.mine_rules(graph, workers=1)
    texts = [rules.describe(row) for row in range(len(rules))]
    assert len({str(text) for text in texts}) == len(texts)
    return {str(text): text for text in texts}


WORK = [
    Fact("Ann", "employer", "Acme"),
    Fact("Acme", "located_in", "Ulm"),
    Fact("Ann", "lives_in", "Ulm"),
]
AWARDS = [
    Fact("Marie", "award", "Nobel", (("together_with", "Pierre"),)),
    Fact("Marie", "spouse", "Pierre"),
    Fact("Prize", "won_by", "Paul", (("team", "A"), ("team", "B"))),
    Fact("A", "rival", "B"),
]


@pytest.mark.parametrize(
    ("facts", "rule", "words"),
    [
        (
            WORK,
            "lives_in(?x, ?y) <- employer(?x, ?z) and located_in(?z, ?y)",
            "1 of 1 pairs with employer(?x, ?z) and located_in(?z, ?y) and any lives_in(?x, ?a) "
            "have lives_in(?x, ?y)",
        ),
        (
            WORK,
            "lives_in(?x, Ulm) <- employer(?x, Acme)",
            "1 of 1 with employer(?x, Acme) and any lives_in(?x, ?a) have lives_in(?x, Ulm)",
        ),
        (WORK, "lives_in(?x, Ulm)", "1 of 1 with any lives_in(?x, ?a) have lives_in(?x, Ulm)"),
        (
            AWARDS,
            "award(?x, ?a; together_with: ?y) <- spouse(?x, ?y)",
            "1 of 1 pairs with spouse(?x, ?y) and any award(?x, ?c; together_with: ?b) "
            "have award(?x, ?a; together_with: ?y)",
        ),
        (
            AWARDS,
            "won_by(?a, ?b; team: ?x, team: ?y) <- rival(?x, ?y)",
            "1 of 1 pairs with rival(?x, ?y) and any won_by(?d, ?e; team: ?x, team: ?c) "
            "have won_by(?a, ?b; team: ?x, team: ?y)",
        ),
        (
            [Fact("a", "p", "b", (("q", year),)) for year in ("1990", "2000")],
            "p(?x, ?y) <- p(?x, ?y) by another fact",
            "1 of 1 pairs with p(?x, ?y) and any p(?x, ?a) have p(?x, ?y) by another fact",
        ),
    ],
)
def test_a_rule_reads_like_the_query_language(facts: list[Fact], rule: str, words: str) -> None:
    assert list_texts(facts)[rule].words == words


def test_names_are_labels() -> None:
    texts = list_texts(WORK, Acme="Acme Inc.", lives_in="lives in")
    assert "lives in(?x, Ulm) <- employer(?x, Acme Inc.)" in texts
    assert texts["lives in(?x, Ulm) <- employer(?x, Acme Inc.)"].relation == "lives_in"


def test_the_head_and_the_body_can_be_asked() -> None:
    text = list_texts(AWARDS)["award(?x, ?a; together_with: ?y) <- spouse(?x, ?y)"]
    for atom in (text.head, text.open_head, *text.body):
        assert parse(f"?x: {atom}").graph.targets


def test_json_has_the_rule_its_words_and_its_counts() -> None:
    text = list_texts(WORK)["lives_in(?x, Ulm)"]
    assert text.to_json() == {
        "rule": "lives_in(?x, Ulm)",
        "words": text.words,
        "relation": "lives_in",
        "support": 1,
        "predictions": 1,
        "confidence": 1 / 6,
    }


def test_a_rule_of_three_edges_has_variables_of_its_own() -> None:
    chain = [Fact(one, "p", other) for one, other in (("a", "b"), ("b", "c"), ("c", "d"))]
    texts = list_texts([*chain, Fact("a", "q", "d")])
    assert "q(?x, ?y) <- p(?x, ?z) and p(?z, ?w) and p(?w, ?y)" in texts


def test_rules_are_found_by_relation_and_counts() -> None:
    facts = [Fact(f"e{n % 9}", f"r{n % 2}", f"e{n * 5 % 11}", (("q", "e1"),)) for n in range(60)]
    rules = nqe.mine_rules(Graph.of(facts), workers=1)
    every = [rules.describe(row) for row in rules.find()]
    assert len(every) == len(rules)
    assert [one.confidence for one in every] == sorted((o.confidence for o in every), reverse=True)
    chosen = [rules.describe(row) for row in rules.find("r1", least_support=4)]
    likely = [rules.describe(row) for row in rules.find(least_confidence=0.3)]
    assert chosen == [one for one in every if one.relation == "r1" and one.support >= 4] != []
    assert likely == [one for one in every if one.confidence >= 0.3] != []
    with pytest.raises(nqe.NqeError, match="no relation is called 'r9'"):
        rules.find("r9")


def test_rules_show_what_they_are() -> None:
    rules = nqe.mine_rules(Graph.of(WORK))
    assert isinstance(rules, Rules)
    assert repr(rules) == "<Rules: 0, mined from 3 facts (all)>"
