"""Link prediction on WD50K by the default settings, and by other settings that were tried.

`python benchmarks/one_hop_quality.py main` trains the default settings for 40 minutes and scores
them on the test split, once. `before` trains the settings that were the default earlier for 35
minutes, and `trials` trains settings that differ in one thing for four minutes each; settings are
compared on the validation split alone. Runs are kept in build/one-hop and not trained again.
`report` writes the result from the runs that are there. Needs an idle machine.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from cache import Stamp, read_values, use_folder, use_values
from machine import (
    ROOT,
    arguments,
    benchmark_data,
    describe,
    markdown_table,
    matrix_multiply_rate,
    peak_memory,
    write_result,
)
from trained import run_stamp, train_run

from nqe import version
from nqe.answering import OpenedRun
from nqe.evaluation import predict_links
from nqe.graph import Dataset
from nqe.settings import RunSettings, build_run_settings

RUNS = ROOT / "build" / "one-hop"
BARS = {"all": 0.33, "subject_object": 0.29}
PARTS = ("all", "subject_object", "value")
Changes = dict[str, dict[str, Any]]
# The settings that each trial changes in one thing, and in what they differ from the defaults.
BASE: Changes = {"model": {"dropout": 0.1}, "train": {"full_from": 0.75}}
BEFORE: Changes = {**BASE, "train": {"full_from": 0.75, "answers_power": 0.0}}
TRIALS: dict[str, Changes] = {
    "base": {},
    "another seed": {"train": {"seed": 1}},
    "each query once": {"train": {"answers_power": 0.0}},
    "as often as answers": {"train": {"answers_power": 1.0}},
    "width 128": {"model": {"width": 128, "feed_forward": 256}},
    "width 256": {"model": {"width": 256, "feed_forward": 512}},
    "2 layers": {"model": {"layers": 2}},
    "4 layers": {"model": {"layers": 4}},
    "no dropout": {"model": {"dropout": 0.0}},
    "dropout 0.2": {"model": {"dropout": 0.2}},
    "ε 0": {"train": {"smoothing": 0.0}},
    "ε 0.2": {"train": {"smoothing": 0.2}},
    "full softmax": {"train": {"loss": "full"}},
    "sampled to the end": {"train": {"full_from": 1.0}},
    "2000 candidates": {"train": {"candidates": 2000}},
    "one target": {"train": {"targets": "one"}},
    "EMA 0.999": {"train": {"average": 0.999}},
    "batch 512": {"train": {"batch": 512}},
    "rate 1e-3": {"train": {"rate": 1e-3}},
    "rate 4e-3": {"train": {"rate": 4e-3}},
    "closed only": {"train": {"open_share": 0.0}},
    "dot product": {"model": {"score": "dot"}},
}
# So that `--quick` trains in seconds.
QUICK: Changes = {
    "model": {"width": 16, "layers": 1, "heads": 2, "feed_forward": 16},
    "train": {"minutes": None, "steps": 4, "batch": 64, "evaluate_steps": 4},
}


@dataclass(frozen=True)
class Experiment:
    """A run: its settings, and where it is kept."""

    name: str
    minutes: float
    changes: tuple[Changes, ...]
    validations: int
    """How often the run is validated while it trains."""
    quick: bool = False

    @property
    def folder(self) -> Path:
        """Where the run is kept."""
        home = RUNS / "quick" if self.quick else RUNS
        return home / f"{self.name.replace(' ', '-')}-{self.minutes:g}m"

    @property
    def settings(self) -> RunSettings:
        """The defaults with the changes."""
        every = self.minutes / self.validations
        time = {"shapes": ["1p"], "minutes": self.minutes, "evaluate_minutes": every}
        given: Changes = {"model": {}, "train": time}
        for change in (*self.changes, QUICK if self.quick else {}):
            for section, values in change.items():
                given[section] |= values
        return build_run_settings(given)

    def scores_stamp(self, dataset: Dataset, split: str) -> Stamp:
        """What the scores on a split are made from."""
        stamp = run_stamp(dataset, self.settings)
        return replace(
            stamp,
            settings={**stamp.settings, "split": split},
            versions={**stamp.versions, "evaluation": version.EVALUATION_VERSION},
        )

    def scores_file(self, split: str) -> Path:
        """Where the scores on a split are kept."""
        return self.folder.with_name(f"{self.folder.name}.{split}.json")


MAIN = Experiment("main", 40.0, (), 12)
EARLIER = Experiment("before", 35.0, (BEFORE,), 12)


def trials(minutes: float, names: list[str], *, quick: bool = False) -> Iterator[Experiment]:
    """The trials with these names."""
    for name in names:
        yield Experiment(name, minutes, (BASE, TRIALS[name]), 1, quick)


def train_and_score(experiment: Experiment, dataset: Dataset, split: str) -> None:
    """Train a run and score a split, unless that was done with the same settings and code."""
    stamp = run_stamp(dataset, experiment.settings)
    folder = experiment.folder
    use_folder(folder, stamp, lambda: train_run(dataset, folder, experiment.settings))
    use_values(
        experiment.scores_file(split),
        experiment.scores_stamp(dataset, split),
        lambda: score(folder, dataset, split),
    )


def score(folder: Path, dataset: Dataset, split: str) -> dict[str, Any]:
    """The link prediction scores of a run on a split, its memory, and how busy the machine was."""
    report = predict_links(OpenedRun.load(folder).open_runner(dataset), dataset, split)
    parts = {"all": report.all, **report.group("part")}
    scores: dict[str, Any] = {part: metrics.to_json() for part, metrics in parts.items()}
    return scores | {"gigabytes": peak_memory(), "multiply": matrix_multiply_rate()}


def curve(folder: Path) -> str:
    """The validations of a run over time."""
    lines = (folder / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    return markdown_table(
        ("minutes", "step", "validation MRR"),
        [
            (f"{row['seconds'] / 60:.1f}", f"{row['step']:,}", f"{row['mrr']:.4f}")
            for row in rows
            if "mrr" in row
        ],
    )


def long_section(experiment: Experiment, dataset: Dataset, split: str) -> list[str]:
    """The scores and the learning curve of a long run; nothing if it is not there."""
    stamp = experiment.scores_stamp(dataset, split)
    found = read_values(experiment.scores_file(split), stamp)
    if found is None:
        return []
    changes = in_words(*experiment.changes)
    title = f"With {changes}" if changes else "The default settings"
    return [
        f"## {title}, {experiment.minutes:g} minutes\n",
        f"Peak memory {found['gigabytes']:.2f} GB (bar 4).\n",
        scores_table(found, split),
        "### The learning curve\n",
        "On validation queries, hard answers, per query; the scores above are per answer.\n",
        curve(experiment.folder),
    ]


def scores_table(found: dict[str, Any], split: str) -> str:
    """The scores of a long run, one row per part."""
    rows = [
        (
            part,
            *(f"{found[part][name]:.4f}" for name in ("mrr", "hits@1", "hits@3", "hits@10")),
            f"{found[part]['answers']:,}",
            f"{BARS[part]:.2f}" if part in BARS and split == "test" else "",
        )
        for part in PARTS
    ]
    columns = (f"{split} split", "MRR", "Hits@1", "Hits@3", "Hits@10", "answers", "bar")
    return markdown_table(columns, rows)


def in_words(*changes: Changes) -> str:
    """The settings that differ from the defaults."""
    sections = (values for change in changes for values in change.values())
    return ", ".join(f"{name} {value}" for values in sections for name, value in values.items())


def trials_section(dataset: Dataset, experiments: list[Experiment]) -> str:
    """One row per trial that is there, scored on the validation split."""
    rows = []
    for experiment in experiments:
        stamp = experiment.scores_stamp(dataset, "valid")
        found = read_values(experiment.scores_file("valid"), stamp)
        if found is not None:
            state = json.loads((experiment.folder / "last" / "state.json").read_text("utf-8"))
            scores = (f"{found[part]['mrr']:.4f}" for part in PARTS)
            rows.append(
                (experiment.name, *scores, f"{state['step']:,}", f"{found['multiply']:.0f}")
            )
    columns = ("settings", "all", "subject/object", "value", "steps", "GF/s after")
    return markdown_table(columns, rows)


def report(dataset: Dataset, minutes: float, *, quick: bool) -> str:
    """The result, from the runs that are there."""
    main, earlier = (replace(one, quick=quick) for one in (MAIN, EARLIER))
    parts = [
        "# One-hop link prediction on WD50K\n",
        "By `benchmarks/one_hop_quality.py`: trained on the train split alone, all slots. The "
        "default settings are scored on the test split; settings are compared on the validation "
        "split.\n",
        markdown_table(("what", "value"), describe(("torch", "numpy"))),
        *long_section(main, dataset, "test"),
        *long_section(main, dataset, "valid")[2:3],
        *long_section(earlier, dataset, "valid"),
        f"## Trials of {minutes:g} minutes each, MRR on the validation split\n",
        f"The base has the defaults except for {in_words(BASE)}; each other trial differs from it "
        "in one thing. The time is one or two epochs, so settings that make more steps in that "
        "time look better than they are.\n",
        trials_section(dataset, list(trials(minutes, list(TRIALS), quick=quick))),
    ]
    return "\n".join(parts)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("part", choices=["main", "before", "trials", "report"])
    parser.add_argument("--minutes", type=float, default=4.0, help="of each trial")
    parser.add_argument("--only", default="", help="names of trials, separated by commas")
    options = parser.parse_args()
    dataset = benchmark_data(quick=options.quick)
    names = [name.strip() for name in options.only.split(",") if name.strip()] or list(TRIALS)
    if options.part == "main":
        # The validation scores are what the earlier defaults are compared with.
        for split in ("valid", "test"):
            train_and_score(replace(MAIN, quick=options.quick), dataset, split)
    elif options.part == "before":
        train_and_score(replace(EARLIER, quick=options.quick), dataset, "valid")
    elif options.part == "trials":
        for trial in trials(options.minutes, names, quick=options.quick):
            train_and_score(trial, dataset, "valid")
    write_result(
        "one-hop", report(dataset, options.minutes, quick=options.quick), quick=options.quick
    )


if __name__ == "__main__":
    main()
