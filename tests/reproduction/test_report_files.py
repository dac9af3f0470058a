"""What a benchmark writes: tables in three formats with the protocol above them, and plots."""

from __future__ import annotations

import csv
from pathlib import Path
from xml.etree import ElementTree

import pytest
from small_experiments import result_of

from nqe.errors import NqeError
from nqe.reproduction.plots import PLOTS
from nqe.reproduction.protocol import describe_protocol
from nqe.reproduction.report_files import write_files
from nqe.reproduction.results import UsedGraph
from nqe.reproduction.rows import NFOL, QE

RESULTS = [
    result_of(row, {"1p": value, "2in": value / 2}, seed)
    for row, value in (("NQE-1p", 0.4), ("NQE", 0.5), ("hybrid on NQE", 0.6))
    for seed in (0, 1)
]
LAPTOP = {"preset": "laptop", "graph": UsedGraph("wd50k_100", "f", {"train": 22_738})}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tables")
    write_files(folder, NFOL, RESULTS)
    return folder


def test_tables_are_written_as_markdown_latex_and_csv(folder: Path) -> None:
    page = (folder / "wd50k-nfol.md").read_text()
    latex = (folder / "wd50k-nfol.tex").read_text()
    rows = list(csv.DictReader((folder / "wd50k-nfol.csv").read_text().splitlines()))
    assert "| hybrid on NQE | **60.00 ± 0.00** |" in page
    assert r"hybrid on NQE & \textbf{60.00 ± 0.00}" in latex
    [row] = [
        row
        for row in rows
        if (row["row"], row["measure"], row["group"]) == ("NQE", "mrr_easy", "1p")
    ]
    assert (row["seeds"], row["mean"], row["spread"]) == ("2", "25.00", "0.00")


def test_the_differences_of_protocol_stand_above_the_table(folder: Path) -> None:
    page = (folder / "wd50k-nfol.md").read_text()
    table = page.index("| row |")
    for part in ("**Graph.**", "**Queries.**", "**Answers.**", "**Ranks.**", "**Averages.**"):
        assert page.index(part) < table
    assert page.index("The order holds in all 2 seeds.") > table


def test_there_is_a_plot_by_shape_by_missing_links_and_of_learning(folder: Path) -> None:
    page = (folder / "wd50k-nfol.md").read_text()
    assert set(PLOTS) == {"shapes", "missing", "curves"}
    for name in PLOTS:
        path = folder / f"wd50k-nfol-{name}.svg"
        assert ElementTree.parse(path).getroot().tag.endswith("svg")
        assert f"({path.name})" in page


def test_the_same_results_give_the_same_files(folder: Path, tmp_path: Path) -> None:
    paths = write_files(tmp_path, NFOL, RESULTS)
    assert {path.name: path.read_bytes() for path in paths} == {
        path.name: path.read_bytes() for path in folder.iterdir()
    }


def test_without_results_there_are_published_rows_and_no_plot(tmp_path: Path) -> None:
    paths = write_files(tmp_path, QE, [])
    assert {path.name for path in paths} == {f"wd50k-qe.{end}" for end in ("md", "tex", "csv")}
    assert "| StarQE, not run yet |" in (tmp_path / "wd50k-qe.md").read_text()


def test_results_on_different_queries_write_nothing(tmp_path: Path) -> None:
    others = [result_of("NQE", {"1p": 0.5}, 2, queries="other")]
    with pytest.raises(NqeError, match="were made from different queries"):
        write_files(tmp_path, NFOL, [*RESULTS, *others])
    assert list(tmp_path.iterdir()) == []


class TestProtocol:
    def test_another_graph_than_the_papers_is_told(self) -> None:
        results = [result_of("NQE", {"1p": 0.5}, **LAPTOP)]
        graph, sizes, *_ = describe_protocol(NFOL, results)
        assert graph.startswith("**Graph.** wd50k_100 (train 22,738 facts). The paper's is WD50K")
        assert "4,000 training queries per shape and 50,000 of 1p" in sizes

    def test_the_papers_graph_needs_no_excuse(self) -> None:
        own = UsedGraph("wd50k", "f", {"train": 166_435})
        graph, *_ = describe_protocol(NFOL, [result_of("NQE", {"1p": 0.5}, graph=own)])
        assert graph == "**Graph.** wd50k (train 166,435 facts)."

    def test_how_long_and_with_which_model_is_told(self) -> None:
        [line] = [
            line
            for line in describe_protocol(NFOL, [result_of("NQE", {"1p": 0.5})])
            if line.startswith("**Model")
        ]
        assert "Width 200, 3 layers" in line
        assert "36 epochs per row" in line
