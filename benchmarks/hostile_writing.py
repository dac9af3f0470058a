"""Writing while others read, while it is killed, and on a disk that is full."""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import random
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from guarded_cases import Outcome, describe_error
from saved_examples import describe_dataset, digest_tensors, make_dataset, make_query_set
from saved_examples import make_settings as make_run_settings

from nqe.errors import NqeError
from nqe.files import new_file
from nqe.graph import Dataset
from nqe.model import load
from nqe.model.checkpoint import Card, save_pretrained
from nqe.model.model_kinds import new_model
from nqe.sampling import load_queries, save_queries
from nqe.training.run_folder import RunFolder, State
from nqe.writers import write

TEMPORARY = ".nqe-"
FORK = multiprocessing.get_context("fork")


@dataclass(frozen=True)
class Kind:
    """A kind of folder: how to save one of two versions, and how to tell which one is there."""

    save: Callable[[Path, int], None]
    describe: Callable[[Path], object]
    """What a folder holds; equal for folders of the same version alone."""


class Kinds:
    """The kinds of folders, with two versions of the content of each."""

    def __init__(self) -> None:
        self.datasets = [make_dataset(number) for number in (0, 1)]
        self.queries = [make_query_set(self.datasets[0], seed) for seed in (0, 1)]
        self.models = [self._make_model(seed) for seed in (0, 1)]

    def _make_model(self, seed: int) -> Any:
        torch.manual_seed(seed)
        names = self.datasets[seed].vocabulary
        settings = make_run_settings(seed).model
        return new_model(settings, len(names.entities), len(names.relations), names)

    @cached_property
    def by_name(self) -> Mapping[str, Kind]:
        """The kinds by name."""
        return {
            "graph": Kind(
                lambda folder, n: self.datasets[n].save(folder, bad_lines=f"{n}\n"),
                lambda folder: repr(describe_dataset(Dataset.load(folder))),
            ),
            "queries": Kind(
                lambda folder, n: save_queries(self.queries[n], folder), describe_queries
            ),
            "checkpoint": Kind(
                lambda folder, n: save_pretrained(self.models[n], folder, Card(step=n)),
                describe_model,
            ),
            "run": Kind(self._save_run, _describe_run),
        }

    def _save_run(self, folder: Path, n: int) -> None:
        card = Card(trained_on="train")
        if not folder.exists():
            RunFolder.create(folder, make_run_settings(0), card, None)
        run = RunFolder(folder, card)
        run.add_metrics(step=n)
        tensors = {"optimizer.x": torch.full((200,), float(n))}
        run.save(self.models[n], State(step=n), tensors)
        run.save_best(self.models[n], n, {"1p": 0.5})


def describe_queries(folder: Path) -> object:
    """What a query set holds."""
    return [describe_split(folder, split) for split in ("train", "valid", "test")]


def describe_split(folder: Path, split: str = "train") -> object:
    """What a split of a query set holds; splits are loaded one by one."""
    table = load_queries(folder, split)
    return table.shape, table.easy.values.tolist(), table.hard.values.tolist()


def describe_model(folder: Path) -> object:
    """What a checkpoint holds."""
    model = load(folder, "cpu")
    assert model.vocabulary is not None
    return digest_tensors(model.state_dict()), list(model.vocabulary.entities.labels)


def _describe_run(folder: Path) -> object:
    """What `last` of a RUN holds; `best` is written after it, and only has to be whole."""
    run = RunFolder.open(folder)
    run.read_metrics()
    load(folder, "cpu")
    model = load(folder / "last", "cpu")
    tensors = run.load(model)
    return replace(run.state, metrics=0), digest_tensors({**model.state_dict(), **tensors})


# Swaps


class Swaps:
    """A folder whose two versions another process saves in turn while it is loaded."""

    def __init__(self, kinds: Kinds, name: str, place: Path) -> None:
        self._kind, self._folder = kinds.by_name[name], place / name
        if name == "queries":
            self._kind = replace(self._kind, describe=describe_split)
        self._versions = []
        for number in (0, 1):
            self._kind.save(self._folder, number)
            self._versions.append(self._kind.describe(self._folder))
        assert self._versions[0] != self._versions[1]

    @contextmanager
    def saving(self) -> Iterator[None]:
        """Save the versions in turn within the block, in another process."""
        process = FORK.Process(target=self._save_forever, daemon=True)
        process.start()
        try:
            yield
        finally:
            process.kill()
            process.join()

    def run(self, case: int) -> Outcome:
        """Load the folder once."""
        del case
        try:
            found = self._kind.describe(self._folder)
        except NqeError as error:
            return Outcome("refused", str(error))
        if found in self._versions:
            return Outcome("harmless")
        return Outcome("failed", "a mixture of both versions was loaded")

    def _save_forever(self) -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        number = 0
        while True:
            number = 1 - number
            self._kind.save(self._folder, number)


# Kills


class Kills:
    """Processes that are killed while they save: the folder is the old one or the new one."""

    def __init__(self, kinds: Kinds, place: Path, seed: int) -> None:
        self._kinds, self._place, self._seed = kinds, place, seed
        self._names = [*kinds.by_name, "import"]
        self._source = place / "source"
        write(kinds.datasets[0], self._source, format="statements")
        self._durations = {name: self._measure(name) for name in self._names}
        self._versions = {name: list(self._list_versions(name)) for name in self._names}

    def run(self, case: int) -> Outcome:
        """Save a folder, and kill the process at a random moment."""
        rng = random.Random(f"{self._seed} kill {case}")
        name = self._names[case % len(self._names)]
        number = signal.SIGTERM if rng.random() < 0.3 else signal.SIGKILL
        folder = self._place / "work" / name
        shutil.rmtree(folder.parent, ignore_errors=True)
        folder.parent.mkdir(parents=True)
        is_new = name == "import" or rng.random() < 0.3
        if not is_new:
            self._kinds.by_name[name].save(folder, 0)
        delay = rng.uniform(0, 1.3 * self._durations[name])
        process = FORK.Process(target=self._save, args=(name, folder))
        process.start()
        time.sleep(delay)
        with suppress(ProcessLookupError):
            os.kill(process.pid or 0, number)
        process.join()
        about = f"{name}, {number.name} after {delay:.4f} s of {self._durations[name]:.4f} s"
        problem = self._find_problem(name, folder, is_new=is_new, is_term=number == signal.SIGTERM)
        return Outcome("failed", f"{about}: {problem}") if problem else Outcome("harmless", about)

    def _find_problem(self, name: str, folder: Path, *, is_new: bool, is_term: bool) -> str | None:
        """What is wrong after a kill; None if nothing is."""
        kind = self._kinds.by_name[_kind_of(name)]
        if name == "import" and is_term and _find_temporaries(folder.parent):
            return f"SIGTERM left {_find_temporaries(folder.parent)}"
        if folder.exists() and not (name == "run" and not (folder / "last").exists()):
            try:
                found = kind.describe(folder)
            except Exception as error:
                return f"cannot be loaded: {describe_error(error)}"
            if found not in self._versions[name]:
                return "neither the old one nor the new one"
        elif not is_new:
            return "the old folder is gone"
        kind.save(folder, 1)
        # A run that exists is only written into, so this is the next write in the folder above it.
        with new_file(folder.parent / "next"):
            pass
        if left := _find_temporaries(folder.parent):
            return f"the next write left {left}"
        return None

    def _save(self, name: str, folder: Path) -> None:
        """Save a folder; this is the process that is killed."""
        signal.signal(signal.SIGINT, signal.default_int_handler)
        if name == "import":
            _import(self._source, folder)
        else:
            self._kinds.by_name[name].save(folder, 1)
        os._exit(0)

    def _list_versions(self, name: str) -> Iterator[object]:
        """What the old and the new version hold; `nqe import` writes one version."""
        kind, folder = self._kinds.by_name[_kind_of(name)], self._place / "measured" / name
        yield kind.describe(folder)
        if name != "import":
            kind.save(folder, 0)
            yield kind.describe(folder)

    def _measure(self, name: str) -> float:
        folder = self._place / "measured" / name
        seconds = []
        for _ in range(3):
            shutil.rmtree(folder, ignore_errors=True)
            process = FORK.Process(target=self._save, args=(name, folder))
            start = time.perf_counter()
            process.start()
            process.join()
            seconds.append(time.perf_counter() - start)
            assert folder.exists(), f"{name} could not be saved"
        return sorted(seconds)[1]


def _import(source: Path, folder: Path) -> None:
    """Run `nqe import` in this process."""
    from nqe.cli import main

    sys.argv = ["nqe", "import", str(source), "-o", str(folder)]
    for number in (1, 2):
        os.dup2(os.open(os.devnull, os.O_WRONLY), number)
    try:
        main()
    except SystemExit as stop:
        os._exit(stop.code if isinstance(stop.code, int) else 0)


def _kind_of(name: str) -> str:
    return "graph" if name == "import" else name


def _find_temporaries(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob(f"{TEMPORARY}*"))


# Full disks


class NoSmallDisk(Exception):
    """A small file system cannot be mounted here; the message says why."""


@contextmanager
def mount_small_disk(place: Path, size: int) -> Iterator[None]:
    """A file system in memory of this size, mounted at a place within the block."""
    place.mkdir(parents=True, exist_ok=True)
    if sys.platform != "linux":
        raise NoSmallDisk("tmpfs is there on Linux alone")
    system = ctypes.CDLL(None, use_errno=True)
    options = f"size={size},mode=0777".encode()
    if system.mount(b"tmpfs", bytes(place), b"tmpfs", 0, options):
        raise NoSmallDisk(os.strerror(ctypes.get_errno()).lower())
    try:
        yield
    finally:
        system.umount2(bytes(place), 2)  # MNT_DETACH: at once, whatever is still open


class Disks:
    """Folders that are saved to a disk without enough space: an error, and the old one stays."""

    SIZE = 2 << 20

    def __init__(self, kinds: Kinds, disk: Path, seed: int) -> None:
        self._kinds, self._disk, self._seed = kinds, disk, seed
        self._versions: dict[str, list[object]] = {}
        self._sizes: dict[str, int] = {}
        for name, kind in kinds.by_name.items():
            self._versions[name] = []
            for number in (0, 1):
                shutil.rmtree(disk / name, ignore_errors=True)
                kind.save(disk / name, number)
                self._versions[name].append(kind.describe(disk / name))
            self._sizes[name] = self._count_used()
            shutil.rmtree(disk / name)

    def run(self, case: int) -> Outcome:
        """Save a folder with a random amount of space left."""
        rng = random.Random(f"{self._seed} disk {case}")
        name = list(self._kinds.by_name)[case % len(self._kinds.by_name)]
        kind, folder = self._kinds.by_name[name], self._disk / name
        for path in self._disk.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        has_old = rng.random() < 0.7
        if has_old:
            kind.save(folder, 0)
        left = rng.randrange(int(1.3 * self._sizes[name]))
        self._fill(left)
        about = f"{name}, {left:,} bytes left"
        try:
            kind.save(folder, 1)
        except NqeError as error:
            problem = self._find_problem(name, folder, has_old=has_old, message=str(error))
            return (
                Outcome("failed", f"{about}: {problem}") if problem else Outcome("refused", about)
            )
        if kind.describe(folder) != self._versions[name][1]:
            return Outcome("failed", f"{about}: saved, but not what was to be saved")
        return Outcome("harmless", about)

    def _find_problem(self, name: str, folder: Path, *, has_old: bool, message: str) -> str | None:
        """What is wrong after an error; None if nothing is."""
        if "\n" in message or "space" not in message:
            return f"says {message!r}"
        if left := _find_temporaries(self._disk):
            return f"left {left}"
        # A RUN is saved in several steps; each of its parts is the old one or the new one.
        allowed = self._versions[name] if name == "run" else self._versions[name][:1]
        if has_old and self._kinds.by_name[name].describe(folder) not in allowed:
            return "the old folder has changed"
        if not has_old and folder.exists() and name != "run":
            return "a folder was left"
        return None

    def _fill(self, left: int) -> None:
        """Fill the disk until this many bytes are left."""
        free = os.statvfs(self._disk)
        size = free.f_bavail * free.f_frsize - left
        with suppress(OSError), (self._disk / "filler").open("wb") as file:
            os.posix_fallocate(file.fileno(), 0, max(size, 1))

    def _count_used(self) -> int:
        disk = os.statvfs(self._disk)
        return (disk.f_blocks - disk.f_bavail) * disk.f_frsize
