"""Tables of results in every format."""

from __future__ import annotations

import csv
import io

import pytest
from sample_reports import link_report_of, random_report

from nqe.evaluation import Report
from nqe.evaluation.result_tables import (
    FORMS,
    Sheet,
    build_link_sheet,
    build_sheets,
    escape_latex,
    mark_best,
    split_to_width,
)

SHEET = Sheet(
    "Two_runs & 100% of it",
    ("run", "1p", "AVG_p"),
    (("a|b_c", 50.0, None), ("d*e", 7.125, 3)),
    frozenset({(0, 1)}),
)


@pytest.fixture
def report() -> Report:
    return random_report()


def test_a_table_has_its_shapes_then_its_averages_then_all(report: Report) -> None:
    [sheet] = build_sheets(report)
    names = [row[0] for row in sheet.rows]
    assert names == ["1p", "2p", "2in", "Or(P(), P(), P())", "AVG_p", "AVG_n", "all"]
    assert sheet.columns[:4] == ("shape", "MRR", "95% from", "to")
    assert sheet.title == "By shape on valid (hard answers, per query, realistic ties, %)"
    assert sheet.rows[0][1] == round(100 * report.groups["shape"]["1p"].mrr, 2)


def test_there_is_one_table_per_grouping(report: Report) -> None:
    sheets = build_sheets(report, ("slot", "arity", "missing"))
    assert [sheet.columns[0] for sheet in sheets] == ["slot", "arity", "missing links"]


def test_link_prediction_has_a_row_for_each_part_of_the_fact_and_one_for_all() -> None:
    sheet = build_link_sheet(link_report_of(2, trained_on="train,valid"))
    assert sheet.title == (
        "Link prediction on test, trained on train,valid (per answer, realistic ties, %)"
    )
    assert sheet.columns == ("slots", "MRR", "Hits@1", "Hits@3", "Hits@10", "answers")
    assert sheet.rows == (
        ("all", 75.0, 50.0, 100.0, 100.0, 2),
        ("subject/object", 100.0, 100.0, 100.0, 100.0, 1),
        ("value", 50.0, 0.0, 100.0, 100.0, 1),
    )


def test_csv_can_be_read_back(report: Report) -> None:
    [sheet] = build_sheets(report)
    header, *rows = csv.reader(io.StringIO(FORMS["csv"](sheet)))
    assert tuple(header) == sheet.columns
    assert [row[0] for row in rows] == [row[0] for row in sheet.rows]
    numbers = [[float(cell) for cell in row[1:]] for row in rows]
    assert numbers == [[float(cell) for cell in row[1:] if cell is not None] for row in sheet.rows]


def test_markdown_escapes_special_characters_and_marks_the_best() -> None:
    lines = FORMS["markdown"](SHEET).splitlines()
    assert lines[2:] == [
        r"| run | 1p | AVG\_p |",
        "| --- | ---: | ---: |",
        r"| a\|b\_c | **50.00** |  |",
        r"| d\*e | 7.12 | 3 |",
    ]


def test_latex_escapes_special_characters_and_marks_the_best() -> None:
    lines = FORMS["latex"](SHEET).splitlines()
    assert r"\caption{Two\_runs \& 100\% of it}" in lines
    assert r"\begin{tabular}{lrr}" in lines
    assert r"a|b\_c & \textbf{50.00} &  \\" in lines
    assert [line for line in lines if "rule" in line] == [r"\toprule", r"\midrule", r"\bottomrule"]


def test_every_special_character_of_latex_is_escaped() -> None:
    assert escape_latex(r"\~^&%$#_{}") == (
        r"\textbackslash{}\textasciitilde{}\textasciicircum{}\&\%\$\#\_\{\}"
    )


def test_on_a_terminal_the_best_has_a_star() -> None:
    assert mark_best(SHEET) == [("a|b_c", "50.00*", None), ("d*e", 7.125, 3)]


def test_a_wide_table_is_split_to_fit_a_terminal() -> None:
    columns = ("run", *(f"c{number}" for number in range(9)))
    rows = tuple((name, *(10.0 * number for number in range(9))) for name in ("a", "b"))
    sheet = Sheet("wide", columns, rows, frozenset({(1, 1), (0, 9)}))
    parts = split_to_width(sheet, 40)
    assert [name for part in parts for name in part.columns[1:]] == list(columns[1:])
    assert {part.columns[0] for part in parts} == {"run"}
    assert len(parts) == 3
    assert parts[0].best == {(1, 1)}
    assert parts[-1].best == {(0, len(parts[-1].columns) - 1)}
    assert split_to_width(sheet, 10**9) == [sheet]
    assert len(split_to_width(sheet, 1)) == 9


def test_hidden_characters_are_visible_in_text_and_exact_in_csv() -> None:
    sheet = Sheet("a\x1b\n", ("run",), (("b\n\x9b",),))
    for form, shown in (("markdown", r"b\\n\\x9b"), ("latex", r"b\textbackslash{}n")):
        text = FORMS[form](sheet)
        assert shown in text
        assert not {"\x1b", "\x9b"} & set(text)
    assert list(csv.reader(io.StringIO(FORMS["csv"](sheet))))[1] == ["b\n\x9b"]
