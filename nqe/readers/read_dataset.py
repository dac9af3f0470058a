"""Reading whole data sets: which files belong to which split, and their facts into columns."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from nqe.errors import InputError
from nqe.graph.builder import DatasetBuilder, FactCollector
from nqe.graph.dataset import SPLITS, Dataset
from nqe.graph.storage import is_saved
from nqe.progress import NoProgress, Progress
from nqe.readers.bad_lines import Bad, BadLines, Lines
from nqe.readers.formats import detect, reader
from nqe.readers.labels import read_labels
from nqe.readers.source import STDIN, Source
from nqe.readers.table import Columns

LABELS = "labels.tsv"
OTHER_SPLIT_NAMES = {"validation": "valid", "dev": "valid"}
SPLIT_NAMES = {name: name for name in SPLITS} | OTHER_SPLIT_NAMES
# Progress is told after so many facts.
STRIDE = 2_000


@dataclass(frozen=True)
class Reading:
    """How to read: everything `read` can be told beside the sources."""

    format: str | None
    columns: Columns
    limit: int | None


def read(
    sources: str | Path | Sequence[str | Path],
    *,
    format: str | None = None,
    labels: str | Path | None = None,
    limit: int | None = None,
    columns: Columns | None = None,
    bad: BadLines | None = None,
    progress: Progress | None = None,
) -> Dataset:
    """Read files, or a folder with train, valid and test, or a saved graph folder.

    `format` is told by the content unless given; `limit` is the number of facts to take of each
    file; `bad` decides what a bad line does (stop, by default); `progress` receives how
    far reading is.
    """
    names = [str(one) for one in ([sources] if isinstance(sources, str | Path) else sources)]
    bad, progress = bad or BadLines(), progress or NoProgress()
    if limit is not None and limit < 1:
        raise InputError(f"a limit of {limit} facts; read 1 or more")
    saved = [name for name in names if is_saved(Path(name))]
    if saved:
        _check_alone(saved[0], names, format, limit)
        dataset = Dataset.load(saved[0])
        return dataset.describe(read_labels(str(labels), bad)) if labels else dataset
    how = Reading(format, columns or Columns(), limit)
    if format is not None:
        reader(format, how.columns)
    builder = DatasetBuilder()
    for split, files in _splits(names, how).items():
        for file in files:
            _read_file(file, how, builder.split(split), bad, progress)
    dataset = Dataset(*builder.finish())
    found = [str(labels)] if labels else _labels_beside(names)
    for path in found:
        dataset = dataset.describe(read_labels(path, bad))
    return dataset


def _check_alone(name: str, names: Sequence[str], format: str | None, limit: int | None) -> None:
    """Refuse what does not go together with a saved graph; its numbers mean nothing elsewhere."""
    if len(names) > 1:
        raise InputError(
            f"{name}: a saved graph cannot be joined with others; export it and import its files"
        )
    if format is not None or limit is not None:
        raise InputError(f"{name}: a saved graph is read as it is; leave out --format and --limit")


def _read_file(
    name: str, how: Reading, collector: FactCollector, bad: BadLines, progress: Progress
) -> None:
    before = bad.count
    with Source(name, bad) as source:
        progress.start(Path(name).name, source.size)
        lines = reader(how.format or detect(source, how.columns), how.columns)(source)
        count = 0
        for _ in islice(_taken(name, lines, collector, bad), how.limit):
            count += 1
            if count % STRIDE == 0:
                progress.update(source.position, count)
        progress.update(source.position, count)
    if not count and bad.count > before:
        raise InputError(f"{name}: only bad lines; run without --skip-bad to see the first of them")
    if not count:
        raise InputError(f"{name}: empty; there is nothing to import")


def _taken(name: str, lines: Lines, collector: FactCollector, bad: BadLines) -> Iterator[None]:
    """Put facts into the collector, one each time we are asked; bad ones are reported."""
    for number, fact in lines:
        if isinstance(fact, Bad):
            bad.report(name, number, fact)
            continue
        try:
            collector.add(fact)
        except InputError as error:
            bad.report(name, number, Bad(str(error), str(fact)))
            continue
        yield


def _splits(names: Sequence[str], how: Reading) -> Mapping[str, list[str]]:
    """The files of each split."""
    splits: dict[str, list[str]] = {}
    for name in names:
        if name != STDIN and Path(name).is_dir():
            found = _folder_splits(Path(name), how)
        else:
            found = {split_of(Path(name).name) or "train": [name]}
        for split, files in found.items():
            splits.setdefault(split, []).extend(files)
    return {split: splits[split] for split in SPLITS if split in splits}


def split_of(file_name: str) -> str | None:
    """The split a file's name speaks of: train.txt, n-ary_dev.json, test-00000-of-00002.parquet."""
    words = [word for word in re.split(r"[._-]", file_name.lower()) if word in SPLIT_NAMES]
    return SPLIT_NAMES[words[0]] if len(words) == 1 else None


def _folder_splits(folder: Path, how: Reading) -> dict[str, list[str]]:
    """The files of a folder by split; several of one split must be of one format."""
    files = [path for path in sorted(folder.iterdir()) if path.is_file()]
    named = [(split, str(path)) for path in files if (split := split_of(path.name))]
    if not named:
        raise InputError(
            f"{folder}: no train, valid or test file in the folder; name the files to import"
        )
    splits: dict[str, list[str]] = {}
    for split, name in named:
        splits.setdefault(split, []).append(name)
    return {split: _of_one_format(names, split, how) for split, names in splits.items()}


def _of_one_format(names: list[str], split: str, how: Reading) -> list[str]:
    if len(names) == 1:
        return names
    formats = {name: _format_of(name, how) for name in names}
    wanted = {how.format} if how.format else set(formats.values())
    chosen = [name for name in names if formats[name] in wanted]
    if len(wanted) > 1 or not chosen:
        told = ", ".join(f"{Path(name).name} ({form})" for name, form in formats.items())
        problem = "several" if chosen else f"no {how.format} file among"
        raise InputError(
            f"{Path(names[0]).parent}: {problem} {split} files of different forms: {told}; "
            "choose with --format, or name the files"
        )
    return chosen


def _format_of(name: str, how: Reading) -> str:
    with Source(name) as source:
        return detect(source, how.columns)


def _labels_beside(names: Sequence[str]) -> list[str]:
    """The labels.tsv of each folder that has one."""
    paths = (Path(name) / LABELS for name in names if name != STDIN)
    return [str(path) for path in paths if path.is_file()]
