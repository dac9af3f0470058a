"""Random damage to files of others, of every format that nqe reads, and reading them."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import pickle
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from nqe.errors import NqeError
from nqe.graph import Dataset, Fact
from nqe.readers import FORMATS, BadLines, read, read_labels
from nqe.sampling.exchange import read_nqe_json, read_tuple_queries

FACTS = [
    Fact("a", "r", "b"),
    Fact("c", "r", "d", (("q", "e"),)),
    Fact("Zürich", "r", "x, y", (("q", "v"), ("s", "w"))),
    Fact("e", "r", "d", (("q", "1999"),)),
]
STATEMENTS = ["a,r,b", "c,r,d,q,e", 'Zürich,r,"x, y",s,w,q,v', "e,r,d,q,1999"]
ROLES = [
    {"subject": fact.subject, "relation": fact.relation, "object": fact.object}
    | dict(fact.qualifiers)
    for fact in FACTS
]
TABLE = ["a;r;b;;", "c;r;d;e;", "Zürich;r;x, y;v;w", "e;r;d;1999;"]
HEADER = "subject;relation;object;q;s"
# One value of each of Wikidata's kinds.
VALUES: dict[str, Any] = {
    "wikibase-entityid": {"entity-type": "item", "numeric-id": 2, "id": "Q2"},
    "string": "text",
    "monolingualtext": {"text": "Zürich", "language": "de"},
    "time": {"time": "+1999-05-00T00:00:00Z", "precision": 10, "calendarmodel": "Q1985727"},
    "quantity": {"amount": "+5.50", "unit": "http://www.wikidata.org/entity/Q11573"},
    "globecoordinate": {"latitude": 1.5, "longitude": -2, "globe": None},
}
SNAKS = [
    {"snaktype": "value", "property": "P1", "datavalue": {"type": kind, "value": value}}
    for kind, value in VALUES.items()
]
LABELS = {"en": {"language": "en", "value": "one"}}
ENTITIES = [
    {"type": "item", "id": f"Q{number}", "labels": LABELS, "aliases": [], "claims": {"P1": claims}}
    for number, claims in enumerate(
        [{"mainsnak": snak, "rank": "normal", "qualifiers": {"P1": SNAKS}}] for snak in SNAKS
    )
]
TOKENS = [b"\n", b"\t", b",", b'"', b"{", b"[", b"null", b"NaN", b"1e999", b"\xff", b"\0", b"\r"]
TOKENS += [b"9" * 5_000, b"[" * 5_000, b"\\ud800", b"PAR1\x15", b"\xff\xff\xff\x7f"]


def to_parquet(columns: dict[str, Any] | None = None, **options: Any) -> bytes:
    """The facts as a Parquet file, or other columns."""
    cells = [line.split(";") for line in TABLE]
    texts = {name: [row[i] for row in cells] for i, name in enumerate(HEADER.split(";"))}
    buffer = io.BytesIO()
    parquet.write_table(pa.table(columns or texts), buffer, **options)
    return buffer.getvalue()


def to_zstd(content: bytes) -> bytes:
    """The content as a zstd stream."""
    compressed: bytes = pa.Codec("zstd").compress(content, asbytes=True)
    return compressed


def to_lines(lines: list[str]) -> bytes:
    """The lines as the content of a file."""
    return "".join(line + "\n" for line in lines).encode()


FILES = [
    to_lines(STATEMENTS),
    to_lines([line.replace(",", "\t") for line in STATEMENTS[:2]]),
    to_lines([json.dumps(roles) for roles in ROLES]),
    to_lines([HEADER, *TABLE]),
    to_lines(["[", *(json.dumps(entity) + "," for entity in ENTITIES), "]"]),
    to_parquet(),
    to_parquet(compression="none", use_dictionary=False),
    to_parquet({"subject": [1, 2], "relation": ["r", "r"], "object": [2.5, None]}),
    to_parquet({name: pa.array([2**62], pa.timestamp("ns")) for name in ("subject", "object")}),
]
COMPRESSIONS: list[Callable[[bytes], bytes]] = [
    bytes,
    bytes,
    gzip.compress,
    bz2.compress,
    lzma.compress,
    to_zstd,
]
NAMES = ("facts", "facts.csv", "facts.tsv", "train.txt", "facts.json", "facts.jsonl", "facts.nt")
MORE_NAMES = (*NAMES, "facts.ttl", "facts.parquet", "facts.gz", "facts.zst", "facts.bz2")


def damage(content: bytes, chance: random.Random) -> bytes:
    """A content with one to three changes at random places."""
    for _ in range(chance.choice([1, 1, 2, 3])):
        place, end = sorted(chance.randrange(len(content) + 1) for _ in range(2))
        before, between, after = content[:place], content[place:end], content[end:]
        content = chance.choice(
            [
                before + bytes([chance.randrange(256)]) + content[place + 1 :],
                before + chance.choice(TOKENS) + content[place:],
                before + after,
                before + between + between + after,
                before,
            ]
        )
    return content


def make_content(chance: random.Random) -> bytes:
    """The content of a damaged file."""
    if chance.random() < 0.05:
        return chance.randbytes(chance.choice((1, 10, 1_000, 100_000)))
    if chance.random() < 0.02:
        return chance.choice(TOKENS) * chance.choice((1_000, 100_000))
    file, compress = chance.choice(FILES), chance.choice(COMPRESSIONS)
    if chance.random() < 0.6:
        return compress(damage(file, chance))
    return damage(compress(file), chance)


def read_damaged_file(chance: random.Random, folder: Path) -> str:
    """Read a damaged file of facts and labels; gives the error's message, or nothing."""
    path = folder / chance.choice(MORE_NAMES)
    path.write_bytes(make_content(chance))
    bad = BadLines(skip=chance.random() < 0.8)
    form = chance.choice([*[None] * 8, *FORMATS])
    limit = chance.choice([None, None, 2, 2**63])
    message = _try(lambda: _keep(read(path, format=form, bad=bad, limit=limit), folder / "kept"))
    _try(lambda: read_labels(str(path), BadLines(skip=True)))
    bad.to_tsv().encode()
    return message


def _keep(dataset: Dataset, folder: Path) -> None:
    """Save what was read, and compare it with what is loaded: whatever is read can be kept."""
    dataset.save(folder)
    assert Dataset.load(folder) == dataset, "what was saved is not what was read"


ONE = ("e", ("r",))
BETAE: dict[str, Any] = {
    "id2ent": {0: "a", 1: "b"},
    "id2rel": {0: "+r", 1: "-r"},
    "train-queries": {ONE: {(0, (0,))}, (ONE, ONE, ("u",)): {((0, (0,)), (1, (1,)), (-1,))}},
    "train-answers": {(0, (0,)): {1}, ((0, (0,)), (1, (1,)), (-1,)): {0, 1}},
}
ATOMS = [None, True, -1, -2, 2**62, 2**64, 10**5_000, "", "\ud800", (), ((),), 1.5, "e", ONE, b"x"]


def change(value: Any, chance: random.Random) -> Any:
    """A value with some of its parts replaced."""
    if chance.random() < 0.1:
        return chance.choice(ATOMS)
    if isinstance(value, dict):
        return {
            change(key, chance) if chance.random() < 0.2 else key: change(part, chance)
            for key, part in value.items()
        }
    if isinstance(value, set | tuple):
        parts = [change(part, chance) for part in value]
        return tuple(parts) if isinstance(value, tuple) else set(parts)
    return value


def read_damaged_pickles(chance: random.Random, folder: Path) -> str:
    """Read a damaged folder of BetaE; gives the error's message, or nothing."""
    changed = chance.choice(list(BETAE))
    for name, content in BETAE.items():
        written = change(content, chance) if name == changed else content
        data = pickle.dumps(written, chance.choice((2, 3, 4, 5)))
        is_damaged = name == changed and chance.random() < 0.5
        (folder / f"{name}.pkl").write_bytes(damage(data, chance) if is_damaged else data)
    return _try(lambda: read_tuple_queries(folder))


HRF = {"N": 2, "hrf": ["a", "r", "VAR"], "out_pos": 2, "in_pos": [], "in_vars": []}
ANSWERS = {"answers": {"easy": ["b"], "hard": ["d"]}}
TASK = {"0": {"hrf0": HRF | ANSWERS, "logic0": {"type": "direct", "in_vars": [0]}}}


def read_damaged_tasks(chance: random.Random, folder: Path) -> str:
    """Read a damaged folder of the NQE paper's JSON; gives the error's message, or nothing."""
    vocabulary = Dataset.of({"train": FACTS}).vocabulary
    task = folder / "tasks" / chance.choice(["1p", "1p", "..1p", "é"]) / "test.json"
    task.parent.mkdir(parents=True)
    (folder / "vocab.txt").write_text("[PAD]\t0\n[MASK]\t1\n")
    task.write_bytes(damage(json.dumps(TASK).encode(), chance))
    return _try(lambda: read_nqe_json(folder, vocabulary))


READERS = (read_damaged_file,) * 8 + (read_damaged_pickles, read_damaged_tasks)


def read_damaged(chance: random.Random, folder: Path) -> str:
    """Read a damaged file or folder of any kind; gives the error's message, or nothing."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return chance.choice(READERS)(chance, folder)


def _try(work: Callable[[], object]) -> str:
    try:
        work()
    except NqeError as error:
        message = str(error)
        assert message, "an error without a message"
        assert "\n" not in message, f"an error of several lines: {message!r:.300}"
        return message
    return ""
