"""Writes what a benchmark has reached so far: tables as Markdown, LaTeX and CSV, and plots."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

from nqe.evaluation.result_tables import Sheet, to_csv, to_latex, to_markdown
from nqe.files import new_file
from nqe.reproduction.field_tables import (
    LINK_PROTOCOL,
    QUERY2BOX_PROTOCOL,
    build_link_tables,
    build_query2box_tables,
)
from nqe.reproduction.link_prediction import BENCHMARK as LINKS
from nqe.reproduction.orders import describe_orders
from nqe.reproduction.plots import PLOTS
from nqe.reproduction.protocol import describe_protocol
from nqe.reproduction.query2box import BENCHMARK as QUERY2BOX
from nqe.reproduction.results import MEASURES, Result, check_comparable
from nqe.reproduction.tables import ANSWERS, build_long_sheet, build_tables

Plot = Callable[[Sequence[Result], Path], None]


@dataclass(frozen=True)
class Page:
    """What the results of one benchmark are shown as."""

    sheets: Sequence[Sheet]
    protocol: Sequence[str]
    """The differences from what the published figures were measured by."""
    orders: Sequence[str] = ()
    """What the seeds say about the order of rows."""
    measures: Sequence[str] = MEASURES
    plots: Mapping[str, Plot] = field(default_factory=dict)

    def render(self, plots: Sequence[str] = ()) -> Iterator[str]:
        """The parts of a page in Markdown, with these pictures."""
        yield render_list(self.protocol)
        yield from map(to_markdown, self.sheets)
        if self.orders:
            yield "What the seeds say about the order of rows, by the MRR of hard answers:\n"
            yield render_list(self.orders)
        yield from (f"![{Path(path).stem}]({path})\n" for path in plots)


def build_page(benchmark: str, results: Sequence[Result], answers: str = "both") -> Page:
    """What to show of a benchmark; without results, that it was not run."""
    if benchmark.startswith(LINKS):
        return Page(build_link_tables(benchmark, results), LINK_PROTOCOL)
    if benchmark == QUERY2BOX:
        return Page(build_query2box_tables(benchmark, results), QUERY2BOX_PROTOCOL)
    return Page(
        build_tables(benchmark, results, answers),
        describe_protocol(benchmark, results),
        describe_orders(results),
        ANSWERS[answers],
        PLOTS if results else {},
    )


def write_files(
    folder: Path, benchmark: str, results: Sequence[Result], answers: str = "both"
) -> list[Path]:
    """Write the tables and plots of a benchmark, and return the files that were written."""
    check_comparable(results, folder)
    page, name = build_page(benchmark, results, answers), benchmark.replace(" ", "-")
    plots = write_plots(folder, name, page, results)
    sections = page.render([path.name for path in plots])
    texts = {
        "md": "\n".join([f"# {benchmark}\n", *sections]),
        "tex": "\n".join(map(to_latex, page.sheets)),
        "csv": to_csv(build_long_sheet(benchmark, results, page.measures)),
    }
    paths = [write_text(folder / f"{name}.{end}", text) for end, text in texts.items()]
    return [*paths, *plots]


def write_plots(folder: Path, name: str, page: Page, results: Sequence[Result]) -> list[Path]:
    """Draw the plots of a page; none without matplotlib."""
    if find_spec("matplotlib") is None:
        return []
    paths = {ending: folder / f"{name}-{ending}.svg" for ending in page.plots}
    for ending, path in paths.items():
        page.plots[ending](results, path)
    return list(paths.values())


def render_list(items: Sequence[str]) -> str:
    """A list in Markdown."""
    return "".join(f"- {item}\n" for item in items)


def write_text(path: Path, text: str) -> Path:
    """Write a text file, and return its path."""
    with new_file(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
    return path
