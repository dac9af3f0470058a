"""How many questions a server answers, in batches and one at a time, and how long each takes.

64 clients ask without pause, each one question of a random shape at a time. Servers with and
without batches take turns over the same questions. Over atlas and over WD50K, by embedding and in
hybrid; then 20,000 requests in a row for the memory, and more clients than the queue holds.
"""

from __future__ import annotations

import asyncio
import json
import resource
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import numpy as np
from machine import (
    ROOT,
    WD50K,
    arguments,
    benchmark_data,
    describe,
    markdown_table,
    matrix_multiply_rate,
    write_result,
)
from trained import Shared, train_run

from nqe.demo import NAME, demo_dataset, make_demo_settings
from nqe.graph import Dataset
from nqe.run_folders import is_run
from nqe.sampling import sample
from nqe.sampling.storage import load_queries
from nqe.settings import SamplingSettings

CLIENTS, SECONDS = 64, 60.0
BATCHES = {"batches": 64, "one at a time": 1}
MODES = ("embedding", "hybrid")
BARS = {"embedding": 3.0, "hybrid": 2.0}
HOME = ROOT / "build" / "serving"
COLUMNS = (
    *("graph", "mode", "answered", "questions/s", "times", "bar"),
    *("p50 ms", "p95 ms", "p99 ms", "errors"),
)


@dataclass
class Load:
    """What clients met: the seconds of each request, and the statuses of replies."""

    spent: list[float] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)
    seconds: float = 0.0

    @property
    def rate(self) -> float:
        """Questions that were answered in a second."""
        return self.statuses[200] / max(self.seconds, 1e-9)

    def percentile(self, share: float) -> float:
        """The milliseconds within which that share of requests was done."""
        return float(np.percentile(self.spent, share)) * 1_000 if self.spent else float("nan")


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@contextmanager
def serve(graph: str, run: Path, batch: int) -> Iterator[tuple[str, int]]:
    """A server in a process of its own: its address, and the number of the process."""
    port = free_port()
    script = Path(__file__).with_name("serving_process.py")
    command = [sys.executable, str(script), graph, str(run), str(port), str(batch)]
    process = subprocess.Popen(command)
    address = f"http://127.0.0.1:{port}"
    try:
        for _ in range(600):
            try:
                if httpx.get(f"{address}/readyz").status_code == 200:
                    break
            except httpx.TransportError:
                pass
            time.sleep(0.1)
        yield address, process.pid
    finally:
        process.terminate()
        process.wait(30)


class Connection:
    """A connection that is kept open; far cheaper than a client of a library with many of them."""

    def __init__(self, address: str) -> None:
        self.host, _, self.port = address.removeprefix("http://").partition(":")
        self.streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def post(self, path: str, body: bytes) -> int:
        """Send a request, read the whole reply, and return its status."""
        if self.streams is None:
            self.streams = await asyncio.open_connection(self.host, int(self.port))
        reader, writer = self.streams
        head = (
            f"POST {path} HTTP/1.1\r\nHost: {self.host}\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        )
        writer.write(head.encode() + body)
        lines = (await reader.readuntil(b"\r\n\r\n")).lower().split(b"\r\n")
        length = next(int(one.split(b":")[1]) for one in lines if one.startswith(b"content-length"))
        await reader.readexactly(length)
        return int(lines[0].split()[1])

    def close(self) -> None:
        """Close it."""
        if self.streams is not None:
            self.streams[1].close()


async def ask(
    address: str, queries: Sequence[str], mode: str, clients: int, seconds: float, most: int
) -> Load:
    """Let clients ask until the time is over, or `most` questions are asked."""
    load, asked = Load(), iter(range(most))
    order = np.random.default_rng(0).permutation(len(queries))
    bodies = [json.dumps({"query": query, "mode": mode, "top": 10}).encode() for query in queries]
    started = time.perf_counter()

    async def run() -> None:
        connection = Connection(address)
        while time.perf_counter() - started < seconds:
            number = next(asked, None)
            if number is None:
                break
            begun = time.perf_counter()
            status = await connection.post("/v1/answer", bodies[order[number % len(order)]])
            load.spent.append(time.perf_counter() - begun)
            load.statuses[status] += 1
        connection.close()

    await asyncio.gather(*(run() for _ in range(clients)))
    load.seconds = time.perf_counter() - started
    return load


def memory_of(process: int) -> float:
    """The memory of a process, in MB."""
    for line in Path(f"/proc/{process}/status").read_text(encoding="utf-8").splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    return float("nan")


def write_queries(dataset: Dataset, folder: Path | None) -> list[str]:
    """Questions of all shapes as text: those of a query set, or some that are drawn."""
    if folder is None:
        drawn = sample(dataset, SamplingSettings(train=0, valid=0, test=20, seed=1), workers=1)
        table = drawn.splits["test"]
    else:
        table = load_queries(folder, "test")
        table = table.take(np.random.default_rng(1).permutation(len(table))[:4_000])
    plans = (table.plans.plan(row) for row in range(len(table)))
    return [str(plan.query(dataset.vocabulary)) for plan in plans]


def measure_rates(
    graph: str, run: Path, queries: Sequence[str], seconds: float, clients: int
) -> list[list[str]]:
    """Rows of a table: each mode with batches and one at a time, in turns."""
    rows = []
    for mode in MODES:
        found: dict[str, Load] = {}
        for name, batch in BATCHES.items():
            with serve(graph, run, batch) as (address, _):
                asyncio.run(ask(address, queries, mode, clients, min(5.0, seconds), 10**9))
                found[name] = asyncio.run(ask(address, queries, mode, clients, seconds, 10**9))
        ratio = found["batches"].rate / max(found["one at a time"].rate, 1e-9)
        for name, load in found.items():
            wrong = sum(load.statuses.values()) - load.statuses[200]
            percentiles = [f"{load.percentile(share):,.0f}" for share in (50, 95, 99)]
            times = f"{ratio:.2f}" if name == "batches" else ""
            bar = f"{BARS[mode]:g}" if name == "batches" and graph != NAME else ""
            rows.append(
                [
                    Path(graph).name,
                    mode,
                    name,
                    f"{load.rate:,.0f}",
                    times,
                    bar,
                    *percentiles,
                    str(wrong),
                ]
            )
    return rows


def measure_memory(graph: str, run: Path, queries: Sequence[str], count: int) -> list[list[str]]:
    """Rows of a table: the memory of a server as requests go by."""
    rows = []
    with serve(graph, run, BATCHES["batches"]) as (address, process):
        for number in range(5):
            asyncio.run(ask(address, queries, "hybrid", CLIENTS, 10**9, count // 5))
            rows.append([f"{(number + 1) * (count // 5):,}", f"{memory_of(process):,.0f}"])
    return rows


def measure_overload(graph: str, run: Path, queries: Sequence[str], clients: int) -> Load:
    """What many more clients meet than the queue holds."""
    with serve(graph, run, BATCHES["batches"]) as (address, _):
        return asyncio.run(ask(address, queries, "hybrid", clients, 10.0, 10**9))


def use_atlas_run() -> Path:
    """The run of a model of atlas, trained for a minute if it is not there."""
    run = HOME / "atlas.run"
    if not is_run(run):
        train_run(demo_dataset(), run, make_demo_settings(60), NAME)
    return run


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--seconds", type=float, default=SECONDS)
    options = parser.parse_args()
    quick = options.quick
    _soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 8_192), hard))
    seconds, clients = (0.5, 8) if quick else (options.seconds, CLIENTS)
    shared = Shared(benchmark_data(quick=quick), quick=quick)
    places = [(NAME, shared.use_run() if quick else use_atlas_run(), demo_dataset(), None)]
    if not quick:
        places.append((str(WD50K), shared.use_run(), shared.dataset, shared.use_queries()))
    before = matrix_multiply_rate()
    rows: list[list[str]] = []
    for graph, run, dataset, folder in places:
        rows += measure_rates(graph, run, write_queries(dataset, folder), seconds, clients)
    graph, run, dataset, folder = places[-1]
    queries = write_queries(dataset, folder)
    memory = measure_memory(graph, run, queries, 50 if quick else 20_000)
    over = measure_overload(graph, run, queries, 20 if quick else 1_200)
    after = matrix_multiply_rate()
    text = (
        "# Serving: questions of many clients, in batches and one at a time\n\n"
        f"By `benchmarks/bench_serving.py`: {clients} clients ask without pause for "
        f"{seconds:g} s, questions of all 16 shapes mixed, the best 10 answers each, known facts "
        "train and valid. The clients run on the same cores as the server.\n\n"
        + markdown_table(
            ("what", "value"),
            [
                *describe(("torch", "fastapi", "uvicorn")),
                ("multiply before, after", f"{before:.0f}, {after:.0f} GF/s"),
            ],
        )
        + "\n"
        + markdown_table(
            (
                "graph",
                "mode",
                "answered",
                "questions/s",
                "times",
                "bar",
                "p50 ms",
                "p95 ms",
                "p99 ms",
                "errors",
            ),
            rows,
        )
        + "\n## Memory of the server, hybrid\n\n"
        + markdown_table(("requests so far", "MB"), memory)
        + "\n## More clients than the queue holds\n\n"
        + f"{sum(over.statuses.values()):,} requests, by the status of the reply: "
        + ", ".join(f"{status}: {count:,}" for status, count in sorted(over.statuses.items()))
        + ".\n"
    )
    write_result("serving", text, quick=quick)


if __name__ == "__main__":
    main()
