"""Tampered folders: each is an error, the same as before, or differs only as it was edited."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from folder_edits import Edit, list_byte_edits, list_field_edits
from guarded_cases import Outcome, Verdict, describe_error
from saved_examples import Example
from tampering import sign_again

from nqe.errors import NqeError

UNSIGNED = ("metrics.jsonl", "settings.toml")
"""Files that grow or that people edit: nqe keeps no digest of them."""
REPORTS, ALONE = "reports/", ("calibration.json", "reliability.json")
"""Files that are written one by one, with a digest in them: no manifest says that they exist."""
RESULTS = "results"
"""The kind of folder that holds nothing else."""


@dataclass(frozen=True)
class Tampering:
    """An edit of a file of an example, with digests kept or computed anew."""

    kind: str
    file: str
    edit: Edit
    is_signed_again: bool

    def __str__(self) -> str:
        digests = "digests anew" if self.is_signed_again else "old digests"
        return f"{self.kind}: {self.file}: {self.edit.text}, {digests}"

    @property
    def may_differ(self) -> bool:
        """Whether what is read may change, as no digest covers the edit."""
        name = Path(self.file).name
        is_alone = self.kind == RESULTS or self.file.startswith(REPORTS) or name in ALONE
        is_covered = name not in UNSIGNED and not (is_alone and self.edit.is_whole)
        return self.is_signed_again or not is_covered


EditsByFile = list[tuple[str, list[Edit]]]


@dataclass
class TamperedFolders:
    """Tampered copies of examples in a work folder."""

    examples: Mapping[str, Example]
    work: Path
    seed: int
    _edits: dict[str, tuple[EditsByFile, EditsByFile]] = field(default_factory=dict)
    """By kind: edits of fields, and of bytes."""
    _expected: dict[tuple[str, str], object] = field(default_factory=dict)

    def prepare(self) -> None:
        """List all edits, in a random order, and use the untouched examples."""
        for kind, example in self.examples.items():
            copy = self._copy(example)
            self._edits[kind] = (
                self._shuffle(example, lambda file, c=copy: list_field_edits(c / file)),
                self._shuffle(
                    example,
                    lambda file, c=copy, e=example: list_byte_edits(c / file, e.twin / file),
                ),
            )
            for name, use in example.uses.items():
                self._expected[kind, name] = use(copy)

    def choose(self, case: int) -> Tampering:
        """The tampering of a number: every edit twice, with old digests and with new ones.

        The kinds take turns, then the edits of fields and of bytes, then the files.
        """
        number, is_signed_again = divmod(case, 2)
        number, of_kind = divmod(number, len(self.examples))
        number, way = divmod(number, 2)
        kind = list(self.examples)[of_kind]
        files = self._edits[kind][way]
        number, of_file = divmod(number, len(files))
        file, edits = files[of_file]
        return Tampering(kind, file, edits[number % len(edits)], bool(is_signed_again))

    def run(self, case: int) -> Outcome:
        """Tamper with a copy, use it, and judge what came of it."""
        tampering = self.choose(case)
        example = self.examples[tampering.kind]
        copy = self._copy(example)
        tampering.edit.apply(random.Random(f"{self.seed} {case}"))
        if tampering.is_signed_again:
            sign_again(copy, fingerprints=True)
        return _join(tampering, [self._use(tampering, name, copy) for name in example.uses])

    def _shuffle(self, example: Example, list_edits: Callable[[str], list[Edit]]) -> EditsByFile:
        """The edits of every file that has some, in a random order."""
        rng = random.Random(f"{self.seed} {example.kind}")
        listed = [(file, list_edits(file)) for file in example.list_files()]
        return [(file, rng.sample(edits, len(edits))) for file, edits in listed if edits]

    def _use(self, tampering: Tampering, name: str, copy: Path) -> tuple[Verdict, str]:
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
        if tampering.may_differ:
            return "differs", name
        return "failed", f"{name} gives something else"

    def _copy(self, example: Example) -> Path:
        """A fresh copy of an example, always at the same place."""
        copy = self.work / example.kind
        shutil.rmtree(self.work, ignore_errors=True)
        shutil.copytree(example.folder, copy)
        return copy


def _join(tampering: Tampering, verdicts: list[tuple[Verdict, str]]) -> Outcome:
    """The verdict on a case with several uses: the worst one."""
    for verdict in ("failed", "differs", "refused", "harmless"):
        for found, detail in verdicts:
            if found == verdict:
                return Outcome(verdict, f"{tampering}: {detail}")
    raise AssertionError("an example has no use")
