"""Results: what one row of a table reached with one seed, as a JSON file of its own."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any

from pydantic import TypeAdapter, ValidationError

from nqe.documents import (
    check_digest,
    parse_document,
    read_document_bytes,
    render_document,
)
from nqe.errors import NqeError, StorageError
from nqe.evaluation.metrics import Metrics
from nqe.files import new_file
from nqe.reproduction.machine import Origin
from nqe.settings import RunSettings, build_run_settings

FORMAT = "nqe-result"
VERSION = 1
HARD, EASY, LOOSE, HITS = "mrr", "mrr_easy", "mrr_loose", "hits@3"
MEASURES = (HARD, EASY, LOOSE, HITS)
"""What a result may hold: MRR of hard answers, of easy ones, with the loose filter; Hits@3."""
_ADVICE = "restore it, or delete it so that the row is computed again"


@dataclass(frozen=True)
class Scores:
    """A measure by group, such as a shape, with its interval where there is one."""

    values: Mapping[str, float]
    intervals: Mapping[str, Sequence[float]] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)
    """How many queries each value is the mean of."""

    @classmethod
    def of(cls, groups: Mapping[str, Metrics], metric: str = "mrr") -> Scores:
        """The scores of the groups of a report."""
        return cls(
            {name: one[metric] for name, one in groups.items()},
            {name: one.intervals[metric] for name, one in groups.items() if one.intervals},
            {name: one.queries for name, one in groups.items()},
        )

    def to_json(self) -> dict[str, Any]:
        """The scores as JSON data."""
        intervals = {name: list(ends) for name, ends in self.intervals.items()}
        return {"values": dict(self.values), "intervals": intervals, "counts": dict(self.counts)}


@dataclass(frozen=True)
class UsedGraph:
    """The graph that a result is about."""

    name: str
    fingerprint: str
    facts: Mapping[str, int]
    """The number of facts by split."""


@dataclass(frozen=True)
class Training:
    """How a run was trained."""

    minutes: float
    steps: int
    curve: tuple[tuple[float, int, float], ...] = ()
    """Minutes, step and validation MRR of each validation."""


@dataclass(frozen=True)
class Result:
    """What a row reached on a benchmark with one seed."""

    benchmark: str
    row: str
    seed: int
    preset: str
    graph: UsedGraph
    queries: str | None
    """The digest of the query set; None for link prediction."""
    settings: RunSettings
    scores: Mapping[str, Scores]
    """By measure, one of `MEASURES`."""
    missing: Scores
    """MRR of hard answers by the number of missing links; empty for link prediction."""
    training: Training
    origin: Origin
    facts: str | None = None
    """The splits that were known when answering; None if the model answered alone."""
    extra: Mapping[str, Any] = field(default_factory=dict)
    """What else is needed later, such as fitted weights of rules."""

    @property
    def name(self) -> str:
        """The name of its file, without the ending."""
        return name_result(self.benchmark, self.row, self.seed)

    def __str__(self) -> str:
        values, training = self.scores[HARD].values, self.training
        mean = values["all"] if "all" in values else fmean(values.values())
        return f"MRR {100 * mean:.2f}; {training.steps:,} steps in {training.minutes:.1f} minutes"

    def to_json(self) -> dict[str, Any]:
        """The result as JSON data; the values of each measure stand at the top."""
        scores = {measure: one.to_json() for measure, one in self.scores.items()}
        data = {
            "benchmark": self.benchmark,
            "row": self.row,
            "seed": self.seed,
            "preset": self.preset,
            **{measure: one["values"] for measure, one in scores.items()},
            "intervals": {measure: one["intervals"] for measure, one in scores.items()},
            "counts": {measure: one["counts"] for measure, one in scores.items()},
            "missing": self.missing.to_json(),
            "facts": self.facts,
            "minutes": round(self.training.minutes, 2),
            "steps": self.training.steps,
            "curve": [list(point) for point in self.training.curve],
            "graph": {**vars(self.graph), "facts": dict(self.graph.facts)},
            "queries": self.queries,
            "settings": self.settings.to_json(),
            "extra": dict(self.extra),
        }
        return data | {
            "date": self.origin.date,
            "machine": {"processor": self.origin.processor, "cores": self.origin.cores},
            "commit": self.origin.commit,
            "versions": dict(self.origin.versions),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Result:
        """The result from the data that `to_json` returned; raises ValueError and the like."""
        intervals, counts = data["intervals"], data["counts"]
        scores = {
            measure: {
                "values": data[measure],
                "intervals": intervals[measure],
                "counts": counts[measure],
            }
            for measure in MEASURES
            if measure in data
        }
        data = {**data, **data["machine"]}
        names = ("benchmark", "row", "seed", "preset", "graph", "queries", "missing", "facts")
        return _validate(
            {name: data[name] for name in (*names, "extra")}
            | {name: {key: data[key] for key in keys} for name, keys in _TOGETHER.items()}
            | {"scores": scores, "settings": _read_settings(data["settings"])}
        )


_TOGETHER = {
    "training": ("minutes", "steps", "curve"),
    "origin": ("date", "processor", "cores", "commit", "versions"),
}
"""The entries of a file that stand together in a result."""


def _read_settings(data: Any) -> RunSettings:
    try:
        return build_run_settings(data, "its settings")
    except (NqeError, AttributeError) as error:
        raise ValueError(str(error)) from error


def _validate(values: dict[str, Any]) -> Result:
    """The result with these values, after a check of the types of all of them."""
    try:
        result = TypeAdapter(Result).validate_python(values)
    except ValidationError as error:
        place = ".".join(map(str, error.errors()[0]["loc"]))
        raise ValueError(f"its entry '{place}' is of another type") from error
    if not all(group.isdigit() for group in result.missing.values):
        raise ValueError("a number of missing links is no number")
    if HARD not in result.scores or not result.scores[HARD].values:
        raise ValueError("it has no scores")
    return result


def name_result(benchmark: str, row: str, seed: int) -> str:
    """The name of a result's file, without the ending; a RUN has the same name."""
    words = re.sub(r"[^a-z0-9]+", "-", f"{benchmark} {row}".lower())
    return f"{words}-seed-{seed}"


def save_result(folder: Path, result: Result) -> Path:
    """Write a result into a folder; the file is complete or is not there."""
    path = folder / f"{result.name}.json"
    content = {"format": FORMAT, "version": VERSION, **result.to_json()}
    text = render_document(path, content)
    with new_file(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
    return path


def load_result(path: Path) -> Result:
    """Read a result that `save_result` wrote."""
    try:
        data = parse_document(read_document_bytes(path))
        if data.get("format") != FORMAT:
            raise StorageError(f"{path}: not a result of `nqe reproduce`; move it elsewhere")
        if data.get("version") != VERSION:
            raise ValueError(f"format version {data.get('version')!s:.20}, not {VERSION}")
        check_digest(data)
        result = Result.from_json(data)
        if path.stem != result.name:
            raise ValueError(f"it is the result {result.name!s:.200}")
        return result
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        raise StorageError(f"{path}: damaged ({error}); {_ADVICE}") from error


def load_results(folder: Path, benchmark: str | None = None) -> list[Result]:
    """All results in a folder and the folders in it, or those of a benchmark."""
    found = [load_result(path) for path in sorted(folder.rglob("*.json"))]
    return [one for one in found if benchmark in (None, one.benchmark)]


def find_result(folder: Path, benchmark: str, row: str, seed: int) -> Result | None:
    """The result of a row with a seed; None if it is not in the folder."""
    path = folder / f"{name_result(benchmark, row, seed)}.json"
    return load_result(path) if path.exists() else None


def check_result(folder: Path, found: Result, settings: RunSettings, queries: str | None) -> None:
    """Refuse a result that was computed with other settings, or from other queries."""
    where = folder / f"{found.name}.json"
    different = list_differences(found.settings, settings)
    if different:
        raise NqeError(
            f"{where}: computed with other settings ({different}); choose another folder, or the "
            "same settings"
        )
    if found.queries != queries:
        raise NqeError(f"{where}: computed from other queries; choose another folder")


def list_differences(found: RunSettings, wanted: RunSettings) -> str:
    """The settings in which two differ, in words; empty if in none."""
    before, now = found.to_json(), wanted.to_json()
    return ", ".join(
        f"{section}.{name} was {before[section][name]} and is {value}"
        for section, values in now.items()
        for name, value in values.items()
        if before[section][name] != value
    )


def check_comparable(results: Iterable[Result], where: Path) -> None:
    """Refuse results of a benchmark that were ranked on different queries, and one twice."""
    first: Result | None = None
    names: set[str] = set()
    for one in results:
        first = first or one
        if (one.queries, one.preset) != (first.queries, first.preset):
            raise NqeError(
                f"{where}: {one.name} and {first.name} were made from different queries or with "
                "different presets; keep them in different folders"
            )
        if one.name in names:
            raise NqeError(f"{where}: {one.name} is there twice; remove one of them")
        names.add(one.name)
