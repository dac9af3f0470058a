"""Plots of a report, in every format that is offered."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest
from sample_reports import random_report, report_of

from nqe.errors import NqeError
from nqe.evaluation.plot import plot


@pytest.mark.parametrize(("ending", "sign"), [("png", b"\x89PNG"), ("svg", b"<?xml")])
def test_a_plot_is_drawn(tmp_path: Path, ending: str, sign: bytes) -> None:
    path = tmp_path / f"mrr.{ending}"
    plot(random_report(), path)
    assert path.read_bytes().startswith(sign)


def test_an_unknown_format_of_a_plot_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NqeError, match=r"cannot be written as 'txt'; end the name in \.png"):
        plot(random_report(), tmp_path / "mrr.txt")
    assert list(tmp_path.iterdir()) == []


def test_names_of_groups_are_drawn_literally(tmp_path: Path) -> None:
    names = ["$x", "$\\frac$", "a\x1b\n", "<b>&"]
    plot(report_of(dict.fromkeys(names, 1)), tmp_path / "mrr.svg")
    text = (tmp_path / "mrr.svg").read_text()
    ElementTree.fromstring(text)
    assert all(f"<!-- {shown} -->" in text for shown in ("$x", "$\\frac$", r"a\x1b\n"))
