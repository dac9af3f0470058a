"""Pickles of other programs: built-in containers are loaded, anything that could run is refused."""

from __future__ import annotations

import os
import pickle
from collections import Counter, OrderedDict, defaultdict
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nqe.errors import InputError
from nqe.sampling.exchange import safe_pickle

simple = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
hashable = st.recursive(
    simple,
    lambda inner: st.lists(inner, max_size=3).map(tuple) | st.frozensets(inner, max_size=3),
    max_leaves=5,
)
contents = st.recursive(
    hashable | st.sets(hashable, max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(hashable, inner, max_size=3),
    max_leaves=5,
)


class Hostile:
    """Runs a command when it is unpickled."""

    def __init__(self, call: Any, *arguments: Any) -> None:
        self.call, self.arguments = call, arguments

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        return self.call, self.arguments


def write_and_load(path: Path, content: bytes) -> Any:
    path.write_bytes(content)
    return safe_pickle.load(path)


@given(contents, st.integers(0, pickle.HIGHEST_PROTOCOL))
def test_built_in_containers_of_every_protocol_are_loaded(
    tmp_path_factory: pytest.TempPathFactory, content: Any, protocol: int
) -> None:
    path = tmp_path_factory.getbasetemp() / "any.pkl"
    assert write_and_load(path, pickle.dumps(content, protocol)) == content


@pytest.mark.parametrize("factory", [set, list, int])
@pytest.mark.parametrize("protocol", [0, 2, 4])
def test_a_defaultdict_of_built_in_values_is_loaded(
    tmp_path: Path, factory: Any, protocol: int
) -> None:
    content = defaultdict(factory)
    assert content[3] == factory()
    assert write_and_load(tmp_path / "one.pkl", pickle.dumps(content, protocol)) == content


def test_a_text_of_python_2_is_read_as_latin_1(tmp_path: Path) -> None:
    python_2 = b"\x80\x02]q\x00(U\x06Gen\xe8veq\x01c__builtin__\nset\nq\x02]q\x03K\x07a\x85Rq\x04e."
    assert write_and_load(tmp_path / "old.pkl", python_2) == ["Genève", {7}]


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_pickle_that_would_run_a_command_is_refused_and_runs_nothing(
    tmp_path: Path, protocol: int
) -> None:
    victim, path = tmp_path / "victim", tmp_path / "hostile.pkl"
    content = {"queries": [1, Hostile(os.system, f"touch {victim}")]}
    with pytest.raises(InputError, match=r"hostile\.pkl: the pickle asks for (posix|nt)\.system"):
        write_and_load(path, pickle.dumps(content, protocol))
    assert not victim.exists()


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (Hostile(eval, "1"), "builtins.eval|__builtin__.eval"),
        (Hostile(getattr, [], "append"), "getattr"),
        (Hostile(defaultdict, os.getcwd), "getcwd"),
        (OrderedDict(a=1), "collections.OrderedDict"),
        (Counter("a"), "collections.Counter"),
        (Path("a"), "pathlib"),
        (complex(1, 2), "complex"),
    ],
)
def test_anything_but_built_in_containers_is_refused_by_name(
    tmp_path: Path, content: Any, name: str
) -> None:
    for protocol in (2, 4):
        with pytest.raises(InputError, match=name):
            write_and_load(tmp_path / "odd.pkl", pickle.dumps(content, protocol))


@pytest.mark.parametrize(
    "content",
    [
        b"(S'touch /tmp/never'\nios\nsystem\n.",  # INST
        b"\x80\x02cos\nsystem\n)\x81.",  # NEWOBJ
        b"\x80\x04\x8c\x02os\x8c\x06system\x93.",  # STACK_GLOBAL
        b"\x80\x02\x82\x01.",  # EXT1
        b"Pabc\n.",  # PERSID
        b"c__builtin__\nset\n(S'__len__'\nI1\ndb.",  # BUILD on a type
        b"ccollections\ndefaultdict\n(S'x'\nI1\ndb.",
    ],
)
def test_no_other_opcode_can_name_code(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(InputError, match=r"ways\.pkl"):
        write_and_load(tmp_path / "ways.pkl", content)
    assert not hasattr(defaultdict, "x")


def test_a_truncated_pickle_and_other_files_are_refused(tmp_path: Path) -> None:
    whole = pickle.dumps({(1, (2,)): {3, 4}, "five": [6.0]}, 2)
    for length in range(len(whole)):
        with pytest.raises(InputError, match=r"cut\.pkl: not a complete pickle"):
            write_and_load(tmp_path / "cut.pkl", whole[:length])
    for content in (b"", b"hello\n", b"\x89PNG\r\n", b"{'a': 1}", b"\xff" * 100, b"0" * 9):
        with pytest.raises(InputError, match=r"cut\.pkl: "):
            write_and_load(tmp_path / "cut.pkl", content)


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.pkl: cannot be read"):
        safe_pickle.load(tmp_path / "none.pkl")


@given(st.binary(max_size=40))
def test_no_bytes_cause_any_other_exception(
    tmp_path_factory: pytest.TempPathFactory, content: bytes
) -> None:
    path = tmp_path_factory.getbasetemp() / "noise.pkl"
    with suppress(InputError):
        write_and_load(path, content)
