"""Tampered folders: each is an error, the same as before, or differs only as it was edited."""

from __future__ import annotations

import random
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from folder_edits import Edit, list_byte_edits, list_field_edits
from guarded_cases import Outcome, Verdict, describe_error
from saved_examples import Example
from tampering import sign_again

from nqe.errors import NqeError

UNSIGNED = ("metrics.jsonl", "settings.toml")
"""Files that grow or that people edit: nqe keeps no digest of them."""
ALONE = ("reports/", "calibration.json", "reliability.json")
"""Files that are written one by one, with a digest in them: no manifest says that they exist."""


@dataclass(frozen=True)
class Tampering:
    """An edit of a file of an example, with digests kept or computed anew."""

    kind: str
    file: str
    text: str
    """What the edit does; it identifies the edit among those of the file."""
    is_signed_again: bool

    def __str__(self) -> str:
        digests = "digests anew" if self.is_signed_again else "old digests"
        return f"{self.kind}: {self.file}: {self.text}, {digests}"


@dataclass
class TamperedFolders:
    """Tampered copies of examples in a work folder."""

    examples: Mapping[str, Example]
    work: Path
    seed: int
    _edits: dict[str, tuple[list[tuple[str, str]], list[tuple[str, str]]]] = field(default_factory=dict)
    _expected: dict[tuple[str, str], object] = field(default_factory=dict)

    def prepare(self) -> None:
        """List all edits, in a random order, and use the untouched examples."""
        for kind, example in self.examples.items():
            copy = self._copy(example)
            fields = self._list_edits(example, copy, fields=True)
            others = self._list_edits(example, copy, fields=False)
            rng = random.Random(f"{self.seed} {kind}")
            rng.shuffle(fields)
            rng.shuffle(others)
            self._edits[kind] = fields, others
            for name, use in example.uses.items():
                self._expected[kind, name] = use(copy)

    def choose(self, case: int) -> Tampering:
        """The tampering of a number: every edit twice, with old digests and with new ones."""
        number, is_signed_again = divmod(case, 2)
        number, of_kind = divmod(number, len(self.examples))
        number, way = divmod(number, 2)
        kind = list(self.examples)[of_kind]
        edits = self._edits[kind][way]
        file, text = edits[number % len(edits)]
        return Tampering(kind, file, text, bool(is_signed_again))

    def run(self, case: int) -> Outcome:
        """Tamper with a copy, use it, and judge what came of it."""
        tampering = self.choose(case)
        example = self.examples[tampering.kind]
        copy = self._copy(example)
        path = copy / tampering.file
        edit = self._find_edit(example, path, tampering)
        edit.apply(random.Random(f"{self.seed} {case}"))
        if tampering.is_signed_again:
            sign_again(copy, fingerprints=True)
        may_differ = tampering.is_signed_again or _may_differ(tampering, edit)
        verdicts = [
            self._use(tampering, name, copy, may_differ=may_differ) for name in example.uses
        ]
        return _join(tampering, verdicts)

    def _list_edits(self, example: Example, copy: Path, *, fields: bool) -> list[tuple[str, str]]:
        return [
            (file, edit.text)
            for file in example.list_files()
            for edit in _list(copy / file, example.twin / file, fields=fields)
        ]

    def _find_edit(self, example: Example, path: Path, tampering: Tampering) -> Edit:
        twin = example.twin / tampering.file
        both = (*_list(path, twin, fields=False), *_list(path, twin, fields=True))
        return next(edit for edit in both if edit.text == tampering.text)

    def _use(
        self, tampering: Tampering, name: str, copy: Path, *, may_differ: bool
    ) -> tuple[Verdict, str]:
        """Use a tampered folder in one way."""
        use = self.examples[tampering.kind].uses[name]
        try:
            found = use(copy)
        except NqeError as error:
            message = str(error)
            if not message or "\n" in message:
                return "failed", f"{name} says {message!r:.200}"
            return "refused", message
        except Exception as error:
            return "failed", f"{name} raises {describe_error(error)}"
        if found == self._expected[tampering.kind, name]:
            return "harmless", ""
        return ("differs", name) if may_differ else ("failed", f"{name} gives something else")

    def _copy(self, example: Example) -> Path:
        """A fresh copy of an example, always at the same place."""
        copy = self.work / example.kind
        shutil.rmtree(self.work, ignore_errors=True)
        shutil.copytree(example.folder, copy)
        return copy


def _list(path: Path, twin: Path, *, fields: bool) -> list[Edit]:
    return list_field_edits(path) if fields else list_byte_edits(path, twin)


def _may_differ(tampering: Tampering, edit: Edit) -> bool:
    """Whether an edit with old digests may change what is read, as no digest covers it."""
    name = tampering.file
    is_alone = any(name.startswith(one) or Path(name).name == one for one in ALONE)
    return Path(name).name in UNSIGNED or (is_alone and edit.is_whole)


def _join(tampering: Tampering, verdicts: list[tuple[Verdict, str]]) -> Outcome:
    """The verdict on a case with several uses: the worst one."""
    for verdict in ("failed", "differs", "refused", "harmless"):
        for found, detail in verdicts:
            if found == verdict:
                return Outcome(verdict, f"{tampering}: {detail}")
    raise AssertionError("an example has no use")
