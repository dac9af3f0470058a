"""How well a missing fact is predicted: models, rules, and both together, on WD50K and JF17K.

`python benchmarks/predictor_quality.py train NAME` trains one of the runs below, or goes on with
it. `score NAME --split valid` ranks the entity in every slot of every fact of a split: by the model
alone, by rules alone, and by both. Settings are compared on the validation split; the test split is
scored once per published figure. `hybrid NAME` answers the frozen WD50K-NFOL test queries with a
run and its rules, or without them; `all-shapes` is the model that several benchmarks share.
`report` writes the page from the scores that are kept.

Runs are kept in build/predictor, scores in benchmarks/results/predictor.json. A run on one core is
pinned to it, with one thread.
"""

from __future__ import annotations

import argparse
import json
import os
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from hybrid_quality import some_queries
from machine import (
    RESULTS,
    ROOT,
    arguments,
    benchmark_data,
    describe,
    markdown_table,
    write_result,
)
from trained import Shared, train_run

import nqe
from nqe.answering import HybridRunner, OpenedRun
from nqe.answering.calibration_fitting import calibrate
from nqe.answering.joined_runner import JoinedRunner, RuleRunner
from nqe.answering.joining import JoinWeights, RuleEvidence
from nqe.answering.rule_mining import mine_rules
from nqe.evaluation import Report, evaluate, predict_links
from nqe.evaluation.evaluator import Runner
from nqe.graph import Dataset
from nqe.query.shapes import NEGATIVE, SHAPES
from nqe.reproduction.link_prediction import fit_rule_weights
from nqe.rules.rules import Rules
from nqe.settings import RunSettings, build_run_settings

BUILD = ROOT / "build"
PARTS = ("all", "subject_object", "value")
SHARED = "all-shapes"
"""The run of all shapes that several benchmarks share; see `trained`."""
# So that `--quick` trains in seconds.
QUICK: dict[str, dict[str, Any]] = {
    "model": {"width": 16, "layers": 1, "heads": 2, "feed_forward": 16},
    "train": {"minutes": None, "steps": 4, "batch": 64, "evaluate_steps": 4},
}


@dataclass(frozen=True)
class Planned:
    """A run: its settings, how long it trains, on how many cores, and on which facts of what."""

    minutes: float
    cores: int
    changes: dict[str, dict[str, Any]] = field(default_factory=dict)
    facts: str = "train"
    weights_of: str | None = None
    """The run that the weights of rules come from, for one that leaves nothing to fit them on."""
    data: str = "wd50k"
    start: str | None = None
    """The run whose weights it begins with."""

    @property
    def settings(self) -> RunSettings:
        """The defaults with the changes."""
        time = {"shapes": ["1p"], "minutes": self.minutes, "facts": self.facts}
        given: dict[str, dict[str, Any]] = {"model": {}, "train": time}
        for section, values in self.changes.items():
            given[section] = given[section] | values
        return build_run_settings(given)


CONTEXT = {"model": {"context": 16}}
REGULAR = {"model": {"context": 16, "dropout": 0.3}, "train": {"smoothing": 0.2}}
LATER = REGULAR | {"train": {"smoothing": 0.2, "rate": 7e-4}}
"""For a training that goes on from another run's weights: the rate rises again, but less far."""
AVERAGED = {"train": {"average": 0.999}}
REGULAR_AVERAGED = REGULAR | {"train": {"smoothing": 0.2, "average": 0.999}}
DROPOUT = {"model": {"dropout": 0.3}}
DROPOUT_LATER = DROPOUT | {"train": {"rate": 1e-3}}
BOTH = "train,valid"
RUNS = {
    "base": Planned(26, 1),
    "dropout3": Planned(26, 1, DROPOUT),
    "context16": Planned(26, 1, CONTEXT),
    "smooth2": Planned(26, 1, {"train": {"smoothing": 0.2}}),
    "width128": Planned(26, 1, {"model": {"width": 128, "feed_forward": 256}}),
    "relations": Planned(26, 1, {"train": {"relation_share": 0.1}}),
    "context16-62m": Planned(62, 1, CONTEXT),
    "regular-60m": Planned(60, 2, REGULAR),
    "averaged": Planned(50, 1, AVERAGED),
    "regular-averaged": Planned(60, 1, REGULAR_AVERAGED),
    "regular-both": Planned(45, 1, LATER, BOTH, "regular-60m", start="regular-60m"),
    "jf17k": Planned(12, 1, data="jf17k"),
    "jf17k-regular": Planned(12, 1, REGULAR, data="jf17k"),
    "jf17k-both": Planned(30, 1, LATER, BOTH, "jf17k-regular", "jf17k", "jf17k-regular"),
    "jf17k-plain": Planned(15, 1, DROPOUT, data="jf17k"),
    "jf17k-plain-both": Planned(45, 1, DROPOUT_LATER, BOTH, "jf17k-plain", "jf17k", "jf17k-plain"),
}
"""The runs by name: trials of 26 minutes on one core, and those over a full budget."""


def train(name: str, dataset: Dataset, home: Path, *, quick: bool) -> None:
    """Train a run, or go on with it."""
    planned, settings = RUNS[name], RUNS[name].settings
    if quick:
        settings = build_run_settings(QUICK, base=settings)
    elif planned.cores == 1:
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    start = None if planned.start is None else home / planned.start
    train_run(dataset, home / name, settings, planned.data, start)


def score(name: str, dataset: Dataset, split: str, home: Path) -> dict[str, Any]:
    """The scores of a run on a split: the model alone, rules alone, and both."""
    planned, folder = RUNS[name], home / name
    run, rules = OpenedRun.load(folder), use_rules(dataset, planned.data, planned.facts, home)
    known = dataset.known(planned.facts)
    weights = use_weights(planned.weights_of or name, dataset, home)
    evidence = RuleEvidence(rules, known, weights)
    runners: dict[str, Runner] = {
        "model": run.open_runner(dataset),
        "rules": RuleRunner(evidence),
        "both": JoinedRunner(run.model, evidence),
    }
    found: dict[str, Any] = {"split": split}
    for who, runner in runners.items():
        report = predict_links(runner, dataset, split, relations=False)
        parts = {"all": report.all, **report.group("part")}
        found[who] = {part: parts[part].to_json() for part in PARTS if part in parts}
        print(who, {part: round(one["mrr"], 4) for part, one in found[who].items()}, flush=True)
    state = json.loads((folder / "last" / "state.json").read_text("utf-8"))
    return found | {"steps": state["step"], "minutes": state["seconds"] / 60}


def use_rules(dataset: Dataset, data: str, facts: str, home: Path) -> Rules:
    """The rules that some facts of a data set give, mined once."""
    folder = home / f"rules-{data}-{facts.replace(',', '-')}"
    if not folder.is_dir():
        mine_rules(dataset, facts).save(folder)
    return Rules.load(folder)


def use_weights(name: str, dataset: Dataset, home: Path) -> JoinWeights:
    """The weights of rules beside the model of a run, fitted once on validation facts."""
    path = home / f"{name}.weights.json"
    if not path.is_file():
        model = OpenedRun.load(home / name).model
        rules = use_rules(dataset, RUNS[name].data, "train", home)
        weights = fit_rule_weights(model, dataset, rules)
        path.write_text(json.dumps(weights.to_json()), encoding="utf-8")
    return JoinWeights.from_json(json.loads(path.read_text("utf-8")))


def answer_queries(
    name: str, dataset: Dataset, count: int, home: Path, *, with_rules: bool
) -> dict[str, Any]:
    """The MRR by shape of a run's hybrid answers to test queries, with train and valid known."""
    shared = Shared(dataset)
    run = shared.use_run() if name == SHARED else home / name
    table = some_queries(shared.use_queries(), "test", count)
    calibrate(run, dataset, with_rules=with_rules)
    answerer = nqe.open(run, graph=dataset, facts="train,valid")
    by_shape = Report.of(evaluate(HybridRunner(answerer), table)).group("shape")
    return {"count": count, "mrr": {shape: by_shape[shape].mrr for shape in SHAPES}}


@dataclass(frozen=True)
class Scores:
    """The scores that were measured so far, in a file: of links by run and split, and of hybrid."""

    path: Path

    def read(self, kind: str) -> dict[str, Any]:
        """The scores of a kind, by what was scored."""
        if not self.path.is_file():
            return {}
        found: dict[str, Any] = json.loads(self.path.read_text("utf-8")).get(kind, {})
        return found

    def keep(self, kind: str, name: str, values: dict[str, Any]) -> None:
        """Add scores, with when they were measured and on what."""
        everything = {one: self.read(one) for one in ("links", "hybrid")}
        everything[kind][name] = values | dict(describe(()))
        self.path.write_text(json.dumps(everything, indent=2) + "\n", encoding="utf-8")


def links_section(data: str, split: str, links: dict[str, Any]) -> list[str]:
    """One row per run that was scored on a split of a data set."""
    rows = []
    for name, planned in RUNS.items():
        found = links.get(f"{name} {split}")
        if found is None or planned.data != data:
            continue
        cells = (
            " / ".join(f"{found[who][part]['mrr']:.4f}" for part in PARTS if part in found[who])
            for who in ("model", "rules", "both")
        )
        time = f"{found['minutes']:.0f} on {planned.cores}"
        steps = f"{found['steps']:,}"
        rows.append((name, describe_settings(planned), planned.facts, time, steps, *cells))
    columns = ("run", "settings", "trained on", "minutes on cores", "steps")
    table = markdown_table((*columns, "model", "rules", "both"), rows)
    return [f"## {data.upper()}, {split} split\n", table] if rows else []


def describe_settings(planned: Planned) -> str:
    """How the settings of a run differ from the defaults, and where its weights began."""
    changes = [f"{k} {v}" for part in planned.changes.values() for k, v in part.items()]
    if planned.start is not None:
        changes.append(f"starting from {planned.start}")
    return ", ".join(changes) or "defaults"


def hybrid_section(hybrid: dict[str, Any]) -> list[str]:
    """The hybrid answers of each run; ratios are of the first column."""
    if not hybrid:
        return []
    first, *others = hybrid.values()
    rows = [(shape, *(f"{one['mrr'][shape]:.4f}" for one in hybrid.values())) for shape in SHAPES]
    for title, names in (("all 16", list(SHAPES)), ("negative", list(NEGATIVE))):
        before, *after = (
            float(np.mean([one["mrr"][name] for name in names])) for one in (first, *others)
        )
        ratios = (f"{mean:.4f} ({mean / before:.3f} times)" for mean in after)
        rows.append((title, f"{before:.4f}", *ratios))
    text = (
        f"The first {first['count']} test queries of each shape of the frozen WD50K-NFOL, hard "
        f"answers, train and valid known; MRR per query. {SHARED} is the model of all shapes that "
        "several benchmarks share; without rules it is what there was before.\n"
    )
    return ["## Hybrid answers\n", text, markdown_table(("shape", *hybrid), rows)]


def report(scores: Scores) -> str:
    """The page, from the scores that are kept."""
    head = [
        "# The prediction of missing facts\n",
        "By `benchmarks/predictor_quality.py`. MRR over all slots / subjects and objects / values "
        "of qualifiers, filtered by the facts of all splits. Rules are mined from, and fire on, "
        "the facts that the model was trained on; their weights are fitted on validation facts, "
        "with the run of the same settings on train alone where nothing else is left to fit them "
        "on. predictor.json says when each row was measured, at which revision.\n",
        markdown_table(("what", "value"), describe(("torch", "numpy"))),
    ]
    links = (
        section
        for data, split in product(("wd50k", "jf17k"), ("valid", "test"))
        for section in links_section(data, split, scores.read("links"))
    )
    return "\n".join([*head, *links, *hybrid_section(scores.read("hybrid"))])


def main() -> None:
    parser: argparse.ArgumentParser = arguments(__doc__)
    parser.add_argument("part", choices=["train", "score", "hybrid", "report"])
    parser.add_argument("name", nargs="?", choices=[*RUNS, SHARED], default="base")
    parser.add_argument("--split", choices=["valid", "test"], default="valid")
    parser.add_argument("--count", type=int, default=250, help="test queries of each shape")
    parser.add_argument("--without-rules", action="store_true", help="hybrid: the model alone")
    options = parser.parse_args()
    home = BUILD / ("predictor-quick" if options.quick else "predictor")
    home.mkdir(parents=True, exist_ok=True)
    scores = Scores((home if options.quick else RESULTS) / "predictor.json")
    data = "wd50k" if options.name == SHARED else RUNS[options.name].data
    dataset = benchmark_data(data, quick=options.quick)
    if options.part == "train" or options.quick:
        train(options.name, dataset, home, quick=options.quick)
    if options.part == "score":
        found = score(options.name, dataset, options.split, home)
        scores.keep("links", f"{options.name} {options.split}", found)
    if options.part == "hybrid":
        with_rules = not options.without_rules
        found = answer_queries(options.name, dataset, options.count, home, with_rules=with_rules)
        words = "with rules" if with_rules else "without rules"
        scores.keep("hybrid", f"{options.name} {words}", found)
    write_result("predictor", report(scores), quick=options.quick)


if __name__ == "__main__":
    main()
