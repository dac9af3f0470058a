"""Patterns of questions that are no trees: the table of those that the sampler draws by name."""

from __future__ import annotations

from dataclasses import dataclass

from nqe.errors import NqeError
from nqe.query.shapes import rank_shape

Pair = tuple[str, str]
"""The names of two variables."""


@dataclass(frozen=True)
class QueryPattern:
    """Which variables facts link, and which conditions are added."""

    targets: tuple[str, ...]
    links: tuple[Pair, ...]
    """Each pair of variables stands in one fact; a pair has a variable of an earlier one."""
    anchored: tuple[str, ...]
    """Each of these stands in a further fact in which all else is named."""
    absent: Pair | None = None
    """Two linked variables that do not stand in a further fact: a `not` that shares both."""
    different: Pair | None = None
    """Two variables that must not be the same entity."""
    another: str | None = None
    """A variable that must not be one named entity."""
    alike: bool = False
    """Whether all links have the same relation, with the variables in the same slots."""

    @property
    def variables(self) -> tuple[str, ...]:
        """The names of all variables, in the order of the links."""
        return tuple(dict.fromkeys(name for pair in self.links for name in pair))

    def find_linked(self, variable: str) -> tuple[str, ...]:
        """The variables that a link joins with this one."""
        others = (set(pair) - {variable} for pair in self.links if variable in pair)
        return tuple(dict.fromkeys(name for other in others for name in other))


def _read_links(text: str) -> tuple[Pair, ...]:
    """Pairs of variables that are single letters, as in `xy yz zx`."""
    return tuple((pair[0], pair[1]) for pair in text.split())


_X, _XY = ("x",), ("x", "y")
PATTERNS = {
    # Members who sat for the same state in both houses, a state of the South.
    "2-cycle": QueryPattern(_X, _read_links("xy xy"), ("y",)),
    "triangle": QueryPattern(_X, _read_links("xy yz zx"), ("y",)),
    "4-cycle": QueryPattern(_X, _read_links("xy yz zw wx"), ("y",)),
    # Two triangles that share the target.
    "bow-tie": QueryPattern(_X, _read_links("xy yz zx xu uv vx"), ("y", "u")),
    # European airlines and the French airports that they fly to.
    "two-targets": QueryPattern(_XY, _read_links("xy"), _XY),
    # Those who played for a French club, but never as its captain.
    "correlated-not": QueryPattern(_X, _read_links("xy"), ("y",), absent=_XY),
    # Two different people born in the same French town.
    "unequal": QueryPattern(_XY, _read_links("xz yz"), ("z",), different=_XY, alike=True),
    # Countries other than France that border one of the Alpine countries.
    "another": QueryPattern(_X, _read_links("xy"), ("y",), another="x"),
}
"""The patterns by name, as `--shape` takes them."""


def are_patterns(shapes: tuple[str, ...]) -> bool:
    """Whether shapes are names of patterns; patterns and trees together are refused."""
    found = [name for name in shapes if name.strip() in PATTERNS]
    trees = [name for name in shapes if name.strip() not in PATTERNS]
    if found and trees:
        raise NqeError(
            f"{found[0]} is no tree, and {trees[0]} is not the name of such a pattern "
            f"({', '.join(PATTERNS)}); a query set has one kind, so sample trees apart"
        )
    return bool(found)


def rank_kind(name: str) -> tuple[int, tuple[int, str]]:
    """A sort key for names of shapes and patterns: shapes first, patterns as in the table."""
    names = list(PATTERNS)
    return (1, (names.index(name), name)) if name in names else (0, rank_shape(name))
