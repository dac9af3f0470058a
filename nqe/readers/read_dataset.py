"""Reads whole data sets: finds the files of each split, and collects their facts and labels."""

from __future__ import annotations

import re
import stat
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from nqe.errors import InputError
from nqe.graph.dataset import Dataset
from nqe.graph.splits import SPLITS
from nqe.graph.storage import is_saved
from nqe.graph.vocabulary import Description
from nqe.progress import NoProgress, Progress
from nqe.readers import labels as labels_file
from nqe.readers.bad_lines import BadLines
from nqe.readers.formats import LANGUAGE, choose_reader, detect_format
from nqe.readers.left_out import LeftOut
from nqe.readers.literal_policy import LiteralPolicy
from nqe.readers.record_collector import RecordCollector
from nqe.readers.source import Source
from nqe.readers.table import Columns
from nqe.text_format import LABELS_FILE, STANDARD_STREAM

OTHER_SPLIT_NAMES = {"validation": "valid", "dev": "valid"}
SPLIT_NAMES = {name: name for name in SPLITS} | OTHER_SPLIT_NAMES


@dataclass(frozen=True)
class ReadOptions:
    """How to read each file."""

    format: str | None
    columns: Columns
    limit: int | None
    typed: bool
    """Whether the numbers and dates of formats that know such types are literals."""
    language: str
    """The language of the labels of formats that have several."""


def read(
    sources: str | Path | Sequence[str | Path],
    *,
    format: str | None = None,
    labels: str | Path | None = None,
    limit: int | None = None,
    columns: Columns | None = None,
    literals: LiteralPolicy | str | None = None,
    language: str = LANGUAGE,
    left_out: LeftOut | None = None,
    bad: BadLines | None = None,
    progress: Progress | None = None,
) -> Dataset:
    """Read files, or a folder with train, valid and test, or a saved graph folder.

    Without `format`, each file's format is detected from its content. `limit` is the number of
    facts to read from each file. `literals` says what to do with times, numbers and texts: skip,
    keep or bands; without it they are kept, but numbers and dates in Parquet and JSON, which may
    be ids, are read as plain ids. `language` is that of the labels and descriptions in RDF, and
    `left_out` counts what is left out on purpose. `bad` says what to do with bad lines (by
    default, stop at the first one), and `progress` receives how far reading is.
    """
    names = [str(source) for source in ([sources] if isinstance(sources, str | Path) else sources)]
    for name in names:
        _check_path(name)
    policy = literals if isinstance(literals, LiteralPolicy) else LiteralPolicy(literals or "keep")
    collector = RecordCollector(bad or BadLines(), literals=policy)
    if left_out is not None:
        collector.left_out = left_out
    if limit is not None and limit < 1:
        raise InputError(f"a limit of {limit} facts; read 1 or more")
    saved = [name for name in names if is_saved(Path(name))]
    if saved:
        _check_alone(saved[0], names, format, limit, literals)
        dataset = Dataset.load(saved[0])
    else:
        options = ReadOptions(format, columns or Columns(), limit, literals is not None, language)
        _read_files(names, options, collector, progress or NoProgress())
        dataset = Dataset(*collector.builder.finish())
        if not any(map(len, dataset.splits.values())):
            raise InputError(
                f"{', '.join(names)}: labels, but no facts; name the file of facts too"
            )
    beside = [] if saved else _find_labels(names)
    for path in [str(labels)] if labels else beside:
        dataset = dataset.describe(read_labels(path, collector.bad))
    # Last, as the first label that an id is given remains its label: a labels file's, if any.
    return dataset.describe(collector.descriptions) if collector.descriptions else dataset


def read_labels(path: str, bad: BadLines | None = None) -> dict[str, Description]:
    """The descriptions of ids in a labels file; a second line for an id adds an alias."""
    collector = RecordCollector(bad or BadLines())
    with Source(path) as source:
        collector.collect(source, labels_file.read(source))
    if not collector.descriptions:
        raise InputError(f"{path}: no labels in it; write an id, a tab and a label on each line")
    return collector.descriptions


def _check_path(name: str) -> None:
    """Refuse a name that no file can have, and a folder that may not be listed."""
    path = Path(name)
    try:
        if stat.S_ISDIR(path.stat().st_mode):
            next(path.iterdir(), None)
    except (FileNotFoundError, NotADirectoryError):
        return  # opening it says so
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise InputError(f"{name!r:.100}: cannot be read ({reason}); check the path") from error


def _check_alone(
    name: str, names: Sequence[str], format: str | None, limit: int | None, literals: object
) -> None:
    """Refuse options and sources that cannot be combined with a saved graph."""
    if len(names) > 1:
        raise InputError(
            f"{name}: a saved graph cannot be joined with others; export it and import its files"
        )
    if format is not None or limit is not None or literals is not None:
        raise InputError(
            f"{name}: a saved graph is read as it is; leave out --format, --limit and --literals"
        )


def _read_files(
    names: Sequence[str], options: ReadOptions, collector: RecordCollector, progress: Progress
) -> None:
    """Read the files of all splits."""
    if options.format is not None:
        choose_reader(options.format, options.columns)  # an unknown format is refused first
    for split, files in _find_splits(names, options).items():
        for file in files:
            _read_file(file, split, options, collector, progress)


def _read_file(
    name: str, split: str, options: ReadOptions, collector: RecordCollector, progress: Progress
) -> None:
    before = _Counts.of(collector)
    with Source(name) as source:
        progress.start(Path(name).name, source.size)
        format = options.format or detect_format(source, options.columns)
        reader = choose_reader(
            format,
            options.columns,
            typed=options.typed,
            language=options.language,
            file_number=collector.file_count + 1,
        )
        count = collector.collect(source, reader(source), split, options.limit, progress)
    if not count:
        _check_other_records(name, before, collector)


@dataclass(frozen=True)
class _Counts:
    """How many records other than facts were collected so far."""

    bad: int
    literals: int
    described: int
    left_out: Counter[str]

    @classmethod
    def of(cls, collector: RecordCollector) -> _Counts:
        """The counts of a collector."""
        literals = collector.literals.statements.total()
        left_out = collector.left_out.counts.copy()
        return cls(collector.bad.count, literals, collector.described, left_out)


def _check_other_records(name: str, before: _Counts, collector: RecordCollector) -> None:
    """Refuse a file without facts, unless it is one of labels."""
    after = _Counts.of(collector)
    if after.literals > before.literals:
        raise InputError(
            f"{name}: every statement is about a literal, which --literals skip leaves out; "
            "give --literals keep or bands"
        )
    if after.described > before.described:
        return
    if after.bad > before.bad:
        raise InputError(f"{name}: only bad lines; run without --skip-bad to see the first of them")
    if told := LeftOut(after.left_out - before.left_out).describe():
        raise InputError(f"{name}: no fact in it; {told}")
    raise InputError(f"{name}: empty; there is nothing to import")


def _find_splits(names: Sequence[str], options: ReadOptions) -> Mapping[str, list[str]]:
    """The files of each split."""
    splits: dict[str, list[str]] = {}
    for name in names:
        if name != STANDARD_STREAM and Path(name).is_dir():
            found = _find_folder_splits(Path(name), options)
        else:
            found = {detect_split(Path(name).name) or "train": [name]}
        for split, files in found.items():
            splits.setdefault(split, []).extend(files)
    return {split: splits[split] for split in SPLITS if split in splits}


def detect_split(file_name: str) -> str | None:
    """The split in a file's name: train.txt, n-ary_dev.json, test-00000-of-00002.parquet."""
    words = [word for word in re.split(r"[._-]", file_name.lower()) if word in SPLIT_NAMES]
    return SPLIT_NAMES[words[0]] if len(words) == 1 else None


def _find_folder_splits(folder: Path, options: ReadOptions) -> dict[str, list[str]]:
    """The files of a folder by split; all files of a split must have the same format."""
    files = [path for path in sorted(folder.iterdir()) if path.is_file()]
    named = [(split, str(path)) for path in files if (split := detect_split(path.name))]
    if not named:
        raise InputError(
            f"{folder}: no train, valid or test file in the folder; name the files to import"
        )
    splits: dict[str, list[str]] = {}
    for split, name in named:
        splits.setdefault(split, []).append(name)
    return {split: _choose_one_format(names, split, options) for split, names in splits.items()}


def _choose_one_format(names: list[str], split: str, options: ReadOptions) -> list[str]:
    if len(names) == 1:
        return names
    formats = {name: _detect_file_format(name, options) for name in names}
    wanted = {options.format} if options.format else set(formats.values())
    chosen = [name for name in names if formats[name] in wanted]
    if len(wanted) > 1 or not chosen:
        listed = ", ".join(f"{Path(name).name} ({form})" for name, form in formats.items())
        problem = "several" if chosen else f"no {options.format} file among"
        raise InputError(
            f"{Path(names[0]).parent}: {problem} {split} files of different formats: {listed}; "
            "choose with --format, or name the files"
        )
    return chosen


def _detect_file_format(name: str, options: ReadOptions) -> str:
    with Source(name) as source:
        return detect_format(source, options.columns)


def _find_labels(names: Sequence[str]) -> list[str]:
    """The labels.tsv of each folder that has one."""
    paths = (Path(name) / LABELS_FILE for name in names if name != STANDARD_STREAM)
    return [str(path) for path in paths if path.is_file()]
