"""Writes docs/results.md and its plots from checked-in results: `python scripts/results_page.py`.

The results are the JSON files of `nqe reproduce` below benchmarks/results/reproduction. What people
have to say about a table stands beside them, in a Markdown file such as laptop-wd50k-nfol.md.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from nqe.reproduction.report_files import build_page, write_plots
from nqe.reproduction.results import Result, check_comparable, load_results

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "reproduction"
PAGE = ROOT / "docs" / "results.md"
FIGURES = "figures"
HEAD = """# Results

The tables of the paper and of the field, computed by `nqe reproduce`; [reproducing](reproducing.md)
explains the command and the rows. This page is written by `scripts/results_page.py` from the JSON
files in `benchmarks/results/reproduction`, one per row and seed, which also hold the settings, the
commit, the machine, intervals and learning curves. A table or row that was not run says so.
"""


@dataclass(frozen=True)
class Section:
    """One benchmark with one preset, and the command that computes it."""

    preset: str
    benchmark: str
    title: str
    command: str

    @property
    def name(self) -> str:
        """The name of its comments and plots."""
        return f"{self.preset}-{self.benchmark.replace(' ', '-')}"

    def choose(self, results: Sequence[Result]) -> list[Result]:
        """The results that belong to it."""
        wanted = (self.preset, self.benchmark)
        return [one for one in results if (one.preset, one.benchmark) == wanted]


LAPTOP = "`nqe reproduce {} wd50k_100 -o FOLDER --preset laptop --seeds 2`"
SECTIONS = (
    Section("laptop", "wd50k-qe", "WD50K-QE, ten minutes per row", LAPTOP.format("wd50k-qe")),
    Section("laptop", "wd50k-nfol", "WD50K-NFOL, ten minutes per row", LAPTOP.format("wd50k-nfol")),
    Section(
        "full",
        "wd50k-nfol",
        "WD50K-NFOL at full size",
        "`nqe reproduce wd50k-nfol wd50k -o FOLDER --preset full --time-budget 60m`",
    ),
    Section(
        "full",
        "link-prediction wd50k",
        "Link prediction on WD50K",
        "`nqe reproduce link-prediction wd50k -o FOLDER`",
    ),
    Section(
        "full",
        "link-prediction jf17k",
        "Link prediction on JF17K",
        "`nqe reproduce link-prediction jf17k -o FOLDER`",
    ),
    Section(
        "full",
        "query2box",
        "Query2Box's queries over FB15k-237",
        "`nqe reproduce query2box query2box-fb15k-237 -o FOLDER`",
    ),
)


def render(results: Sequence[Result], notes: Path = RESULTS) -> str:
    """The page; `notes` is the folder of the comments on tables."""
    parts = [part for section in SECTIONS for part in _render(section, results, notes)]
    return "\n".join([HEAD, *parts])


def _render(section: Section, results: Sequence[Result], notes: Path) -> Iterator[str]:
    own = section.choose(results)
    yield f"## {section.title}\n"
    if not own:
        yield f"Not run yet. The command: {section.command}.\n"
        return
    check_comparable(own, RESULTS)
    yield f"By {section.command}.\n"
    comments = notes / f"{section.name}.md"
    if comments.exists():
        yield comments.read_text(encoding="utf-8")
    page = build_page(section.benchmark, own)
    yield from page.render([f"{FIGURES}/{section.name}-{ending}.svg" for ending in page.plots])


def write_figures(results: Sequence[Result]) -> None:
    """Draw the plots of all tables that have results."""
    for section in SECTIONS:
        own = section.choose(results)
        page = build_page(section.benchmark, own)
        write_plots(PAGE.parent / FIGURES, section.name, page, own)


if __name__ == "__main__":
    found = load_results(RESULTS)
    unknown = [one for one in found if not any(section.choose([one]) for section in SECTIONS)]
    if unknown:
        sys.exit(f"{unknown[0].name}: no section of the page is about it; add one to SECTIONS")
    PAGE.write_text(render(found), encoding="utf-8")
    write_figures(found)
