"""Check everything in a folder that nqe wrote: digests, numbers, and whether it can be used."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from nqe.answering.open_graph import open_dataset, read_dataset_name
from nqe.documents import check_digest, parse_document, read_document_bytes
from nqe.errors import NqeError, StorageError
from nqe.folders import FolderKind, OpenFolder
from nqe.graph import storage as graphs
from nqe.rules import storage as rules
from nqe.run_folders import BEST, CHECKPOINT, LAST, RELIABILITY_FILE, RULES, RUN, STATE
from nqe.sampling import row_storage as row_query_sets
from nqe.sampling import storage as query_sets

_FOUND = (graphs.KIND, query_sets.KIND, row_query_sets.KIND, CHECKPOINT, RUN, rules.KIND)


@dataclass(frozen=True)
class Checked:
    """The outcome of checking a folder."""

    noun: str
    """What the folder is: "graph folder"."""
    files: int
    """The number of files that were compared with their digests."""
    problems: tuple[str, ...]
    """One sentence for each thing that is wrong."""
    has_digests: bool
    """Whether all parts have digests; those of older versions have none."""


def check(place: str | Path) -> Checked:
    """Check every file of a graph, a query set, a RUN, a checkpoint or rules."""
    folder = Path(place)
    kind = next((kind for kind in _FOUND if kind.recognises(folder)), None)
    if kind is None:
        open_dataset(folder)  # its error says what the place is, or it is a graph after all
        raise StorageError(f"{place}: holds nothing to check; give a folder that nqe wrote")
    checker = _Checker([], [], [])
    checker.check(kind, folder)
    return Checked(
        kind.noun,
        sum(checker.files),
        tuple(dict.fromkeys(checker.problems)),
        all(checker.has_digests),
    )


@dataclass(frozen=True)
class _Checker:
    """Collects what is wrong with a folder and the folders in it."""

    problems: list[str]
    files: list[int]
    has_digests: list[bool]

    def check(self, kind: FolderKind, folder: Path) -> None:
        for problem in self._find_problems(kind, folder):
            self.problems.append(problem)

    def _find_problems(self, kind: FolderKind, folder: Path) -> Iterator[str]:
        try:
            opened = kind.open(folder)
        except NqeError as error:
            yield str(error)
            return
        damaged = opened.check_all()
        self.files.append(1 + len(opened.manifest.get("files", ())))
        self.has_digests.append("digest" in opened.manifest)
        yield from damaged
        for use in _USES[kind.format](opened):
            try:
                use()
            except NqeError as error:
                # What a damaged file makes impossible is not told a second time.
                if not damaged:
                    yield str(error)
        if kind is RUN:
            for name, inner in _INNER.items():
                if (folder / name).exists():
                    self.check(inner, folder / name)


_INNER = {BEST: CHECKPOINT, LAST: CHECKPOINT, RULES: rules.KIND}
"""The folders of a RUN that have a manifest of their own."""
Uses = Iterator[Callable[[], object]]
"""Ways to use a folder, each of which raises an error if something in it is wrong."""


def _use_graph(opened: OpenFolder) -> Uses:
    yield partial(graphs.load, opened.path)
    yield partial(graphs.check_index, opened)


def _use_queries(opened: OpenFolder) -> Uses:
    for split in opened.manifest["splits"]:
        yield partial(query_sets.load_queries, opened.path, split)


def _use_row_queries(opened: OpenFolder) -> Uses:
    yield partial(row_query_sets.read_row_manifest, opened.path)
    for split in opened.manifest["splits"]:
        yield partial(row_query_sets.load_row_queries, opened.path, split)


def _use_checkpoint(opened: OpenFolder) -> Uses:
    from nqe.answering.calibration_storage import load_calibration
    from nqe.model.checkpoint import from_pretrained
    from nqe.training.run_folder import State

    yield partial(from_pretrained, opened.path, "cpu")
    yield partial(load_calibration, opened.path)
    if (opened.path / RELIABILITY_FILE).is_file():
        yield partial(_check_document, opened.path / RELIABILITY_FILE)
    if opened.has(STATE):
        yield partial(_check_state, opened, State.of_json)


def _use_run(opened: OpenFolder) -> Uses:
    from nqe.evaluation.report_storage import list_reports, load_report
    from nqe.training.run_folder import RunFolder

    saved = [path for path in (opened.path / BEST, opened.path / LAST) if path.exists()]
    if all(map(CHECKPOINT.recognises, saved)):  # otherwise checking the checkpoint tells it
        yield partial(read_dataset_name, opened.path)
    yield lambda: RunFolder.open(opened.path).settings
    yield lambda: RunFolder.open(opened.path).read_metrics()
    for path in list_reports(opened.path).values():
        yield partial(load_report, path)


def _use_rules(opened: OpenFolder) -> Uses:
    yield partial(rules.load, opened.path)


_USES: dict[str, Callable[[OpenFolder], Uses]] = {
    graphs.KIND.format: _use_graph,
    query_sets.KIND.format: _use_queries,
    row_query_sets.KIND.format: _use_row_queries,
    CHECKPOINT.format: _use_checkpoint,
    RUN.format: _use_run,
    rules.KIND.format: _use_rules,
}


def _check_document(path: Path) -> None:
    try:
        check_digest(parse_document(read_document_bytes(path)), required=False)
    except (OSError, ValueError) as error:
        raise StorageError(f"{path}: damaged ({error}); calibrate the model again") from error


def _check_state(opened: OpenFolder, parse: Callable[[bytes], object]) -> None:
    try:
        parse(opened.read_bytes(STATE))
    except (ValueError, KeyError, TypeError) as error:
        raise StorageError(
            f"{opened.path / STATE}: damaged ({error}); {CHECKPOINT.how_to_rebuild}"
        ) from error
