"""Pickles that would grow without bound are refused before anything is built."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest

from nqe.errors import InputError
from nqe.sampling.exchange import safe_pickle
from nqe.sampling.exchange.pickle_limits import DEEPEST, TooLarge, check_growth

END = b"."


def repeat(width: int, levels: int) -> bytes:
    """A tuple of equal tuples of equal tuples, each of which is written once."""
    written = b")\x94"
    for number in range(levels):
        written += b"(" + (b"h" + bytes([number])) * width + b"t\x94"
    return written


def as_key(value: bytes) -> bytes:
    return b"}" + value + b"Ns"


HOSTILE: dict[str, bytes] = {
    "tuples that double 60 times": as_key(repeat(2, 60)),
    "wide tuples of wide tuples": as_key(repeat(1_000, 4)),
    "tuples 100,000 deep": as_key(b")" + b"\x85" * 100_000),
    "lists 100,000 deep": b"]" * 100_000 + b"a" * 99_999,
    "a list in itself": b"]\x94h\x00a",
    "a list that is filled after it was used": b"]\x94h\x00\x85h\x00K\x01a",
    "a value with a huge number in the memo": b"Nr\xff\xff\xff\x7f",
    "a value with a huge number in the memo, as text": b"Np9999999999\n",
    "a list copied again and again": (
        b"c__builtin__\nlist\n\x94]\x94(" + b"N" * 50_000 + b"e" + b"h\x00h\x01\x85R" * 50_000
    ),
    "a copy of a copy of a copy": (
        b"c__builtin__\nlist\n" * 5_000 + b"](" + b"N" * 50_000 + b"e" + b"\x85R" * 5_000
    ),
    "the characters of a text again and again": (
        b"c__builtin__\nlist\n\x94X" + (50_000).to_bytes(4, "little") + b"x" * 50_000 + b"\x94"
        b"" + b"h\x00h\x01\x85R" * 50_000
    ),
}


@pytest.mark.parametrize("content", HOSTILE.values(), ids=HOSTILE)
def test_a_pickle_that_would_grow_too_large_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "bomb.pkl"
    path.write_bytes(b"\x80\x04" + content + END)
    with pytest.raises(InputError, match=r"bomb\.pkl: the pickle would grow too large \(.*; check"):
        safe_pickle.load(path)


@pytest.mark.parametrize(
    "opcode", [b"\x8e", b"\x8d", b"\x96", b"\x8b\xff\xff\xff\x7f", b"B\xff\xff\xff\xff", b"T"]
)
def test_a_value_longer_than_the_file_is_refused(tmp_path: Path, opcode: bytes) -> None:
    path = tmp_path / "cut.pkl"
    path.write_bytes(b"\x80\x04" + opcode + b"\0\0\0\0\0\0\0\x10" + b"abc" + END)
    with pytest.raises(InputError, match=r"cut\.pkl: not a complete pickle"):
        safe_pickle.load(path)


def test_a_device_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "endless.pkl").symlink_to("/dev/zero")
    with pytest.raises(InputError, match=r"endless\.pkl: not a file of at most 2 GB"):
        safe_pickle.load(tmp_path / "endless.pkl")


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_many_values_that_share_others_are_not_too_large(protocol: int) -> None:
    name, answers, query = "a name", frozenset(range(50)), (1, (2, 3))
    content: list[Any] = [{(i, query): [name, answers, {i: [i] * 5}]} for i in range(2_000)]
    check_growth(pickle.dumps(content, protocol))


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_tuples_may_be_as_deep_as_the_limit(protocol: int) -> None:
    content: Any = 1
    for _ in range(DEEPEST):
        content = (content,)
    check_growth(pickle.dumps(content, protocol))
    with pytest.raises(TooLarge, match="nested more than 100 deep"):
        check_growth(pickle.dumps((content,), protocol))
