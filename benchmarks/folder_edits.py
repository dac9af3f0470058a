"""Edits of saved files, bit by bit and field by field, that a fuzzing campaign makes."""

from __future__ import annotations

import json
import random
import shutil
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import parquet

NESTED = 3_000
JSON_TEXTS = (
    *(
        "null",
        "true",
        "false",
        "-1",
        "-2",
        "0",
        "1",
        "7",
        "2147483647",
        "2147483648",
        "-2147483649",
    ),
    *("9223372036854775808", "1e308", "1e999", "NaN", "-Infinity", "0.5", "-0.0", "9" * 5_000),
    *('""', '"x"', '"../../x"', '"/"', '"\\ud800"', '"\\u0000"', '"\\u001b[31m"', '"train"'),
    *(
        "[]",
        "{}",
        "[null]",
        '{"x": 1}',
        "[[0]]",
        "[" * NESTED + "]" * NESTED,
        '"' + "x" * 9_999 + '"',
    ),
)
"""What replaces a value in JSON: other types, and numbers and texts at the limits."""
NUMBERS = (-1, -2, 0, 1, 127, 128, 32767, 2**31 - 1, 2**31, 2**62, None)
"""What replaces a number in Parquet."""
TEXTS = ("", "x", "e1", "../../x", "\x1b[31m", "\0", "1p", "P(P(", "é" * 500, None)
FLOATS = (float("nan"), float("inf"), -float("inf"), 1e38, -1e38, 0.0, -0.0, 1e-40)
TOKENS = (
    b"\n",
    b"\0",
    b'"',
    b"{",
    b"}",
    b"[",
    b",",
    b"\xff",
    b"NaN",
    b"PAR1",
    b"1e999",
    b"\x7f" * 8,
)


@dataclass(frozen=True)
class Edit:
    """An edit of one file of a folder: what it does, in words, and a function that does it."""

    text: str
    apply: Callable[[random.Random], None]
    is_whole: bool = False
    """Whether it removes or replaces the file as a whole, so that its digest in it is right."""


def list_byte_edits(path: Path, twin: Path) -> list[Edit]:
    """Edits that know nothing about a file's format; most depend on random numbers."""
    edits = [Edit(name, _rewrite(path, change)) for name, change in _BYTE_CHANGES.items()]
    edits += [
        Edit("deleted", lambda _: path.unlink(), is_whole=True),
        Edit("a folder instead", lambda _: _make_folder(path)),
        Edit("a dangling link instead", lambda _: _make_link(path)),
        Edit("duplicated", lambda _: _copy(path, path.with_name("copy-" + path.name))),
        Edit("another file instead", lambda rng: _take_another(path, rng)),
    ]
    if twin.is_file():
        edits.append(Edit("the twin's file instead", lambda _: _copy(twin, path), is_whole=True))
        edits.append(Edit("parts of the twin's file", lambda rng: _mix(path, twin, rng)))
    return edits


def list_field_edits(path: Path) -> list[Edit]:
    """All edits of single fields of a file whose format is known."""
    return list(_FIELD_EDITS.get(path.suffix, lambda _: iter(()))(path))


# Bytes


def _rewrite(path: Path, change: Callable[[bytes, random.Random], bytes]) -> Callable[..., None]:
    return lambda rng: _write(path, change(path.read_bytes(), rng))


def _write(path: Path, data: bytes) -> None:
    path.write_bytes(data)


def flip_bits(data: bytes, rng: random.Random) -> bytes:
    """The data with one to eight bits flipped."""
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 8)) if data else 0):
        changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def _zero(data: bytes, rng: random.Random) -> bytes:
    first, last = sorted(rng.randrange(len(data) + 1) for _ in range(2))
    return data[:first] + bytes(last - first) + data[last:]


def _insert(data: bytes, rng: random.Random) -> bytes:
    place = rng.randrange(len(data) + 1)
    return data[:place] + rng.choice(TOKENS) + data[place:]


def _remove(data: bytes, rng: random.Random) -> bytes:
    place = rng.randrange(len(data) + 1)
    return data[:place] + data[place + rng.choice((1, 2, 8, 64)) :]


def _exchange(data: bytes, rng: random.Random) -> bytes:
    first, middle, last = sorted(rng.randrange(len(data) + 1) for _ in range(3))
    return data[:first] + data[middle:last] + data[first:middle] + data[last:]


_BYTE_CHANGES: dict[str, Callable[[bytes, random.Random], bytes]] = {
    "bits flipped": flip_bits,
    "bits flipped again": flip_bits,
    "bits flipped once more": flip_bits,
    "truncated": lambda data, rng: data[: rng.randrange(len(data) + 1)],
    "last bytes removed": lambda data, rng: data[: -rng.choice((1, 2, 3, 4, 8))],
    "bytes appended": lambda data, rng: data + rng.randbytes(rng.choice((1, 4, 100))),
    "a newline appended": lambda data, _: data + b"\n",
    "appended to itself": lambda data, _: data + data,
    "a range zeroed": _zero,
    "bytes inserted": _insert,
    "bytes removed": _remove,
    "two ranges exchanged": _exchange,
    "emptied": lambda _, __: b"",
    "random bytes": lambda data, rng: rng.randbytes(len(data)),
}


def _make_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _make_link(path: Path) -> None:
    path.unlink()
    path.symlink_to("nowhere")


def _copy(source: Path, target: Path) -> None:
    shutil.copyfile(source, target)


def _take_another(path: Path, rng: random.Random) -> None:
    others = sorted(one for one in path.parent.iterdir() if one.is_file() and one != path)
    if others:
        _copy(rng.choice(others), path)


def _mix(path: Path, twin: Path, rng: random.Random) -> None:
    own, other = path.read_bytes(), twin.read_bytes()
    place = rng.randrange(min(len(own), len(other)) + 1)
    path.write_bytes(own[:place] + other[place:])


# JSON


class _Raw:
    """A JSON text that is put into a document as it is."""

    def __init__(self, text: str) -> None:
        self.text = text


Keys = tuple[Any, ...]


def list_json_edits(path: Path) -> Iterator[Edit]:
    """Replace, delete, rename and duplicate every entry of a JSON file."""
    content = json.loads(path.read_text(encoding="utf-8"))
    for keys in _list_keys(content):
        where = ".".join(map(str, keys))
        for text in JSON_TEXTS:
            yield _json_edit(path, f"{where} = {text[:20]}", keys, _Raw(text))
        yield Edit(f"{where} deleted", _change_json(path, keys, _delete))
        yield Edit(f"{where} duplicated", _change_json(path, keys, _duplicate))
        if isinstance(keys[-1], str):
            yield Edit(f"{where} renamed", _change_json(path, keys, _rename))
            yield Edit(f"{where} twice", _write_key_twice(path, keys))


def _list_keys(content: Any, before: Keys = ()) -> Iterator[Keys]:
    items: Any = ()
    if isinstance(content, dict):
        items = content.items()
    elif isinstance(content, list):
        items = list(enumerate(content))[:3]  # what is wrong with one item is so with all
    for key, value in items:
        yield (*before, key)
        yield from _list_keys(value, (*before, key))


def _json_edit(path: Path, text: str, keys: Keys, value: Any) -> Edit:
    def replace(place: Any, key: Any) -> None:
        place[key] = value

    return Edit(text, _change_json(path, keys, replace))


def _change_json(
    path: Path, keys: Keys, change: Callable[[Any, Any], None]
) -> Callable[[random.Random], None]:
    def apply(_: random.Random) -> None:
        content = json.loads(path.read_text(encoding="utf-8"))
        place = content
        for key in keys[:-1]:
            place = place[key]
        change(place, keys[-1])
        path.write_text(_render(content), encoding="utf-8")

    return apply


def _render(content: Any) -> str:
    if isinstance(content, _Raw):
        return content.text
    if isinstance(content, dict):
        inside = (f"{json.dumps(key)}: {_render(value)}" for key, value in content.items())
        return "{" + ", ".join(inside) + "}"
    if isinstance(content, list):
        return "[" + ", ".join(map(_render, content)) + "]"
    return json.dumps(content)


def _delete(place: Any, key: Any) -> None:
    del place[key]


def _rename(place: Any, key: Any) -> None:
    place[f"{key}2"] = place.pop(key)


def _duplicate(place: Any, key: Any) -> None:
    if isinstance(place, list):
        place.insert(key, place[key])
    else:
        place[f"{key}2"] = place[key]


def _write_key_twice(path: Path, keys: Keys) -> Callable[[random.Random], None]:
    def twice(place: Any, key: Any) -> None:
        value = place[key]
        place[key] = _Raw(f"null, {json.dumps(key)}: {json.dumps(value)}")

    return _change_json(path, keys, twice)


def list_line_edits(path: Path) -> Iterator[Edit]:
    """Replace the lines of a file of JSON lines, and their entries."""
    lines = path.read_text(encoding="utf-8").splitlines()
    for number in range(len(lines)):
        for text in JSON_TEXTS:
            yield Edit(f"line {number} = {text[:20]}", _change_line(path, number, text))
            entry = f'{{"step": {text}}}'
            yield Edit(f"line {number} = {entry[:20]}", _change_line(path, number, entry))


def _change_line(path: Path, number: int, text: str) -> Callable[[random.Random], None]:
    def apply(_: random.Random) -> None:
        lines = path.read_text(encoding="utf-8").splitlines()
        lines[number] = text
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")

    return apply


# Parquet

Table = Any


def list_parquet_edits(path: Path) -> Iterator[Edit]:
    """Change every column of a Parquet file, and its rows."""
    table = parquet.read_table(path)
    for name in table.schema.names:
        for text, change in _COLUMN_CHANGES.items():
            yield Edit(f"{name} {text}", _change_table(path, _on_column(name, change)))
        for leaf in _list_leaves(table.schema.field(name).type):
            values = TEXTS if _is_text(_leaf_type(table.schema.field(name).type, leaf)) else NUMBERS
            for value in values:
                for extent in ("one", "all"):
                    where = ".".join(map(str, (name, *leaf)))
                    change = _set_leaf(name, leaf, value, all_rows=extent == "all")
                    yield Edit(f"{where} = {value!r:.20} in {extent}", _change_table(path, change))
    for text, change in _ROW_CHANGES.items():
        yield Edit(
            f"rows {text}",
            _change_table(path, lambda t, rng, f=change: t.take(pa.array(f(t, rng), pa.int64()))),
        )


def _change_table(
    path: Path, change: Callable[[Table, random.Random], Table]
) -> Callable[[random.Random], None]:
    def apply(rng: random.Random) -> None:
        changed = change(parquet.read_table(path), rng)
        parquet.write_table(changed, path, compression="zstd", write_page_checksum=True)

    return apply


def _on_column(
    name: str, change: Callable[[Table, int, random.Random], Table]
) -> Callable[[Table, random.Random], Table]:
    return lambda table, rng: change(table, table.schema.names.index(name), rng)


def _shuffle_column(table: Table, place: int, rng: random.Random) -> Table:
    order = rng.sample(range(len(table)), len(table))
    return table.set_column(place, table.schema.field(place), table.column(place).take(order))


def _reverse_column(table: Table, place: int, _: random.Random) -> Table:
    order = list(range(len(table)))[::-1]
    return table.set_column(place, table.schema.field(place), table.column(place).take(order))


def _retype(to: Any) -> Callable[[Table, int, random.Random], Table]:
    def change(table: Table, place: int, _: random.Random) -> Table:
        name = table.schema.names[place]
        try:
            column = table.column(place).cast(to)
        except (pa.ArrowException, NotImplementedError):
            column = pa.array([_SAMPLES[to]] * len(table), to)
        return table.set_column(place, name, column)

    return change


_SAMPLES = {
    pa.int64(): 1,
    pa.float32(): 1.5,
    pa.string(): "1",
    pa.bool_(): True,
    pa.binary(): b"\xff",
    pa.timestamp("ns"): 1,
    pa.list_(pa.int64()): [1],
}

_COLUMN_CHANGES: dict[str, Callable[[Table, int, random.Random], Table]] = {
    "dropped": lambda table, place, _: table.remove_column(place),
    "doubled": lambda table, place, _: table.append_column(
        table.schema.field(place), table.column(place)
    ),
    "renamed": lambda table, place, _: table.rename_columns(
        [f"{name}2" if i == place else name for i, name in enumerate(table.schema.names)]
    ),
    "all null": lambda table, place, _: table.set_column(
        place, table.schema.field(place), pa.nulls(len(table), table.schema.field(place).type)
    ),
    "shuffled": _shuffle_column,
    "reversed": _reverse_column,
    **{f"as {to}": _retype(to) for to in _SAMPLES},
}
_ROW_CHANGES: dict[str, Callable[[Table, random.Random], list[int]]] = {
    "shuffled": lambda table, rng: rng.sample(range(len(table)), len(table)),
    "reversed": lambda table, _: list(range(len(table)))[::-1],
    "all dropped": lambda _, __: [],
    "one dropped": lambda table, rng: [
        row for row in range(len(table)) if row != rng.randrange(max(len(table), 1))
    ],
    "one doubled": lambda table, rng: sorted([*range(len(table)), rng.randrange(len(table))]),
}


def _list_leaves(kind: Any, before: Keys = ()) -> list[Keys]:
    if pa.types.is_list(kind):
        return _list_leaves(kind.value_type, (*before, 0))
    if pa.types.is_struct(kind):
        return [leaf for field in kind for leaf in _list_leaves(field.type, (*before, field.name))]
    return [before]


def _leaf_type(kind: Any, leaf: Keys) -> Any:
    for key in leaf:
        kind = kind.value_type if key == 0 else kind.field(key).type
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _is_text(kind: Any) -> bool:
    return bool(pa.types.is_string(kind))


def _set_leaf(
    name: str, leaf: Keys, value: Any, *, all_rows: bool
) -> Callable[[Table, random.Random], Table]:
    """Set a leaf of a column in one row, or in all of them."""

    def change(table: Table, rng: random.Random) -> Table:
        rows = table.column(name).to_pylist()
        able = [row for row in range(len(rows)) if not leaf or rows[row]]
        for row in able if all_rows else able and [rng.choice(able)]:
            rows[row] = _set_inside(rows[row], leaf, value, rng)
        place = table.schema.names.index(name)
        return table.set_column(place, name, _build(rows, table.schema.field(name).type))

    return change


def _set_inside(content: Any, leaf: Keys, value: Any, rng: random.Random) -> Any:
    if not leaf:
        return value
    if leaf[0] == 0:
        place = rng.randrange(len(content))
        inside = _set_inside(content[place], leaf[1:], value, rng)
        return [*content[:place], inside, *content[place + 1 :]]
    return {**content, leaf[0]: _set_inside(content[leaf[0]], leaf[1:], value, rng)}


def _build(rows: list[Any], kind: Any) -> Any:
    """An array of a type, or of a wider one if the values do not fit."""
    try:
        return pa.array(rows, kind)
    except (pa.ArrowException, OverflowError, NotImplementedError):
        return pa.array(rows)


# Safetensors: eight bytes with the length of the header, the header as JSON, the data.


def list_safetensors_edits(path: Path) -> Iterator[Edit]:
    """Change every field of the header, and the numbers of every tensor."""
    header, _ = _read_safetensors(path)
    for name, entry in header.items():
        if not isinstance(entry, dict) or "dtype" not in entry:
            continue
        yield Edit(f"{name} dropped", _change_header(path, lambda h, n=name: h.pop(n)))
        yield Edit(f"{name} renamed", _change_header(path, lambda h, n=name: _rename(h, n)))
        for text, new in _HEADER_VALUES.items():
            change = _set_header(name, new)
            yield Edit(f"{name} {text}", _change_header(path, change))
        for value in FLOATS:
            for extent in ("one", "all"):
                edit = _set_numbers(path, name, value, all_numbers=extent == "all")
                yield Edit(f"{name} = {value} in {extent}", edit)
    for size in (0, 1, 8, 2**31, 2**62, 2**64 - 1):
        yield Edit(f"length of the header = {size}", _set_header_size(path, size))


def _read_safetensors(path: Path) -> tuple[dict[str, Any], bytes]:
    data = path.read_bytes()
    (size,) = struct.unpack("<Q", data[:8])
    return json.loads(data[8 : 8 + size]), data[8 + size :]


def _write_safetensors(path: Path, header: Any, data: bytes) -> None:
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def _change_header(
    path: Path, change: Callable[[dict[str, Any]], Any]
) -> Callable[[random.Random], None]:
    def apply(_: random.Random) -> None:
        header, data = _read_safetensors(path)
        change(header)
        _write_safetensors(path, header, data)

    return apply


_HEADER_VALUES: dict[str, dict[str, Any]] = {
    "as I32": {"dtype": "I32"},
    "as F64": {"dtype": "F64"},
    "as BF16": {"dtype": "BF16"},
    "of an unknown type": {"dtype": "X"},
    "without a type": {"dtype": None},
    "without a shape": {"shape": []},
    "of a negative shape": {"shape": [-1]},
    "of a huge shape": {"shape": [2**31, 2**31]},
    "of a shape with a hole": {"shape": [0, 2**62]},
    "of a shape in words": {"shape": "x"},
    "at no place": {"data_offsets": [0, 0]},
    "at a far place": {"data_offsets": [2**40, 2**41]},
    "at a reversed place": {"data_offsets": [8, 0]},
    "at an unknown place": {"data_offsets": None},
}


def _set_header(name: str, new: dict[str, Any]) -> Callable[[dict[str, Any]], None]:
    return lambda header: header[name].update(new)


def _set_numbers(
    path: Path, name: str, value: float, *, all_numbers: bool
) -> Callable[[random.Random], None]:
    def apply(rng: random.Random) -> None:
        header, data = _read_safetensors(path)
        first, last = header[name]["data_offsets"]
        count = (last - first) // 4
        chosen = range(count) if all_numbers else [rng.randrange(count)] if count else []
        changed = bytearray(data)
        for number in chosen:
            changed[first + 4 * number : first + 4 * number + 4] = struct.pack("<f", value)
        _write_safetensors(path, header, bytes(changed))

    return apply


def _set_header_size(path: Path, size: int) -> Callable[[random.Random], None]:
    return lambda _: _write(path, struct.pack("<Q", size) + path.read_bytes()[8:])


_FIELD_EDITS: dict[str, Callable[[Path], Iterator[Edit]]] = {
    ".json": list_json_edits,
    ".jsonl": list_line_edits,
    ".parquet": list_parquet_edits,
    ".safetensors": list_safetensors_edits,
}
