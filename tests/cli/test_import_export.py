"""`nqe import` and `nqe export`, as a person or a script runs them."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from helpers import files, nqe, told, well
from small_graph import FACTS, import_small_graph

import nqe as package


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return import_small_graph(tmp_path_factory.mktemp("commands"))


def test_import_says_what_it_wrote(place: Path) -> None:
    run = nqe("import", "data", "-o", "again.graph", cwd=place)
    fingerprint = package.read(place / "data").fingerprint
    assert well(run) == (
        "again.graph: train 2, valid 1, test 1 facts; 4 entities, 3 relations; "
        f"fingerprint {fingerprint}\n"
    )
    assert run.err == ""


def test_import_reads_standard_input_compressed_or_not(tmp_path: Path) -> None:
    text = FACTS["train.txt"].encode()
    for given in (text, gzip.compress(text)):
        out = well(nqe("import", "-", "-o", "g.graph", cwd=tmp_path, given=given))
        assert out.startswith("g.graph: train 2 facts")


def test_import_takes_several_files_a_format_a_limit_and_labels(place: Path) -> None:
    names = ["data/train.txt", "data/test.txt", "--labels", "data/labels.tsv"]
    options = ["--format", "statements", "--limit", "1", "-o", "few.graph"]
    out = well(nqe("import", *names, *options, cwd=place))
    assert out.startswith("few.graph: train 1, test 1 facts; 3 entities")
    loaded = package.read(place / "few.graph")
    assert loaded.vocabulary.entities.labels[0] == "Alpha"


def test_import_of_rdf_takes_a_language_and_says_what_it_left_out(tmp_path: Path) -> None:
    pytest.importorskip("pyoxigraph", reason="pyoxigraph, which reads RDF, is missing")
    label = "http://www.w3.org/2000/01/rdf-schema#label"
    (tmp_path / "t.ttl").write_text(
        f'PREFIX : <http://e/>\n:x :r :y . :x <{label}> "Wien"@de, "Vienna"@en .\n'
    )
    run = nqe("import", "t.ttl", "-o", "t.graph", "--language", "de", cwd=tmp_path)
    assert well(run).startswith("t.graph: train 1 facts")
    assert run.err == "left out: labels and descriptions in other languages (1)\n"
    assert "Wien" in package.read(tmp_path / "t.graph").vocabulary.entities.labels


@pytest.mark.parametrize("language", ["xx", "english"])
def test_import_of_rdf_without_a_label_in_the_language_names_the_others(
    tmp_path: Path, language: str
) -> None:
    pytest.importorskip("pyoxigraph", reason="pyoxigraph, which reads RDF, is missing")
    label = "http://www.w3.org/2000/01/rdf-schema#label"
    (tmp_path / "t.ttl").write_text(
        "PREFIX : <http://e/>\n:x :r :y, 33 . "
        f':x <{label}> "Wien"@de, "Vienna"@EN . :y <{label}> "y"@de .\n'
    )
    run = nqe("import", "t.ttl", "-o", "t.graph", "--language", language, cwd=tmp_path)
    well(run)
    assert (
        f"no label in the language '{language}'; there are labels in de (2), en (1): choose one "
        "with --language"
    ) in run.err.splitlines()


def test_import_takes_the_names_of_a_tables_columns(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("from,kind,to,since\nx,r,y,1999\n")
    columns = ["--subject", "from", "--relation", "kind", "--object", "to"]
    well(nqe("import", "t.csv", "-o", "t.graph", *columns, cwd=tmp_path))
    [fact] = package.read(tmp_path / "t.graph").graph
    assert fact == package.Fact("x", "r", "y", (("since", "1999"),))


def test_import_takes_a_table_without_a_relation_or_a_header(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("HEL,LHR,AY,x\nLHR,JFK,,y\n")
    columns = ["--columns", "from,to,airline,note", "--qualifiers", "airline"]
    for options in (
        [*columns, "--relation-name", "route"],
        ["--no-header", "--relation-name", "route", "--qualifiers", "none"],
    ):
        well(nqe("import", "t.csv", "-o", "t.graph", *options, cwd=tmp_path))
        facts = set(package.read(tmp_path / "t.graph").graph)
        assert {(fact.subject, fact.relation, fact.object) for fact in facts} == {
            ("HEL", "route", "LHR"),
            ("LHR", "route", "JFK"),
        }
    assert not any(fact.qualifiers for fact in facts)


def test_import_takes_a_mapping_of_several_files(tmp_path: Path) -> None:
    (tmp_path / "map.toml").write_text(
        "['a.csv']\nrelation_name = 'r'\n['b.csv']\nsubject = 'id'\nlabel = 'name'\n"
    )
    (tmp_path / "a.csv").write_text("source,target\nx,y\n")
    (tmp_path / "b.csv").write_text("id,name\nx,Ex\n")
    out = well(nqe("import", "--mapping", "map.toml", "-o", "g.graph", cwd=tmp_path))
    assert out.startswith("g.graph: train 1 facts; 2 entities, 1 relations")
    assert package.read(tmp_path / "g.graph").vocabulary.entities.labels[0] == "Ex"


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        ("source,target\na,b\n", ["--relation", "nosuch"], "has no column 'nosuch'; correct --rel"),
        ("item,prop,value\nQ1,P1,Q2\n", [], "looks like the header of a table; name its columns"),
        ("source,kind,target\na,r,b\n", ["--subject", "source"], "lacks relation; name the col"),
        ('[{"a": 1, "b": 2}]\n', [], "looks like a JSON array; write one object per line"),
        ("a,r,b\n", ["--columns", "a,,b"], "--columns a,,b: an empty name; write names with"),
    ],
)
def test_nothing_is_written_from_a_table_that_is_unclear(
    tmp_path: Path, content: str, options: list[str], message: str
) -> None:
    (tmp_path / "t.csv").write_text(content)
    assert message in told(nqe("import", "t.csv", "-o", "t.graph", *options, cwd=tmp_path))
    assert files(tmp_path) == ["t.csv"]


@pytest.mark.parametrize("format", ["statements", "csv", "tsv", "parquet"])
def test_what_is_exported_to_a_folder_is_imported_as_the_same_graph(
    place: Path, format: str
) -> None:
    run = nqe("export", "g.graph", "-o", f"out-{format}", "--format", format, cwd=place)
    assert well(run) == ""
    assert run.err == f"out-{format}: written\n"
    again = package.read(place / f"out-{format}")
    assert again == package.read(place / "g.graph")
    assert again.vocabulary == package.read(place / "g.graph").vocabulary


def test_what_is_exported_through_a_pipe_is_imported_as_the_same_graph(place: Path) -> None:
    out = well(nqe("export", "g.graph", "-o", "-", cwd=place))
    well(nqe("import", "-", "-o", "piped.graph", cwd=place, given=out.encode()))
    assert package.read(place / "piped.graph").graph == package.read(place / "g.graph").graph


def test_export_takes_the_splits_that_are_named(place: Path) -> None:
    out = well(nqe("export", "g.graph", "-o", "-", "--facts", "valid,test", cwd=place))
    assert out == "c,s,a\nd,s,a,q,b\n"


def test_import_counts_literals_and_leaves_them_out_if_asked(tmp_path: Path) -> None:
    (tmp_path / "f.txt").write_text("a,born,1903-06-01^^time\na,knows,b,since,1920^^time\n")
    run = nqe("import", "f.txt", "-o", "g.graph", cwd=tmp_path)
    assert well(run).startswith("g.graph: train 2 facts; 4 entities")
    assert "literals kept: 2 times" in run.err
    assert "  times\t2" in well(nqe("stats", "g.graph", cwd=tmp_path))
    run = nqe("import", "f.txt", "-o", "g.graph", "--literals", "skip", cwd=tmp_path)
    assert well(run).startswith("g.graph: train 1 facts; 2 entities")
    assert "literals left out: 1 statement (1 time), 1 qualifier (1 time)" in run.err
    run = nqe("import", "f.txt", "-o", "g.graph", "--literals", "all", cwd=tmp_path)
    assert run.code == 2
    assert "unknown policy for literals 'all'; choose one of skip, keep, bands" in run.err


def test_import_says_that_marks_of_empty_cells_became_entities(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(
        "subject,relation,object,year\nAnn,knows,Bob,NaN\nCid,knows,NaN,1999\nEve,knows,Bob,NULL\n"
    )
    run = nqe("import", "t.csv", "-o", "g.graph", cwd=tmp_path)
    assert well(run).startswith("g.graph: train 3 facts; 7 entities")
    assert "nqe: note: 'NaN' was read as an entity, in 2 place(s); if it stands for an " in run.err
    assert "'NULL' was read as an entity, in 1 place(s)" in run.err
    given = ["--missing", "NaN,NULL", "--skip-bad"]
    run = nqe("import", "t.csv", "-o", "g.graph", *given, cwd=tmp_path)
    assert well(run).startswith("g.graph: train 2 facts; 3 entities")
    assert "was read as an entity" not in run.err
