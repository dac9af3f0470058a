"""Query sets with numbers that were edited: each is refused, or has a meaning that can be shown."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from helpers import files, nqe, told
from pyarrow import parquet
from tampering import sign_again

from nqe import demo_dataset
from nqe.errors import InputError, NqeError, StorageError
from nqe.evaluation.query_selection import QuerySelection
from nqe.graph import Dataset
from nqe.graph.ragged import Ragged
from nqe.query.drawing import draw_text
from nqe.query.exact_batch import run_table
from nqe.sampling import QuerySet, QueryTable, sample, save_queries
from nqe.sampling.exchange import read_nqe_json, read_tuple_queries, write_betae, write_nqe_json
from nqe.sampling.query_checks import check_queries
from nqe.sampling.query_statistics import count_queries, count_split
from nqe.sampling.storage import _arrow, _table, check_graph, load_queries, read_manifest
from nqe.settings import SamplingSettings

ATLAS = demo_dataset()
ENTITIES, RELATIONS = len(ATLAS.vocabulary.entities), len(ATLAS.vocabulary.relations)
VALUES = (-32768, -129, -2, -1, 0, 1, 2, 3, 4, 5, 9, 127, 32767, ENTITIES, 2**31 - 1, -(2**31))
TEXTS = ("", "2p", "3in", "../../x", "/x", "P()", "P(", "Any()", "\0", "P(" * 5_000, "x" * 5_000)


@pytest.fixture(scope="module")
def sampled() -> QuerySet:
    """Sample a few queries of every shape, with open and closed atoms."""
    settings = SamplingSettings(train=3, valid=1, test=1, match="any", max_answers=50)
    return sample(ATLAS, settings, workers=1)


@pytest.fixture(scope="module")
def folder(sampled: QuerySet, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hostile") / "q"
    save_queries(sampled, folder, "atlas")
    return folder


def check(table: QueryTable) -> None:
    check_queries(table, ENTITIES, RELATIONS)


def use(table: QueryTable) -> None:
    """Do with queries what commands do."""
    run_table(table.plans, ATLAS.graph)
    count_split("test", table, {"refused": {}, "formulas_also_in_training": {}})
    for row in range(len(table)):
        plan = table.plans.plan(row)
        assert draw_text(plan, ATLAS.vocabulary)
        assert str(plan.query(ATLAS.vocabulary))
        assert all(map(ATLAS.vocabulary.entities.name, table.easy[row].tolist()))


def places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield where in nested lists and dicts the values stand."""
    if isinstance(value, list | dict):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from places(value[key], (*at, key))
    else:
        yield at


def change(value: Any, at: tuple[Any, ...], new: Any) -> Any:
    """Change a value in nested lists and dicts, in place."""
    if not at:
        return new
    value[at[0]] = change(value[at[0]], at[1:], new)
    return value


def test_every_sampled_set_passes(sampled: QuerySet) -> None:
    for table in sampled.splits.values():
        check(table)
        use(table)


def test_every_imported_set_passes(tmp_path: Path) -> None:
    closed = sample(ATLAS, SamplingSettings(train=2, valid=1, test=1), workers=1).splits
    write_nqe_json(closed, ATLAS.vocabulary, tmp_path / "json")
    for table in read_nqe_json(tmp_path / "json", ATLAS.vocabulary).values():
        check(table)
    triples = Dataset.of({"train": [f for f in ATLAS.graph if not f.qualifiers][:500]})
    plain = SamplingSettings(shapes=("1p", "2i", "pni"), train=3, valid=0, test=0, match="open")
    write_betae(triples, sample(triples, plain, workers=1).splits, tmp_path / "betae")
    dataset, tables = read_tuple_queries(tmp_path / "betae")
    for table in tables.values():
        check_queries(table, len(dataset.vocabulary.entities), len(dataset.vocabulary.relations))


@pytest.mark.parametrize(
    "column", ["shape", "steps", "slots", "easy", "hard", "missing", "answer_count"]
)
def test_a_changed_value_is_refused_or_has_a_meaning(sampled: QuerySet, column: str) -> None:
    random = Random(column)
    arrow = _arrow(sampled.splits["test"])
    refused = 0
    for _ in range(300):
        row = random.randrange(len(arrow))
        [content] = arrow.slice(row, 1).to_pylist()
        at = random.choice(list(places(content[column])) or [()])
        new = random.choice(TEXTS if column == "shape" else VALUES)
        content[column] = change(content[column], at, new)
        try:
            table = _table(pa.Table.from_pylist([content], arrow.schema).combine_chunks())
            check(table)
        except (ValueError, pa.ArrowException, OverflowError):
            refused += 1
        else:
            use(table)
    assert refused > 10


@pytest.mark.parametrize("column", ["shape", "steps", "slots", "easy", "missing", "answer_count"])
def test_gaps_and_other_types_are_refused(sampled: QuerySet, column: str) -> None:
    arrow = _arrow(sampled.splits["test"])
    place = arrow.schema.names.index(column)
    for other in (
        pa.nulls(len(arrow), arrow.schema.field(column).type),
        pa.nulls(len(arrow)),
        pa.array([1.5] * len(arrow)),
        pa.array([[2**40]] * len(arrow)),
        pa.array([[{"op": "x"}]] * len(arrow)),
        pa.array([[]] * len(arrow), arrow.schema.field(column).type)
        if pa.types.is_list(arrow.schema.field(column).type) and column != "easy"
        else pa.array([b"\xff"] * len(arrow)),
    ):
        with pytest.raises((ValueError, pa.ArrowException)):
            check(_table(arrow.set_column(place, column, other).combine_chunks()))


@pytest.mark.parametrize(
    ("column", "value", "sentence"),
    [
        ("attribute", -2, "attribute -2 of a slot is out of range"),
        ("kind", 9, "kind 9 of a slot is unknown"),
        ("closed", 2, "the mark 2 for closed is out of range"),
        ("op", 7, "operator 7 is unknown"),
        ("depth", 5, "depth 5 is not that of its inputs plus one"),
    ],
)
def test_a_sentence_names_the_query_and_the_number(
    sampled: QuerySet, column: str, value: int, sentence: str
) -> None:
    table = sampled.splits["test"]
    values = getattr(table.plans, column).copy()
    values[-1] = value
    with pytest.raises(ValueError, match=rf"^step \d+ of query {len(table) - 1}: {sentence}$"):
        check(replace(table, plans=replace(table.plans, **{column: values})))


def test_an_answer_that_is_both_easy_and_hard_is_refused(sampled: QuerySet) -> None:
    table = sampled.splits["test"]
    with pytest.raises(ValueError, match=r"^query 0: answer \d+ is both easy and hard$"):
        check(replace(table, easy=Ragged(table.hard.offset, table.hard.values)))


def test_shapes_that_are_not_those_of_the_plans_are_refused(sampled: QuerySet) -> None:
    table = sampled.splits["test"]
    shuffled = (*table.shape[1:], table.shape[0])
    with pytest.raises(ValueError, match="its steps do not have the shape"):
        check(replace(table, shape=shuffled))


def test_no_shape_becomes_a_path(sampled: QuerySet, tmp_path: Path) -> None:
    table = sampled.splits["train"].take(np.array([0]))
    output = tmp_path / "deep" / "out"
    for shape in ("../../x", "/x", "..", "\0", "x" * 300):
        with pytest.raises(NqeError):
            write_nqe_json({"test": replace(table, shape=(shape,))}, ATLAS.vocabulary, output)
    with pytest.raises(NqeError):
        write_nqe_json({"../test": table}, ATLAS.vocabulary, output)
    assert files(tmp_path) == []


def test_unknown_splits_in_a_manifest_are_refused(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder, tmp_path / "q")
    Dataset.of({"train": list(ATLAS.graph)[:5]}).save(tmp_path / "g")
    for place, load in (("q", read_manifest), ("g", Dataset.load)):
        path = tmp_path / place / "manifest.json"
        manifest = json.loads(path.read_text())
        for splits in (manifest["splits"] | {"../train": {}}, ["train"], None, {"train": 1}):
            path.write_text(json.dumps(manifest | {"splits": splits}))
            sign_again(path.parent)
            with pytest.raises(StorageError, match="damaged"):
                load(tmp_path / place)


def test_a_changed_entry_of_a_manifest_is_refused_or_works(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder, tmp_path / "q")
    path = tmp_path / "q" / "manifest.json"
    text, random, refused = path.read_text(), Random(13), 0
    for _ in range(200):
        manifest = json.loads(text)
        # Half of the changes are at the top, where most readers look.
        keys = [(key,) for key in manifest] if random.random() < 0.5 else list(places(manifest))
        value = random.choice([None, -1, 2**70, 1.5, "x", "\0", [], {}, {"x": 1}, [[1]], True])
        path.write_text(json.dumps(change(manifest, random.choice(keys), value)))
        sign_again(path.parent)
        try:
            count_queries(tmp_path / "q")
            assert QuerySelection(str(tmp_path / "q"), "valid").describe()
        except NqeError:
            refused += 1
    assert refused > 20


def test_what_could_not_be_loaded_again_is_not_imported(tmp_path: Path) -> None:
    table = sample(ATLAS, SamplingSettings(shapes=("1p",), train=1, valid=0, test=0), workers=1)
    write_nqe_json(table.splits, ATLAS.vocabulary, tmp_path)
    path = tmp_path / "tasks" / "1p" / "train.json"
    [query] = json.loads(path.read_text()).values()
    for count in (99, 100, 400):
        nested = {"hrf0": query["hrf0"], "logic0": query["logic0"]}
        for number in range(1, count + 1):
            logic = {"type": "and", "in_vars": [2 * number - 1, 2 * number]}
            nested |= {f"hrf{number}": query["hrf0"], f"logic{number}": logic}
        path.write_text(json.dumps({"x": nested}))
        if count < 100:
            read_nqe_json(tmp_path, ATLAS.vocabulary)
            continue
        with pytest.raises(InputError, match=r"train\.json:1: the query is nested more than 100"):
            read_nqe_json(tmp_path, ATLAS.vocabulary)


def test_an_import_checks_both_outputs_before_it_writes_one(tmp_path: Path) -> None:
    triples = Dataset.of({"train": [f for f in ATLAS.graph if not f.qualifiers][:500]})
    plain = SamplingSettings(shapes=("1p",), train=3, valid=0, test=0, match="open")
    write_betae(triples, sample(triples, plain, workers=1).splits, tmp_path / "betae")
    (tmp_path / "taken").write_text("mine")
    before = files(tmp_path)
    command = ("queries", "import", "betae", "-o")
    assert told(nqe(*command, "taken", "--graph", "g", cwd=tmp_path)).startswith("taken: a file")
    assert told(nqe(*command, "q", "--graph", "taken", cwd=tmp_path)).startswith("taken: a file")
    assert told(nqe(*command, "q", "--graph", "q", cwd=tmp_path)).startswith("q: ")
    assert files(tmp_path) == before


@pytest.mark.parametrize("column", ["asked", "arities"])
def test_columns_for_other_readers_must_say_what_the_plans_say(
    folder: Path, tmp_path: Path, column: str
) -> None:
    shutil.copytree(folder, tmp_path / "q")
    path = tmp_path / "q" / "test.parquet"
    table = parquet.read_table(path)
    values = table.column(column).combine_chunks()
    changed = values.take(pa.array(range(len(values) - 1, -1, -1)))
    place = table.schema.get_field_index(column)
    parquet.write_table(table.set_column(place, column, changed), path)
    sign_again(tmp_path / "q")
    with pytest.raises(StorageError, match="not those of the steps"):
        load_queries(tmp_path / "q", "test")


def test_a_manifest_with_other_counts_than_the_graph_is_refused(
    folder: Path, tmp_path: Path
) -> None:
    shutil.copytree(folder, tmp_path / "q")
    path = tmp_path / "q" / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"entities": 10**6}))
    sign_again(tmp_path / "q")
    with pytest.raises(StorageError, match="other numbers of entities and relations than"):
        check_graph(tmp_path / "q", ATLAS)
