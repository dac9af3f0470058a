"""What readers yield, a line's fact or what is wrong with it, and what to do with the latter."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from nqe.errors import InputError
from nqe.graph.fact import Fact

# So many bad lines are kept word for word; beyond that they are only counted.
KEPT = 10_000


@dataclass(frozen=True, slots=True)
class Bad:
    """A line that holds no fact: what is wrong and what to do, and the line itself."""

    what: str
    text: str


Line = tuple[int, Fact | Bad]
Lines = Iterator[Line]


@dataclass
class BadLines:
    """Stops at the first bad line, or with `skip` counts and keeps them."""

    skip: bool = False
    count: int = 0
    kept: list[tuple[str, Bad]] = field(default_factory=list)

    def report(self, source: str, line: int, bad: Bad) -> None:
        """Take note of a bad line, or stop at it."""
        where = f"{source}:{line}"
        if not self.skip:
            raise InputError(f"{where}: {bad.what}")
        self.count += 1
        if len(self.kept) < KEPT:
            self.kept.append((where, bad))

    def table(self) -> str:
        """The kept lines as a tab-separated text: where, what, the line."""
        rows = (f"{where}\t{bad.what}\t{bad.text.strip()}\n" for where, bad in self.kept)
        return "where\twhat\tline\n" + "".join(rows)
