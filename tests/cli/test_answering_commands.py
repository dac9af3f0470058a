"""ask of a RUN, explain, score, suggest, calibrate, as typed, with a model that learnt nothing."""

from __future__ import annotations

import json
import shlex
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from helpers import Run, files, nqe, told, well
from pyarrow import parquet

from nqe import cli, demo_dataset
from nqe.answering import Calibration, calibrate
from nqe.cli import print_answers
from nqe.cli.ask_file import WRITERS
from nqe.cli.print_answers import AnswerPrinter
from nqe.graph import Dataset, Fact
from nqe.model import new_model, save_pretrained
from nqe.model.checkpoint import Card
from nqe.run_folders import BEST, RUN
from nqe.settings import ModelSettings, RunSettings

ATLAS = demo_dataset()
FRANCE = "?x: borders(?x, France)"
CHAIN = "?x: borders(?x, ?y) and speaks(?y, German)"
COLUMNS = ["query", "text", "rank", "entity", "label", "probability", "score", "known", "seen"]
COLUMNS += ["mode", "error"]
Typed = Callable[..., Run]


def write_run(folder: Path, dataset: Dataset, name: str, *, trained_on: str = "train") -> None:
    """A RUN of a small model with its first weights."""
    torch.manual_seed(0)
    names = dataset.vocabulary
    small = ModelSettings(width=16, layers=1, heads=2, feed_forward=16)
    model = new_model(small, len(names.entities), len(names.relations), names)
    card = Card(name, dataset.fingerprint, trained_on, step=0)
    settings = RunSettings(model=small).to_json()
    manifest = {"dataset": name, "fingerprint": dataset.fingerprint, "settings": settings}
    with RUN.create(folder, manifest) as temporary:
        save_pretrained(model, temporary / BEST, card)


def towns(*more: Fact) -> Dataset:
    """A small graph, and facts that came later."""
    road = [Fact(f"town{i}", "road", f"town{i + 1}") for i in range(8)]
    return Dataset.of({"train": [*road[:5], *more], "valid": road[5:7], "test": road[7:]})


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs with and without a calibration, queries, and graphs that changed or went."""
    place = tmp_path_factory.mktemp("answering")
    write_run(place / "atlas.run", ATLAS, "atlas")
    shutil.copytree(place / "atlas.run", place / "plain.run")
    calibrate(place / "atlas.run", ATLAS, "cpu")
    write_run(place / "learnt.run", ATLAS, "atlas", trained_on="train,valid")
    towns().save(place / "towns.graph")
    towns(Fact("town0", "road", "newtown")).save(place / "more.graph")
    write_run(place / "towns.run", towns(), "towns.graph")
    write_run(place / "changed.run", towns(), "more.graph")
    write_run(place / "moved.run", towns(), "gone.graph")
    (place / "queries.txt").write_text(f"# two that work\n{FRANCE}\n?x: p(?x\n\n{CHAIN}\n")
    counts = ("--train", "1", "--valid", "2", "--test", "2", "--workers", "1")
    shapes = ("--shape", "1p", "--shape", "2p")
    well(nqe("sample", "atlas", "-o", "atlas.queries", *shapes, *counts, cwd=place))
    return place


@pytest.fixture
def typed(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Typed:
    """Runs the program in this process, which has PyTorch loaded already."""
    monkeypatch.chdir(place)

    def typed(*words: str) -> Run:
        monkeypatch.setattr(sys, "argv", ["nqe", *words])
        with pytest.raises(SystemExit) as stopped:
            cli.main()
        out, err = capsys.readouterr()
        code = stopped.value.code
        return Run(code if isinstance(code, int) else 0, out, err)

    return typed


def table(text: str) -> list[list[str]]:
    return [line.split("\t") for line in text.splitlines()]


@pytest.mark.parametrize("command", ["explain", "score", "suggest", "calibrate"])
def test_the_example_in_the_help_works_as_it_stands(command: str, typed: Typed) -> None:
    [line] = [one for one in well(typed(command, "--help")).splitlines() if "Example:" in one]
    words = shlex.split(line.partition("Example: nqe ")[2])
    assert words[0] == command
    assert well(typed(*words))


def test_a_run_answers_in_a_process_of_its_own(place: Path) -> None:
    run = nqe("ask", "atlas.run", FRANCE, "--facts", "train", "--top", "12", cwd=place)
    head, *rows = table(well(run))
    assert head == ["id", "label", "probability", "known by"]
    stated = {row[1] for row in rows if row[3] == "stated"}
    assert {"Monaco", "Andorra"} <= stated < {row[1] for row in rows}
    assert all((row[2] == "1.0000") == (row[3] == "stated") for row in rows)
    assert run.err == ""


def test_a_run_answers_ten_by_hybrid_if_nothing_else_is_said(typed: Typed) -> None:
    data = json.loads(well(typed("ask", "atlas.run", CHAIN, "--json")))
    assert (data["query"], data["mode"], len(data["answers"])) == (CHAIN, "hybrid", 10)
    assert set(data["answers"][0]) == {"entity", "label", "probability", "known", "seen"}


@pytest.mark.parametrize("mode", ["exact", "embedding", "hybrid"])
def test_every_mode_answers_a_run(mode: str, typed: Typed) -> None:
    data = json.loads(well(typed("ask", "atlas.run", FRANCE, "--mode", mode, "--json")))
    assert data["mode"] == mode
    known = [answer["known"] for answer in data["answers"]]
    assert {"exact": all(known), "embedding": True, "hybrid": any(known)}[mode]


def test_a_threshold_of_1_gives_what_the_graph_states(typed: Typed) -> None:
    words = ("ask", "atlas.run", CHAIN, "--threshold", "1", "--json")
    certain = {one["entity"] for one in json.loads(well(typed(*words)))["answers"]}
    exact = json.loads(well(typed("ask", "atlas", CHAIN, "--json")))
    assert certain == {one["entity"] for one in exact["answers"]}
    some = json.loads(well(typed(*words, "--top", "3")))
    assert len(some["answers"]) == 3


def test_answers_can_be_kept_to_those_of_a_query(typed: Typed) -> None:
    among = "?x: continent(?x, Asia)"
    data = json.loads(well(typed("ask", "atlas.run", FRANCE, "--among", among, "--json")))
    asia = json.loads(well(typed("ask", "atlas", among, "--json")))
    allowed = {one["entity"] for one in asia["answers"]}
    assert {one["entity"] for one in data["answers"]} <= allowed
    assert data["answers"]


def test_no_answer_is_told_as_such(typed: Typed) -> None:
    run = typed("ask", "atlas.run", FRANCE, "--facts", "none", "--threshold", "1")
    assert well(run) == ""
    assert run.err == "no answer: no entity has a probability of 1 or more\n"
    run = typed("ask", "atlas.run", FRANCE, "--facts", "none", "--mode", "exact", "--json")
    assert json.loads(well(run))["answers"] == []


def test_steps_of_a_run_are_fuzzy_sets(typed: Typed) -> None:
    rows = table(well(typed("ask", "atlas.run", f"{CHAIN} and not {FRANCE[4:]}", "--steps")))
    assert rows[0] == ["step", "variable", "says", "of", "likely", "such as"]
    assert [row[2] for row in rows[1:6]][-2:] == ["Not", "And"]
    assert rows[1][5].count(" 1.0000") == 6
    data = json.loads(well(typed("ask", "atlas.run", CHAIN, "--steps", "--json", "--top", "2")))
    assert [len(step["entities"]) for step in data["steps"]] == [2, 2]
    assert set(data["steps"][0]["entities"][0]) == {"entity", "probability"}
    exact = json.loads(
        well(typed("ask", "atlas.run", CHAIN, "--steps", "--json", "--mode", "exact"))
    )
    assert exact["steps"][0]["operator"] == "P"


def test_a_run_without_a_calibration_says_so(typed: Typed) -> None:
    note = "nqe: note: plain.run is not calibrated, so its probabilities rank but mean little; "
    for words in (
        ("ask", "plain.run", FRANCE),
        ("explain", "plain.run", FRANCE),
        ("score", "plain.run", "borders(France, Spain)"),
    ):
        run = typed(*words)
        assert well(run)
        assert run.err == note + "run `nqe calibrate plain.run`\n"
    assert typed("ask", "plain.run", FRANCE, "--mode", "exact").err == ""


def test_facts_added_after_training_count_at_once(typed: Typed) -> None:
    query = "?x: road(town0, ?x)"
    run = typed("ask", "towns.run", query, "--graph", "more.graph", "--top", "2")
    rows = table(well(run))
    assert {(row[0], row[3]) for row in rows[1:]} == {("town1", "stated"), ("newtown", "stated")}
    assert "not seen in training, so here by facts alone: newtown" in run.err
    [first] = [
        one
        for one in json.loads(
            well(typed("ask", "towns.run", query, "--graph", "more.graph", "--json"))
        )["answers"]
        if one["entity"] == "newtown"
    ]
    assert first["seen"] is False
    run = typed("suggest", "towns.run", "newtown", "--graph", "more.graph")
    assert well(run) == ""
    assert "no suggestion" in run.err


def test_a_file_of_queries_becomes_json_lines(typed: Typed, tmp_path: Path) -> None:
    output = tmp_path / "new" / "answers.jsonl"
    words = ("ask", "atlas.run", "--file", "queries.txt", "--top", "2", "-o", str(output))
    run = typed(*words)
    assert (run.code, run.out) == (1, "")
    assert "nqe: queries.txt:3: query not understood" in run.err
    assert run.err.endswith("written, 2 of 3 queries answered\n")
    rows = [json.loads(line) for line in output.read_text().splitlines()]
    assert [row["query"] for row in rows] == [FRANCE, "?x: p(?x", CHAIN]
    assert [set(row) for row in rows[:2]] == [{"query", "mode", "answers"}, {"query", "error"}]
    assert [len(row["answers"]) for row in (rows[0], rows[2])] == [2, 2]
    assert files(tmp_path) == ["new", "new/answers.jsonl"]


@pytest.mark.parametrize("asked", ["atlas.run", "atlas"])
def test_a_file_of_queries_becomes_parquet(asked: str, typed: Typed, tmp_path: Path) -> None:
    output = tmp_path / "answers.parquet"
    words = ("ask", asked, "--file", "queries.txt", "--top", "3", "-o", str(output))
    assert typed(*words).code == 1
    rows: list[dict[str, Any]] = parquet.read_table(output).to_pylist()
    [failed] = [row for row in rows if row["error"]]
    assert (failed["query"], failed["rank"]) == (3, None)
    assert failed["error"].startswith("query not understood")
    rows.remove(failed)
    assert [(row["query"], row["rank"]) for row in rows] == [
        (line, rank) for line in (2, 5) for rank in (1, 2, 3)
    ]
    assert {row["mode"] for row in rows} == {"hybrid" if asked == "atlas.run" else "exact"}
    assert [row["text"] for row in rows[2:4]] == [FRANCE, CHAIN]
    assert list(rows[0]) == COLUMNS
    assert {(row["probability"], row["score"]) for row in rows} == {(1.0, None)}
    assert {row["known"] for row in rows} == {True}


def test_what_vectors_give_are_scores_not_probabilities(typed: Typed, tmp_path: Path) -> None:
    words = ("ask", "atlas.run", FRANCE, "--mode", "embedding")
    assert table(well(typed(*words)))[0] == ["id", "label", "score", "known by"]
    answers = json.loads(well(typed(*words, "--json")))["answers"]
    assert set(answers[0]) == {"entity", "label", "score", "known", "seen"}
    output = tmp_path / "answers.parquet"
    words = ("ask", "atlas.run", "--file", "queries.txt", "--mode", "embedding", "--top", "3")
    assert typed(*words, "-o", str(output)).code == 1
    rows: list[dict[str, Any]] = parquet.read_table(output).to_pylist()
    scores = [one["score"] for one in answers[:3]]
    assert [row["score"] for row in rows[:3]] == pytest.approx(scores, rel=1e-4)
    assert {row["probability"] for row in rows} == {None}


def test_a_model_that_is_not_there_is_told_of(typed: Typed) -> None:
    run = typed("ask", "nosuch.run", FRANCE, "--mode", "hybrid")
    assert (run.code, run.out) == (2, "")
    assert "nosuch.run: not a graph folder (no such folder)" in run.err
    run = typed("ask", "atlas", FRANCE, "--mode", "hybrid")
    assert (run.code, run.out) == (2, "")
    assert "atlas: a graph, not a model, which --mode hybrid needs; give a RUN" in run.err


def test_nothing_to_choose_from_is_no_suggestion(typed: Typed) -> None:
    run = typed("suggest", "atlas.run", "France", "--among", "?x: borders(?x, Europe)")
    assert well(run) == ""
    assert "nothing that is not stated is possible among what --among gives" in run.err


def test_a_batch_gives_what_queries_give_one_by_one(
    typed: Typed, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ("ask", "atlas.run", "--file", "queries.txt", "--json")
    together = typed(*words)
    monkeypatch.setattr(print_answers, "BATCH", 1)
    assert typed(*words).out == together.out
    assert together.out.count("\n") == 3


def test_a_query_that_only_fails_when_asked_does_not_stop_the_batch(
    typed: Typed, tmp_path: Path
) -> None:
    file = tmp_path / "queries.txt"
    file.write_text("?x: road(town0, ?x)\n?x: road(?x, newtown)\n")
    words = ("--file", str(file), "--graph", "more.graph", "--mode", "embedding", "--json")
    run = typed("ask", "towns.run", *words)
    first, second = [json.loads(line) for line in run.out.splitlines()]
    assert run.code == 1
    assert first["answers"]
    assert "added to the graph after the model was trained" in second["error"]


@pytest.mark.parametrize("ending", WRITERS)
def test_an_interrupted_batch_leaves_nothing(
    ending: str, typed: Typed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(AnswerPrinter, "to_json", stop)
    monkeypatch.setattr(cli, "_drop_output", lambda: None)
    run = typed("ask", "atlas.run", "--file", "queries.txt", "-o", str(tmp_path / f"new/a{ending}"))
    assert run.code == 130
    assert files(tmp_path) == []


def test_an_explanation_tells_stated_from_predicted(typed: Typed) -> None:
    out = well(typed("explain", "atlas.run", CHAIN, "Spain", "--top", "2"))
    assert "Why Spain is number 1, with probability 1.0000:" in out
    assert "?x = Spain: stated (Spain, borders, France)" in out
    assert "easy" not in out
    query = '?x: currency("Puerto Rico", ?x)'
    words = ("explain", "atlas.run", query, "US Dollar", "--facts", "train")
    assert "The weakest part is currency(Puerto Rico, US Dollar)" in well(typed(*words))
    data = json.loads(well(typed(*words, "--json")))
    assert data == json.loads(well(typed(*words, "--format", "json")))
    assert (data["entity"], data["known"]) == ("currency_USD", False)
    assert data["steps"][0]["candidates"][0]["truth"] in ("easy", "hard", "wrong")
    assert "| variable | step | rank |" in well(typed(*words, "--format", "markdown"))


def test_without_an_entity_the_best_answer_is_explained(typed: Typed) -> None:
    best = json.loads(well(typed("ask", "atlas.run", FRANCE, "--facts", "none", "--json")))
    data = json.loads(well(typed("explain", "atlas.run", FRANCE, "--facts", "none", "--json")))
    assert (data["entity"], data["rank"]) == (best["answers"][0]["entity"], 1)


def test_a_statement_is_scored_with_the_alternatives_of_its_slots(typed: Typed) -> None:
    statement = "currency(France, Euro; start_year: 1999)"
    head, columns, *rows = table(well(typed("score", "atlas.run", statement, "--top", "2")))
    assert head[0].startswith(statement)
    assert head[0].endswith("  stated")
    assert columns == ["slot", "", "id", "label", "probability", "known by"]
    assert [row[0] for row in rows[::3]] == ["subject", "object", "start year"]
    assert [row[1] for row in rows[1:3]] == ["instead", "instead"]
    data = json.loads(well(typed("score", "atlas.run", statement, "--facts", "none", "--json")))
    assert data["stated"] is False
    assert 0 < data["probability"] < 1


def test_suggestions_are_not_stated_and_keep_to_the_relation_and_the_class(typed: Typed) -> None:
    words = ("--relation", "borders", "--among", "?x: continent(?x, Europe)", "--top", "4")
    data = json.loads(well(typed("suggest", "atlas.run", "France", *words, "--json")))
    assert data["entity"] == "country_FR"
    assert len(data["suggestions"]) == 4
    for one in data["suggestions"]:
        assert one["relation"] == "borders"
        assert "country_FR" in (one["subject"], one["object"])
        row = f"{one['subject']},{one['relation']},{one['object']}"
        assert row not in {f"{f.subject},{f.relation},{f.object}" for f in ATLAS.graph}
    rows = table(well(typed("suggest", "atlas.run", "France", *words)))
    assert rows[0] == ["subject", "relation", "object", "probability"]
    assert len(rows) == 5


def test_calibrating_is_told_kept_and_drawn(typed: Typed, place: Path, tmp_path: Path) -> None:
    shutil.copytree(place / "plain.run", place / "new.run")
    picture = tmp_path / "reliability.svg"
    run = typed("calibrate", "new.run", "--plot", str(picture))
    out = well(run)
    assert "measure\tbefore\tafter\nexpected calibration error\t" in out
    assert "Brier score of the base rate\t" in out
    assert out.count("probability said\tshare that is right\tpredictions") == 2
    assert run.err == f"new.run/best: calibrated\n{picture}: written\n"
    assert picture.read_text().startswith("<?xml")
    assert Calibration.load(place / "new.run" / "best") is not None
    data = json.loads(well(typed("calibrate", "new.run", "--json")))
    assert data["split"] == "test"
    assert set(data["after"]) == {"error", "brier", "base_brier", "bins"}


def test_a_training_ends_with_a_calibration(typed: Typed, place: Path) -> None:
    small = [f"model.{name}" for name in ("width=8", "layers=1", "heads=2", "feed_forward=8")]
    small += ["train.steps=2", "train.valid_queries=10", "train.batch=32"]
    words = [word for one in small for word in ("--set", one)]
    command = ("train", "towns.graph", "-o", "trained.run", "--shapes", "1p")
    run = typed(*command, *words)
    assert well(run)
    calibrated, model = run.err.splitlines()
    assert calibrated.startswith("calibrated on valid: expected calibration error 0.")
    assert calibrated.endswith(" on test")
    assert model.startswith("the model is in trained.run/")
    # A complete training has nothing to calibrate again, unless that is lacking.
    assert "calibrated" not in typed(*command, "--resume").err
    [kept] = (place / "trained.run").glob("*/calibration.json")
    kept.unlink()
    assert "calibrated on valid" in typed(*command, "--resume").err
    both = (*command[:3], "both.run", *command[4:], *words, "--set", "train.facts=train,valid")
    run = typed(*both)
    assert well(run)
    assert "not calibrated: the model has learnt from the validation split" in run.err


def test_a_run_is_evaluated_by_hybrid_beside_embedding(typed: Typed, place: Path) -> None:
    shutil.copytree(place / "atlas.run", place / "evaluated.run")
    words = ("evaluate", "evaluated.run", "atlas.queries", "--json")
    hybrid, embedding = [
        json.loads(well(typed(*words, "--mode", mode))) for mode in ("hybrid", "embedding")
    ]
    assert (hybrid["mode"], hybrid["facts"]) == ("hybrid", "train,valid")
    assert (embedding["mode"], embedding["facts"]) == ("embedding", None)
    assert hybrid["all"]["queries"] == embedding["all"]["queries"]
    run = typed(*words, "--mode", "hybrid", "--split", "valid", "--facts", "none")
    assert json.loads(well(run))["facts"] == "none"
    kept = sorted(path.name for path in (place / "evaluated.run" / "reports").iterdir())
    assert kept == ["test-atlas.queries-hybrid.json", "test-atlas.queries.json"]
    run = typed(*words, "--mode", "hybrid", "--split", "valid")
    assert json.loads(well(run))["facts"] == "train"


ASK = ("ask", "atlas.run")
WRONG: dict[str, tuple[tuple[str, ...], str]] = {
    "a graph by hybrid": (
        ("ask", "atlas", FRANCE, "--mode", "hybrid"),
        "atlas: a graph, not a model, which --mode hybrid needs; give a RUN",
    ),
    "a graph with a threshold": (
        ("ask", "atlas", FRANCE, "--threshold", "0.5"),
        "--threshold has no meaning with a graph; give a RUN",
    ),
    "an unknown mode": ((*ASK, FRANCE, "--mode", "x"), "--mode is 'x'; choose one of hybrid, emb"),
    "a wrong threshold": (
        (*ASK, FRANCE, "--threshold", "nan"),
        "the threshold is nan; give a prob",
    ),
    "a wrong device": ((*ASK, FRANCE, "--device", "tpu"), "--device is 'tpu'; choose one of"),
    "a proof": ((*ASK, FRANCE, "--proof"), "--proof shows facts alone; `nqe explain` shows why"),
    "steps of vectors": (
        (*ASK, FRANCE, "--steps", "--mode", "embedding"),
        "a step of the mode embedding is a vector, so there are no sets to show; ask in",
    ),
    "a limit for a run": (
        (*ASK, FRANCE, "--max-bindings", "3"),
        "--max-bindings has no meaning with a RUN; leave it out",
    ),
    "an unknown entity": ((*ASK, "?x: borders(?x, Frnace)"), "no entity is called 'Frnace'; did"),
    "an unknown split": ((*ASK, FRANCE, "--facts", "dev"), "there is no dev split; the data set"),
    "an unknown ending": (
        (*ASK, "--file", "queries.txt", "-o", "a.csv"),
        "a.csv: not a known format of answers; end the name in .jsonl or .parquet",
    ),
    "a folder for the answers": (
        (*ASK, "--file", "queries.txt", "-o", "folder.jsonl"),
        "folder.jsonl: a folder; choose another name",
    ),
    "an output without a file": ((*ASK, FRANCE, "-o", "a.jsonl"), "-o is for the answers of many"),
    "steps in a file": (
        (*ASK, "--file", "queries.txt", "-o", "a.jsonl", "--steps"),
        "--steps has no meaning with -o; leave it out",
    ),
    "no such file": ((*ASK, "--file", "no.txt", "-o", "a.jsonl"), "no.txt: no such file; check"),
    "a graph that went": (
        ("ask", "moved.run", "?x: road(?x, town1)"),
        "moved.run: its graph gone.graph is not here any more; say with --graph where it is",
    ),
    "a graph that changed": (
        ("explain", "changed.run", "?x: road(?x, town1)"),
        "more.graph: not the graph any more (fingerprint",
    ),
    "a graph that lacks entities": (
        ("ask", "atlas.run", "?x: road(?x, town1)", "--graph", "towns.graph"),
        "the graph lacks",
    ),
    "no run": (("explain", "nowhere", FRANCE), "nowhere: not a run or checkpoint (no such folder)"),
    "a graph to explain": (
        ("explain", "towns.graph", FRANCE),
        "towns.graph/manifest.json: not a r",
    ),
    "an unknown form": (
        ("explain", "atlas.run", FRANCE, "--format", "x"),
        "--format is 'x'; choose",
    ),
    "nothing to explain": (
        ("explain", "atlas.run", FRANCE, "Spian"),
        "no entity is called 'Spian'; did you mean 'Spain'?",
    ),
    "a variable in a statement": (
        ("score", "atlas.run", "borders(France, ?x)"),
        "a statement has no variables; put a name in place of ?x",
    ),
    "an unknown relation": (
        ("suggest", "atlas.run", "France", "--relation", "bordrs"),
        "no relation is called 'bordrs'; did you mean 'borders'",
    ),
    "learnt from valid": (
        ("calibrate", "learnt.run"),
        "learnt.run: learnt from the validation spl",
    ),
    "another graph to calibrate on": (
        ("calibrate", "towns.run", "--graph", "more.graph"),
        "more.graph: of another graph (fingerprint",
    ),
    "a plot of no form": (
        ("calibrate", "plain.run", "--plot", "a.txt"),
        "a.txt: not a known format of a plot",
    ),
    "hybrid link prediction": (
        ("evaluate", "atlas.run", "atlas", "--link-prediction", "--mode", "hybrid"),
        "--mode has no meaning with --link-prediction; leave it out",
    ),
}


@pytest.mark.parametrize(("words", "sentence"), WRONG.values(), ids=WRONG)
def test_what_cannot_be_done_is_one_sentence_and_leaves_nothing(
    words: tuple[str, ...], sentence: str, typed: Typed, place: Path
) -> None:
    (place / "folder.jsonl").mkdir(exist_ok=True)
    before = files(place)
    assert told(typed(*words)).startswith(sentence)
    assert files(place) == before
