"""What `compare_versions.py` measures, as a short process that runs on an old or a new checkout.

`python benchmarks/version_scenarios.py SCENARIO FOLDER` with `PYTHONPATH` set to the checkout
prints the seconds of each measurement as JSON. It uses public names that both checkouts have; the
names that differ between versions are looked up in `MOVED`.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from importlib import import_module
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

DATA = Path(os.environ.get("NQE_BENCHMARK_DATA", ""))
GRAPH, RUN, QUERIES, TEXTS = "wd50k.graph", "wd50k.run", "wd50k.queries", "queries.json"
SHAPE_QUERIES = 60
"""Queries of each shape that are drawn once, for both checkouts."""
LOOK_UPS = 10_000
STEPS = 12
WARM_UP = 3
MODEL = {"width": 128, "layers": 2, "heads": 4, "feed_forward": 256}
Seconds = dict[str, float]

# Where a name may be, the newest place first.
MOVED = {
    "open_answerer": ("nqe:open", "nqe.answering:Answerer.load"),
    "compile": ("nqe.query:compile", "nqe.query:bind"),
    # Without the calibration that `nqe.train` ends with in newer versions.
    "fit": ("nqe.training:fit_weights", "nqe.training:train"),
}


def find(name: str) -> tuple[str, Any]:
    """The first of the places of a name that this checkout has, and what is there."""
    for place in MOVED[name]:
        module, _, path = place.partition(":")
        try:
            return place, reduce(getattr, path.split("."), import_module(module))
        except (ImportError, AttributeError):
            continue
    raise SystemExit(f"this checkout has none of {', '.join(MOVED[name])}; add where it is now")


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds, and what came of it."""
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def least(work: Callable[[], Any], repeats: int = 5) -> float:
    """The processor's seconds for the quickest of several repeats: other processes do not count."""
    return min(_measure_processor(work) for _ in range(repeats))


def _measure_processor(work: Callable[[], Any]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


# Preparation, once per checkout


def prepare(folder: Path) -> None:
    """A saved graph, the texts of queries unless they are there, a query set, and a run."""
    import nqe

    run_command("import", DATA, "-o", folder / GRAPH)
    dataset = nqe.read(folder / GRAPH)
    texts = folder.parent / TEXTS
    if not texts.is_file():
        texts.write_text(json.dumps(draw_texts(dataset)), encoding="utf-8")
    counts = ("--train", "60", "--valid", "5", "--test", "5", "--workers", "1")
    run_command("sample", folder / GRAPH, "-o", folder / QUERIES, *counts)
    train(folder, folder / RUN, folder / QUERIES, steps=2)


def draw_texts(dataset: Any) -> dict[str, list[str]]:
    """The texts of random test queries, by shape."""
    import nqe

    settings = nqe.SamplingSettings(train=0, valid=0, test=SHAPE_QUERIES)
    table = nqe.sample(dataset, settings, workers=1).splits["test"]
    plans = getattr(table, "plans", table)  # the first version had `plan` on the table itself
    texts: dict[str, list[str]] = {}
    for row, shape in enumerate(table.shape):
        texts.setdefault(shape, []).append(str(plans.plan(row).query(dataset.vocabulary)))
    return texts


def run_command(*words: object) -> float:
    """Seconds of a command of the checkout, the start of Python included."""
    command = [sys.executable, "-m", "nqe", *map(str, words)]
    # In the checkout's folder, as `python -m` looks for modules in the current one first.
    place = os.environ["PYTHONPATH"]
    return timed(lambda: subprocess.run(command, check=True, capture_output=True, cwd=place))[0]


def texts_in(folder: Path) -> list[str]:
    """The texts of the queries, shapes mixed."""
    by_shape = json.loads((folder.parent / TEXTS).read_text(encoding="utf-8"))
    return [text for row in zip(*by_shape.values(), strict=True) for text in row]


# Scenarios


def graph(folder: Path) -> Seconds:
    """Import into a folder, load, and look up patterns."""
    import nqe

    imported = folder / "again.graph"
    seconds = {"import WD50K by the command": run_command("import", DATA, "-o", imported)}
    shutil.rmtree(imported)
    seconds["load a saved graph"] = least(lambda: nqe.read(folder / GRAPH))
    whole = nqe.read(folder / GRAPH).graph
    patterns = list(draw_patterns(whole))
    seconds["index all facts, first look-up"], _ = timed(lambda: whole.answers(patterns[0]))
    few = patterns[: LOOK_UPS // 4]
    single = least(lambda: [whole.answers(pattern) for pattern in few])
    seconds[f"{len(few):,} look-ups one at a time"] = single
    seconds[f"{LOOK_UPS:,} look-ups in a batch"] = least(lambda: whole.answers_many(patterns))
    return seconds


def draw_patterns(graph: Any) -> Iterator[Any]:
    """Facts of the train split with the object or a qualifier's value asked for."""
    import nqe

    entity = {name: number for number, name in enumerate(graph.vocabulary.entities.ids)}
    relation = {name: number for number, name in enumerate(graph.vocabulary.relations.ids)}
    with (DATA / "train.txt").open(encoding="utf-8") as lines:
        for row, line in enumerate(islice(lines, LOOK_UPS)):
            subject, main, object_, *pairs = line.rstrip("\n").split(",")
            attributes = tuple(relation[name] for name in pairs[::2])
            slots = [entity[subject], entity[object_], *(entity[name] for name in pairs[1::2])]
            asked = len(slots) - 1
            rest = (None if place == asked else slot for place, slot in enumerate(slots))
            closed = row % 2 == 0
            yield nqe.Pattern(relation[main], tuple(rest), attributes, asked=asked, closed=closed)


def exact(folder: Path) -> Seconds:
    """Parse, and answer exactly, one at a time and in a batch."""
    import nqe

    _, compiled = find("compile")
    whole = nqe.read(folder / GRAPH).graph
    texts = texts_in(folder)
    seconds = {
        f"parse and compile {len(texts):,} queries": least(
            lambda: [compiled(nqe.parse(text), whole.vocabulary) for text in texts], 2
        )
    }
    plans = [compiled(nqe.parse(text), whole.vocabulary) for text in texts]
    nqe.execute_many(plans, whole)
    single = least(lambda: [nqe.execute(plan, whole) for plan in plans])
    seconds[f"{len(texts):,} exact queries one at a time"] = single
    batch = least(lambda: nqe.execute_many(plans, whole))
    seconds[f"{len(texts):,} exact queries in a batch"] = batch
    return seconds


def sampling(folder: Path) -> Seconds:
    """Draw queries of all shapes for all splits, in one process."""
    import nqe

    dataset = nqe.read(folder / GRAPH)
    settings = nqe.SamplingSettings(train=60, valid=30, test=30)
    seconds, _ = timed(lambda: nqe.sample(dataset, settings, workers=1))
    return {"sample 1,920 queries": seconds}


def training(folder: Path) -> Seconds:
    """Steps on one-hop queries of the graph, and on a query set of all shapes."""
    one_hop = train(folder, folder / "one-hop.run", None, STEPS)
    mixed = train(folder, folder / "mixed.run", folder / QUERIES, STEPS)
    return {"a training step, one-hop": one_hop, "a training step, 16 shapes": mixed}


def train(folder: Path, run: Path, queries: Path | None, steps: int) -> float:
    """Median seconds from one step of the optimizer to the next."""
    from torch.optim.optimizer import register_optimizer_step_post_hook

    import nqe

    times: list[float] = []
    hook = register_optimizer_step_post_hook(lambda *_: times.append(time.perf_counter()))
    settings = nqe.RunSettings(
        model=nqe.ModelSettings(**MODEL),
        train=nqe.TrainSettings(
            shapes=("1p",) if queries is None else (),
            steps=steps,
            batch=512,
            evaluate_steps=steps,
            valid_queries=20,
        ),
    )
    dataset = nqe.read(folder / GRAPH)
    shutil.rmtree(run, ignore_errors=True)
    _, fit = find("fit")
    fit(dataset, run, queries, settings=settings, name=str(folder / GRAPH))
    hook.remove()
    spent = sorted(last - first for first, last in pairwise(times[WARM_UP:]))
    return spent[len(spent) // 2] if spent else 0.0


def answering(folder: Path) -> Seconds:
    """Answer a mixed batch by the hybrid and by the embedding runner."""
    place, open_answerer = find("open_answerer")
    import nqe

    if place.endswith(".load"):
        answerer = open_answerer(folder / RUN, nqe.read(folder / GRAPH))
    else:
        answerer = open_answerer(folder / RUN)
    seconds = {}
    texts = texts_in(folder)
    for mode, count in (("hybrid", 64), ("embedding", 512)):
        batch = texts[:count]
        answer(answerer, batch[:4], mode)
        seconds[f"{count} answers by {mode} in a batch"], _ = timed(
            lambda batch=batch, mode=mode: answer(answerer, batch, mode)
        )
    return seconds


def answer(answerer: Any, texts: Sequence[str], mode: str) -> object:
    """Ask many queries at once, by whichever method this checkout has."""
    try:
        request = import_module("nqe.answering").Request
    except AttributeError:
        return answerer.answer_many(texts, mode)
    outcomes = answerer.answer_many([request(text, mode) for text in texts])
    for outcome in outcomes:
        if isinstance(outcome, Exception):
            raise outcome
    return outcomes


def starting(folder: Path) -> Seconds:
    """One question by the command: to a run, and to a graph; and PyTorch alone, for comparison."""
    question = texts_in(folder)[0]
    torch = [sys.executable, "-c", "import torch"]
    return {
        "ask a run one question by the command": run_command("ask", folder / RUN, question),
        "ask a graph one question by the command": run_command("ask", folder / GRAPH, question),
        "start Python and import torch": timed(lambda: subprocess.run(torch, check=True))[0],
    }


SCENARIOS: dict[str, Callable[[Path], Seconds]] = {
    "graph": graph,
    "exact": exact,
    "sampling": sampling,
    "training": training,
    "answering": answering,
    "starting": starting,
}


def main() -> None:
    import nqe

    checkout = Path(os.environ["PYTHONPATH"])
    if not Path(nqe.__file__ or "").is_relative_to(checkout):
        sys.exit(f"nqe was imported from {nqe.__file__}, not from {checkout}")
    name, folder = sys.argv[1], Path(sys.argv[2])
    if name == "prepare":
        prepare(folder)
    else:
        print(json.dumps(SCENARIOS[name](folder)))


if __name__ == "__main__":
    main()
