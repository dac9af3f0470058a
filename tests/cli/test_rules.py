"""`nqe rules`: mined or saved rules are listed in words."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from helpers import nqe, told, well
from small_runs import write_run
from toy_dataset import towns

import nqe as package
from nqe.graph.vocabulary import Description

DATASET = towns().describe({"lives_in": Description("lives in", None, ("resides",))})


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a graph and the rules of its train facts."""
    folder = tmp_path_factory.mktemp("rules")
    DATASET.save(folder / "graph")
    package.mine_rules(DATASET).save(folder / "rules")
    return folder


def list_json(text: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in text.splitlines()]


def test_rules_are_listed_the_likeliest_first_and_the_rest_is_counted(place: Path) -> None:
    run = nqe("rules", "graph", "--relation", "speaks", "--top", "3", cwd=place)
    rules = package.load_rules(place / "rules")
    rows = rules.find("speaks")
    header, *lines = well(run).splitlines()
    assert header == "confidence\trule"
    assert [line.split("\t")[1] for line in lines] == [
        rules.describe(row).words for row in rows[:3]
    ]
    assert f"… and {len(rows) - 3:,} more (--top)\n{len(rows):,} rule(s)" in run.err


def test_json_and_csv_have_all_rules(place: Path) -> None:
    listed = list_json(well(nqe("rules", "rules", "--json", cwd=place)))
    rules = package.load_rules(place / "rules")
    assert listed == [rules.describe(row).to_json() for row in rules.find()]
    table = well(nqe("rules", "rules", "--csv", cwd=place))
    cells = list(csv.DictReader(io.StringIO(table)))
    assert [row["rule"] for row in cells] == [one["rule"] for one in listed]
    assert [float(row["confidence"]) for row in cells] == [one["confidence"] for one in listed]


def test_only_frequent_and_likely_rules_are_listed_if_wanted(place: Path) -> None:
    options = ("--least-support", "4", "--least-confidence", "0.3", "--json")
    every = list_json(well(nqe("rules", "rules", "--json", cwd=place)))
    chosen = list_json(well(nqe("rules", "rules", *options, cwd=place)))
    likely = [one for one in every if one["support"] >= 4 and one["confidence"] >= 0.3]  # type: ignore[operator]
    assert chosen == likely != every


def test_a_relation_is_named_by_id_label_or_alias(place: Path) -> None:
    texts = [
        well(nqe("rules", "graph", "--relation", name, "--json", cwd=place))
        for name in ("lives_in", "lives in", "resides")
    ]
    assert texts[0] == texts[1] == texts[2] != ""


def test_rules_are_saved_and_read_again(place: Path, tmp_path: Path) -> None:
    saved = tmp_path / "saved"
    run = nqe("rules", place / "graph", "--top", "1", "-o", saved, cwd=tmp_path)
    assert f"{saved}: written" in run.err
    assert package.load_rules(saved) == package.load_rules(place / "rules")
    again = nqe("rules", saved, "--top", "1", cwd=tmp_path)
    assert well(again) == well(run)


def test_other_facts_can_be_mined(place: Path, tmp_path: Path) -> None:
    well(nqe("rules", place / "graph", "--facts", "all", "-o", "r", cwd=tmp_path))
    mined_from = package.load_rules(tmp_path / "r").mined_from
    assert (mined_from.facts, mined_from.fact_count) == ("all", len(DATASET.graph))


def test_the_rules_of_a_run_are_read_from_it(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", DATASET, seed=1)
    package.mine_rules(DATASET, "train,valid").save(run / "rules")
    own = well(nqe("rules", "run", "--top", "5", cwd=tmp_path))
    assert own == well(nqe("rules", run / "rules", "--top", "5", cwd=tmp_path))
    (run / "rules" / "manifest.json").unlink()
    assert "not a rules folder" in told(nqe("rules", "run", cwd=tmp_path))


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["rules", "--facts", "all"], "--facts has no meaning for rules that are saved"),
        (["rules", "--workers", "2"], "--workers has no meaning for rules that are saved"),
        (["rules", "--relation", "nothing"], "no relation is called 'nothing'"),
        (["graph", "--relation", "nothing"], "no relation is called 'nothing'"),
        (["graph", "--json", "--csv"], "--json and --csv are both given"),
        (["graph", "-o", "graph"], "holds other files"),
        (["nowhere"], "not a graph folder"),
    ],
    ids=" ".join,
)
def test_what_cannot_be_done_is_one_sentence(
    place: Path, arguments: list[str], expected: str
) -> None:
    assert expected in told(nqe("rules", *arguments, cwd=place))


def test_a_graph_without_rules_lists_none(tmp_path: Path) -> None:
    (tmp_path / "train.txt").write_text("a,r,b\n")
    well(nqe("import", "train.txt", "-o", "g", cwd=tmp_path))
    run = nqe("rules", "g", cwd=tmp_path)
    assert well(run) == ""
    assert run.err == "0 rule(s)\n"
