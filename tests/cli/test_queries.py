"""The commands `nqe sample` and `nqe queries`, run as a user types them."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from helpers import quick_command


def nqe(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [*quick_command(), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def queries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sampled") / "atlas.queries"
    counts = ("--train", "6", "--valid", "3", "--test", "4")
    shapes = ("--shape", "2p", "--shape", "2in", "--shape", "And(P(P()), P(), Not(P()))")
    done = nqe("sample", "atlas", "-o", str(folder), *counts, *shapes, "--workers", "1")
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"{folder}: train 18, valid 9, test 12 queries\n"
    return folder


def test_the_manifest_says_how_the_queries_were_sampled(queries: Path) -> None:
    manifest = json.loads((queries / "manifest.json").read_text())
    assert manifest["settings"]["seed"] == 0
    assert manifest["splits"]["test"]["shapes"] == {
        "2p": 4,
        "2in": 4,
        "And(P(P()), P(), Not(P()))": 4,
    }
    assert len(manifest["fingerprint"]) == 32


def test_queries_are_shown_as_text(queries: Path) -> None:
    done = nqe("queries", "show", str(queries), "--shape", "2in", "--count", "2")
    assert done.returncode == 0
    assert done.stdout.count("shape 2in") == 2
    assert "hard (" in done.stdout
    assert "missing links:" in done.stdout


def test_queries_are_counted_and_plotted(queries: Path, tmp_path: Path) -> None:
    counted = json.loads(nqe("queries", "stats", str(queries), "--json").stdout)
    assert [one["queries"] for one in counted] == [18, 9, 12]
    assert sum(counted[2]["asked"].values()) == 12
    assert "drawn and not taken" in nqe("queries", "stats", str(queries)).stdout
    picture = tmp_path / "distributions.png"
    assert nqe("queries", "stats", str(queries), "--plot", str(picture)).returncode == 0
    assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("sample", "atlas", "-o", "{tmp}/q", "--shape", "9p"), "shape '9p' not understood"),
        (
            ("sample", "atlas", "-o", "{tmp}/q", "--match", "wide"),
            "choose one of closed, open, any",
        ),
        (("sample", "atlas", "-o", "{tmp}/q", "--slots", "tail"), "choose one of subject, object"),
        (("sample", "atlas", "-o", "{tmp}/q", "--preset", "fb15k"), "choose one of wd50k-nfol"),
        (("queries", "show", "{tmp}"), "not a query set"),
        (("queries", "stats", "{tmp}/nowhere"), "not a query set (no such folder)"),
    ],
)
def test_what_cannot_be_done_is_an_error_in_one_sentence(
    arguments: tuple[str, ...], message: str, tmp_path: Path
) -> None:
    done = nqe(*(argument.format(tmp=tmp_path) for argument in arguments))
    assert done.returncode == 2
    assert message in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_query_set_of_another_graph_is_refused(queries: Path, tmp_path: Path) -> None:
    (tmp_path / "train.txt").write_text("a,r,b\n")
    nqe("import", str(tmp_path / "train.txt"), "-o", str(tmp_path / "g.graph"))
    done = nqe("queries", "show", str(queries), "--graph", str(tmp_path / "g.graph"))
    assert done.returncode == 2
    assert "sampled from another graph" in done.stderr


def test_an_exported_query_set_can_be_imported_again(tmp_path: Path) -> None:
    written = tmp_path / "published"
    one_shape = tmp_path / "one.queries"
    counts = ("--train", "3", "--valid", "2", "--test", "2", "--shape", "2in", "--workers", "1")
    assert nqe("sample", "atlas", "-o", str(one_shape), *counts).returncode == 0
    assert nqe("queries", "export", str(one_shape), "-o", str(written)).returncode == 0
    assert (written / "tasks" / "2in" / "test.json").is_file()
    again = tmp_path / "again.queries"
    done = nqe("queries", "import", str(written), "-o", str(again), "--graph", "atlas")
    assert done.stdout == f"{again}: train 3, valid 2, test 2 queries\n"
    assert "missing links: unknown" in nqe("queries", "show", str(again)).stdout


def test_a_query_that_a_format_cannot_express_is_refused(queries: Path, tmp_path: Path) -> None:
    done = nqe("queries", "export", str(queries), "-o", str(tmp_path / "b"), "--form", "betae")
    assert done.returncode == 2
    assert not (tmp_path / "b").exists()


def test_a_graph_is_never_replaced_by_a_query_set(tmp_path: Path) -> None:
    graph = tmp_path / "g.graph"
    (tmp_path / "train.txt").write_text("a,r,b\n")
    assert nqe("import", str(tmp_path / "train.txt"), "-o", str(graph)).returncode == 0
    before = sorted(path.name for path in graph.iterdir())
    done = nqe("sample", "atlas", "-o", str(graph), "--train", "5")
    assert done.returncode == 2
    assert "the folder holds other files" in done.stderr
    assert sorted(path.name for path in graph.iterdir()) == before
