"""One stream of facts, descriptions and bad lines, as a source that mixes them gives it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from nqe.errors import InputError
from nqe.graph import Dataset, Description, Fact
from nqe.readers import BadLine, BadLines, DescribedId, Record, Records, read
from nqe.readers.record_collector import RecordCollector
from nqe.readers.source import Source

MIXED: list[Record] = [
    DescribedId("a", Description("Alpha")),
    Fact("a", "r", "b"),
    BadLine("no fact in it; drop the line", "???"),
    DescribedId("a", Description("A", "a letter")),
    Fact("b", "r", "a", (("q", "c"),)),
    Fact("c", "r", "a"),
]


@pytest.fixture
def source(tmp_path: Path) -> Iterator[Source]:
    path = tmp_path / "dump"
    path.touch()
    with Source(str(path)) as source:
        yield source


def number(records: list[Record]) -> Records:
    yield from enumerate(records, start=1)


def test_a_source_may_mix_facts_descriptions_and_bad_lines(source: Source) -> None:
    collector = RecordCollector(BadLines(skip=True))
    assert collector.collect(source, number(MIXED)) == 3
    dataset = Dataset(*collector.builder.finish()).describe(collector.descriptions)
    assert set(dataset.graph) == {record for record in MIXED if isinstance(record, Fact)}
    assert dataset.vocabulary.entities.labels == ["Alpha", None, None]
    assert collector.descriptions["a"] == Description("Alpha", "a letter", ("A",))
    assert collector.bad.count == 1


def test_a_limit_counts_facts_alone(source: Source) -> None:
    collector = RecordCollector(BadLines(skip=True))
    assert collector.collect(source, number(MIXED), limit=2) == 2
    _, splits = collector.builder.finish()
    assert len(splits["train"]) == 2


def test_a_bad_line_stops_the_import_unless_it_is_skipped(source: Source) -> None:
    with pytest.raises(InputError, match="dump:3: no fact in it; drop the line"):
        RecordCollector(BadLines()).collect(source, number(MIXED))


def test_a_fact_with_an_id_that_is_refused_is_a_bad_line(source: Source) -> None:
    facts: list[Record] = [Fact("a", "r", "b"), Fact("a\n", "r", "b")]
    with pytest.raises(InputError, match=r"dump:2: entity id .* has a line break"):
        RecordCollector(BadLines()).collect(source, number(facts))


def test_labels_in_a_file_of_their_own_go_before_those_in_the_sources(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "dump").write_text("a,r,b\n")
    (tmp_path / "names.tsv").write_text("a\tgiven\n")
    monkeypatch.setattr("nqe.readers.statements.read", lambda _: number(MIXED[:2]))
    own = read(tmp_path / "dump").vocabulary.entities
    assert (own.labels[0], own.aliases) == ("Alpha", {})
    given = read(tmp_path / "dump", labels=tmp_path / "names.tsv").vocabulary.entities
    assert (given.labels[0], given.aliases) == ("given", {0: ("Alpha",)})
