"""What benchmarks keep between runs: made once, stamped, and made again when the stamp differs.

A stamp holds what a result was made from: the fingerprint of the data, the settings, and the
version of each part of the package that took part (`nqe.version`). Something without a stamp, or
with another one, is never reused.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Json = Mapping[str, Any]


@dataclass(frozen=True)
class Stamp:
    """What a cached result was made from."""

    data: str
    """The fingerprint of the data set."""
    settings: Json
    versions: Mapping[str, int] = field(default_factory=dict)
    """The version of each part of the package that took part, by its name."""

    def to_json(self) -> dict[str, Any]:
        """The stamp as JSON data, in the form in which it is read back."""
        stamp = {"data": self.data, "settings": self.settings, "versions": self.versions}
        found: dict[str, Any] = json.loads(json.dumps(stamp))
        return found

    def differences(self, other: Json) -> list[str]:
        """In what another stamp, as JSON data, differs from this one, in words."""
        return [
            f"{name} was {_shown(before)} and is {_shown(now)}"
            for name, before, now in _differing("", other, self.to_json())
        ]


def use_folder(folder: Path, stamp: Stamp, make: Callable[[], object]) -> None:
    """Have `make` fill a folder, unless it is there with this stamp.

    A folder that was begun with this stamp and not finished is left for `make` to go on with.
    """
    reason = why_unusable(folder, stamp)
    if reason is None:
        return
    if reason != UNFINISHED:
        _remove(folder, reason)
    _write_stamp(folder, stamp, finished=False)
    make()
    _write_stamp(folder, stamp, finished=True)


def use_values(path: Path, stamp: Stamp, make: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """The values in a JSON file if it has this stamp; otherwise those that `make` gives, kept."""
    found = read_values(path, stamp)
    if found is None:
        found = make()
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(
            json.dumps({"stamp": stamp.to_json(), "values": found}, indent=2), encoding="utf-8"
        )
    return found


def read_values(path: Path, stamp: Stamp) -> dict[str, Any] | None:
    """The values in a JSON file if it has this stamp; otherwise a line says why not."""
    if not path.is_file():
        return None
    content = json.loads(path.read_text(encoding="utf-8"))
    reason = _mismatch(content.get("stamp"), stamp)
    if reason is not None:
        print(f"{path}: not reused, because {reason}")
        return None
    values: dict[str, Any] = content["values"]
    return values


UNFINISHED = "it was not finished"


def why_unusable(folder: Path, stamp: Stamp) -> str | None:
    """Why a folder cannot be reused as what the stamp says; None if it can."""
    if not folder.is_dir():
        return "there is none"
    path = _stamp_path(folder)
    content = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    reason = _mismatch(content.get("stamp"), stamp)
    return reason if reason or content["finished"] else UNFINISHED


def _mismatch(found: Json | None, stamp: Stamp) -> str | None:
    if found is None:
        return "it has no stamp"
    return "; ".join(stamp.differences(found)) or None


def _remove(folder: Path, reason: str) -> None:
    if folder.is_dir():
        print(f"{folder}: made again, because {reason}")
        shutil.rmtree(folder)


def _write_stamp(folder: Path, stamp: Stamp, *, finished: bool) -> None:
    path = _stamp_path(folder)
    path.parent.mkdir(parents=True, exist_ok=True)
    content = {"stamp": stamp.to_json(), "finished": finished}
    path.write_text(json.dumps(content, indent=2), encoding="utf-8")


def _stamp_path(folder: Path) -> Path:
    """Beside the folder: what the package writes may hold no other files."""
    return folder.with_name(f"{folder.name}.stamp.json")


_ABSENT = object()


def _differing(name: str, before: Any, now: Any) -> Iterator[tuple[str, Any, Any]]:
    """The leaves in which two JSON values differ, by their dotted names."""
    if isinstance(before, dict) and isinstance(now, dict):
        for key in {**before, **now}:
            below = f"{name}.{key}" if name else key
            yield from _differing(below, before.get(key, _ABSENT), now.get(key, _ABSENT))
    elif before != now:
        yield name, before, now


def _shown(value: Any) -> str:
    return "absent" if value is _ABSENT else json.dumps(value, ensure_ascii=False)
