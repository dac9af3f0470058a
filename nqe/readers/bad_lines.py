"""What to do with bad lines: stop at the first one, or count them and go on."""

from __future__ import annotations

from dataclasses import dataclass, field

from nqe.errors import InputError
from nqe.readers.records import BadLine
from nqe.shown_text import make_visible

# At most this many bad lines are kept in full; further ones are only counted.
MOST_KEPT = 10_000


@dataclass
class BadLines:
    """Stops at the first bad line, or with `skip` counts and keeps bad lines."""

    skip: bool = False
    count: int = 0
    kept: list[tuple[str, BadLine]] = field(default_factory=list)
    """The first bad lines, each with its source and line number."""

    def report(self, source: str, line: int, bad: BadLine) -> None:
        """Count and keep a bad line; raise it as an error unless bad lines are skipped."""
        place = f"{source}:{line}"
        if not self.skip:
            raise InputError(f"{place}: {bad.problem}")
        self.count += 1
        if len(self.kept) < MOST_KEPT:
            self.kept.append((place, bad))

    def to_tsv(self) -> str:
        """The kept lines as tab-separated text: where, what, the line as it was read."""
        rows = (
            f"{make_visible(place)}\t{make_visible(bad.problem)}\t{bad.text.strip()}\n"
            for place, bad in self.kept
        )
        return "where\twhat\tline\n" + "".join(rows)
