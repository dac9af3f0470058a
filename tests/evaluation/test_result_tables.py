"""Tables of results in every form, and the picture."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
import torch
from scorers import MatrixRunner, Question, table_of

from nqe.errors import NqeError
from nqe.evaluation import Report, evaluate
from nqe.evaluation.plot import plot
from nqe.evaluation.result_tables import FORMS, Sheet, escaped, fitting, marked_rows, report_sheets

SHEET = Sheet(
    "Two_runs & 100% of it",
    ("run", "1p", "AVG_p"),
    (("a|b_c", 50.0, None), ("d*e", 7.125, 3)),
    frozenset({(0, 1)}),
)


@pytest.fixture
def report() -> Report:
    random = torch.Generator().manual_seed(0)
    questions = [
        Question(hard=[0, 1], missing=[1, 2], shape=shape, asked=i % 3, arity=3)
        for i, shape in enumerate(["1p", "2p", "2in", "Or(P(), P(), P())"] * 5)
    ]
    runner = MatrixRunner(torch.randn(20, 60, generator=random))
    return Report.of(evaluate(runner, table_of(questions)))


def test_a_table_has_its_shapes_then_its_averages_then_all(report: Report) -> None:
    [sheet] = report_sheets(report)
    names = [row[0] for row in sheet.rows]
    assert names == ["1p", "2p", "2in", "Or(P(), P(), P())", "AVG_p", "AVG_n", "all"]
    assert sheet.columns[:4] == ("shape", "MRR", "95% from", "to")
    assert "hard answers, per query, realistic ties" in sheet.title
    assert sheet.rows[0][1] == round(100 * report.groups["shape"]["1p"].mrr, 2)


def test_there_is_a_table_for_each_group_asked_for(report: Report) -> None:
    sheets = report_sheets(report, ("slot", "arity", "missing"))
    assert [sheet.columns[0] for sheet in sheets] == ["slot", "arity", "missing links"]


def test_csv_comes_back_as_it_was(report: Report) -> None:
    [sheet] = report_sheets(report)
    header, *rows = csv.reader(io.StringIO(FORMS["csv"](sheet)))
    assert tuple(header) == sheet.columns
    assert [row[0] for row in rows] == [row[0] for row in sheet.rows]
    told = [[float(cell) for cell in row[1:]] for row in rows]
    assert told == [[float(cell) for cell in row[1:] if cell is not None] for row in sheet.rows]


def test_markdown_escapes_its_signs_and_marks_the_best() -> None:
    lines = FORMS["markdown"](SHEET).splitlines()
    assert lines[2:] == [
        r"| run | 1p | AVG\_p |",
        "| --- | ---: | ---: |",
        r"| a\|b\_c | **50.00** |  |",
        r"| d\*e | 7.12 | 3 |",
    ]


def test_latex_escapes_its_signs_and_marks_the_best() -> None:
    lines = FORMS["latex"](SHEET).splitlines()
    assert r"\caption{Two\_runs \& 100\% of it}" in lines
    assert r"\begin{tabular}{lrr}" in lines
    assert r"a|b\_c & \textbf{50.00} &  \\" in lines
    assert [line for line in lines if "rule" in line] == [r"\toprule", r"\midrule", r"\bottomrule"]


def test_every_sign_that_latex_reads_is_escaped() -> None:
    assert escaped(r"\~^&%$#_{}") == (
        r"\textbackslash{}\textasciitilde{}\textasciicircum{}\&\%\$\#\_\{\}"
    )


def test_on_a_terminal_the_best_has_a_star() -> None:
    assert marked_rows(SHEET) == [("a|b_c", "50.00*", None), ("d*e", 7.125, 3)]


def test_a_wide_table_is_parted_to_fit_a_terminal() -> None:
    columns = ("run", *(f"c{number}" for number in range(9)))
    rows = tuple((name, *(10.0 * number for number in range(9))) for name in ("a", "b"))
    sheet = Sheet("wide", columns, rows, frozenset({(1, 1), (0, 9)}))
    parts = fitting(sheet, 40)
    assert [name for part in parts for name in part.columns[1:]] == list(columns[1:])
    assert {part.columns[0] for part in parts} == {"run"}
    assert len(parts) == 3
    assert parts[0].best == {(1, 1)}
    assert parts[-1].best == {(0, len(parts[-1].columns) - 1)}
    assert fitting(sheet, 10**9) == [sheet]
    assert len(fitting(sheet, 1)) == 9


@pytest.mark.parametrize(("ending", "sign"), [("png", b"\x89PNG"), ("svg", b"<?xml")])
def test_a_picture_is_drawn(report: Report, tmp_path: Path, ending: str, sign: bytes) -> None:
    path = tmp_path / f"mrr.{ending}"
    plot(report, path)
    assert path.read_bytes().startswith(sign)


def test_a_picture_of_no_known_form_is_refused(report: Report, tmp_path: Path) -> None:
    with pytest.raises(NqeError, match=r"cannot be written as 'txt'; end the name in \.png"):
        plot(report, tmp_path / "mrr.txt")
    assert list(tmp_path.iterdir()) == []
