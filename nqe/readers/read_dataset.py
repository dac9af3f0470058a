"""Reads whole data sets: finds the files of each split, and collects their facts and labels."""

from __future__ import annotations

import os
import re
import stat
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from nqe.errors import InputError
from nqe.graph.dataset import Dataset
from nqe.graph.splits import SPLITS
from nqe.graph.storage import is_saved
from nqe.graph.vocabulary import Description
from nqe.progress import NoProgress, Progress
from nqe.readers import labels as labels_file
from nqe.readers import sparql_table
from nqe.readers.bad_lines import BadLines
from nqe.readers.columns import Columns
from nqe.readers.description_store import DescriptionStore
from nqe.readers.formats import check_options, choose_reader, detect_format
from nqe.readers.left_out import LeftOut
from nqe.readers.literal_policy import LiteralPolicy
from nqe.readers.mapping import read_mapping
from nqe.readers.rdf_syntax import N_TRIPLES
from nqe.readers.record_collector import RecordCollector
from nqe.readers.source import Source
from nqe.readers.sparql_query import CONSTRUCT
from nqe.readers.sparql_source import EndpointQuery, check_query, is_endpoint
from nqe.readers.wikidata_policy import WikidataPolicy
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
    language: str | None
    """Of labels, descriptions and aliases, in formats that have them in several."""
    wikidata: WikidataPolicy
    query: EndpointQuery | None
    """What to ask a SPARQL endpoint."""


def read(
    sources: str | Path | Sequence[str | Path] = (),
    *,
    format: str | None = None,
    labels: str | Path | None = None,
    limit: int | None = None,
    columns: Columns | None = None,
    mapping: str | Path | None = None,
    literals: LiteralPolicy | str | None = None,
    language: str | None = None,
    wikidata: WikidataPolicy | None = None,
    query: EndpointQuery | str | None = None,
    left_out: LeftOut | None = None,
    bad: BadLines | None = None,
    progress: Progress | None = None,
) -> Dataset:
    """Read files, a folder with train, valid and test, a saved graph folder, or an endpoint.

    Without `format`, each file's format is detected from its content. `columns` says what the
    columns of a table mean, and `mapping` is a TOML file that says it for several tables, which
    are read if no sources are given. `limit` is the number of facts to read from each file.
    `literals` says what to do with times, numbers and texts: skip, keep or bands; without it they
    are kept, but numbers and dates in Parquet and JSON, which may be ids, are read as plain ids
    unless `columns` or `mapping` say what they are. `language` is that of the labels, descriptions
    and aliases of Wikidata's JSON and of RDF, and `wikidata` says which statements of Wikidata's
    JSON to take. `query` is what to ask a SPARQL endpoint, whose name as a source is
    `sparql:https://…`. `left_out` counts what is left out of RDF. `bad` says what to do with bad
    lines (by default, stop at the first one), and `progress` receives how far reading is.
    """
    names = [str(source) for source in ([sources] if isinstance(sources, str | Path) else sources)]
    for name in names:
        _check_path(name)
    policy = literals if isinstance(literals, LiteralPolicy) else LiteralPolicy(literals or "keep")
    collector = RecordCollector(
        bad or BadLines(), literals=policy, left_out=LeftOut() if left_out is None else left_out
    )
    if limit is not None and limit < 1:
        raise InputError(f"a limit of {limit} facts; read 1 or more")
    saved = [name for name in names if is_saved(Path(name))]
    if saved:
        _check_alone(saved[0], names, (format, limit, literals), columns, mapping)
        check_options(saved[0], "a saved graph", language, wikidata or WikidataPolicy())
        check_query(saved, query)
        dataset = Dataset.load(saved[0])
    else:
        options = ReadOptions(
            format,
            columns or Columns(),
            limit,
            literals is not None,
            language,
            wikidata or WikidataPolicy(),
            EndpointQuery(query) if isinstance(query, str) else query,
        )
        files = _list_files(names, options, mapping)
        check_query([file.name for file in files], query)
        for file in files:
            _check_endpoint(file)
        for file in files:
            _read_file(file, collector, progress or NoProgress())
        _check_left(files, collector, options.wikidata)
        dataset = Dataset(*collector.builder.finish())
    beside = [] if saved else _find_labels(names)
    for path in [str(labels)] if labels else beside:
        dataset = dataset.describe(read_labels(path, collector.bad))
    # Last, as the first label that an id is given remains its label: a labels file's, if any.
    return collector.describe(dataset)


def read_labels(path: str, bad: BadLines | None = None) -> dict[str, Description]:
    """The descriptions of ids in a labels file; a second line for an id adds an alias."""
    collector = RecordCollector(bad or BadLines(), descriptions=DescriptionStore(most=None))
    with Source(path) as source:
        collector.collect(source, labels_file.read(source))
    if not collector.descriptions:
        raise InputError(f"{path}: no labels in it; write an id, a tab and a label on each line")
    return collector.descriptions


def _check_path(name: str) -> None:
    """Refuse a name that no file can have, and a folder that may not be listed."""
    if is_endpoint(name):
        return
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
    name: str,
    names: Sequence[str],
    options: Sequence[object],
    columns: Columns | None,
    mapping: str | Path | None,
) -> None:
    """Refuse options and sources that cannot be combined with a saved graph."""
    if len(names) > 1:
        raise InputError(
            f"{name}: a saved graph cannot be joined with others; export it and import its files"
        )
    if any(option is not None for option in options):
        raise InputError(
            f"{name}: a saved graph is read as it is; leave out --format, --limit and --literals"
        )
    if mapping is not None or (columns is not None and columns.are_given):
        raise InputError(
            f"{name}: a saved graph has no columns; leave out the mapping or the options about them"
        )


@dataclass(frozen=True)
class _File:
    """A file to read, its split, and how to read it."""

    name: str
    split: str
    options: ReadOptions


def _list_files(
    names: Sequence[str], options: ReadOptions, mapping: str | Path | None
) -> list[_File]:
    """The files of all splits."""
    if options.format is not None:
        choose_reader(options.format, options.columns)  # an unknown format is refused first
    if mapping is not None:
        return _list_mapped_files(names, options, mapping)
    if not names:
        raise InputError("no source is given; name files, a folder, or a mapping")
    splits = _find_splits(names, options)
    return [_File(name, split, options) for split, files in splits.items() for name in files]


def _list_mapped_files(
    names: Sequence[str], options: ReadOptions, mapping: str | Path
) -> list[_File]:
    """The files of a mapping; of those that are named, if any are."""
    if options.columns.are_given or options.format is not None:
        raise InputError(
            f"{mapping}: a mapping and options about columns or the format; put them into the "
            "mapping, or leave it out"
        )
    return [
        _File(
            one.file,
            one.split or _detect_split_of(one.file),
            replace(options, format="table", columns=one.columns),
        )
        for one in read_mapping(mapping, names)
    ]


def _read_file(file: _File, collector: RecordCollector, progress: Progress) -> None:
    before = _Counts.of(collector)
    query = file.options.query
    if query is not None and is_endpoint(file.name):
        count = _collect_result(file, query, collector, progress)
    else:
        count = _collect_file(file, collector, progress)
    if not count:
        _check_other_records(file.name, before, _Counts.of(collector))


def _collect_file(file: _File, collector: RecordCollector, progress: Progress) -> int:
    name, options = file.name, file.options
    with Source(name) as source:
        progress.start(Path(name).name, source.size)
        format = options.format or detect_format(source, options.columns)
        check_options(name, format, options.language, options.wikidata)
        reader = choose_reader(
            format,
            options.columns,
            typed=options.typed,
            language=options.language,
            wikidata=options.wikidata,
            file_number=collector.file_count + 1,
        )
        return collector.collect(source, reader(source), file.split, options.limit, progress)


def _check_endpoint(file: _File) -> None:
    """Refuse what would only be found after the result of a query was received."""
    options = file.options
    if is_endpoint(file.name) and options.query is not None:
        options.query.check(file.name, options.format, options.columns, options.language)
        check_options(file.name, "a SPARQL endpoint", None, options.wikidata)


def _collect_result(
    file: _File, query: EndpointQuery, collector: RecordCollector, progress: Progress
) -> int:
    """Receive the result of a query, and collect what it says."""
    from nqe.readers.endpoint_result import open_result  # HTTP, which few imports need

    options, number = file.options, collector.file_count + 1
    with (
        open_result(file.name, query, options.columns, number, progress) as result,
        Source(str(result.path)) as source,
    ):
        progress.start(Path(file.name).name, source.size)
        if result.form == CONSTRUCT:
            reader = choose_reader(
                N_TRIPLES, options.columns, language=options.language, file_number=number
            )
            records = reader(source)
        else:
            records = sparql_table.read(source, result.header, options.columns)
        return collector.collect(source, records, file.split, options.limit, progress)


@dataclass(frozen=True)
class _Counts:
    """How many records other than facts were collected so far."""

    bad: int
    others: int
    left_out: Counter[str]

    @classmethod
    def of(cls, collector: RecordCollector) -> _Counts:
        """The counts of a collector."""
        left_out = collector.left_out.counts.copy()
        return cls(collector.bad.count, collector.count_others(), left_out)


def _check_other_records(name: str, before: _Counts, after: _Counts) -> None:
    """Refuse a file without facts, unless other records of it are of use."""
    if after.others > before.others:
        return
    if after.bad > before.bad:
        raise InputError(f"{name}: only bad lines; run without --skip-bad to see the first of them")
    if told := LeftOut(after.left_out - before.left_out).describe():
        raise InputError(f"{name}: no fact in it; {told}")
    raise InputError(f"{name}: empty; there is nothing to import")


def _check_left(
    files: Sequence[_File], collector: RecordCollector, wikidata: WikidataPolicy
) -> None:
    """Refuse files of which no statement is left."""
    if collector.facts:
        return
    names = ", ".join(dict.fromkeys(file.name for file in files))
    if collector.literals.statements:
        raise InputError(
            f"{names:.200}: every statement is about a literal, which --literals skip leaves out; "
            "give --literals keep or bands"
        )
    left_out = filter(None, (wikidata.describe(), collector.left_out.describe()))
    told = "; ".join(left_out) or "only descriptions of ids"
    raise InputError(
        f"{names:.200}: no statement to take ({told}); name other relations, classes or files"
    )


def _find_splits(names: Sequence[str], options: ReadOptions) -> Mapping[str, list[str]]:
    """The files of each split."""
    splits: dict[str, list[str]] = {}
    for name in names:
        if name != STANDARD_STREAM and Path(name).is_dir():
            found = _find_folder_splits(Path(name), options)
        else:
            found = {_detect_split_of(name): [name]}
        for split, files in found.items():
            splits.setdefault(split, []).extend(files)
    return {split: splits[split] for split in SPLITS if split in splits}


def _detect_split_of(name: str) -> str:
    """The split of a source; the address of an endpoint says nothing about it."""
    found = None if is_endpoint(name) else detect_split(Path(name).name)
    return found or "train"


def detect_split(file_name: str) -> str | None:
    """The split in a file's name: train.txt, n-ary_dev.json, test-00000-of-00002.parquet."""
    words = [word for word in re.split(r"[._-]", file_name.lower()) if word in SPLIT_NAMES]
    return SPLIT_NAMES[words[0]] if len(words) == 1 else None


def _find_folder_splits(folder: Path, options: ReadOptions) -> dict[str, list[str]]:
    """The files of a folder by split; all files of a split must have the same format."""
    paths = [path for path in sorted(folder.iterdir()) if not path.is_dir()]
    named = [(split, str(path)) for path in paths if (split := detect_split(path.name))]
    for _, name in named:
        _check_file(name)
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
    folders = (Path(name) for name in names if name != STANDARD_STREAM and Path(name).is_dir())
    paths = [str(folder / LABELS_FILE) for folder in folders]
    found = [path for path in paths if os.path.lexists(path)]
    for path in found:
        _check_file(path)
    return found


def _check_file(name: str) -> None:
    """Refuse what stands in a folder in place of a file, and would be left out or waited for."""
    if not Path(name).is_file():
        raise InputError(
            f"{name}: a pipe, a device, a folder or a link that leads nowhere; put a file in its "
            "place, or name the files to import"
        )
