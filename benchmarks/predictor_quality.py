"""How well a missing fact is predicted: models, rules, and both together, on WD50K and JF17K.

`python benchmarks/predictor_quality.py train NAME` trains one of the runs below, or goes on with
it. `score NAME --split valid` ranks the entity in every slot of every fact of a split: by the model
alone, by rules alone, and by both. Settings are compared on the validation split; the test split is
scored once per published figure. `hybrid` answers the frozen WD50K-NFOL test queries with the
shared model of all shapes, with rules and without. `report` writes the result from what is there.

Runs are kept in build/predictor. A run on one core is pinned to it, with one thread.
"""

from __future__ import annotations

import argparse
import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from hybrid_quality import some_queries
from machine import (
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
from nqe.answering.calibration_fitting import ONE_HOP, calibrate
from nqe.answering.calibration_queries import draw_calibration_queries
from nqe.answering.join_fitting import fit_evidence
from nqe.answering.joined_runner import JoinedRunner
from nqe.answering.joining import JoinWeights, RuleEvidence
from nqe.answering.rule_mining import mine_rules
from nqe.evaluation import Report, evaluate, predict_links
from nqe.evaluation.evaluator import Runner
from nqe.graph import Dataset
from nqe.query.shapes import NEGATIVE, SHAPES
from nqe.rules.rules import Rules
from nqe.settings import RunSettings, build_run_settings

BUILD = ROOT / "build"
PARTS = ("all", "subject_object", "value")
HYBRID_FILE = "hybrid-with-rules.json"
# So that `--quick` trains in seconds.
QUICK: dict[str, dict[str, Any]] = {
    "model": {"width": 16, "layers": 1, "heads": 2, "feed_forward": 16},
    "train": {"minutes": None, "steps": 4, "batch": 64, "evaluate_steps": 4},
}


@dataclass(frozen=True)
class Planned:
    """A run: its settings, how long it trains, on how many cores, and on which facts."""

    minutes: float
    cores: int
    changes: dict[str, dict[str, Any]] = field(default_factory=dict)
    facts: str = "train"
    weights_of: str | None = None
    """The run that the weights of rules come from, for one that leaves nothing to fit them on."""

    @property
    def settings(self) -> RunSettings:
        """The defaults with the changes."""
        time = {"shapes": ["1p"], "minutes": self.minutes, "facts": self.facts}
        given: dict[str, dict[str, Any]] = {"model": {}, "train": time}
        for section, values in self.changes.items():
            given[section] = given[section] | values
        return build_run_settings(given)


CONTEXT = {"model": {"context": 16}}
RUNS = {
    "base": Planned(26, 1),
    "dropout3": Planned(26, 1, {"model": {"dropout": 0.3}}),
    "context16": Planned(26, 1, CONTEXT),
    "smooth2": Planned(26, 1, {"train": {"smoothing": 0.2}}),
    "width128": Planned(26, 1, {"model": {"width": 128, "feed_forward": 256}}),
    "relations": Planned(26, 1, {"train": {"relation_share": 0.1}}),
    "context16-62m": Planned(62, 1, CONTEXT),
    "context16-60m": Planned(60, 2, CONTEXT),
    "context16-all-facts": Planned(150, 2, CONTEXT, "train,valid", "context16-60m"),
}
"""The runs by name: trials of 26 minutes on one core, and those over a full budget."""


def train(name: str, dataset: Dataset, home: Path, *, quick: bool) -> None:
    """Train a run, or go on with it."""
    planned, settings = RUNS[name], RUNS[name].settings
    if quick:
        settings = build_run_settings(QUICK, base=settings)
    elif planned.cores == 1:
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    train_run(dataset, home / name, settings)


def score(name: str, dataset: Dataset, split: str, home: Path) -> dict[str, Any]:
    """The scores of a run on a split: the model alone, rules alone, and both."""
    planned, folder = RUNS[name], home / name
    run, rules = OpenedRun.load(folder), use_rules(dataset, planned.facts, home)
    known = dataset.known(planned.facts)
    weights = use_weights(planned.weights_of or name, dataset, home)
    evidence = RuleEvidence(rules, known, weights)
    runners: dict[str, Runner] = {
        "model": run.open_runner(dataset),
        "rules": JoinedRunner(None, evidence),
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


def use_rules(dataset: Dataset, facts: str, home: Path) -> Rules:
    """The rules that some facts give, mined once."""
    folder = home / f"rules-{facts.replace(',', '-')}"
    if not folder.is_dir():
        mine_rules(dataset, facts).save(folder)
    return Rules.load(folder)


def use_weights(name: str, dataset: Dataset, home: Path) -> JoinWeights:
    """The weights of rules beside the model of a run, fitted once on validation facts."""
    path = home / f"{name}.weights.json"
    if not path.is_file():
        model, rules = OpenedRun.load(home / name).model, use_rules(dataset, "train", home)
        rng = np.random.default_rng(0)
        table, stated = draw_calibration_queries(dataset, "valid", "train", ONE_HOP, rng)
        _, weights = fit_evidence(model, table, stated, rules, dataset.known("train"))
        path.write_text(json.dumps(weights.to_json()), encoding="utf-8")
    return JoinWeights.from_json(json.loads(path.read_text("utf-8")))


def compare_hybrid(dataset: Dataset, count: int) -> dict[str, Any]:
    """The MRR by shape of hybrid answers on test queries, without rules and with them."""
    shared = Shared(dataset)
    table = some_queries(shared.use_queries(), "test", count)
    found: dict[str, Any] = {"count": count}
    for who, with_rules in (("without rules", False), ("with rules", True)):
        calibrate(shared.use_run(), dataset, with_rules=with_rules)
        answerer = nqe.open(shared.use_run(), graph=dataset, facts="train,valid")
        by_shape = Report.of(evaluate(HybridRunner(answerer), table)).group("shape")
        found[who] = {name: by_shape[name].mrr for name in SHAPES}
    return found


def read(path: Path) -> dict[str, Any] | None:
    """What was kept in a file; None if it is not there."""
    return json.loads(path.read_text("utf-8")) if path.is_file() else None


def links_section(split: str, home: Path) -> list[str]:
    """One row per run that was scored on a split."""
    rows = []
    for name, planned in RUNS.items():
        found = read(home / f"{name}.{split}.json")
        if found is None:
            continue
        cells = (
            " / ".join(f"{found[who][part]['mrr']:.4f}" for part in PARTS)
            for who in ("model", "rules", "both")
        )
        changes = ", ".join(
            f"{k} {v}" for part in planned.changes.values() for k, v in part.items()
        )
        time = f"{found['minutes']:.0f} on {planned.cores}"
        rows.append((changes or "defaults", planned.facts, time, f"{found['steps']:,}", *cells))
    columns = ("settings", "trained on", "minutes on cores", "steps", "model", "rules", "both")
    return [f"## WD50K, {split} split\n", markdown_table(columns, rows)] if rows else []


def hybrid_section(home: Path) -> list[str]:
    """The hybrid answers with rules and without."""
    found = read(home / HYBRID_FILE)
    if found is None:
        return []
    before, after = found["without rules"], found["with rules"]
    rows = [(name, f"{before[name]:.4f}", f"{after[name]:.4f}") for name in SHAPES]
    groups = {"all 16": list(SHAPES), "negative": list(NEGATIVE)}
    for title, names in groups.items():
        means = [float(np.mean([one[name] for name in names])) for one in (before, after)]
        rows.append((title, *(f"{mean:.4f}" for mean in means)))
        rows[-1] = (*rows[-1][:2], f"{rows[-1][2]} ({means[1] / means[0]:.3f} times)")
    text = (
        f"The first {found['count']} test queries of each shape of the frozen WD50K-NFOL, hard "
        "answers, train and valid known, the shared model of all shapes; MRR per query.\n"
    )
    columns = ("shape", "without rules", "with rules")
    return ["## Hybrid answers\n", text, markdown_table(columns, rows)]


def report(home: Path) -> str:
    """The result, from what is there."""
    head = [
        "# The prediction of missing facts\n",
        "By `benchmarks/predictor_quality.py`. MRR over all slots / subjects and objects / values "
        "of qualifiers, filtered by the facts of all splits. Rules are mined from, and fire on, "
        "the facts that the model was trained on; their weights are fitted on validation facts.\n",
        markdown_table(("what", "value"), describe(("torch", "numpy"))),
    ]
    links = [*links_section("valid", home), *links_section("test", home)]
    return "\n".join([*head, *links, *hybrid_section(home)])


def keep(path: Path, values: dict[str, Any]) -> None:
    path.write_text(json.dumps(values, indent=2), encoding="utf-8")


def main() -> None:
    parser: argparse.ArgumentParser = arguments(__doc__)
    parser.add_argument("part", choices=["train", "score", "hybrid", "report"])
    parser.add_argument("name", nargs="?", choices=list(RUNS), default="base")
    parser.add_argument("--split", choices=["valid", "test"], default="valid")
    parser.add_argument("--count", type=int, default=250, help="test queries of each shape")
    options = parser.parse_args()
    home = BUILD / ("predictor-quick" if options.quick else "predictor")
    home.mkdir(parents=True, exist_ok=True)
    dataset = benchmark_data(quick=options.quick)
    if options.part == "train" or options.quick:
        train(options.name, dataset, home, quick=options.quick)
    if options.part == "score":
        found = score(options.name, dataset, options.split, home)
        keep(home / f"{options.name}.{options.split}.json", found)
    if options.part == "hybrid":
        keep(home / HYBRID_FILE, compare_hybrid(dataset, options.count))
    write_result("predictor", report(home), quick=options.quick)


if __name__ == "__main__":
    main()
