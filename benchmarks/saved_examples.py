"""Small examples of every kind of folder that nqe writes, and what can be done with each.

Every example has a twin of the same kind and sizes, with other content.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import torch

from nqe.answering import Answers, Request, calibrate, check, mine_rules, train
from nqe.answering import open as open_answerer
from nqe.errors import NqeError
from nqe.evaluation import Report, compare, evaluate
from nqe.evaluation.query_selection import QuerySelection
from nqe.evaluation.report_storage import load_shared_reports, save_query_report
from nqe.graph import Dataset, Fact
from nqe.graph.statistics import compute_statistics
from nqe.graph.vocabulary import Description
from nqe.model import EmbeddingRunner, load
from nqe.query.exact_batch import run_table
from nqe.reproduction.machine import Origin
from nqe.reproduction.plots import plot_curves
from nqe.reproduction.report_files import build_page
from nqe.reproduction.results import (
    HARD,
    Result,
    Training,
    UsedGraph,
    load_results,
    save_result,
)
from nqe.reproduction.results import Scores as TableScores
from nqe.rules import load_rules
from nqe.run_folders import BEST, LAST
from nqe.sampling import load_queries, sample, save_queries
from nqe.sampling.exchange import write_nqe_json
from nqe.sampling.query_statistics import count_queries
from nqe.sampling.storage import check_graph, read_manifest
from nqe.settings import RunSettings, SamplingSettings, build_run_settings
from nqe.training.optimizer import Optimizer
from nqe.training.run_folder import RunFolder

ENTITIES, FACTS = 23, 40
LITERALS = ("1903-06^^time", "12.5 kg^^number", "some text^^text@en")
QUESTIONS = (
    "?x: r0(?x, e1)",
    "?x: r1(e2, ?x; q: e3)",
    "?x: r0(?x, ?y) and r2(?y, ?z)",
    "?x: r1(?x, ?y) and not r2(?x, e0)",
    "?x: r2(e4, ?x) or r3(?x, e5; q: ?z)",
    "?x: only r3(?z, ?y; q: ?x)",
)
MODES = ("exact", "embedding", "hybrid")
SHAPES = ("1p", "2p", "2i", "2in", "2u")
SETTINGS: dict[str, Any] = {
    "model": {"width": 8, "layers": 1, "heads": 2, "feed_forward": 8},
    "train": {"batch": 16, "steps": 4, "evaluate_steps": 2, "valid_queries": 20, "average": 0.5},
}

Use = Callable[[Path], object]
"""Uses a folder, and returns a value that is equal if and only if what was read is the same."""


@dataclass(frozen=True)
class Example:
    """A folder of a kind, its twin, and what can be done with it."""

    kind: str
    folder: Path
    twin: Path
    uses: Mapping[str, Use]

    def list_files(self) -> list[str]:
        """The paths of all files in the folder."""
        paths = (path for path in self.folder.rglob("*") if path.is_file())
        return sorted(path.relative_to(self.folder).as_posix() for path in paths)


def make_examples(place: Path) -> dict[str, Example]:
    """Write the examples into a folder; gives them by kind."""
    for number, name in enumerate(("own", "twin")):
        _make_one_of_each(place / name, number)
    own, twin = place / "own", place / "twin"
    uses = {
        "graph": use_graph(),
        "queries": use_queries(own / "graph"),
        "run": use_run(twin / "run"),
        "checkpoint": use_checkpoint(),
        "rules": use_rules(),
        "results": use_results(),
    }
    return {kind: Example(kind, own / kind, twin / kind, uses[kind]) for kind in uses}


def make_dataset(number: int) -> Dataset:
    """A small data set; two of them have the same ids and sizes, but other facts and labels."""
    step = (5, 7)[number % 2]
    facts = [_make_fact(n, step) for n in range(FACTS)]
    splits = {"train": facts[:28], "valid": facts[28:34], "test": facts[34:]}
    word = ("town", "city")[number % 2]
    names = {
        f"e{n}": Description(f"{word} {n}", f"a {word}", (f"{word}-{n}", f"{n}. {word}"))
        for n in range(0, ENTITIES, 2)
    }
    return Dataset.of(splits).describe(names | {"r0": Description(f"near a {word}")})


def _make_fact(n: int, step: int) -> Fact:
    pairs = (("q", _name_entity(n * step + 2)), ("p", f"e{n % 3}"))[: n % 3]
    return Fact(_name_entity(n), f"r{n % 4}", _name_entity(n * step + 1), pairs)


def _name_entity(n: int) -> str:
    """The id of an entity; the last three are literals."""
    number = n % ENTITIES
    return LITERALS[ENTITIES - number - 1] if number >= ENTITIES - len(LITERALS) else f"e{number}"


def make_settings(seed: int) -> RunSettings:
    """Settings of a tiny model and a training of a moment."""
    more = {"seed": seed, "shapes": ["1p"], "device": "cpu"}
    return build_run_settings({**SETTINGS, "train": {**SETTINGS["train"], **more}})


def make_query_set(dataset: Dataset, seed: int) -> Any:
    """A small query set of a data set."""
    few = SamplingSettings(shapes=SHAPES, train=4, valid=2, test=2, seed=seed)
    return sample(dataset, few, workers=1)


def _make_one_of_each(place: Path, number: int) -> None:
    dataset = make_dataset(number)
    graph, queries, run = place / "graph", place / "queries", place / "run"
    dataset.save(graph, bad_lines="train.csv\t3\tno object\n")
    save_queries(make_query_set(dataset, number), queries, str(graph))
    mine_rules(dataset, "all", workers=1).save(place / "rules")
    train(dataset, run, settings=make_settings(number), name=str(graph))
    selection = QuerySelection(str(queries), "test", None, None)
    ranking = evaluate(EmbeddingRunner(load(run, "cpu")), selection.load())
    report = Report.of(ranking, split="test", about={"run": str(run), "fingerprint": "f"})
    save_query_report(run, selection, ranking, report)
    save_result(place / "results", make_result(report, number))
    shutil.rmtree(run / "tensorboard", ignore_errors=True)
    shutil.copytree(run / BEST, place / "checkpoint")
    # Outside its RUN it has no rules, so it is calibrated without them.
    calibrate(place / "checkpoint", dataset, "cpu")


def make_result(report: Report, seed: int) -> Result:
    """What a row of a table reached, by the report of its run."""
    return Result(
        benchmark="wd50k-nfol",
        row="NQE",
        seed=seed,
        preset="quick",
        graph=UsedGraph("graph", "f", {"train": 28}),
        queries="q",
        settings=make_settings(seed),
        scores={HARD: TableScores.of(report.group("shape"))},
        missing=TableScores.of(report.group("missing")),
        training=Training(0.1, 4, ((0.05, 2, 0.1), (0.1, 4, 0.2 + seed / 10))),
        origin=Origin("2026-11-18", "a processor", 2, None, {"nqe": "0.1.0"}),
    )


# Uses


def use_graph() -> dict[str, Use]:
    """What is done with a graph."""
    return {
        "answers": lambda folder: ask(folder, ("exact",)),
        "content": lambda folder: describe_dataset(Dataset.load(folder)),
        "statistics": lambda folder: repr(compute_statistics(Dataset.load(folder))),
        "check": use_check,
    }


def use_queries(graph: Path) -> dict[str, Use]:
    """What is done with a query set of a graph."""
    return {
        "queries": lambda folder: list(_execute(folder, Dataset.load(graph))),
        "statistics": lambda folder: repr(count_queries(folder)),
        "export": lambda folder: _export(folder, Dataset.load(graph)),
        "check": use_check,
    }


def use_checkpoint() -> dict[str, Use]:
    """What is done with a checkpoint."""
    return {
        "answers": lambda folder: ask(folder, MODES),
        "weights": lambda folder: digest_tensors(load(folder, "cpu").state_dict()),
        "check": use_check,
    }


def use_rules() -> dict[str, Use]:
    """What is done with rules."""
    return {"content": describe_rules, "check": use_check}


def use_results() -> dict[str, Use]:
    """What is done with a folder of results."""
    return {"tables": _build_tables}


def use_run(other: Path) -> dict[str, Use]:
    """What is done with a RUN; the other one is what it is compared with."""
    return {
        "answers": lambda folder: ask(folder, MODES),
        "state": _resume,
        "metrics": lambda folder: repr(RunFolder.open(folder).read_metrics()),
        "reports": lambda folder: repr(compare(load_shared_reports([folder, other]))),
        "check": use_check,
    }


def use_check(folder: Path) -> object:
    """Check a folder; problems are raised as the command tells them."""
    checked = check(folder)
    for problem in checked.problems:
        if not problem or "\n" in problem:
            raise AssertionError(f"a problem is not one line: {problem!r}")
    if checked.problems:
        raise NqeError(checked.problems[0])
    # Not the number of files: a file that was added is no part of the folder.
    return checked.noun, checked.has_digests


def ask(folder: Path, modes: tuple[str, ...]) -> object:
    """The answers to all questions, as JSON data."""
    requests = [Request(text, mode) for mode in modes for text in QUESTIONS]
    outcomes = open_answerer(folder, device="cpu").answer_many(requests)
    answered = [one for one in outcomes if isinstance(one, Answers)]
    if not answered:
        raise next(one for one in outcomes if isinstance(one, NqeError))
    return [
        one.to_json(proofs=one.is_exact) if isinstance(one, Answers) else str(one)
        for one in outcomes
    ]


def describe_dataset(dataset: Dataset) -> object:
    """All that a data set holds."""
    names = [
        (list(one.ids), list(one.labels), list(one.descriptions), dict(one.aliases))
        for one in (dataset.vocabulary.entities, dataset.vocabulary.relations)
    ]
    splits = {name: list(dataset.split(name)) for name in dataset.splits}
    literals = dataset.vocabulary.entities.literals
    columns = literals and (literals.kind.tobytes(), literals.value.tobytes())
    return names, columns, splits, dataset.fingerprint


def describe_rules(folder: Path) -> object:
    """All that a folder of rules holds."""
    rules = load_rules(folder)
    names = [list(one.labels) for one in (rules.vocabulary.entities, rules.vocabulary.relations)]
    return rules.digest, names, rules.mined_from


def _build_tables(folder: Path) -> object:
    """All that the tables of some results show, and what they are made from."""
    results = load_results(folder)
    pages = [build_page(one.benchmark, [one]) for one in results]
    for one in results:
        plot_curves([one], folder.parent / "curves.svg")
    return [part for page in pages for part in page.render()], [one.to_json() for one in results]


def digest_tensors(tensors: Mapping[str, torch.Tensor]) -> str:
    """A hash of tensors."""
    digest = sha256()
    for name, value in sorted(tensors.items()):
        digest.update(f"{name} {tuple(value.shape)} {value.dtype}".encode())
        digest.update(value.detach().numpy().tobytes())
    return digest.hexdigest()


def _execute(folder: Path, dataset: Dataset) -> Iterator[object]:
    check_graph(folder, dataset)
    for split in read_manifest(folder)["splits"]:
        table = load_queries(folder, split)
        sets = run_table(table.plans, dataset.graph)
        yield split, table.shape, table.easy.values.tolist(), table.hard.values.tolist()
        yield table.missing.values.tolist(), table.answer_count.tolist()
        yield [sets.members([step]).tolist() for step in table.plans.targets.tolist()]
        for row in range(len(table)):
            yield str(table.plans.plan(row).query(dataset.vocabulary))


def _export(folder: Path, dataset: Dataset) -> object:
    tables = {split: load_queries(folder, split) for split in read_manifest(folder)["splits"]}
    output = folder.parent / "exported"
    shutil.rmtree(output, ignore_errors=True)
    write_nqe_json(tables, dataset.vocabulary, output)
    return {path.name: path.read_bytes() for path in output.rglob("*") if path.is_file()}


def _resume(folder: Path) -> object:
    """What a training that continues begins with."""
    run = RunFolder.open(folder)
    state, settings, queries = run.state, run.settings, run.queries
    model = load(folder / LAST, "cpu")
    optimizer = Optimizer(model, settings.train)
    optimizer.restore(run.load(model))
    tensors = {**model.state_dict(), **optimizer.to_tensors()}
    return repr((state, settings, queries)), digest_tensors(tensors)
