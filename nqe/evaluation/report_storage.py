"""Reports saved in a RUN folder, one JSON file each, so that runs can be compared."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from nqe.documents import check_digest, parse_document, read_document_bytes, render_document
from nqe.errors import NqeError, StorageError
from nqe.evaluation.evaluator import Ranking
from nqe.evaluation.query_selection import Selection
from nqe.evaluation.report import Report
from nqe.files import new_file

FOLDER = "reports"
FORMAT = "nqe-report"
VERSION = 3

_AGAIN = "create it again with `nqe evaluate`"


def save_report(run: Path, name: str, report: Report) -> Path:
    """Write a report into a run, replacing one of the same name."""
    path = run / FOLDER / f"{name}.json"
    data = {"format": FORMAT, "version": VERSION, "report": report.to_json()}
    text = render_document(path, data)
    with new_file(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
    return path


def save_query_report(
    run: Path, selection: Selection, ranking: Ranking, report: Report
) -> Path | None:
    """Save the report that runs are compared by: hard answers, realistic ties, per query.

    `report` is any report of the ranking; it is the saved one if it was made that way. Nothing is
    saved, and None is returned, if only a part of the split was evaluated or easy answers were.
    """
    if not selection.is_whole_split or ranking.answers != "hard":
        return None
    if (report.ties, report.per) != ("realistic", "query"):
        report = Report.of(ranking, split=report.split, by=tuple(report.groups), about=report.about)
    hybrid = "-hybrid" if report.about.get("mode") == "hybrid" else ""
    name = f"{selection.split}-{Path(selection.folder).resolve().name}{hybrid}"
    return save_report(run, name, report)


def save_link_report(run: Path, dataset: str, report: Report) -> Path | None:
    """Save a report of link prediction; with other than realistic ties, do nothing."""
    if report.ties != "realistic":
        return None
    name = f"{report.split}-{Path(dataset).resolve().name}-link-prediction"
    return save_report(run, name, report)


def list_reports(run: Path) -> dict[str, Path]:
    """The files of the reports in a run, by name."""
    return {path.stem: path for path in sorted((run / FOLDER).glob("*.json"))}


def load_report(path: Path) -> Report:
    """Read a report that `save_report` wrote."""
    try:
        data = parse_document(read_document_bytes(path))
    except (OSError, ValueError) as error:
        raise StorageError(f"{path}: damaged ({error}); {_AGAIN}") from error
    if data.get("format") != FORMAT:
        raise StorageError(f"{path}: not a report; {_AGAIN}")
    _check_version(path, data)
    try:
        check_digest(data, required=data["version"] == VERSION)
        return Report.from_json(data["report"])
    except KeyError as error:
        raise StorageError(f"{path}: without the report itself; {_AGAIN}") from error
    except ValueError as error:
        raise StorageError(f"{path}: damaged ({error}); {_AGAIN}") from error
    except StorageError as error:
        raise StorageError(f"{path}: {error}") from error


def load_shared_reports(runs: list[Path], name: str | None = None) -> dict[str, Report]:
    """The report with the given name from every run, or the only one that all runs have.

    The keys are the names of the runs' folders, or their paths where names are the same.
    """
    for run in runs:
        if not run.is_dir():
            raise NqeError(f"{run}: no such run; give folders made by `nqe train`")
    for run in runs:
        if not list_reports(run):
            raise NqeError(f"{run}: has no reports; run `nqe evaluate` with it first")
    names = _find_shared(runs, name)
    if len(names) != 1:
        have = "; ".join(f"{run} has {', '.join(list_reports(run))}" for run in runs)
        problem = "have several reports in common" if names else "have no report in common"
        remedy = "choose one with --report" if names else "evaluate them on the same queries"
        raise NqeError(f"the runs {problem} ({have}); {remedy}")
    reports = (load_report(list_reports(run)[names[0]]) for run in runs)
    return dict(zip(_name_runs(runs), reports, strict=True))


def _check_version(path: Path, data: dict[str, Any]) -> None:
    """Refuse a format that cannot be read.

    Version 2 had no digest. Version 1 is read if it is of a query set, as it only has fewer
    metrics.
    """
    match data.get("version"), data.get("kind"):
        case (3, _) | (2, _) | (1, "queries"):
            return
        case (1, "link-prediction"):
            report = data.get("report")
            about = report if isinstance(report, dict) else {}
            again = (
                f"nqe evaluate {path.parent.parent} {about.get('dataset', 'DATASET')} "
                f"--link-prediction --split {about.get('split', 'test')}"
            )
            raise StorageError(
                f"{path}: written by an older nqe (format version 1); "
                f"create it again with `{again}`"
            )
        case (version, _):
            raise StorageError(
                f"{path}: format version {version}, which this nqe does not read; {_AGAIN}"
            )


def _name_runs(runs: list[Path]) -> list[str]:
    names = [run.resolve().name for run in runs]
    return [
        str(run) if names.count(name) > 1 else name for run, name in zip(runs, names, strict=True)
    ]


def _find_shared(runs: list[Path], name: str | None) -> list[str]:
    shared = set.intersection(*(set(list_reports(run)) for run in runs))
    return sorted(shared if name is None else shared & {name, name.removesuffix(".json")})
