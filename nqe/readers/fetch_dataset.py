"""Public data sets: fetched into a cache, compared with their checksums, and imported."""

from __future__ import annotations

import hashlib
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from nqe.errors import InputError, StorageError, choose
from nqe.files import new_file, raise_storage_errors
from nqe.graph.dataset import Dataset
from nqe.graph.storage import is_saved
from nqe.home import find_home
from nqe.locks import hold_lock
from nqe.progress import Progress
from nqe.readers.archives import unpack_file
from nqe.readers.data_sets import DATA_SETS, DataFile, DataSet
from nqe.readers.downloads import PARTIAL, Download, DownloadError, check_address, download
from nqe.readers.read_dataset import read, read_labels
from nqe.text_format import LABELS_FILE

FOLDER = "data"
"""The folder of the cache that holds data sets."""
CHECKSUMS = "SHA256SUMS"
"""The file beside those of a set that has their checksums, as `sha256sum` writes them."""
PATIENCE = 60.0
"""Seconds to wait for another process that fetches the same set."""
TOLERANCE = 0.05
"""How far the number of statements may be from the published one, as a share of that."""


@dataclass(frozen=True)
class Fetched:
    """A data set in the cache."""

    path: Path
    """Its graph folder."""
    dataset: Dataset
    checksums: Path
    """The file with the checksums of its files."""
    was_there: bool
    """Whether it was complete in the cache already."""


def fetch(
    name: str,
    *,
    folder: str | Path | None = None,
    mirror: str | None = None,
    progress: Progress | None = None,
) -> Path:
    """The graph folder of a public data set, which is fetched if it is not in the cache.

    `folder` has the files to use instead of downloading them. `mirror` is the address of a server
    that has the files of all sets as NAME/FILE; by default that of NQE_MIRROR, or else the files
    come from where they were published. The cache is in NQE_HOME.
    """
    return fetch_data_set(name, folder=folder, mirror=mirror, progress=progress).path


def fetch_data_set(
    name: str,
    *,
    folder: str | Path | None = None,
    mirror: str | None = None,
    progress: Progress | None = None,
    wait: Callable[[float], None] = time.sleep,
) -> Fetched:
    """As `fetch`; `wait` is called with the seconds between two attempts to download."""
    data_set = choose(DATA_SETS, name, "data set")
    base = _find_base(name, data_set, mirror)
    place = CachePlace.of(name)
    with raise_storage_errors(place.folder):
        place.folder.mkdir(parents=True, exist_ok=True)
        with hold_lock(place.lock, place.folder, PATIENCE):
            missing = place.find_missing(data_set.files)
            if folder is None:
                _Downloader(name, data_set, place, base, progress, wait).get(missing)
            else:
                _copy_files(Path(folder), name, data_set, place, missing)
            has_labels = folder is not None and _copy_labels(Path(folder), place)
            return _open_graph(place, data_set, is_new=bool(missing) or has_labels)


@dataclass(frozen=True)
class CachePlace:
    """Where the cache has a data set: its files in a folder, and the graph beside it."""

    folder: Path

    @classmethod
    def of(cls, name: str) -> CachePlace:
        """The place of the data set of that name."""
        return cls(find_home() / FOLDER / name)

    @property
    def graph(self) -> Path:
        """The graph folder."""
        return self.folder.with_name(f"{self.folder.name}.graph")

    @property
    def checksums(self) -> Path:
        """The file with the checksums of the files."""
        return self.folder / CHECKSUMS

    @property
    def lock(self) -> Path:
        """The lock of whoever writes here."""
        return self.folder.with_name(f".{self.folder.name}.lock")

    @property
    def is_filled(self) -> bool:
        """Whether there is a graph."""
        return is_saved(self.graph)

    def find_missing(self, files: tuple[DataFile, ...]) -> list[DataFile]:
        """The files that are not here, or not as they should be."""
        recorded = self._read_checksums()
        return [file for file in files if not self._is_good(file, recorded.get(file.name))]

    def _is_good(self, file: DataFile, recorded: str | None) -> bool:
        path = self.folder / file.name
        expected = file.sha256 or recorded
        return expected is not None and path.is_file() and compute_sha256(path) == expected

    @contextmanager
    def receive(self, file: DataFile, origin: str) -> Iterator[Path]:
        """A temporary file to write, which is kept if its checksum is right."""
        with new_file(self.folder / file.name) as temporary:
            yield temporary
            found = self._check(file, temporary, origin)
        self._record(file, found)

    def keep(self, what: Download, file: DataFile) -> None:
        """Give a complete download its name if its checksum is right."""
        found = self._check(file, what.partial, what.address)
        what.finish(self.folder / file.name)
        self._record(file, found)

    def _check(self, file: DataFile, path: Path, origin: str) -> str:
        """The checksum of a file at a path, which must be the known or the recorded one."""
        recorded = self._read_checksums().get(file.name)
        expected, found = file.sha256 or recorded, compute_sha256(path)
        if expected in (None, found):
            return found
        remedy = "try again, or name another source with --mirror or --from"
        if file.sha256 is None:
            remedy += (
                "; the expected one is that of the file in the cache, and if the publisher has "
                f"changed it, delete {self.folder} first"
            )
        raise InputError(
            f"{origin}: wrong checksum, so {file.name} was not kept: "
            f"sha256 {expected} expected, {found} found; {remedy}"
        )

    def _record(self, file: DataFile, checksum: str) -> None:
        recorded = self._read_checksums() | {file.name: checksum}
        with new_file(self.checksums) as temporary:
            lines = (f"{digest}  {name}\n" for name, digest in recorded.items())
            temporary.write_text("".join(lines), "utf-8")

    def _read_checksums(self) -> dict[str, str]:
        """The recorded checksums by name of file."""
        try:
            lines = self.checksums.read_text("utf-8").splitlines()
            return {name: digest for digest, name in (line.split("  ") for line in lines)}
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as error:
            raise StorageError(
                f"{self.checksums}: cannot be read ({error}); delete it and fetch again"
            ) from error


def compute_sha256(path: Path) -> str:
    """The checksum of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _find_base(name: str, data_set: DataSet, mirror: str | None) -> str:
    """The address that the names of a set's files are put after."""
    mirror = mirror or os.environ.get("NQE_MIRROR")
    if not mirror:
        return data_set.base
    check_address(mirror)
    return f"{mirror.rstrip('/')}/{name}/"


@dataclass(frozen=True)
class _Downloader:
    """Downloads files of a set into the cache."""

    name: str
    data_set: DataSet
    place: CachePlace
    base: str
    progress: Progress | None
    wait: Callable[[float], None]

    def get(self, missing: list[DataFile]) -> None:
        """Download the files, or the archive that has them; the error says what to do offline."""
        try:
            if self.data_set.archive and missing:
                self._get_archive(self.data_set.archive, missing)
            else:
                for file in missing:
                    self._get_file(file)
        except DownloadError as error:
            raise DownloadError(f"{error}; {self._advise()}") from error

    def _get_file(self, file: DataFile) -> None:
        what = self._plan(file.name, file.sha256 is not None)
        is_continued = what.size > 0
        download(what, self.progress, self.wait)
        try:
            self.place.keep(what, file)
        except InputError:
            what.discard()
            if not is_continued:
                raise
            self._get_file(file)  # as what came earlier may have been of another version

    def _get_archive(self, name: str, missing: list[DataFile]) -> None:
        what = self._plan(name, is_verified=False)
        download(what, self.progress, self.wait)
        try:
            _unpack(what.partial, what.address, missing, self.place)
        finally:
            what.discard()

    def _plan(self, name: str, is_verified: bool) -> Download:
        return Download(self.base + name, self.place.folder / (name + PARTIAL), is_verified)

    def _advise(self) -> str:
        *others, last = self.data_set.downloads
        names = f"{', '.join(others)} and {last}" if others else last
        return (
            f"try again later, or put {names} into a folder and "
            f"run `nqe fetch {self.name} --from FOLDER`"
        )


def _unpack(archive: Path, origin: str, files: list[DataFile], place: CachePlace) -> None:
    """Put files of an archive into the cache."""
    for file in files:
        with place.receive(file, origin) as temporary:
            unpack_file(archive, file.member or file.name, temporary)


def _copy_files(
    folder: Path, name: str, data_set: DataSet, place: CachePlace, missing: list[DataFile]
) -> None:
    """Copy files from a folder, or out of the archive in it; those in the cache are compared."""
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder; check the path")
    archive = folder / data_set.archive if data_set.archive else None
    absent = [file for file in missing or data_set.files if not (folder / file.name).is_file()]
    if absent and archive is not None and archive.is_file():
        _unpack(archive, str(archive), list(data_set.files), place)
        return
    # Labels alone are enough if the files are in the cache.
    if absent and (missing or not (folder / LABELS_FILE).is_file()):
        names = ", ".join(file.name for file in absent)
        raise InputError(
            f"{folder}: has no {names}{f', or {archive.name}' if archive else ''}; get the files "
            f"from {data_set.base} and put them there, then run `nqe fetch {name} --from {folder}` "
            "again"
        )
    for file in data_set.files:
        if (path := folder / file.name).is_file():
            with place.receive(file, str(path)) as temporary:
                _copy(path, temporary)


def _copy_labels(folder: Path, place: CachePlace) -> bool:
    """Copy the labels of a folder, if it has some that are not in the cache yet."""
    source, target = folder / LABELS_FILE, place.folder / LABELS_FILE
    if not source.is_file():
        return False
    if target.is_file() and compute_sha256(source) == compute_sha256(target):
        return False
    read_labels(str(source))  # bad ones are refused before they are in the cache
    with new_file(target) as temporary:
        _copy(source, temporary)
    return True


def _copy(source: Path, target: Path) -> None:
    try:
        shutil.copyfile(source, target)
    except PermissionError as error:
        raise InputError(f"{source}: cannot be read ({error.strerror}); check the path") from error


def _open_graph(place: CachePlace, data_set: DataSet, is_new: bool) -> Fetched:
    """The graph in the cache; it is imported if it is not there, or older than the files."""
    if place.is_filled and not is_new:
        try:
            dataset = Dataset.load(place.graph)
            _check_size(place.folder.name, dataset, data_set)
            return Fetched(place.graph, dataset, place.checksums, was_there=True)
        except (StorageError, InputError):  # damaged, of an older version, or of another set
            pass
    try:
        dataset = _read_files(place, data_set)
        _check_size(place.folder.name, dataset, data_set)
    except InputError as error:
        if data_set.is_verified:
            raise
        # Such as the page of a network that asks to sign in.
        shutil.rmtree(place.folder)
        shutil.rmtree(place.graph, ignore_errors=True)
        raise InputError(f"{error}; the files were not kept, fetch them again") from error
    dataset.save(place.graph)
    return Fetched(place.graph, dataset, place.checksums, was_there=False)


def _check_size(name: str, dataset: Dataset, data_set: DataSet) -> None:
    """Refuse files that were not verified and are of another set, as their number of facts says."""
    found = sum(int(facts.count.sum()) for facts in dataset.splits.values())
    published = data_set.facts
    if not data_set.is_verified and abs(found - published) > TOLERANCE * published:
        raise InputError(
            f"{name}: {found:,} statements were read, but {published:,} are published, so these "
            "are not the files of this set, or not all of them"
        )


def _read_files(place: CachePlace, data_set: DataSet) -> Dataset:
    labels = place.folder / LABELS_FILE
    return read(
        [place.folder / file.name for file in data_set.files],
        format=data_set.format,
        labels=labels if labels.is_file() else None,
    )
