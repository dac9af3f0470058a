"""evaluate and compare, as typed, with a model that scores at random."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor
from typer.testing import CliRunner

import nqe
from nqe.cli.app import app
from nqe.cli.models import RunModel
from nqe.errors import NqeError
from nqe.graph import Dataset
from nqe.query.step_table import StepTable
from nqe.sampling import sample, save_queries
from nqe.settings import SamplingSettings

SHAPES = ("1p", "2p", "2in", "And(P(P()), P(), Not(P()))")
ATLAS = nqe.demo_dataset()


class RandomRunner:
    """Scores that depend on the seed and the relation of a query alone."""

    def __init__(self, seed: int, entity_count: int) -> None:
        random = torch.Generator().manual_seed(seed)
        self.scores = torch.randn(997, entity_count, generator=random)
        self.entity_count = entity_count

    def run(self, plans: StepTable) -> Scored:
        relation = plans.relation[plans.targets]
        return Scored(self.scores[torch.from_numpy(relation) % len(self.scores)])


class Scored:
    def __init__(self, scores: Tensor) -> None:
        self.scores = scores

    def block(self, first: int, last: int) -> Tensor:
        return self.scores[:, first:last]


class RandomModel(RunModel):
    """A model of which the vocabulary alone is there."""

    @property
    def runner(self) -> RandomRunner:
        return RandomRunner(ord(self.place[-1]), len(ATLAS.vocabulary.entities))


NAMES: Any = SimpleNamespace(vocabulary=ATLAS.vocabulary)


@pytest.fixture(scope="module")
def queries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("evaluated") / "atlas.queries"
    settings = SamplingSettings(shapes=SHAPES, train=3, valid=4, test=6)
    save_queries(sample(ATLAS, settings, workers=1), folder, "atlas")
    return folder


@pytest.fixture(autouse=True)
def models(monkeypatch: pytest.MonkeyPatch) -> None:
    """A model for every folder: the last letter of its name is the seed."""

    def load(run: str, device: str) -> RandomModel:
        assert device == "auto"
        bare = "bare" in run
        return RandomModel(
            place=run,
            model=NAMES,
            named="atlas",
            fingerprint=None if bare else ATLAS.fingerprint,
            trained_on="train",
            is_run=not bare,
        )

    monkeypatch.setattr(RunModel, "load", load)


def typed(*words: str | Path) -> str:
    """What a command prints that ends well."""
    done = CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def told(*words: str | Path) -> str:
    """The sentence that a command ends with."""
    with pytest.raises(NqeError) as error:
        typed(*words)
    assert "; " in str(error.value)
    return str(error.value)


def run_in(folder: Path, name: str = "run_a") -> Path:
    (folder / name).mkdir()
    return folder / name


def test_a_report_is_printed_and_kept(queries: Path, tmp_path: Path) -> None:
    run = run_in(tmp_path)
    lines = typed("evaluate", run, queries).splitlines()
    assert [line.split("\t")[0] for line in lines[3:]] == [*SHAPES, "AVG_p", "AVG_n", "all"]
    assert "hard answers, per query, realistic ties" in lines[1]
    [kept] = (run / "reports").iterdir()
    assert kept.name == "test-atlas.queries.json"
    report = json.loads(kept.read_text())["report"]
    assert report["trained_on"] == "train"
    assert report["benchmark"] is None
    assert report["by_shape"]["2p"]["queries"] == 6


def test_every_group_is_printed_on_request(queries: Path, tmp_path: Path) -> None:
    out = typed("evaluate", run_in(tmp_path), queries, "--by", "all")
    for heading in ("# By shape", "# By slot", "# By arity", "# By missing links"):
        assert heading in out
    out = typed("evaluate", tmp_path / "run_a", queries, "--by", "slot", "--by", "arity")
    assert out.count("# By ") == 2


def test_forms_tell_the_same_numbers(queries: Path, tmp_path: Path) -> None:
    run = run_in(tmp_path)
    data = json.loads(typed("evaluate", run, queries, "--json"))
    assert data == json.loads(typed("evaluate", run, queries, "--format", "json"))
    percent = f"{100 * data['by_shape']['2p']['mrr']:.2f}"
    rows = {row[0]: row for row in csv.reader(io.StringIO(typed(*form("csv", run, queries))))}
    assert rows["2p"][1] == percent
    assert f"| 2p | {percent} |" in typed(*form("markdown", run, queries))
    assert f"2p & {percent} &" in typed(*form("latex", run, queries))


def form(name: str, *words: Path) -> tuple[str | Path, ...]:
    return ("evaluate", *words, "--format", name)


def test_a_part_is_not_kept(queries: Path, tmp_path: Path) -> None:
    run = run_in(tmp_path)
    shapes = "2p,And(P(P()), P(), Not(P()))"
    data = json.loads(typed("evaluate", run, queries, "--shapes", shapes, "--limit", "3", "--json"))
    assert {name: one["queries"] for name, one in data["by_shape"].items()} == {
        "2p": 3,
        "And(P(P()), P(), Not(P()))": 3,
    }
    typed("evaluate", run, queries, "--answers", "easy", "--split", "valid")
    typed("evaluate", run_in(tmp_path, "bare_a"), queries)
    assert [*run.iterdir(), *(tmp_path / "bare_a").iterdir()] == []


def test_what_is_kept_does_not_depend_on_what_is_shown(queries: Path, tmp_path: Path) -> None:
    run = run_in(tmp_path)
    data = json.loads(
        typed("evaluate", run, queries, "--ties", "optimistic", "--per", "answer", "--json")
    )
    assert (data["ties"], data["per"]) == ("optimistic", "answer")
    report = json.loads((run / "reports" / "test-atlas.queries.json").read_text())["report"]
    assert (report["ties"], report["per"]) == ("realistic", "query")


def test_a_picture_is_drawn(queries: Path, tmp_path: Path) -> None:
    picture = tmp_path / "mrr.png"
    typed("evaluate", run_in(tmp_path), queries, "--plot", picture)
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_link_prediction_is_told_by_slots(tmp_path: Path) -> None:
    run = run_in(tmp_path)
    words = ("evaluate", run, "atlas", "--link-prediction", "--split", "valid")
    data: dict[str, Any] = json.loads(typed(*words, "--json"))
    for part in ("all", "subject_object", "value"):
        assert set(data[part]) == {"mrr", "hits@1", "hits@3", "hits@10", "count"}
    assert data["all"]["count"] == data["subject_object"]["count"] + data["value"]["count"]
    facts = ATLAS.splits["valid"]
    assert data["subject_object"]["count"] == 2 * len(facts)
    assert data["value"]["count"] <= len(facts.value)
    assert (data["split"], data["ties"], data["trained_on"]) == ("valid", "realistic", "train")
    assert "subject/object\t" in typed(*words)
    assert (run / "reports" / "valid-atlas-link-prediction.json").is_file()


def test_runs_are_compared(queries: Path, tmp_path: Path) -> None:
    runs = [run_in(tmp_path, f"run_{letter}") for letter in "ab"]
    mrr = {}
    for run in runs:
        data = json.loads(typed("evaluate", run, queries, "--json"))
        mrr[run.name] = round(100 * data["by_shape"]["1p"]["mrr"], 2)
    data = json.loads(typed("compare", *runs, "--json"))
    assert {row["run"]: row["1p"] for row in data["rows"]} == mrr
    out = typed("compare", *runs, "--benchmark", "wd50k-nfol", "--format", "markdown")
    assert "| NQE (paper) | **55.90** |" in out
    assert "*\t" in typed("compare", *runs, "--measure", "hits@10") + "\t"
    again = tmp_path / "other" / "run_a"
    again.mkdir(parents=True)
    typed("evaluate", again, queries)
    names = [row["run"] for row in json.loads(typed("compare", *runs, again, "--json"))["rows"]]
    assert names == [str(runs[0]), "run_b", str(again)]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--ties", "lucky"), "unknown tie policy 'lucky'; choose one of realistic"),
        (("--per", "shape"), "--per is 'shape'; choose one of query, answer"),
        (("--by", "colour"), "--by is 'colour'; choose one of shape, slot"),
        (("--answers", "all"), "--answers is 'all'; choose one of hard, easy"),
        (("--format", "word"), "--format is 'word'; choose one of table"),
        (("--device", "tpu"), "--device is 'tpu'; choose one of auto, cpu, cuda"),
        (("--plot", "a.txt"), "a plot of no known form; end the name in .png"),
        (("--shapes", "9p"), "shape '9p' not understood"),
        (("--shapes", "3p"), "no queries of shapes 3p; the split has 1p, 2p"),
        (("--split", "dev"), "no dev queries; the set has train, valid, test"),
        (("--split", "train"), "no query has hard answers to rank; choose"),
        (("--link-prediction", "--limit", "3"), "--limit has no meaning with --link-prediction; "),
        (("--link-prediction", "--mode", "hybrid"), "--mode has no meaning with --link-prediction"),
        (("--mode", "exact"), "--mode is 'exact'; choose one of embedding, hybrid"),
        (("--facts", "train"), "--facts has a meaning for --mode hybrid alone; leave it out"),
        (("--link-prediction",), "not a graph"),
    ],
)
def test_what_cannot_be_evaluated_is_told_in_one_sentence(
    options: tuple[str, ...], sentence: str, queries: Path, tmp_path: Path
) -> None:
    run = run_in(tmp_path)
    assert sentence in told("evaluate", run, queries, *options)
    assert list(run.iterdir()) == []


def test_another_graph_than_the_runs_is_refused(tmp_path: Path) -> None:
    run = run_in(tmp_path)
    other = Dataset.of({"train": [nqe.Fact("a", "r", "b")], "test": [nqe.Fact("b", "r", "a")]})
    other.save(tmp_path / "other.graph")
    sentence = told("evaluate", run, tmp_path / "other.graph", "--link-prediction")
    assert f"of another graph (fingerprint {other.fingerprint}) than" in sentence
    settings = SamplingSettings(shapes=("1p",), train=1, valid=0, test=1)
    queries = tmp_path / "other.queries"
    save_queries(sample(other, settings, workers=1), queries, str(tmp_path / "other.graph"))
    assert "of another graph" in told("evaluate", run, queries)
    bare = run_in(tmp_path, "bare_a")
    assert "has other entities or relations" in told("evaluate", bare, queries)


def test_runs_without_a_common_report_are_not_compared(queries: Path, tmp_path: Path) -> None:
    runs = [run_in(tmp_path, f"run_{letter}") for letter in "ab"]
    assert "no reports in it; run `nqe evaluate`" in told("compare", *runs)
    typed("evaluate", runs[0], queries)
    typed("evaluate", runs[1], queries, "--split", "valid")
    assert "share no report" in told("compare", *runs)
    assert "like those of no published benchmark; name" in told("compare", runs[0], "--published")
