"""What to do with bad lines: stop at the first one, or count them and go on."""

from __future__ import annotations

from dataclasses import dataclass, field

from nqe.errors import InputError
from nqe.readers.records import BadLine
from nqe.shown_text import make_visible

# At most this many bad lines are kept in full; further ones are only counted.
MOST_KEPT = 10_000
# Longer texts are kept without their middle.
LONGEST_KEPT = 2_000


@dataclass
class BadLines:
    """Stops at the first bad line, or with `skip` counts and keeps bad lines."""

    skip: bool = False
    count: int = 0
    kept: list[tuple[str, BadLine]] = field(default_factory=list)
    """The first bad lines, each with its source and line number."""

    def report(self, source: str, line: int, bad: BadLine) -> None:
        """Count and keep a bad line; raise it as an error unless bad lines are skipped."""
        place, problem = f"{source}:{line}", _shorten(bad.problem)
        if not self.skip:
            raise InputError(f"{place}: {problem}")
        self.count += 1
        if len(self.kept) < MOST_KEPT:
            self.kept.append((place, BadLine(problem, _shorten(bad.text))))

    def to_tsv(self) -> str:
        """The kept lines as tab-separated text: where, what, the line as it was read."""
        rows = (
            f"{make_visible(place)}\t{make_visible(bad.problem)}\t{bad.text.strip()}\n"
            for place, bad in self.kept
        )
        return "where\twhat\tline\n" + "".join(rows)


def _shorten(text: str) -> str:
    """The text, or its beginning and end if it is long, without what UTF-8 cannot express."""
    if len(text) > LONGEST_KEPT:
        text = f"{text[: LONGEST_KEPT // 2]} … {text[-LONGEST_KEPT // 2 :]}"
    return text.encode("utf-8", errors="backslashreplace").decode("utf-8")
