"""`nqe ask`: one question to a graph or a RUN, in every mode."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from answering_commands import ATLAS, CHAIN, FRANCE, NOT_GERMAN, RunNqe, check_refused, read_table
from helpers import nqe, well
from pyarrow import parquet

ANSWER_KEYS = {"entity", "label", "known", "seen", "elsewhere"}


def test_answers_are_tab_separated_lines_in_a_pipe(run_nqe: RunNqe) -> None:
    done = run_nqe("ask", "atlas", NOT_GERMAN)
    assert done.code == 0
    rows = [line.split("\t") for line in done.out.splitlines()]
    assert rows[0] == ["id", "label", "description"]
    assert [row[1] for row in rows[1:]] == ["Andorra", "Spain", "Monaco"]
    assert "3 answer(s)" in done.err


def test_json_is_one_object_on_one_line(run_nqe: RunNqe) -> None:
    done = run_nqe("ask", "atlas", NOT_GERMAN, "--json", "--top", "2", "--steps", "--proof")
    (line,) = done.out.splitlines()
    told = json.loads(line)
    assert told["count"] == 3
    assert [answer["entity"] for answer in told["answers"]] == ["country_AD", "country_ES"]
    assert told["answers"][0]["label"] == "Andorra"
    assert told["answers"][0]["known"] is True
    assert told["answers"][0]["proof"]["because"][0]["fact"]["relation"] == "borders"
    assert [step["operator"] for step in told["steps"]] == ["P", "P", "Not", "And"]
    assert told["steps"][0]["count"] == 8


def test_the_known_facts_can_be_chosen(run_nqe: RunNqe) -> None:
    counts = [
        json.loads(run_nqe("ask", "atlas", "?x: borders(?x, ?y)", "--json", "--facts", facts).out)
        for facts in ("all", "train", "none")
    ]
    assert counts[0]["count"] >= counts[1]["count"] > counts[2]["count"] == 0


def test_answers_of_a_graph_can_be_restricted_to_those_of_a_query(run_nqe: RunNqe) -> None:
    done = run_nqe("ask", "atlas", "?x: borders(?x, Russia)", "--among", "?x: continent(?x, Asia)")
    labels = {line.split("\t")[1] for line in done.out.splitlines()[1:]}
    assert "Mongolia" in labels
    assert "Norway" not in labels


def test_a_complement_is_answered_with_a_note(run_nqe: RunNqe) -> None:
    done = run_nqe("ask", "atlas", "?x: not speaks(?x, German)", "--top", "1")
    assert done.code == 0
    assert "only what they are not" in done.err


def test_an_ambiguous_label_lists_the_candidates_with_ids_and_descriptions(
    tmp_path: Path, run_nqe: RunNqe
) -> None:
    (tmp_path / "train.txt").write_text("Q1,P1,Q2\nQ3,P1,Q2\n")
    (tmp_path / "labels.tsv").write_text("Q1\tParis\tcity in France\nQ3\tParis\tson of Priam\n")
    assert run_nqe("import", str(tmp_path), "-o", str(tmp_path / "g.graph")).code == 0
    done = run_nqe("ask", str(tmp_path / "g.graph"), "?x: P1(Paris, ?x)")
    assert done.code == 2
    assert "'Paris' names 2 entities" in done.err
    assert "Paris (Q1), city in France; Paris (Q3), son of Priam" in done.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("ask", "atlas", "?x: borders(?x"), "column 15"),
        (("ask", "atlas", "?x: borders(?x, Frnace)"), "did you mean 'France'"),
        (("ask", "atlas.run", "count ?x: borders(?x, France)"), "which only exact answers can"),
        (("ask", "atlas"), "needs a query, or --file"),
        (("ask", "atlas", "?x: borders(?x, ?y)", "--max-bindings", "10"), "limit of 10"),
        (("ask", "atlas", NOT_GERMAN, "--facts", "tests"), "there is no tests split"),
        (("sparql", "atlas", NOT_GERMAN, "--model", "owl"), "choose one of wikidata, rdf12"),
        (("plan", "nowhere", NOT_GERMAN), "not a graph folder"),
    ],
)
def test_a_wrong_question_is_reported_and_exits_with_2(
    arguments: tuple[str, ...], message: str, run_nqe: RunNqe
) -> None:
    done = run_nqe(*arguments)
    assert done.code == 2
    assert done.out == ""
    assert message in done.err
    assert "Traceback" not in done.err


def test_a_run_answers_in_a_process_of_its_own(runs: Path) -> None:
    run = nqe("ask", "atlas.run", FRANCE, "--facts", "train", "--top", "12", cwd=runs)
    head, *rows = read_table(well(run))
    assert head == ["id", "label", "probability", "known by"]
    stated = {row[1] for row in rows if row[3] == "stated"}
    assert {"Monaco", "Andorra"} <= stated < {row[1] for row in rows}
    assert all((row[2] == "1.0000") == (row[3] == "stated") for row in rows)
    assert re.fullmatch(r"(\d+ in all: )?\d+ stated, (\d+|none) predicted above 0.5\n", run.err)


def test_a_run_gives_ten_hybrid_answers_by_default(run_nqe: RunNqe) -> None:
    data = json.loads(well(run_nqe("ask", "atlas.run", CHAIN, "--json")))
    assert (data["query"], data["mode"], len(data["answers"])) == (CHAIN, "hybrid", 10)
    assert set(data["answers"][0]) == ANSWER_KEYS | {"probability"}


@pytest.mark.parametrize("mode", ["exact", "embedding", "hybrid"])
def test_every_mode_answers_a_run(mode: str, run_nqe: RunNqe) -> None:
    data = json.loads(well(run_nqe("ask", "atlas.run", FRANCE, "--mode", mode, "--json")))
    assert data["mode"] == mode
    known = [answer["known"] for answer in data["answers"]]
    assert {"exact": all(known), "embedding": True, "hybrid": any(known)}[mode]


def test_a_threshold_of_1_gives_what_the_graph_states(run_nqe: RunNqe) -> None:
    words = ("ask", "atlas.run", CHAIN, "--threshold", "1", "--json")
    certain = {one["entity"] for one in json.loads(well(run_nqe(*words)))["answers"]}
    exact = json.loads(well(run_nqe("ask", "atlas", CHAIN, "--json")))
    assert certain == {one["entity"] for one in exact["answers"]}
    some = json.loads(well(run_nqe(*words, "--top", "3")))
    assert len(some["answers"]) == 3


def test_answers_can_be_restricted_to_those_of_a_query(run_nqe: RunNqe) -> None:
    among = "?x: continent(?x, Asia)"
    data = json.loads(well(run_nqe("ask", "atlas.run", FRANCE, "--among", among, "--json")))
    asia = json.loads(well(run_nqe("ask", "atlas", among, "--json")))
    allowed = {one["entity"] for one in asia["answers"]}
    assert {one["entity"] for one in data["answers"]} <= allowed
    assert data["answers"]


def test_a_query_without_answers_says_so(run_nqe: RunNqe) -> None:
    run = run_nqe("ask", "atlas.run", FRANCE, "--facts", "none", "--threshold", "1")
    assert well(run) == ""
    assert run.err == "no answer: no entity has a probability of 1 or more\n"
    run = run_nqe("ask", "atlas.run", FRANCE, "--facts", "none", "--mode", "exact", "--json")
    assert json.loads(well(run))["answers"] == []


def test_steps_of_a_run_are_fuzzy_sets(run_nqe: RunNqe) -> None:
    rows = read_table(well(run_nqe("ask", "atlas.run", f"{CHAIN} and not {FRANCE[4:]}", "--steps")))
    assert rows[0] == ["step", "variable", "says", "of", "likely", "such as"]
    assert [row[2] for row in rows[1:6]][-2:] == ["Not", "And"]
    assert rows[1][5].count(" 1.0000") == 6
    data = json.loads(well(run_nqe("ask", "atlas.run", CHAIN, "--steps", "--json", "--top", "2")))
    assert [len(step["entities"]) for step in data["steps"]] == [2, 2]
    assert set(data["steps"][0]["entities"][0]) == {"entity", "probability"}
    exact = json.loads(
        well(run_nqe("ask", "atlas.run", CHAIN, "--steps", "--json", "--mode", "exact"))
    )
    assert exact["steps"][0]["operator"] == "P"


def test_a_run_without_a_calibration_says_so(run_nqe: RunNqe) -> None:
    note = "nqe: note: plain.run is not calibrated, so its probabilities rank answers but mean "
    for words in (
        ("ask", "plain.run", FRANCE),
        ("explain", "plain.run", FRANCE),
        ("score", "plain.run", "borders(France, Spain)"),
    ):
        run = run_nqe(*words)
        assert well(run)
        assert run.err.startswith(note + "little; run `nqe calibrate plain.run`\n")
    assert run_nqe("ask", "plain.run", FRANCE, "--mode", "exact").err == "8 stated\n"


def test_stated_and_predicted_answers_can_be_asked_for_alone(run_nqe: RunNqe) -> None:
    for option, source in (("--stated", "stated"), ("--predicted", "predicted")):
        rows = read_table(well(run_nqe("ask", "atlas.run", FRANCE, option)))
        assert {row[3].split(", ")[0] for row in rows[1:]} == {source}
    graph = well(run_nqe("ask", "atlas", FRANCE))
    assert well(run_nqe("ask", "atlas", FRANCE, "--stated")) == graph
    run = run_nqe("ask", "atlas.run", FRANCE, "--stated", "--facts", "none")
    assert run.err.startswith("no answer: no entity follows from the known facts\n")
    run = run_nqe("ask", "atlas.run", FRANCE, "--predicted", "--threshold", "1")
    assert run.err == (
        "no answer: no entity that is not stated has a probability of 1 or more\n"
        "none predicted at 1 or above (8 stated left out)\n"
    )


def test_stated_answers_below_1_say_why_once(run_nqe: RunNqe) -> None:
    run = run_nqe("ask", "atlas.run", NOT_GERMAN, "--stated")
    assert well(run).count("\tstated\n") == 3
    note = "stated answers below 1 hold unless a missing fact says speaks(?x, German)\n"
    assert run.err.count(note) == 1
    assert "unless" not in run_nqe("ask", "atlas.run", FRANCE).err


def test_facts_added_after_training_are_used_at_once(run_nqe: RunNqe) -> None:
    query = "?x: road(town0, ?x)"
    run = run_nqe("ask", "towns.run", query, "--graph", "more.graph", "--top", "2")
    rows = read_table(well(run))
    assert {(row[0], row[3]) for row in rows[1:]} == {("town1", "stated"), ("newtown", "stated")}
    assert "not seen in training, so listed because of facts alone: newtown" in run.err
    [first] = [
        one
        for one in json.loads(
            well(run_nqe("ask", "towns.run", query, "--graph", "more.graph", "--json"))
        )["answers"]
        if one["entity"] == "newtown"
    ]
    assert first["seen"] is False
    run = run_nqe("suggest", "towns.run", "newtown", "--graph", "more.graph")
    assert well(run) == ""
    assert "no suggestion" in run.err


def test_the_mode_embedding_gives_scores_not_probabilities(run_nqe: RunNqe, tmp_path: Path) -> None:
    words = ("ask", "atlas.run", FRANCE, "--mode", "embedding")
    assert read_table(well(run_nqe(*words)))[0] == ["id", "label", "score", "known by"]
    answers = json.loads(well(run_nqe(*words, "--json")))["answers"]
    assert set(answers[0]) == ANSWER_KEYS | {"score"}
    output = tmp_path / "answers.parquet"
    words = ("ask", "atlas.run", "--file", "queries.txt", "--mode", "embedding", "--top", "3")
    assert run_nqe(*words, "-o", str(output)).code == 1
    rows: list[dict[str, Any]] = parquet.read_table(output).to_pylist()
    scores = [one["score"] for one in answers[:3]]
    assert [row["score"] for row in rows[:3]] == pytest.approx(scores, rel=1e-4)
    assert {row["probability"] for row in rows} == {None}


def test_a_missing_model_is_reported(run_nqe: RunNqe) -> None:
    run = run_nqe("ask", "nosuch.run", FRANCE, "--mode", "hybrid")
    assert (run.code, run.out) == (2, "")
    assert "nosuch.run: not a graph folder (no such folder)" in run.err
    run = run_nqe("ask", "atlas", FRANCE, "--mode", "hybrid")
    assert (run.code, run.out) == (2, "")
    assert "atlas: a graph, but --mode hybrid needs a model; give a RUN" in run.err


ASK = ("ask", "atlas.run")
WRONG: dict[str, tuple[tuple[str, ...], str]] = {
    "a graph by hybrid": (
        ("ask", "atlas", FRANCE, "--mode", "hybrid"),
        "atlas: a graph, but --mode hybrid needs a model; give a RUN",
    ),
    "a graph with a threshold": (
        ("ask", "atlas", FRANCE, "--threshold", "0.5"),
        "--threshold has no meaning with a graph; give a RUN",
    ),
    "an unknown mode": ((*ASK, FRANCE, "--mode", "x"), "--mode is 'x'; choose one of hybrid, rul"),
    "a wrong threshold": (
        (*ASK, FRANCE, "--threshold", "nan"),
        "the threshold is nan; give a prob",
    ),
    "a wrong device": ((*ASK, FRANCE, "--device", "tpu"), "--device is 'tpu'; choose one of"),
    "a proof": ((*ASK, FRANCE, "--proof"), "--proof needs --mode exact; `nqe explain` shows why"),
    "steps of vectors": (
        (*ASK, FRANCE, "--steps", "--mode", "embedding"),
        "in the mode embedding a step is a vector, so there are no sets to show; ask in",
    ),
    "a limit for a run": (
        (*ASK, FRANCE, "--max-bindings", "3"),
        "--max-bindings has no meaning with a RUN; leave it out",
    ),
    "an unknown entity": ((*ASK, "?x: borders(?x, Frnace)"), "no entity is called 'Frnace'; did"),
    "an unknown split": ((*ASK, FRANCE, "--facts", "dev"), "there is no dev split; the data set"),
    "an unknown ending": (
        (*ASK, "--file", "queries.txt", "-o", "a.xls"),
        "a.xls: not a known format of answers; end the name in .jsonl, .csv, .parquet",
    ),
    "stated and predicted": (
        (*ASK, FRANCE, "--stated", "--predicted"),
        "--predicted and --stated leave nothing together; give one of them",
    ),
    "predictions of a graph": (
        ("ask", "atlas", FRANCE, "--predicted"),
        "exact answers are all stated; ask for predicted ones in mode hybrid",
    ),
    "a folder for the answers": (
        (*ASK, "--file", "queries.txt", "-o", "folder.jsonl"),
        "folder.jsonl: a folder; choose another name",
    ),
    "an output without a file": ((*ASK, FRANCE, "-o", "a.jsonl"), "-o writes the answers of many"),
    "steps in a file": (
        (*ASK, "--file", "queries.txt", "-o", "a.jsonl", "--steps"),
        "--steps has no meaning with -o; leave it out",
    ),
    "no such file": ((*ASK, "--file", "no.txt", "-o", "a.jsonl"), "no.txt: no such file; check"),
    "a graph that went": (
        ("ask", "moved.run", "?x: road(?x, town1)"),
        "moved.run: its graph gone.graph no longer exists; name its new place with --graph",
    ),
    "a graph that lacks entities": (
        ("ask", "atlas.run", "?x: road(?x, town1)", "--graph", "towns.graph"),
        "the graph lacks",
    ),
}


@pytest.mark.parametrize(("words", "sentence"), WRONG.values(), ids=WRONG)
def test_an_impossible_command_fails_with_one_sentence_and_writes_nothing(
    words: tuple[str, ...], sentence: str, run_nqe: RunNqe, runs: Path
) -> None:
    check_refused(run_nqe, runs, words, sentence)


def test_a_prediction_that_never_stood_in_the_slot_is_told(run_nqe: RunNqe) -> None:
    # The mode embedding lists every entity, however unlikely.
    words = ("ask", "atlas.run", "?x: capital(France, ?x)", "--predicted", "--top", "4000")
    words += ("--mode", "embedding")
    _, *rows = read_table(run_nqe(*words).out)
    sources = {row[0]: row[3] for row in rows}
    berlin = ATLAS.vocabulary.entities.ids[ATLAS.vocabulary.entities.resolve("Berlin")]
    assert sources[berlin] == "predicted"
    capitals = {fact.object for fact in ATLAS.known("all") if fact.relation == "capital"}
    assert {name for name, source in sources.items() if source == "predicted"} <= capitals
    assert "predicted, never seen here" in sources.values()
    data = json.loads(run_nqe(*words, "--json").out)
    told = {one["entity"] for one in data["answers"] if one["elsewhere"]}
    assert told == {name for name, source in sources.items() if source != "predicted"}
    alone = run_nqe(*words, "--facts", "none").out
    assert "never seen here" not in alone
