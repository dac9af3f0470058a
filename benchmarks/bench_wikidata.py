"""How fast Wikidata's JSON is read: plain and compressed, all of it and a slice.

One dump is made of a hundred real items, copied under other ids until it has the wanted size, and
one of small items that are made up. Each run is a process of its own.
"""

from __future__ import annotations

import bz2
import gzip
import json
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import machine
import pyarrow as pa

from nqe.errors import InputError
from nqe.readers import WikidataPolicy, read

QUICK = "--quick" in sys.argv
REAL = machine.DATA / "ingest" / "wikidata-json" / "opentapioca_100_items.dump.json.bz2"
SIZE = (1 if QUICK else 200) << 20  # bytes of each dump, before compression
RUNS = 1 if QUICK else 3
BAR = 20.0  # MB/s per core
LANGUAGES = ("en", "de", "fr", "nl", "es", "it", "pt", "ru", "zh", "ja", "sv", "pl", "ast", "ar")
ID = re.compile(rb'"Q([0-9]+)"')

COMPRESSIONS: dict[str, Callable[[bytes], bytes]] = {
    "json": bytes,
    "json.gz": lambda content: gzip.compress(content, 6),
    "json.bz2": bz2.compress,
    "json.zst": lambda content: pa.compress(content, "zstd", asbytes=True),
}
SLICES: dict[str, dict[str, Any]] = {
    "all": {},
    "one class": {"keep_classes": ["Q5"]},
    "one relation": {"keep_relations": ["P17"]},
}
CASES = [
    *(("small", ending, "all") for ending in COMPRESSIONS),
    *(("small", "json", name) for name in SLICES if name != "all"),
    *(("real", "json", name) for name in SLICES),
]


# The dumps


def list_small_items() -> Iterator[bytes]:
    """Items with a few statements with references, labels and descriptions."""
    number = 100
    while True:
        number += 1
        yield json.dumps(make_item(number)).encode()


def make_item(number: int) -> dict[str, Any]:
    names = {code: {"language": code, "value": f"Name {number}"} for code in LANGUAGES}
    about = {code: {"language": code, "value": f"thing number {number}"} for code in LANGUAGES}
    claims = {"P31": [make_statement("P31", make_entity_value(number % 90 or 5))]}
    for place in range(8):
        value = make_entity_value((number * 7919 * (place + 1)) % 1_000_003)
        claims[f"P{place + 17}"] = [make_statement(f"P{place + 17}", value)]
    for place in range(4):
        value = {"value": f"id{number}", "type": "string"}
        claims[f"P{place + 900}"] = [make_statement(f"P{place + 900}", value, "external-id")]
    begin = {"type": "item", "id": f"Q{number}", "labels": names, "descriptions": about}
    return begin | {"aliases": [], "claims": claims, "sitelinks": {}, "lastrevid": number}


def make_entity_value(number: int) -> dict[str, Any]:
    value = {"entity-type": "item", "numeric-id": number, "id": f"Q{number}"}
    return {"value": value, "type": "wikibase-entityid"}


def make_statement(
    relation: str, value: dict[str, Any], datatype: str = "wikibase-item"
) -> dict[str, Any]:
    year = {"time": "+1990-00-00T00:00:00Z", "timezone": 0, "before": 0, "after": 0}
    year |= {"precision": 9, "calendarmodel": "http://www.wikidata.org/entity/Q1985727"}
    when = make_snak("P580", {"value": year, "type": "time"}, "time")
    source = make_snak("P143", make_entity_value(328), "wikibase-item")
    return {
        "mainsnak": make_snak(relation, value, datatype),
        "type": "statement",
        "qualifiers": {"P580": [when]} if datatype == "wikibase-item" else {},
        "qualifiers-order": ["P580"],
        "id": f"Q1${relation}",
        "rank": "normal",
        "references": [{"hash": "0" * 40, "snaks": {"P143": [source]}, "snaks-order": ["P143"]}],
    }


def make_snak(relation: str, value: dict[str, Any], datatype: str) -> dict[str, Any]:
    begin = {"snaktype": "value", "property": relation, "hash": "0" * 40}
    return begin | {"datavalue": value, "datatype": datatype}


def list_real_items() -> Iterator[bytes]:
    """The real items again and again, each time under other ids."""
    lines = bz2.decompress(REAL.read_bytes()).splitlines()[1:-1]
    copy = 0
    while True:
        copy += 1
        for line in lines:
            yield ID.sub(rb'"Q\g<1>%05d"' % copy, line.rstrip(b","))


ITEMS = {"small": list_small_items, "real": list_real_items}


def make_dump(kind: str) -> bytes:
    lines, size = [], 0
    for line in ITEMS[kind]():
        lines.append(line)
        size += len(line) + 2
        if size >= SIZE:
            return b"[\n" + b",\n".join(lines) + b"\n]\n"
    raise AssertionError("there are always more items")


# Measurements, each in a process of its own


def measure(path: str, name: str) -> dict[str, float]:
    start = time.process_time()
    try:
        facts = len(read(path, wikidata=WikidataPolicy(**SLICES[name])).graph)
    except InputError:  # a slice of the short dump may be empty
        facts = 0
    seconds = time.process_time() - start
    return {"seconds": seconds, "facts": facts, "memory": machine.peak_memory()}


def run_case(path: Path, name: str) -> dict[str, float]:
    command = [sys.executable, __file__, "measure", str(path), name]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def list_rows(folder: Path) -> Iterator[tuple[str, ...]]:
    for kind, ending, name in CASES:
        if kind == "real" and not REAL.is_file():
            continue
        path = folder / f"{kind}.{ending}"
        if not path.exists():
            path.write_bytes(COMPRESSIONS[ending](make_dump(kind)))
        yield make_row((kind, ending, name), [run_case(path, name) for _ in range(RUNS)])


def make_row(case: Sequence[str], runs: Sequence[dict[str, float]]) -> tuple[str, ...]:
    rate = SIZE / 1e6 / statistics.median(run["seconds"] for run in runs)
    memory = max(run["memory"] for run in runs)
    verdict = "pass" if rate >= BAR else "fail"
    return (*case, f"{runs[0]['facts']:,.0f}", f"{rate:.0f} MB/s", f"{memory:.2f} GB", verdict)


def report(rows: Sequence[Sequence[str]]) -> str:
    columns = (
        "items",
        "file",
        "taken",
        "facts",
        f"median of {RUNS}",
        "most memory",
        f"{BAR:g} MB/s",
    )
    return f"""# Wikidata's JSON: reading

Measured by `benchmarks/bench_wikidata.py` on dumps of {SIZE >> 20} MB of JSON. Real items are a
hundred items of Wikidata, most of them countries and cities with labels in hundreds of languages,
copied under other ids; small items are made up: 13 statements, of which 4 are external ids, and
labels in {len(LANGUAGES)} languages. The rate is of JSON after decompression, per second of CPU
time of one process, with all that `nqe.read` does: decompression, facts, labels and the graph.
The memory is that of the whole process.

{machine.markdown_table(columns, rows)}
{machine.markdown_table(("on", ""), machine.describe(("msgspec", "numpy", "pyarrow")))}"""


def main() -> None:
    machine.arguments(__doc__).parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = list(list_rows(Path(folder)))
    machine.write_result("wikidata", report(rows), quick=QUICK)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["measure", path, name]:
            print(json.dumps(measure(path, name)))
        case _:
            main()
