"""Files of others, damaged at random: an error in one sentence, or the facts that they state."""

from __future__ import annotations

import bz2
import gzip
import json
import pickle
import random
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from hostile_files import (
    BETAE,
    ENTITIES,
    FACTS,
    HEADER,
    ROLES,
    STATEMENTS,
    TABLE,
    change,
    damage,
    to_lines,
    to_parquet,
    to_zstd,
)

from nqe.errors import NqeError
from nqe.readers import FORMATS, BadLines, read, read_labels
from nqe.sampling.exchange import read_nqe_json, read_tuple_queries, safe_pickle

JSON = [json.dumps(roles) for roles in ROLES]
# By format: the lines before the facts, and one line per fact.
TEXTS = {"statements": ([], STATEMENTS), "nary": ([], JSON), "table": ([HEADER], TABLE)}
FILES = [to_lines(head + lines) for head, lines in TEXTS.values()]
FILES += [to_lines(["[", *(json.dumps(entity) + "," for entity in ENTITIES), "]"])]
FILES += [to_parquet(), to_parquet(compression="none", use_dictionary=False)]
COMPRESSIONS: list[Callable[[bytes], bytes]] = [bytes, gzip.compress, bz2.compress, to_zstd]


@pytest.mark.parametrize("compress", COMPRESSIONS, ids=["plain", "gzip", "bzip2", "zstd"])
@pytest.mark.parametrize("format", [None, *FORMATS])
def test_a_damaged_file_is_read_or_refused_in_a_sentence(
    tmp_path: Path, format: str | None, compress: Callable[[bytes], bytes]
) -> None:
    chance = random.Random(f"{format} {compress.__name__}")
    path = tmp_path / "facts"
    for file in FILES * 8:
        inside = chance.random() < 0.6
        content = compress(damage(file, chance)) if inside else damage(compress(file), chance)
        path.write_bytes(content)
        bad = BadLines(skip=chance.random() < 0.5)
        with suppress(NqeError):
            read(path, format=format, bad=bad, limit=chance.choice([None, 2, 2**63]))
        with suppress(NqeError):
            read_labels(str(path), BadLines(skip=True))
        bad.to_tsv().encode()


@pytest.mark.parametrize("format", TEXTS)
def test_changes_that_leave_lines_whole_change_no_fact(tmp_path: Path, format: str) -> None:
    head, lines = TEXTS[format]
    chance = random.Random(format)
    path = tmp_path / "facts"
    for _ in range(40):
        chosen = chance.sample(range(len(lines)), chance.randrange(1, len(lines) + 1))
        kept = [lines[i] for i in chosen]
        for noise in chance.sample(["", " ", "\xa0", "\t"], 2):
            kept.insert(chance.randrange(len(kept) + 1), noise)
        bad_lines = chance.randrange(3)
        for _ in range(bad_lines):
            kept.insert(chance.randrange(len(kept) + 1), chance.choice(['a,"r', '{"a":', "x\0"]))
        content = chance.choice([b"", b"\xef\xbb\xbf"]) + to_lines(head + kept)
        content = content.replace(b"\n", chance.choice([b"\n", b"\r\n"]))
        path.write_bytes(chance.choice(COMPRESSIONS)(content))
        bad = BadLines(skip=True)
        first = head[0] if head else next(line for line in kept if line.strip())
        if first not in head + lines:
            continue  # a bad line is first, which decides on the separator
        assert set(read(path, format=format, bad=bad).graph) == {FACTS[i] for i in chosen}
        assert bad.count == bad_lines


def test_a_parquet_file_that_is_cut_short_anywhere_is_refused(tmp_path: Path) -> None:
    path, whole = tmp_path / "facts", to_parquet()
    path.write_bytes(whole)
    assert set(read(path).graph) == set(FACTS)
    for length in range(0, len(whole), 20):
        path.write_bytes(whole[:length])
        with pytest.raises(NqeError):
            read(path)


def test_damaged_pickles_are_read_or_refused_in_a_sentence(tmp_path: Path) -> None:
    chance = random.Random(13)
    for _ in range(50):
        changed = chance.choice(list(BETAE))
        for name, content in BETAE.items():
            written = change(content, chance) if name == changed else content
            (tmp_path / f"{name}.pkl").write_bytes(pickle.dumps(written, chance.choice([2, 4])))
        with suppress(NqeError):
            read_tuple_queries(tmp_path)
        path = tmp_path / "damaged"
        for protocol in range(6):
            content = BETAE[chance.choice(list(BETAE))]
            path.write_bytes(damage(pickle.dumps(content, protocol), chance))
            with suppress(NqeError):
                safe_pickle.load(path)


def test_damaged_json_queries_are_read_or_refused_in_a_sentence(tmp_path: Path) -> None:
    chance = random.Random(13)
    (tmp_path / "facts").write_bytes(FILES[0])
    vocabulary = read(tmp_path / "facts").vocabulary
    hrf = {"N": 2, "hrf": ["a", "r", "VAR"], "out_pos": 2, "in_pos": [], "in_vars": []}
    answers = {"answers": {"easy": ["b"], "hard": ["d"]}}
    line = json.dumps({"0": {"hrf0": hrf | answers, "logic0": {"type": "direct", "in_vars": [0]}}})
    task = tmp_path / "tasks" / "1p" / "test.json"
    task.parent.mkdir(parents=True)
    (tmp_path / "vocab.txt").write_text("[PAD]\t0\n[MASK]\t1\n")
    task.write_text(line)
    assert len(read_nqe_json(tmp_path, vocabulary)["test"]) == 1
    for _ in range(100):
        task.write_bytes(damage(line.encode(), chance))
        with suppress(NqeError):
            read_nqe_json(tmp_path, vocabulary)
