"""Rules with their names: what they are mined from, other graphs, and saved folders."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from small_runs import write_run
from tampering import change_json
from toy_dataset import towns

import nqe
from nqe.errors import NqeError, StorageError
from nqe.graph import Fact, Graph
from nqe.graph.pattern import Pattern, Patterns
from nqe.graph.vocabulary import Description
from nqe.rules import Rules, load_rules
from nqe.rules.rule_table import COLUMNS

DATASET = towns()


@pytest.fixture(scope="module")
def rules() -> Rules:
    return nqe.mine_rules(DATASET)


def predict(rules: Rules, graph: Graph, person: str) -> set[str]:
    """The languages that rules which are no answers alone predict for a person."""
    entities, relations = graph.vocabulary.entities, graph.vocabulary.relations
    pattern = Pattern(relations.to_number("speaks"), (entities.to_number(person), None))
    book = rules.to_book(graph)
    fired = book.fire(Patterns.of([pattern]))
    has_body = book.rules.length[fired.rule] > 0
    return {entities.ids[one] for one in fired.entity[has_body].tolist()}


def test_rules_are_mined_from_the_facts_that_are_named(rules: Rules) -> None:
    assert rules.mined_from.fingerprint == DATASET.fingerprint
    assert rules.mined_from.facts == "train"
    assert rules.mined_from.fact_count == len(DATASET.splits["train"])
    more = nqe.mine_rules(DATASET, "train,valid")
    assert more.mined_from.fact_count == len(DATASET.known("train,valid"))
    assert more != rules
    assert nqe.mine_rules(DATASET.known("train")) == rules


def test_a_graph_on_disk_gives_the_same_rules(rules: Rules, tmp_path: Path) -> None:
    DATASET.save(tmp_path / "graph")
    assert nqe.mine_rules(tmp_path / "graph") == rules


def test_names_that_no_rule_uses_are_left_out() -> None:
    facts = [Fact(f"p{n}", "lives_in", "town") for n in range(3)]
    rules = nqe.mine_rules(Graph.of([*facts, Fact("p0", "knows", "p1")]))
    assert rules.vocabulary.entities.ids == ["town"]
    assert rules.vocabulary.relations.ids == ["knows", "lives_in"]


def test_an_empty_graph_and_a_single_fact_have_no_rules() -> None:
    for facts in ([], [Fact("a", "r", "b")], [Fact("a", "r", "b", (("q", "c"),))]):
        assert len(nqe.mine_rules(Graph.of(facts))) == 0


@pytest.mark.parametrize("facts", ["", "nothing"])
def test_splits_that_do_not_exist_are_refused(facts: str) -> None:
    with pytest.raises(NqeError, match="split"):
        nqe.mine_rules(DATASET, facts)


def test_the_number_of_workers_does_not_change_the_rules(rules: Rules) -> None:
    assert nqe.mine_rules(DATASET, workers=1) == nqe.mine_rules(DATASET, workers=3) == rules


def test_labels_do_not_change_the_rules(rules: Rules) -> None:
    labelled = DATASET.describe({"town1": Description("Zürich"), "speaks": Description("talks")})
    named = nqe.mine_rules(labelled)
    assert named == rules
    assert "Zürich" in named.vocabulary.entities.labels
    assert "talks" in named.vocabulary.relations.labels


def test_a_graph_with_more_names_gets_the_same_predictions(rules: Rules) -> None:
    graph = DATASET.known("train")
    new = [Fact("a_new_person", "lives_in", "town3"), Fact("b", "a_new_relation", "c")]
    grown = Graph.of([*graph, *new])
    assert predict(rules, grown, "person0") == predict(rules, graph, "person0") != set()
    assert "language3" in predict(rules, grown, "a_new_person")


def test_rules_with_entities_that_a_graph_lacks_are_left_out(rules: Rules) -> None:
    graph = DATASET.known("train")
    smaller = Graph.of(fact for fact in graph if "town3" not in (fact.subject, fact.object))
    table = rules.to_table(smaller.vocabulary)
    assert 0 < len(table) < len(rules)
    known = set(smaller.vocabulary.entities.ids)
    own, ids = rules.table, rules.vocabulary.entities.ids
    used = [
        {ids[n] for n in (c, a) if n >= 0} for c, a in zip(own.constant, own.answer, strict=True)
    ]
    assert len(table) == sum(one <= known for one in used)


def test_a_graph_without_a_relation_of_the_rules_is_refused(rules: Rules) -> None:
    other = Graph.of(fact for fact in DATASET.known("train") if fact.relation != "knows")
    with pytest.raises(NqeError, match=r"lacks 1 of the .* 'knows'; give the graph"):
        rules.to_book(other)


def test_rules_that_are_saved_and_loaded_are_equal(rules: Rules, tmp_path: Path) -> None:
    named = nqe.mine_rules(DATASET.describe({"town1": Description("Zürich")}))
    for one in (rules, named, nqe.mine_rules(Graph.of([]))):
        one.save(tmp_path / "rules")
        loaded = load_rules(tmp_path / "rules")
        assert loaded == one
        assert loaded.mined_from == one.mined_from
        assert loaded.vocabulary.entities.labels == one.vocabulary.entities.labels
        for column in COLUMNS:
            assert np.array_equal(getattr(loaded.table, column), getattr(one.table, column))


def test_other_files_are_never_replaced(rules: Rules, tmp_path: Path) -> None:
    DATASET.save(tmp_path / "graph")
    with pytest.raises(StorageError, match="holds other files"):
        rules.save(tmp_path / "graph")


def test_what_is_no_folder_of_rules_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="not a rules folder"):
        load_rules(tmp_path / "missing")
    DATASET.save(tmp_path / "graph")
    with pytest.raises(StorageError, match="not a rules folder"):
        load_rules(tmp_path / "graph")


@pytest.mark.parametrize("name", ["rules", "kinds", "entities", "relations"])
def test_a_damaged_file_is_noticed(rules: Rules, tmp_path: Path, name: str) -> None:
    rules.save(tmp_path / "rules")
    path = tmp_path / "rules" / f"{name}.parquet"
    path.write_bytes(path.read_bytes()[:-9] + b"123456789")
    with pytest.raises(StorageError, match=r"damaged.*mine the rules again"):
        load_rules(tmp_path / "rules")
    [problem] = nqe.check(tmp_path / "rules").problems
    assert "damaged" in problem


def test_a_changed_manifest_is_noticed(rules: Rules, tmp_path: Path) -> None:
    rules.save(tmp_path / "rules")
    change_json(tmp_path / "rules" / "manifest.json", facts="test")
    with pytest.raises(StorageError, match="damaged"):
        load_rules(tmp_path / "rules")


def test_a_folder_that_was_written_passes_the_check(rules: Rules, tmp_path: Path) -> None:
    rules.save(tmp_path / "rules")
    assert nqe.check(tmp_path / "rules").problems == ()


@pytest.mark.parametrize(
    ("column", "value", "told"),
    [
        ("head", -1, "head"),
        ("head", 10_000, "head"),
        ("body", -2, "body"),
        ("body", 10_000, "body"),
        ("constant", 10_000, "constant"),
        ("answer", -2, "answer"),
        ("constant", 0, "form"),
        ("support", -1, "support"),
        ("support", 10**9, "support"),
    ],
)
def test_numbers_that_no_rule_can_have_are_refused(
    rules: Rules, tmp_path: Path, column: str, value: int, told: str
) -> None:
    """The numbers are changed before the folder is written, so that all digests are right."""
    row = int(np.flatnonzero(rules.table.is_walk)[0])
    changed = getattr(rules.table, column).copy()
    changed[row] = value
    columns = {name: getattr(rules.table, name) for name in COLUMNS} | {column: changed}
    table = type(rules.table)(rules.table.kinds, **columns)
    Rules(table, rules.vocabulary, rules.mined_from).save(tmp_path / "rules")
    with pytest.raises(StorageError, match=f"damaged .*{told}.*; mine the rules again"):
        load_rules(tmp_path / "rules")


def test_a_body_with_a_gap_is_refused(rules: Rules, tmp_path: Path) -> None:
    row = int(np.flatnonzero(rules.table.length == 2)[0])
    body = rules.table.body.copy()
    body[row] = [-1, *body[row, :2]]
    columns = {name: getattr(rules.table, name) for name in COLUMNS} | {"body": body}
    table = type(rules.table)(rules.table.kinds, **columns)
    Rules(table, rules.vocabulary, rules.mined_from).save(tmp_path / "rules")
    with pytest.raises(StorageError, match="body"):
        load_rules(tmp_path / "rules")


def test_mining_needs_no_torch(tmp_path: Path) -> None:
    code = (
        "import sys, nqe\n"
        "from nqe.graph import Fact, Graph\n"
        "nqe.mine_rules(Graph.of([Fact('a', 'r', 'b')])).save('rules')\n"
        "nqe.load_rules('rules')\n"
        "print('torch' in sys.modules)"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
    assert done.stdout.strip() == b"False", done.stderr


def test_the_rules_of_a_run_are_checked_with_it(rules: Rules, tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", DATASET, seed=1)
    (run / "metrics.jsonl").touch()
    before = nqe.check(run)
    rules.save(run / "rules")
    checked = nqe.check(run)
    assert checked.problems == ()
    assert checked.files == before.files + 5
    (run / "rules" / "kinds.parquet").unlink()
    [problem] = nqe.check(run).problems
    assert "kinds.parquet: cannot be read" in problem
