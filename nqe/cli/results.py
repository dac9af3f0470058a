"""How results are printed: the form and the averages that options ask for."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nqe.cli import printing
from nqe.errors import NqeError, choose

if TYPE_CHECKING:
    from nqe.evaluation import Ranking, Report
    from nqe.evaluation.result_tables import Sheet

FORMATS = ("table", "markdown", "latex", "json", "csv")


@dataclass(frozen=True)
class View:
    """How a report is to be shown."""

    form: str
    ties: str
    per: str
    by: tuple[str, ...]
    plot: Path | None

    @classmethod
    def of(
        cls,
        form: str,
        as_json: bool,
        ties: str,
        per: str,
        by: Sequence[str] | None,
        plot: str | None,
    ) -> View:
        """The view that the options ask for, checked before any work is done."""
        from nqe.evaluation.ranks import TIES
        from nqe.evaluation.report import GROUPS, PER

        check_among("per", per, PER)
        choose(TIES, ties, "tie policy")
        groups = tuple(dict.fromkeys(part.strip() for one in by or () for part in one.split(",")))
        for one in groups:
            check_among("by", one, (*GROUPS, "all"))
        wanted = GROUPS if "all" in groups else groups or ("shape",)
        return cls(check_format(form, as_json), ties, per, wanted, check_plot(plot))

    def report(self, ranking: Ranking, about: dict[str, Any]) -> Report:
        """The report with the averages asked for."""
        from nqe.evaluation import Report

        return Report.of(ranking, ties=self.ties, per=self.per, about=about)

    def standard(self, ranking: Ranking, about: dict[str, Any]) -> Report:
        """The report that runs are compared by, whatever is shown."""
        from nqe.evaluation import Report

        return Report.of(ranking, about=about)

    def show(self, ranking: Ranking, about: dict[str, Any]) -> None:
        """Print the report, and draw it if asked to."""
        from nqe.evaluation.plot import plot
        from nqe.evaluation.result_tables import report_sheets
        from nqe.files import new_file

        report = self.report(ranking, about)
        if self.form == "json":
            printing.json_block(report.to_json())
        else:
            print_sheets(report_sheets(report, self.by), self.form)
        if report.left_out:
            printing.note(f"{report.left_out:,} queries without such answers are left out")
        if self.plot is not None:
            with new_file(self.plot) as temporary:
                plot(report, temporary)
            printing.note(f"{self.plot}: written")


def print_sheets(sheets: Iterable[Sheet], form: str) -> None:
    """Print tables in a form other than JSON."""
    from nqe.evaluation.result_tables import FORMS, fitting, marked_rows

    for number, sheet in enumerate(sheets):
        if form == "table":
            printing.heading(sheet.title)
            width = printing.console().width if printing.on_terminal() else sys.maxsize
            for part in fitting(sheet, width):
                printing.table(part.columns, marked_rows(part))
        else:
            printing.say(("\n" if number else "") + FORMS[form](sheet).rstrip("\n"))


def check_plot(plot: str | None) -> Path | None:
    """Where a plot is to go; refused before any work is done."""
    from nqe.figures import ENDINGS, PICTURES

    if plot is None:
        return None
    if Path(plot).suffix.lstrip(".") not in PICTURES:
        raise NqeError(f"{plot}: a plot of no known form; end the name in {ENDINGS}")
    return Path(plot)


def refuse_options(when: str, then: str = "leave it out", /, **given: Any) -> None:
    """Refuse options that were given where they have no meaning."""
    for name, value in given.items():
        if value not in (None, False):
            raise NqeError(f"--{name.replace('_', '-')} has no meaning {when}; {then}")


def check_format(form: str, as_json: bool) -> str:
    """The form to print in; --json goes before --format."""
    check_among("format", form, FORMATS)
    return "json" if as_json else form


def check_among(what: str, value: str, allowed: Sequence[str]) -> None:
    """Refuse a value of an option that is none of those allowed."""
    if value not in allowed:
        raise NqeError(f"--{what} is '{value}'; choose one of {', '.join(allowed)}")
