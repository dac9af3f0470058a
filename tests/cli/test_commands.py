"""Every command about graphs, as a person or a script runs it."""

from __future__ import annotations

import dataclasses
import gzip
import json
from pathlib import Path

import pytest
from helpers import nqe, well

import nqe as package
from nqe.cli.demo import ENTITY
from nqe.graph.statistics import compute_statistics

FACTS = {
    "train.txt": "a,r,b\na,r,b\nb,r,c,q,a,q,d\n",
    "valid.txt": "c,s,a\n",
    "test.txt": "d,s,a,q,b\n",
    "labels.tsv": "a\tAlpha\tthe first\tA|Aleph\nb\tBeta\nr\tis next to\nq\twith\n",
}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a source and its graph."""
    place = tmp_path_factory.mktemp("commands")
    (place / "data").mkdir()
    for name, text in FACTS.items():
        (place / "data" / name).write_text(text)
    well(nqe("import", "data", "-o", "g.graph", cwd=place))
    return place


def table_under(heading: str, text: str) -> list[list[str]]:
    """The tab-separated rows below a heading."""
    block = text.partition(f"# {heading}\n")[2].partition("\n\n")[0]
    return [line.split("\t") for line in block.splitlines()]


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


def test_import_takes_the_names_of_a_tables_columns(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("from,kind,to,since\nx,r,y,1999\n")
    columns = ["--subject", "from", "--relation", "kind", "--object", "to"]
    well(nqe("import", "t.csv", "-o", "t.graph", *columns, cwd=tmp_path))
    [fact] = package.read(tmp_path / "t.graph").graph
    assert fact == package.Fact("x", "r", "y", (("since", "1999"),))


def test_stats_as_json_are_the_statistics_of_python(place: Path) -> None:
    printed = json.loads(well(nqe("stats", "g.graph", "--json", "--top", "2", cwd=place)))
    numbers = compute_statistics(package.read(place / "g.graph"), top=2)
    assert printed == json.loads(json.dumps(dataclasses.asdict(numbers)))
    assert [split["facts"] for split in printed["splits"]] == [2, 1, 1]


def test_stats_into_a_pipe_are_tab_separated_lines(place: Path) -> None:
    out = well(nqe("stats", "g.graph", cwd=place))
    assert "\x1b" not in out
    assert ["facts", "4"] in table_under("Graph", out)
    assert table_under("Splits", out)[1] == ["train", "2", "1", "2", "4", "2", "1"]
    assert table_under("Arities", out) == [
        ["entities in a fact", "facts"],
        ["2", "2"],
        ["3", "1"],
        ["4", "1"],
    ]
    assert table_under("Most frequent relations", out)[1] == ["r", "is next to", "2"]
    assert table_under("Most frequent attributes", out)[1] == ["q", "with", "3"]
    assert table_under("Most connected entities", out)[1] == ["a", "Alpha", "4"]


def test_show_has_the_facts_of_an_entity_from_every_slot_with_labels(place: Path) -> None:
    out = well(nqe("show", "g.graph", "alpha", cwd=place))
    assert "# Alpha (a)\nthe first\nalso: A, Aleph\n" in out
    assert table_under("As subject: 1", out)[1] == ["Alpha", "is next to", "Beta", ""]
    assert table_under("As object: 2", out)[1:] == [
        ["c", "s", "Alpha", ""],
        ["d", "s", "Alpha", "with: Beta"],
    ]
    rows = table_under("As a qualifier's value: 1", out)
    assert rows[1] == ["Beta", "is next to", "c", "with: Alpha, with: d"]


def test_show_can_be_limited_to_splits_and_to_so_many_facts(place: Path) -> None:
    out = well(nqe("show", "g.graph", "a", "--facts", "train", cwd=place))
    assert "As object" not in out
    out = well(nqe("show", "g.graph", "a", "--limit", "1", cwd=place))
    assert "… and 1 more (--limit)" in out


def test_show_as_json_has_ids_and_labels(place: Path) -> None:
    shown = json.loads(well(nqe("show", "g.graph", "Beta", "--json", cwd=place)))
    assert (shown["id"], shown["label"]) == ("b", "Beta")
    [fact] = shown["as_object"]
    assert fact["ids"] == {"subject": "a", "relation": "r", "object": "b", "qualifiers": []}
    assert fact["labels"]["subject"] == "Alpha"
    assert len(shown["as_subject"]) == len(shown["as_value"]) == 1


def test_find_tells_what_was_found_and_how(place: Path) -> None:
    out = well(nqe("find", "g.graph", "alp", cwd=place))
    assert [line.split("\t") for line in out.splitlines()] == [
        ["kind", "id", "label", "description", "found by"],
        ["entity", "a", "Alpha", "the first", "prefix"],
    ]
    found = json.loads(well(nqe("find", "g.graph", "next", "--json", cwd=place)))
    assert found == [
        {"kind": "relation", "id": "r", "label": "is next to", "description": None, "how": "part"}
    ]


def test_find_says_so_when_nothing_is_found(place: Path) -> None:
    run = nqe("find", "g.graph", "zzzzzzzz", cwd=place)
    assert well(run) == ""
    assert run.err == "no name in g.graph is like 'zzzzzzzz'\n"
    assert json.loads(well(nqe("find", "g.graph", "zzzzzzzz", "--json", cwd=place))) == []


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


def test_the_embedded_graph_is_called_atlas_unless_there_is_another(tmp_path: Path) -> None:
    embedded = json.loads(well(nqe("stats", "atlas", "--json", cwd=tmp_path)))
    assert embedded["facts"] > 6_000
    well(nqe("import", "-", "-o", "atlas", cwd=tmp_path, given=b"a,r,b\n"))
    assert json.loads(well(nqe("stats", "atlas", "--json", cwd=tmp_path)))["facts"] == 1


def test_demo_builds_the_atlas_counts_it_and_shows_an_entity(tmp_path: Path) -> None:
    out = well(nqe("demo", "-o", "world.graph", "--seconds", "2", cwd=tmp_path))
    assert package.read(tmp_path / "world.graph") == package.demo_dataset()
    assert "# Splits" in out
    assert f"# {ENTITY} (" in out
    assert "# As subject" in out
    assert "# Link prediction" in out or "MRR" in out
    answers = out[out.index("A model that predicts what the graph lacks") :]
    assert "\tpredicted\t" in answers
    assert "# How it came to " in answers
    assert "Why " in answers[answers.index("# How it came to ") :]


def test_an_output_that_cannot_show_a_letter_is_no_reason_to_fail(tmp_path: Path) -> None:
    well(nqe("import", "-", "-o", "g.graph", cwd=tmp_path, given="漢,r,b\n".encode()))
    run = nqe("show", "g.graph", "b", cwd=tmp_path, env={"PYTHONIOENCODING": "ascii"})
    assert "\\u6f22\tr\tb" in well(run)
