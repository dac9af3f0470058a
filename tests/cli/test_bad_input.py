"""Bad input to the command line: one sentence, exit code 2, and nothing left behind."""

from __future__ import annotations

import bz2
import gzip
import json
from pathlib import Path

import pyarrow as pa
import pytest
from helpers import files, nqe, told

GOOD = b"a,r,b\nc,r,d,q,e\n"
MANY = "".join(f"e{i},r,e{i + 1}\n" for i in range(3_000)).encode()

BAD_FILES: dict[str, tuple[bytes, str]] = {
    "a qualifier without a value": (
        GOOD + b"a,r,b,P580\n",
        "f:3: qualifier 'P580' has no value; add one or drop the pair",
    ),
    "too few parts": (GOOD + b"a,r\n", "f:3: 2 part(s)"),
    "an empty part": (GOOD + b"a,r,b,,c\n", "f:3: part 4 is empty; fill it"),
    "an unclosed quote": (GOOD + b'"a,r,b\n', "f:3: unexpected end of data; close the quotes"),
    "a control character": (GOOD + b"a\x07,r,b\n", "f:3: entity id 'a\\x07' has a line break"),
    "nothing": (b"", "f: empty; there is nothing to import"),
    "white space": (b" \n\t\n", "f: empty"),
    "gzip cut short": (gzip.compress(MANY)[:-20], "f: the archive is cut short or damaged"),
    "bzip2 cut short": (bz2.compress(MANY)[:-20], "f: the archive is cut short or damaged"),
    "zstd cut short": (
        pa.Codec("zstd").compress(MANY, asbytes=True)[:-20],
        "f: the archive is cut short or damaged",
    ),
    "Latin-1": (GOOD + "Zürich,r,b\n".encode("latin-1"), "f:3: not UTF-8 text (byte 0xfc); save"),
    "UTF-16": (GOOD.decode().encode("utf-16"), "f:1: not UTF-8 text"),
    "wrong JSON": (b'{"a": "x", "b": "y"}\n{"a": "x"\n', "f:2: not JSON ("),
    "too few values": (b'{"a": "x", "b": "y"}\n{"a": "x"}\n', "f:2: 1 value(s), but a fact has 2"),
    "a short row": (b"subject,relation,object\na,r\n", "f:2: 2 cells, but the header has 3; add"),
    "a format like no other": (b"hello world\n", "f:1: the format cannot be detected from the"),
    "relation first or second": (b"a\tr\tb\n", "f:1: cannot tell whether the relation is first"),
}


@pytest.mark.parametrize(("content", "sentence"), BAD_FILES.values(), ids=BAD_FILES.keys())
def test_a_bad_file_is_one_sentence_and_nothing_is_left(
    tmp_path: Path, content: bytes, sentence: str
) -> None:
    (tmp_path / "f").write_bytes(content)
    assert told(nqe("import", "f", "-o", "g.graph", cwd=tmp_path)).startswith(sentence)
    assert files(tmp_path) == ["f"]


BAD_ARGUMENTS: dict[str, tuple[list[str], str]] = {
    "a missing file": (["nothing"], "nothing: no such file; check the path"),
    "a path below a file": (["f/train.txt"], "f/train.txt: cannot be opened (Not a directory); c"),
    "an unknown format": (["f", "--format", "cvs"], "unknown format 'cvs'; choose one of statem"),
    "a wrong header": (
        ["f", "--format", "table"],
        "f:1: the header a, r, b lacks subject, relation or object; name the columns",
    ),
    "a wrong column": (
        ["f", "--format", "table", "--subject", "a", "--relation", "r", "--object", "x"],
        "f:1: the header a, r, b has no column 'x'; correct --object",
    ),
    "missing labels": (["f", "--labels", "l.tsv"], "l.tsv: no such file; check the path"),
    "a folder without splits": (["empty"], "empty: no train, valid or test file in the folder;"),
    "two formats in a folder": (
        ["two"],
        "two: several train files of different formats: train.csv (statements), train.json (nary);",
    ),
    "labels without a tab": (["f", "--labels", "f"], "f:1: no tab between an id and a label; add"),
    "a bad line in the second file": (["f", "bad"], "bad:2: qualifier 'q' has no value; add one"),
}


@pytest.mark.parametrize(("arguments", "sentence"), BAD_ARGUMENTS.values(), ids=BAD_ARGUMENTS)
def test_a_wrong_argument_is_one_sentence_and_nothing_is_left(
    tmp_path: Path, arguments: list[str], sentence: str
) -> None:
    (tmp_path / "f").write_bytes(GOOD)
    (tmp_path / "bad").write_bytes(b"a,r,b\na,r,b,q\n")
    (tmp_path / "empty").mkdir()
    (tmp_path / "two").mkdir()
    (tmp_path / "two" / "train.csv").write_bytes(GOOD)
    (tmp_path / "two" / "train.json").write_bytes(b'{"a": "x", "b": "y"}\n')
    before = files(tmp_path)
    assert told(nqe("import", *arguments, "-o", "g.graph", cwd=tmp_path)).startswith(sentence)
    assert files(tmp_path) == before


def test_a_foreign_folder_or_a_file_is_never_an_output(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(GOOD)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "manifest.json").write_text('{"name": "my web page"}')
    before = files(tmp_path)
    for output, sentence in (
        ("mine", "mine: the folder holds other files; choose another name for the output"),
        (".", ".: the folder holds other files; choose"),
        ("f", "f: a file of that name exists; choose another for the folder"),
        ("f/g", "f/g: cannot be written (file exists); choose another place"),
    ):
        assert told(nqe("import", "f", "-o", output, cwd=tmp_path)).startswith(sentence)
    assert files(tmp_path) == before
    assert (tmp_path / "f").read_bytes() == GOOD


def test_an_output_that_cannot_be_is_told_before_the_reading(tmp_path: Path) -> None:
    (tmp_path / "taken").write_bytes(b"")
    sentence = told(nqe("import", "not-even-there", "-o", "taken", cwd=tmp_path))
    assert sentence.startswith("taken: a file of that name exists")
    (tmp_path / "web").mkdir()
    (tmp_path / "web" / "manifest.json").write_text('{"name": "my web page"}')
    sentence = told(nqe("import", "not-even-there", "-o", "web", cwd=tmp_path))
    assert sentence.startswith("web: the folder holds other files")


@pytest.fixture
def graph(tmp_path: Path) -> Path:
    (tmp_path / "f").write_bytes(GOOD)
    assert nqe("import", "f", "-o", "g.graph", cwd=tmp_path).code == 0
    (tmp_path / "f").unlink()
    return tmp_path / "g.graph"


def test_a_failed_import_leaves_the_old_graph_as_it_was(graph: Path) -> None:
    before = {path.name: path.read_bytes() for path in graph.iterdir()}
    (graph.parent / "f").write_bytes(GOOD + b"a,r,b,q\n")
    told(nqe("import", "f", "-o", "g.graph", cwd=graph.parent))
    assert {path.name: path.read_bytes() for path in graph.iterdir()} == before


def test_damaged_older_and_foreign_graph_folders_are_told(graph: Path) -> None:
    cwd = graph.parent

    def sentence(*arguments: str) -> str:
        return told(nqe(*arguments, cwd=cwd))

    manifest = graph / "manifest.json"
    content = json.loads(manifest.read_text())
    train = (graph / "train.parquet").read_bytes()
    (graph / "train.parquet").write_bytes(train[:-30])
    assert sentence("stats", "g.graph").startswith("g.graph/train.parquet: damaged, or changed")
    (graph / "train.parquet").write_bytes(train)
    manifest.write_text(json.dumps(content | {"version": 0}))
    assert "format version 0, but this nqe reads 1 and 2;" in sentence("show", "g.graph", "a")
    manifest.write_text(json.dumps(content | {"format": "x"}))
    assert "not a graph folder's manifest; give a folder" in sentence("find", "g.graph", "a")
    manifest.write_text("{")
    assert "g.graph/manifest.json: damaged (" in sentence("export", "g.graph", "-o", "out")
    manifest.unlink()
    assert "not a graph folder (no manifest.json in it); make" in sentence("stats", "g.graph")
    assert "not a graph folder (no manifest" in sentence("import", "g.graph", "-o", "h.graph")
    assert "(no such folder); make one with `nqe import`" in sentence("stats", "nowhere")
    assert "a file, not a graph folder; make" in sentence("stats", "g.graph/train.parquet")
    assert sorted(path.name for path in cwd.iterdir()) == ["g.graph"]


def test_unknown_and_ambiguous_names_and_splits_are_told(graph: Path) -> None:
    cwd = graph.parent
    (cwd / "labels.tsv").write_text("a\tParis\tin France\nb\tParis\tin Texas\nc\tBerlin\n")
    nqe("import", "g.graph", "-o", "g.graph", "--labels", "labels.tsv", cwd=cwd)
    sentence = told(nqe("show", "g.graph", "Paris", cwd=cwd))
    assert sentence == (
        "'Paris' names 2 entities; use an id instead: Paris (a), in France; Paris (b), in Texas"
    )
    sentence = told(nqe("show", "g.graph", "Brelin", cwd=cwd))
    assert sentence == "no entity is called 'Brelin'; did you mean 'Berlin'?"
    sentence = told(nqe("show", "g.graph", "a", "--facts", "train,valid", cwd=cwd))
    assert sentence == "there is no valid split; the data set has train"
    for arguments in (["x.xml"], ["x.txt", "--format", "xml"], ["-", "--format", "xml"]):
        assert "format" in told(nqe("export", "g.graph", "-o", *arguments, cwd=cwd))


def test_wrong_usage_ends_with_2(tmp_path: Path) -> None:
    for arguments in ([], ["import"], ["stats"], ["nonsense"], ["import", "f", "--limit", "0"]):
        run = nqe(*arguments, cwd=tmp_path)
        assert run.code == 2
        assert "Usage: nqe" in run.err + run.out
        assert "Traceback" not in run.err
