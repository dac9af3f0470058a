"""Reports kept in a RUN folder, a JSON file each, so that runs can be compared."""

from __future__ import annotations

import json
from pathlib import Path

from nqe.errors import NqeError, StorageError
from nqe.evaluation.link_prediction import LinkReport
from nqe.evaluation.report import Report
from nqe.files import new_file

FOLDER = "reports"
FORMAT = "nqe-report"
VERSION = 1
KINDS: dict[str, type[Report] | type[LinkReport]] = {
    "queries": Report,
    "link-prediction": LinkReport,
}


def keep(run: Path, name: str, report: Report | LinkReport) -> Path:
    """Write a report into a run, in place of one of the same name."""
    [kind] = [kind for kind, known in KINDS.items() if isinstance(report, known)]
    head = {"format": FORMAT, "version": VERSION, "kind": kind}
    path = run / FOLDER / f"{name}.json"
    with new_file(path) as temporary:
        text = json.dumps({**head, "report": report.to_json()}, indent=2, ensure_ascii=False)
        temporary.write_text(text + "\n", encoding="utf-8")
    return path


def kept(run: Path) -> dict[str, Path]:
    """The reports of a run, by name."""
    return {path.stem: path for path in sorted((run / FOLDER).glob("*.json"))}


def read_report(path: Path) -> Report | LinkReport:
    """A report that `keep` wrote."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise StorageError(f"{path}: damaged ({error}); {_AGAIN}") from error
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise StorageError(f"{path}: not a report; {_AGAIN}")
    if data.get("version") != VERSION or data.get("kind") not in KINDS:
        raise StorageError(
            f"{path}: format version {data.get('version')} of a report on {data.get('kind')}, "
            f"which this nqe does not read; {_AGAIN}"
        )
    try:
        return KINDS[data["kind"]].from_json(data["report"])
    except (StorageError, KeyError) as error:
        raise StorageError(f"{path}: {error}") from error


def shared_reports(runs: list[Path], name: str | None = None) -> dict[Path, Report | LinkReport]:
    """The report of that name of every run; without a name the one that all runs have."""
    names = _named(runs, name)
    for run in runs:
        if not run.is_dir():
            raise NqeError(f"{run}: no such run; give folders made by `nqe train`")
    for run in runs:
        if not kept(run):
            raise NqeError(f"{run}: no reports in it; run `nqe evaluate` with it first")
    if len(names) != 1:
        have = "; ".join(f"{run} has {', '.join(kept(run))}" for run in runs)
        several = "share several reports" if names else "share no report"
        then = "choose one with --report" if names else "evaluate them on the same queries"
        raise NqeError(f"the runs {several} ({have}); {then}")
    return {run: read_report(kept(run)[names[0]]) for run in runs}


_AGAIN = "make it again with `nqe evaluate`"


def _named(runs: list[Path], name: str | None) -> list[str]:
    shared = set.intersection(*(set(kept(run)) for run in runs))
    return sorted(shared if name is None else shared & {name, name.removesuffix(".json")})
