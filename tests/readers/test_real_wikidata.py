"""A hundred items of Wikidata, if they are available: counted by plain json as well, and asked."""

from __future__ import annotations

import bz2
import json
from collections import Counter
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from helpers import nqe, well

from nqe.graph import Dataset
from nqe.readers import LeftOut, WikidataPolicy, read
from nqe.writers import write

pytestmark = pytest.mark.xdist_group("real data")

Json = dict[str, Any]
DAY, GREGORIAN = 11, "Q1985727"


@pytest.fixture(scope="module")
def dump(shared_data: Path) -> Path:
    path = shared_data / "ingest" / "wikidata-json" / "opentapioca_100_items.dump.json.bz2"
    if not path.is_file():
        pytest.skip("the items of Wikidata are not beside the project, in ../shared/data/ingest")
    return path


@pytest.fixture(scope="module")
def graph(dump: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The graph folder of the items."""
    folder = tmp_path_factory.mktemp("wikidata")
    run = nqe("import", dump, "-o", "items.graph", cwd=folder)
    assert "items.graph: train 10,380 facts" in well(run)
    assert run.err.splitlines()[0] == (
        "Wikidata: 100 entities read; left out: 2,214 statements (2,161 with an external id, 43 "
        "deprecated, 8 without a value, 2 with an unknown value), 5 qualifiers (2 without a "
        "value, 2 with an impossible value, 1 with an unknown value)"
    )
    return folder / "items.graph"


def list_statements(dump: Path) -> Iterator[tuple[str, Json]]:
    for line in bz2.decompress(dump.read_bytes()).decode().splitlines()[1:-1]:
        item = json.loads(line.rstrip(","))
        for statements in item["claims"].values():
            for statement in statements:
                yield item["id"], statement


def has_value(snak: Json) -> bool:
    """Whether a snak has a value, and if that is a day, one that the calendar has."""
    if snak["snaktype"] != "value":
        return False
    value = snak["datavalue"]["value"]
    is_day = snak["datatype"] == "time" and value["precision"] == DAY
    if not is_day or not value["calendarmodel"].endswith(GREGORIAN):
        return True
    year, month, day = map(int, value["time"][1:11].split("-"))
    try:
        date(year, month or 1, day or 1)
    except ValueError:
        return False
    return True


def count_taken(dump: Path, *, external_ids: bool) -> Counter[tuple[str, ...]]:
    """How often each subject has a relation, and each of its statements a qualifier."""
    counts: Counter[tuple[str, ...]] = Counter()
    for subject, statement in list_statements(dump):
        main = statement["mainsnak"]
        is_external = main["datatype"] == "external-id" and not external_ids
        if statement["rank"] == "deprecated" or is_external or not has_value(main):
            continue
        counts[subject, main["property"]] += 1
        for attribute, snaks in statement.get("qualifiers", {}).items():
            for snak in snaks:
                counts[subject, main["property"], attribute] += has_value(snak)
    return +counts


def count_read(dataset: Dataset) -> Counter[tuple[str, ...]]:
    counts: Counter[tuple[str, ...]] = Counter()
    for fact, times in zip(dataset.graph, dataset.graph.facts.count.tolist(), strict=True):
        counts[fact.subject, fact.relation] += times
        for attribute, _ in fact.qualifiers:
            counts[fact.subject, fact.relation, attribute] += times
    return counts


@pytest.mark.parametrize("external_ids", [False, True])
def test_the_items_give_the_statements_and_qualifiers_that_plain_json_counts(
    dump: Path, external_ids: bool
) -> None:
    policy = WikidataPolicy(external_ids=external_ids)
    read_counts = count_read(read(dump, wikidata=policy))
    assert read_counts == count_taken(dump, external_ids=external_ids)
    taken = sum(count for key, count in read_counts.items() if len(key) == 2)
    left_out = policy.left_out["statement"].total()
    assert taken + left_out == sum(1 for _ in list_statements(dump)) == 12_599


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("?x: P47(?x, Germany)", {"Belgium", "Saarland"}),
        ("?k: P36(?c, ?k) and P17(?k, Germany)", {"Bonn", "Saarbrücken"}),
        ("?x: P190(Bonn, ?x; P580: ?t) and P17(?x, Germany)", {"Potsdam"}),
        ("?when: P6(Oslo, ?who; P580: ?when)", {"21 October 2015"}),
        ("?n: P1082(Oslo, ?n; P585: ?t)", {"623,966", "634,463"}),
        (
            """?c: P530(?c, "People's Republic of China") and not P530(?c, Israel)""",
            {"Israel", "Laos", "Portugal", "Sierra Leone", "Sudan", "Tajikistan", "Thailand"}
            | {"Vanuatu"},
        ),
    ],
)
def test_questions_over_the_items_are_answered_with_labels(
    graph: Path, question: str, expected: set[str]
) -> None:
    rows = [line.split("\t") for line in well(nqe("ask", graph, question, cwd=graph)).splitlines()]
    assert {label for _, label, *_ in rows[1:]} == expected


def test_the_items_written_as_rdf_are_read_as_the_same_graph(graph: Path, tmp_path: Path) -> None:
    pytest.importorskip("pyoxigraph", reason="pyoxigraph, which reads RDF, is missing")
    dataset, left_out = Dataset.load(graph), LeftOut()
    write(dataset, tmp_path / "items.nt")
    again = read(tmp_path / "items.nt", left_out=left_out)
    assert again == dataset
    assert again.vocabulary.entities.labels == dataset.vocabulary.entities.labels
    assert left_out.describe() is None
