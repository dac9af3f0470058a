"""The command `nqe evaluate`: what it prints and saves, and what it refuses."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from helpers import nqe as run_nqe
from helpers import told, well
from random_models import ATLAS, SHAPES, new_run, refuse_command, run_command
from small_runs import write_run

import nqe
from nqe.evaluation import METRICS
from nqe.graph import Dataset
from nqe.sampling import sample, save_queries
from nqe.settings import SamplingSettings

pytestmark = pytest.mark.usefixtures("random_models")


def test_a_report_is_printed_and_saved(random_queries: Path, tmp_path: Path) -> None:
    run = new_run(tmp_path)
    lines = run_command("evaluate", run, random_queries).splitlines()
    assert [line.split("\t")[0] for line in lines[3:]] == [*SHAPES, "AVG_p", "AVG_n", "all"]
    assert lines[1] == "# By shape on test (hard answers, per query, realistic ties, %)"
    [saved] = (run / "reports").iterdir()
    assert saved.name == "test-atlas.queries.json"
    report = json.loads(saved.read_text())["report"]
    assert report["split"] == "test"
    assert report["trained_on"] == "train"
    assert report["benchmark"] is None
    assert report["by_shape"]["2p"]["queries"] == 6


def test_every_grouping_is_printed_on_request(random_queries: Path, tmp_path: Path) -> None:
    run = new_run(tmp_path)
    out = run_command("evaluate", run, random_queries, "--by", "all", "--split", "valid")
    for grouping in ("shape", "slot", "arity", "missing links"):
        assert f"# By {grouping} on valid (" in out
    out = run_command("evaluate", run, random_queries, "--by", "slot", "--by", "arity")
    assert out.count("# By ") == 2


def test_all_formats_show_the_same_numbers(random_queries: Path, tmp_path: Path) -> None:
    run = new_run(tmp_path)
    data = json.loads(run_command("evaluate", run, random_queries, "--json"))
    assert data == json.loads(run_command("evaluate", run, random_queries, "--format", "json"))
    percent = f"{100 * data['by_shape']['2p']['mrr']:.2f}"
    texts = {
        form: run_command("evaluate", run, random_queries, "--format", form)
        for form in ("csv", "markdown", "latex")
    }
    rows = {row[0]: row for row in csv.reader(io.StringIO(texts["csv"]))}
    assert rows["2p"][1] == percent
    assert f"| 2p | {percent} |" in texts["markdown"]
    assert f"2p & {percent} &" in texts["latex"]


def test_a_report_of_some_queries_is_not_saved(random_queries: Path, tmp_path: Path) -> None:
    run = new_run(tmp_path)
    part = ("--shapes", "2p,And(P(P()), P(), Not(P()))", "--limit", "3")
    data = json.loads(run_command("evaluate", run, random_queries, *part, "--json"))
    assert {name: one["queries"] for name, one in data["by_shape"].items()} == {
        "2p": 3,
        "And(P(P()), P(), Not(P()))": 3,
    }
    run_command("evaluate", run, random_queries, "--answers", "easy", "--split", "valid")
    run_command("evaluate", new_run(tmp_path, "bare_a"), random_queries)
    assert [*run.iterdir(), *(tmp_path / "bare_a").iterdir()] == []


def test_what_is_saved_does_not_depend_on_what_is_shown(
    random_queries: Path, tmp_path: Path
) -> None:
    run = new_run(tmp_path)
    shown = ("--ties", "optimistic", "--per", "answer", "--json")
    data = json.loads(run_command("evaluate", run, random_queries, *shown))
    assert (data["ties"], data["per"]) == ("optimistic", "answer")
    report = json.loads((run / "reports" / "test-atlas.queries.json").read_text())["report"]
    assert (report["ties"], report["per"]) == ("realistic", "query")


def test_a_plot_is_drawn(random_queries: Path, tmp_path: Path) -> None:
    picture = tmp_path / "mrr.png"
    run_command("evaluate", new_run(tmp_path), random_queries, "--plot", picture)
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_link_prediction_is_reported_by_parts_of_the_fact(tmp_path: Path) -> None:
    run = new_run(tmp_path)
    words = ("evaluate", run, "atlas", "--link-prediction", "--split", "valid")
    data: dict[str, Any] = json.loads(run_command(*words, "--json"))
    parts = {"all": data["all"], **data["by_part"]}
    assert list(parts) == ["all", "subject_object", "value"]
    for part in parts.values():
        assert set(part) == {*METRICS, "queries", "answers", "intervals"}
    assert parts["all"]["answers"] == sum(one["answers"] for one in data["by_part"].values())
    facts = ATLAS.splits["valid"]
    assert parts["subject_object"]["answers"] == 2 * len(facts)
    assert parts["value"]["answers"] <= len(facts.value)
    assert (data["split"], data["ties"], data["trained_on"]) == ("valid", "realistic", "train")
    out = run_command(*words)
    assert "# Link prediction on valid, trained on train (per answer, realistic ties, %)" in out
    assert "subject/object\t" in out
    assert (run / "reports" / "valid-atlas-link-prediction.json").is_file()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--ties", "lucky"), "--ties is 'lucky'; choose one of realistic"),
        (("--per", "shape"), "--per is 'shape'; choose one of query, answer"),
        (("--by", "colour"), "--by is 'colour'; choose one of shape, slot"),
        (("--answers", "all"), "--answers is 'all'; choose one of hard, easy"),
        (("--format", "word"), "--format is 'word'; choose one of table"),
        (("--device", "tpu"), "--device is 'tpu'; choose one of auto, cpu, cuda"),
        (("--plot", "a.txt"), "a.txt: not a known format of a plot; end the name in .png"),
        (("--shapes", "9p"), "shape '9p' not understood"),
        (("--shapes", "3p"), "no queries of shapes 3p; the split has 1p, 2p"),
        (("--split", "dev"), "no dev queries; the set has train, valid, test"),
        (("--split", "train"), "no query has hard answers to rank; choose"),
        (("--link-prediction", "--limit", "3"), "--limit has no meaning with --link-prediction; "),
        (("--link-prediction", "--facts", "train"), "--facts has no meaning"),
        (("--mode", "exact"), "--mode is 'exact'; choose one of embedding, hybrid"),
        (("--facts", "train"), "--facts has no meaning without --mode hybrid; leave it out"),
        (("--link-prediction",), "not a graph"),
        (("--relations",), "--relations has no meaning without --link-prediction; leave it out"),
    ],
)
def test_what_cannot_be_evaluated_is_refused(
    options: tuple[str, ...], sentence: str, random_queries: Path, tmp_path: Path
) -> None:
    run = new_run(tmp_path)
    assert sentence in refuse_command("evaluate", run, random_queries, *options)
    assert list(run.iterdir()) == []


def test_another_graph_than_the_one_of_the_run_is_refused(tmp_path: Path) -> None:
    run = new_run(tmp_path)
    other = Dataset.of({"train": [nqe.Fact("a", "r", "b")], "test": [nqe.Fact("b", "r", "a")]})
    other.save(tmp_path / "other.graph")
    sentence = refuse_command("evaluate", run, tmp_path / "other.graph", "--link-prediction")
    assert f"belongs to another graph (fingerprint {other.fingerprint}) than" in sentence
    settings = SamplingSettings(shapes=("1p",), train=1, valid=0, test=1)
    queries = tmp_path / "other.queries"
    save_queries(sample(other, settings, workers=1), queries, str(tmp_path / "other.graph"))
    assert "belongs to another graph" in refuse_command("evaluate", run, queries)
    bare = new_run(tmp_path, "bare_a")
    assert "its entities or relations differ" in refuse_command("evaluate", bare, queries)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run of an untrained model, and a query set with all shapes."""
    folder = tmp_path_factory.mktemp("runs")
    write_run(folder / "first", ATLAS, seed=0)
    counts = ("--train", "2", "--valid", "2", "--test", "3", "--workers", "1")
    well(run_nqe("sample", "atlas", "-o", "atlas.queries", *counts, cwd=folder))
    return folder


def test_a_run_on_disk_is_evaluated_on_all_shapes(home: Path) -> None:
    done = run_nqe("evaluate", "first", "atlas.queries", "--json", cwd=home)
    report = json.loads(well(done))
    assert len(report["by_shape"]) == 16
    assert 0 < report["all"]["mrr"] < 0.2
    assert report["trained_on"] == "train"
    assert "first/reports/test-atlas.queries.json: written" in done.err
    best = run_nqe("evaluate", "first/best", "atlas.queries", "--json", cwd=home)
    assert json.loads(well(best))["by_shape"] == report["by_shape"]
    assert best.err == ""
    rows = well(run_nqe("compare", "first", cwd=home)).splitlines()
    assert [row.split("\t")[0] for row in rows[2:]] == ["run", "first"]


def test_link_prediction_of_a_run_on_disk_prints_one_object(home: Path) -> None:
    words = ("evaluate", "first/best", "atlas", "--link-prediction", "--json")
    report = json.loads(well(run_nqe(*words, cwd=home)))
    assert report["by_part"]["subject_object"]["answers"] == 2 * len(ATLAS.splits["test"])
    assert 0 < report["by_part"]["value"]["mrr"] < 0.2


def test_relations_are_ranked_if_the_model_predicts_them(home: Path) -> None:
    write_run(home / "with", ATLAS, seed=0, predict_relations=True)
    words = ("evaluate", "with", "atlas", "--link-prediction", "--split", "valid")
    report = json.loads(well(run_nqe(*words, "--json", cwd=home)))
    parts, facts = report["by_part"], ATLAS.splits["valid"]
    assert parts["main_relation"]["answers"] == len(facts)
    both = parts["main_relation"]["answers"] + parts["attribute"]["answers"]
    assert parts["relation"]["answers"] == both
    assert "main relation\t" in well(run_nqe(*words, cwd=home))
    without = json.loads(well(run_nqe(*words, "--no-relations", "--json", cwd=home)))
    assert list(without["by_part"]) == ["subject_object", "value"]
    assert without["all"] == report["all"]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("nowhere", "atlas.queries"), "not a run or checkpoint"),
        (("atlas.queries", "atlas.queries"), "not a run or checkpoint"),
        (("first", "first"), "not a query set"),
        (("first", "nowhere", "--link-prediction"), "not a graph"),
        (("first", "atlas", "--link-prediction", "--split", "dev"), "no dev split"),
        (("first", "atlas", "--link-prediction", "--relations"), "trained without relations to"),
    ],
)
def test_what_does_not_exist_is_refused_in_one_sentence(
    words: tuple[str, ...], sentence: str, home: Path
) -> None:
    assert sentence in told(run_nqe("evaluate", *words, cwd=home))
