"""`nqe stats`, `nqe show` and `nqe find`, as a person or a script runs them."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest
from helpers import nqe, well
from small_graph import import_small_graph

import nqe as package
from nqe.graph.statistics import compute_statistics


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return import_small_graph(tmp_path_factory.mktemp("commands"))


def table_under(heading: str, text: str) -> list[list[str]]:
    """The tab-separated rows below a heading."""
    block = text.partition(f"# {heading}\n")[2].partition("\n\n")[0]
    return [line.split("\t") for line in block.splitlines()]


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


def test_show_can_be_limited_to_splits_and_to_a_number_of_facts(place: Path) -> None:
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


def test_find_says_what_was_found_and_how(place: Path) -> None:
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


def test_the_embedded_graph_is_called_atlas_unless_there_is_another(tmp_path: Path) -> None:
    embedded = json.loads(well(nqe("stats", "atlas", "--json", cwd=tmp_path)))
    assert embedded["facts"] > 6_000
    well(nqe("import", "-", "-o", "atlas", cwd=tmp_path, given=b"a,r,b\n"))
    assert json.loads(well(nqe("stats", "atlas", "--json", cwd=tmp_path)))["facts"] == 1


def test_an_output_that_cannot_show_a_letter_is_no_reason_to_fail(tmp_path: Path) -> None:
    well(nqe("import", "-", "-o", "g.graph", cwd=tmp_path, given="漢,r,b\n".encode()))
    run = nqe("show", "g.graph", "b", cwd=tmp_path, env={"PYTHONIOENCODING": "ascii"})
    assert "\\u6f22\tr\tb" in well(run)


def test_a_limit_beyond_every_machine_number_shows_everything(place: Path) -> None:
    for command in (
        ["find", "g.graph", "a"],
        ["find", "g.graph", "alpah"],
        ["show", "g.graph", "a"],
    ):
        out = well(nqe(*command, "--limit", str(2**63), cwd=place))
        assert out == well(nqe(*command, "--limit", "1000", cwd=place))
