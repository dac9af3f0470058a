"""A campaign of hostile input: nothing is thrown, hangs, takes much memory or changes in silence.

Seven parts: questions as text and as JSON, files of others, tampered folders, folders that are
replaced while they are read, processes that are killed while they write, and full disks. Each
case has a number; a part, a seed and a number make a case again:

    python benchmarks/hostile.py --part folders --seed 13 --case 4711
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

# One thread each, and a memory pool that reserves no more than it uses; before numpy is imported.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")

import machine
from guarded_cases import (
    MEGABYTES,
    PATIENCE,
    SECONDS,
    Outcome,
    Run,
    Tally,
    preload,
    run_cases,
    run_here,
)
from hostile_files import read_damaged
from hostile_questions import (
    make_bytes,
    make_damaged_query,
    make_data,
    make_habit,
    make_json,
    make_query,
    make_query_data,
    make_text,
    try_everything,
)
from hostile_writing import Disks, Kills, Kinds, NoSmallDisk, Swaps, mount_small_disk
from saved_examples import make_examples
from tampered_folders import TamperedFolders

SEED = 13
INTERVAL = 5.0
"""Seconds between two lines of progress."""
SHOWN = 200
"""Failures listed per part."""


@dataclass(frozen=True)
class Part:
    """A part of the campaign."""

    about: str
    count: int
    quick: int
    open: Callable[[Path, int], Any]
    """A context in which the cases of a seed can be run, with a folder for its files."""


class Skipped(Exception):
    """A part cannot be run here; the message says why."""


# Questions


def make_long_text(rng: random.Random) -> str:
    """A question that is long or deep in one way."""
    size = rng.choice((50, 500, 5_000, 50_000))
    name = rng.choice(("a", "é", "\\", " "))
    return rng.choice(
        (
            "?x:" + "(" * size + "p(?x,a)" + ")" * size,
            "?x:" + "!" * size + "p(?x,a)",
            "?x:" + "not(" * size + "p(?x,a)" + ")" * size,
            "?x:" + " and ".join(["p(?x,a)"] * size),
            "?x:" + " or ".join(["p(?x,b)"] * size),
            "?x:p(?x,a;" + ",".join(["q:b"] * size) + ")",
            "?x:p(?x,a;" + ",".join(f"q:?y{n}" for n in range(min(size, 500))) + ")",
            "?x:" + " and ".join(f"p(?x{n},?x{n + 1})" for n in range(min(size, 5_000))),
            f'?x:p(?x,"{name * size}")',
            "?x" + "\n" * size + ":p(?x,a)",
            "?x:p(?x,?y)" + " and ?x!=?y" * size,
            "?x:p(?x,?y)and(" + "|".join(f"?y>{n}" for n in range(min(size, 20_000))) + ")",
            "?x:p(?x,?y)and?y<" + "9" * size,
            "?x:p(?x,?y)and?y<" + "1" * 9 + "e" + "9" * min(size, 9),
            ",".join(f"?x{n}" for n in range(min(size, 5_000))) + ":p(?x0,?x1)",
            "?x0:" + " and ".join(f"p(?x{n},?x{(n + 1) % 60})" for n in range(60)),
            "?x:" + " and ".join(f"?r{n}(?x,?y)" for n in range(min(size, 1_001))),
            "count ?x:" + "p(?x,a)and " * size + "p(?x,?y)",
            "SELECT ?x WHERE {" * size,
            "FILTER(" * size + "?x: p(?x, a)",
            "?" + "x" * size + ":p(?" + "x" * size + ",a)",
            '{"a":' * size,
            '{"target": "x", "formula": ' + '{"not": ' * size + "{}" + "}" * (size + 1),
        )
    )


def make_question_text(rng: random.Random) -> str:
    """A question as text: soup, grammatical, damaged, random characters, or long."""
    if rng.random() < 0.002:
        return make_long_text(rng)
    makers = (make_text, make_query, make_query, make_damaged_query, make_habit, make_unicode)
    text: str = rng.choice(makers)(rng)
    return text


def make_unicode(rng: random.Random) -> str:
    """Random characters of all planes, or bytes as a command line gives them."""
    if rng.random() < 0.5:
        return make_bytes(rng)
    top = rng.choice((0x7F, 0x2FF, 0xFFFF, 0x10FFFF))
    return "".join(chr(rng.randrange(top + 1)) for _ in range(rng.randrange(1, 40)))


def make_question_data(rng: random.Random) -> Any:
    """A question as JSON text or data."""
    return rng.choice((make_json, make_data, make_query_data))(rng)


def ask(make: Callable[[random.Random], Any], seed: int, case: int) -> Outcome:
    """Do all that can be done with a random question."""
    question = make(random.Random(f"{seed} {make.__name__} {case}"))
    try:
        is_used = try_everything(question) is not None
    except AssertionError as error:
        return Outcome("failed", f"{error} ({ascii(question)[:200]})")
    return Outcome("harmless" if is_used else "refused")


@contextmanager
def open_questions(make: Callable[[random.Random], Any], folder: Path, seed: int) -> Iterator[Run]:
    del folder
    yield partial(ask, make, seed)


# Files and folders


@contextmanager
def open_files(folder: Path, seed: int) -> Iterator[Run]:
    def run(case: int) -> Outcome:
        message = read_damaged(random.Random(f"{seed} file {case}"), folder / "work")
        return Outcome("refused" if message else "harmless", message)

    yield run


@contextmanager
def open_folders(folder: Path, seed: int) -> Iterator[Run]:
    tampered = TamperedFolders(make_examples(folder / "examples"), folder / "work", seed)
    tampered.prepare()
    yield tampered.run


@contextmanager
def open_swaps(name: str, folder: Path, seed: int) -> Iterator[Run]:
    del seed  # the moment of a swap is what is random here
    swaps = Swaps(Kinds(), name, folder)
    with swaps.saving():
        yield swaps.run


@contextmanager
def open_kills(folder: Path, seed: int) -> Iterator[Run]:
    yield Kills(Kinds(), folder, seed).run


@contextmanager
def open_disks(folder: Path, seed: int) -> Iterator[Run]:
    try:
        with mount_small_disk(folder / "disk", Disks.SIZE):
            yield Disks(Kinds(), folder / "disk", seed).run
    except NoSmallDisk as error:
        raise Skipped(f"no small disk could be mounted ({error})") from error


PARTS: dict[str, tuple[Part, ...]] = {
    "texts": (
        Part("questions as text", 320_000, 300, partial(open_questions, make_question_text)),
    ),
    "json": (Part("questions as JSON", 80_000, 200, partial(open_questions, make_question_data)),),
    "files": (Part("files of others", 6_000, 60, open_files),),
    "folders": (Part("tampered folders", 24_000, 48, open_folders),),
    "swaps": (
        Part("loads of a graph that is replaced", 12_000, 40, partial(open_swaps, "graph")),
        Part("loads of a query set that is replaced", 1_000, 10, partial(open_swaps, "queries")),
        Part(
            "loads of a checkpoint that is replaced", 1_000, 10, partial(open_swaps, "checkpoint")
        ),
    ),
    "kills": (Part("kills while saving", 2_000, 20, open_kills),),
    "disks": (Part("saves to a full disk", 2_000, 20, open_disks),),
}


# Running


def run_part(part: Part, count: int, seed: int, tally: Tally) -> None:
    """Run the cases of a part, with lines of progress; the tally has what was found so far."""
    with tempfile.TemporaryDirectory(prefix="nqe-hostile-") as folder:
        place = Path(folder)
        (place / "files").mkdir()
        with part.open(place / "files", seed) as run:
            start = shown = time.monotonic()
            for measured in run_cases(run, count):
                tally.add(measured)
                now = time.monotonic()
                if now - shown > INTERVAL:
                    shown = now
                    _show_progress(part, tally, count, now - start)


def _show_progress(part: Part, tally: Tally, count: int, seconds: float) -> None:
    rate = tally.cases / seconds
    left = (count - tally.cases) / rate / 60
    failures = tally.verdicts["failed"]
    print(
        f"{part.about}: {tally.cases:,} of {count:,}, {rate:,.0f} per s, {left:.1f} min left, "
        f"{failures:,} failure(s)",
        file=sys.stderr,
        flush=True,
    )


Found = dict[tuple[str, Part], Tally | str]
"""What was found, or why a part was skipped."""


def run_campaign(names: list[str], *, quick: bool, seed: int, count: int | None) -> Found:
    """Run parts; Ctrl-C ends the campaign, and what was found so far is returned."""
    found: Found = {}
    try:
        for name in names:
            for part in PARTS[name]:
                tally = found[name, part] = Tally()
                try:
                    run_part(part, count or (part.quick if quick else part.count), seed, tally)
                except Skipped as error:
                    found[name, part] = str(error)
    except KeyboardInterrupt:
        print("interrupted; this was found so far", file=sys.stderr)
    return found


def run_one(name: str, seed: int, case: int) -> None:
    """Run one case of each kind in a part, in this process, and print what came of it."""
    for part in PARTS[name]:
        with (
            tempfile.TemporaryDirectory(prefix="nqe-hostile-") as folder,
            part.open(Path(folder), seed) as run,
        ):
            measured = run_here(run, case)
            print(f"{part.about}: {measured.outcome.verdict}: {measured.outcome.detail}")
            print(f"  {measured.seconds:.3f} s, {measured.megabytes:.0f} MB")


# The page


def make_row(part: Part, tally: Tally | str) -> tuple[str, ...]:
    if isinstance(tally, str):
        return (part.about, "0", *(["–"] * 4), f"skipped: {tally}", "–")
    counts = (tally.verdicts[name] for name in ("refused", "harmless", "differs", "failed"))
    return (
        part.about,
        f"{tally.cases:,}",
        *(f"{count:,}" for count in counts),
        f"{tally.seconds:.2f} s",
        f"{tally.megabytes:.0f} MB",
    )


def list_failures(found: Found, seed: int) -> str:
    lines = []
    for (name, part), tally in found.items():
        if isinstance(tally, str):
            continue
        lines += [
            f"- {part.about}, `--part {name} --seed {seed} --case {case}`: {detail}"
            for case, detail in tally.failures[:SHOWN]
        ]
        if len(tally.failures) > SHOWN:
            lines.append(f"- {part.about}: {len(tally.failures) - SHOWN:,} more")
    return "\n".join(lines) or "None."


def report(found: Found, seed: int, minutes: float) -> str:
    columns = (
        *("part", "cases", "refused with a sentence", "harmless", "differs as edited", "failures"),
        *("longest", "most memory"),
    )
    rows = [make_row(part, tally) for (_, part), tally in found.items()]
    surroundings = [
        *machine.describe(("numpy", "pyarrow", "torch", "safetensors")),
        ("seed", str(seed)),
        ("duration", f"{minutes:.0f} min"),
    ]
    return f"""# Hostile input

What came of fuzzed questions, damaged files, tampered folders, swaps, kills and full disks, by
`benchmarks/hostile.py`. Each case runs in a process with limits. An error of any other kind than
nqe's own, a message of several lines, a changed answer, more than {SECONDS:g} s of computing, no
result after {PATIENCE:g} s, or more than {MEGABYTES:,.0f} MB beyond what the process had before
is a failure. The longest time is that of a processor.

{machine.markdown_table(columns, rows)}
A question is *harmless* if it has a meaning; then it is also answered, drawn, translated and read
back. A file is harmless if facts could be read; then they are saved and loaded. Every edit of a
folder is made twice: with the old digests, where all that is read must be the same or refused, and
with digests computed anew, where a valid folder may *differ as edited*. That is also where edits
are counted that no digest covers: of `metrics.jsonl` and `settings.toml`, and whole reports and
calibrations that were deleted or exchanged. After a kill and on a full disk, harmless means that
the folder is the old one or the new one, and that nothing is left over after the next write.

## Failures

{list_failures(found, seed)}

{machine.markdown_table(("on", ""), surroundings)}"""


def read_arguments() -> argparse.Namespace:
    parser = machine.arguments(__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--part", action="append", choices=PARTS, help="only this; repeatable")
    parser.add_argument("--seed", type=int, default=SEED, help="another seed gives other cases")
    parser.add_argument("--count", type=int, help="this many cases per part")
    parser.add_argument("--case", type=int, help="run one case of a part in this process")
    parser.add_argument("-o", "--output", default="hostile", help="the name of the result")
    return parser.parse_args()


def count_failures(found: Mapping[Any, Tally | str]) -> int:
    return sum(len(one.failures) for one in found.values() if isinstance(one, Tally))


def main() -> None:
    given = read_arguments()
    names = given.part or list(PARTS)
    preload()
    if given.case is not None:
        for name in names:
            run_one(name, given.seed, given.case)
        return
    start = time.monotonic()
    found = run_campaign(names, quick=given.quick, seed=given.seed, count=given.count)
    text = report(found, given.seed, (time.monotonic() - start) / 60)
    machine.write_result(given.output, text, quick=given.quick)
    sys.exit(1 if count_failures(found) else 0)


if __name__ == "__main__":
    main()
