"""Link prediction on WD50K by the default settings, and by others: what was tried.

`python benchmarks/one_hop_quality.py main` trains for 40 minutes, `before` for 35 as the defaults
were before the last trials, `trials` four each for settings that differ in one thing, validating
once. Runs are kept in build/one-hop and not trained again. Needs an idle machine; `report` writes
what is there without training.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from machine import (
    DATA,
    ROOT,
    describe,
    markdown_table,
    matrix_multiply_rate,
    peak_memory,
    write_result,
)

from nqe.evaluation import predict_links
from nqe.graph import Dataset
from nqe.model import EmbeddingRunner, load
from nqe.readers import read
from nqe.settings import build_run_settings
from nqe.training import fit_weights

RUNS = ROOT / "build" / "one-hop"
BARS = {"all": 0.33, "subject_object": 0.29}
Changes = dict[str, dict[str, Any]]
# What trials differ from in one thing, and how that differs from the defaults.
BASE: Changes = {"model": {"dropout": 0.1}, "train": {"full_from": 0.75}}
BEFORE: Changes = {**BASE, "train": {"full_from": 0.75, "answers_power": 0.0}}
# Long runs: their minutes, and how they differ from the defaults.
LONG: dict[str, tuple[float, Changes]] = {"main": (40.0, {}), "before": (35.0, BEFORE)}
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


def folder_of(name: str, minutes: float) -> Path:
    """Where a run is kept."""
    return RUNS / f"{name.replace(' ', '-')}-{minutes:g}m"


def train_and_test(
    dataset: Dataset, name: str, minutes: float, validations: int, *changes: Changes
) -> None:
    """Train these settings and score the test split, unless that was done."""
    folder = folder_of(name, minutes)
    if (folder / "links.json").is_file():
        return
    given: Changes = {
        "model": {},
        "train": {
            "shapes": ["1p"],
            "minutes": minutes,
            "evaluate_minutes": minutes / validations,
        },
    }
    for one in changes:
        for section, values in one.items():
            given[section] |= values
    settings = build_run_settings(given)
    fit_weights(dataset, folder, settings=settings, name="wd50k", resume=folder.is_dir())
    report = predict_links(EmbeddingRunner(load(folder)), dataset)
    parts = {"all": report.all, **report.group("part")}
    found: dict[str, Any] = {part: metrics.to_json() for part, metrics in parts.items()}
    found |= {"gigabytes": peak_memory(), "multiply": matrix_multiply_rate()}
    (folder / "links.json").write_text(json.dumps(found), encoding="utf-8")


def links(folder: Path) -> dict[str, Any]:
    """What a run scores on the test split."""
    found: dict[str, Any] = json.loads((folder / "links.json").read_text(encoding="utf-8"))
    return found


def curve(folder: Path) -> str:
    """The run's validations over time."""
    lines = (folder / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    return markdown_table(
        ("minutes", "step", "validation MRR"),
        [
            (f"{one['seconds'] / 60:.1f}", f"{one['step']:,}", f"{one['mrr']:.4f}")
            for one in rows
            if "mrr" in one
        ],
    )


def long_part(folder: Path) -> str:
    """A long run: its scores and its curve."""
    found = links(folder)
    rows = [
        (
            part,
            *(f"{found[part][name]:.4f}" for name in ("mrr", "hits@1", "hits@3", "hits@10")),
            f"{found[part]['answers']:,}",
            f"{BARS[part]:.2f}" if part in BARS else "",
        )
        for part in ("all", "subject_object", "value")
    ]
    columns = ("test", "MRR", "Hits@1", "Hits@3", "Hits@10", "answers", "bar")
    validated = "Over its queries, hard answers, per query; the scores above are per answer.\n"
    return "\n".join(
        [
            f"Peak memory {found['gigabytes']:.2f} GB (bar 4).\n",
            markdown_table(columns, rows),
            "### The learning curve\n",
            validated,
            curve(folder),
        ]
    )


def told(changes: Changes) -> str:
    """Settings that differ from the defaults, in words."""
    return ", ".join(f"{name} {value}" for one in changes.values() for name, value in one.items())


def trials_part(minutes: float) -> str:
    """A row a trial that is there."""
    rows = []
    for name in TRIALS:
        folder = folder_of(name, minutes)
        if (folder / "links.json").is_file():
            found = links(folder)
            state = json.loads((folder / "last" / "state.json").read_text(encoding="utf-8"))
            scores = (f"{found[part]['mrr']:.4f}" for part in ("all", "subject_object", "value"))
            rows.append((name, *scores, f"{state['step']:,}", f"{found['multiply']:.0f}"))
    columns = ("settings", "all", "subject/object", "value", "steps", "GF/s after")
    return markdown_table(columns, rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", choices=[*LONG, "trials", "report"])
    parser.add_argument("--minutes", type=float, default=4.0, help="of each trial")
    parser.add_argument("--only", default="", help="trials, by name, with commas")
    options = parser.parse_args()
    if options.part != "report":
        dataset = read(DATA / "wd50k")
        wanted = [name.strip() for name in options.only.split(",") if name.strip()] or list(TRIALS)
        if options.part in LONG:
            minutes, changes = LONG[options.part]
            train_and_test(dataset, options.part, minutes, 12, changes)
        else:
            for name in wanted:
                train_and_test(dataset, name, options.minutes, 1, BASE, TRIALS[name])
    text = ["# One-hop link prediction on WD50K\n"]
    text.append(
        "By `benchmarks/one_hop_quality.py`: trained on the train split alone, all slots.\n"
    )
    text.append(markdown_table(("what", "value"), describe(("torch", "numpy"))))
    for name, (minutes, changes) in LONG.items():
        run = folder_of(name, minutes)
        if (run / "links.json").is_file():
            title = f"With {told(changes)}" if changes else "The default settings"
            text += [f"## {title}, {minutes:g} minutes\n", long_part(run)]
    text += [
        f"## What was tried, {options.minutes:g} minutes each\n",
        f"The base has the defaults but for {told(BASE)}; the others differ from it in one thing. "
        "This is one epoch or two: what makes more steps in the time looks better than it is.\n",
        trials_part(options.minutes),
    ]
    write_result("one-hop", "\n".join(text))


if __name__ == "__main__":
    main()
