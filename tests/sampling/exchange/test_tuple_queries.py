"""Nested-tuple queries: Query2Box's real files and BetaE's form, checked by the exact engine."""

from __future__ import annotations

import pickle
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nqe.errors import InputError, StorageError
from nqe.graph import Dataset, Fact
from nqe.graph.ragged import Ragged
from nqe.query import execute
from nqe.query.shapes import SHAPES, parse_shape
from nqe.query.step_table import StepTable
from nqe.sampling import Walker
from nqe.sampling.exchange import read_nested, safe_pickle, with_missing_links, write_nested
from nqe.sampling.exchange.tuple_structures import Misshapen, Structure
from nqe.sampling.query_table import QueryTable
from nqe.sampling.signature import signature_of

Read = tuple[Dataset, dict[str, QueryTable]]
QUERY2BOX = "queries/query2box-fb15k-237"
POSITIVE_BINARY = {"1p", "2p", "3p", "2i", "3i", "ip", "pi", "2u", "up"}
BINARY = tuple(name for name in SHAPES if not name.endswith("cp"))


def answers(dataset: Dataset, split: str, table: QueryTable, row: int) -> tuple[set[int], set[int]]:
    """The easy and hard answers of a query by the exact engine, one query at a time."""
    every = set(execute(table.plans.plan(row), dataset.full_for(split)).answers.tolist())
    before = set(execute(table.plans.plan(row), dataset.known_for(split)).answers.tolist())
    return every & before, every - before


def told(table: QueryTable, row: int) -> tuple[set[int], set[int]]:
    return set(table.easy[row].tolist()), set(table.hard[row].tolist())


@pytest.fixture(scope="module")
def read(shared_data: Path) -> Read:
    return read_nested(shared_data / QUERY2BOX)


class TestQuery2Box:
    def test_the_graph_is_rebuilt_without_reverse_relations(self, read: Read) -> None:
        dataset, _ = read
        sizes = {split: len(facts) for split, facts in dataset.splits.items()}
        # FB15k-237 without the facts of entities that train does not have.
        assert sizes == {"train": 272_115, "valid": 17_526, "test": 20_438}
        assert len(dataset.graph) == sum(sizes.values())
        assert len(dataset.vocabulary.relations) == 237
        assert not any(name.endswith("_reverse") for name in dataset.vocabulary.relations.ids)

    def test_every_query_is_read(self, read: Read) -> None:
        _, tables = read
        assert {split: len(table) for split, table in tables.items()} == {
            "train": 149_689,
            "valid": 60_101,
            "test": 62_812,
        }
        assert set(tables["train"].shape) == {"1p"}
        assert set(tables["valid"].shape) == set(tables["test"].shape) == POSITIVE_BINARY

    @pytest.mark.parametrize("split", ["train", "valid", "test"])
    def test_the_exact_engine_finds_the_same_answers(self, read: Read, split: str) -> None:
        dataset, tables = read
        table = tables[split]
        by_shape = np.array(table.shape)
        full, known = dataset.full_for(split), dataset.known_for(split)
        for shape in dict.fromkeys(table.shape):
            rows = np.flatnonzero(by_shape == shape)
            for row in rows[:: len(rows) // 30].tolist():
                plan = table.plans.plan(row)
                every = set(execute(plan, full).answers.tolist())
                before = set(execute(plan, known).answers.tolist())
                easy, hard = told(table, row)
                assert hard == every - before
                assert easy == every & before or self._left_out(dataset, split, table, row)

    @staticmethod
    def _left_out(dataset: Dataset, split: str, table: QueryTable, row: int) -> bool:
        """Their one slip: of what train has no answer to, a test query lacks the valid ones."""
        in_train = execute(table.plans.plan(row), dataset.known("train"))
        return split == "test" and table.shape[row] == "1p" and not len(in_train)

    def test_the_answers_that_no_file_tells_are_found(self, read: Read, shared_data: Path) -> None:
        assert not (shared_data / QUERY2BOX / "test_ans_ic.pkl").exists()
        _, tables = read
        rows = np.flatnonzero(np.array(tables["test"].shape) == "ip")
        assert len(rows) == 5_000
        assert tables["test"].easy.lengths[rows].sum() > 0


@pytest.fixture(scope="module")
def one_fact() -> dict[str, Any]:
    """The files of a folder in Query2Box's form with few facts."""
    return {
        "ind2ent": {0: "b", 1: "a", 2: "c", 3: "d"},
        "ind2rel": {0: "r", 1: "r_reverse"},
        "train_triples_1c": [((1, (0,), 0), "1-chain"), ((0, (1,), 0), "1-chain")],
        "train_ans_1c": {((1, (0,)),): {0}, ((0, (1,)),): {1}},
        "valid_triples_1c": [((0, (0,), 0), "1-chain")],
        "valid_ans_1c": {((0, (0,)),): {2}},
        "valid_ans_1c_hard": {((0, (0,)),): {2}},
        "valid_triples_2c": [((1, (0, 0), 0), "2-chain")],
    }


def dumped(folder: Path, files: dict[str, Any]) -> Path:
    """A folder of safe_pickle."""
    folder.mkdir()
    for name, content in files.items():
        (folder / f"{name}.pkl").write_bytes(pickle.dumps(content, 2))
    return folder


class TestSmallQuery2Box:
    def test_reverse_relations_ask_the_subject(self, tmp_path: Path, one_fact: Any) -> None:
        dataset, tables = read_nested(dumped(tmp_path / "in", one_fact))
        assert list(dataset.split("train")) == [Fact("a", "r", "b")]
        assert list(dataset.split("valid")) == [Fact("b", "r", "c")]
        assert [tables["train"].plans.plan(row).target.asked for row in (0, 1)] == [1, 0]
        assert not any(step.closed for step in tables["train"].plans.plan(0).steps)

    def test_answers_of_absent_files_are_computed(self, tmp_path: Path, one_fact: Any) -> None:
        dataset, tables = read_nested(dumped(tmp_path / "in", one_fact))
        valid = tables["valid"]
        assert valid.shape == ("1p", "2p")
        assert told(valid, 1) == answers(dataset, "valid", valid, 1) == (set(), {2})

    def test_missing_links_are_unknown_until_asked_for(self, tmp_path: Path, one_fact: Any) -> None:
        dataset, tables = read_nested(dumped(tmp_path / "in", one_fact))
        assert tables["valid"].missing.values.tolist() == [-1, -1]
        assert with_missing_links(dataset, tables)["valid"].missing.values.tolist() == [1, 1]

    @pytest.mark.parametrize(
        ("name", "content", "where"),
        [
            ("ind2ent", {1: "a"}, "ind2ent.pkl: not a dict of entity ids by numbers from 0"),
            ("ind2ent", {0: "a", 1: "a"}, "ind2ent.pkl: two numbers have the same entity id"),
            ("ind2ent", {0: "a\n"}, "ind2ent.pkl: entity id"),
            ("ind2ent", {0: 3}, "ind2ent.pkl: not a dict of entity ids"),
            ("ind2rel", ["r"], "ind2rel.pkl: holds no dict"),
            ("ind2rel", {0: "_reverse"}, "ind2rel.pkl: an empty relation id"),
            ("train_ans_1c", {((1, (0,)),): {0}}, "train_ans_1c.pkl: no answers to"),
            ("train_ans_1c", {((1, (0,)),): {9}, ((0, (1,)),): {1}}, "an answer to one of its"),
            ("train_ans_1c", {((1, (0,)),): {"b"}, ((0, (1,)),): {1}}, "an answer to one of its"),
            ("train_triples_1c", {}, "train_triples_1c.pkl: holds no list"),
            ("train_triples_1c", [3], "train_triples_1c.pkl: a query is not of Query2Box's form"),
            ("valid_triples_2c", [((1, (0,), 0), "x")], "is not of the structure"),
            ("valid_triples_2c", [((1, (0, 7), 0), "x")], "has 7 where 'r' stands"),
            ("valid_triples_2c", [((1, (0, "r"), 0), "x")], "'r' stands where a query has a num"),
            ("valid_triples_2i", [((1, (0,)), 0, "x")], "is not of the structure"),
        ],
    )
    def test_a_wrong_file_is_told(
        self, tmp_path: Path, one_fact: Any, name: str, content: Any, where: str
    ) -> None:
        folder = dumped(tmp_path / "in", one_fact | {name: content})
        with pytest.raises(InputError) as error:
            read_nested(folder)
        assert where in str(error.value)
        assert "; " in str(error.value)
        assert str(folder) in str(error.value)

    def test_a_folder_without_training_queries_or_of_another_kind_is_told(
        self, tmp_path: Path, one_fact: Any
    ) -> None:
        with pytest.raises(InputError, match=r"neither ind2ent\.pkl"):
            read_nested(tmp_path)
        folder = dumped(tmp_path / "in", one_fact)
        (folder / "train_triples_1c.pkl").unlink()
        with pytest.raises(InputError, match="no one-hop training queries"):
            read_nested(folder)
        for path in folder.glob("*triples*"):
            path.unlink()
        with pytest.raises(InputError, match="there are no queries in it"):
            read_nested(folder)


ONE = ("e", ("r",))
STRUCTURES = {
    ONE: "1p",
    ("e", ("r", "r", "r")): "3p",
    (ONE, ONE, ONE): "3i",
    ((ONE, ONE), ("r",)): "ip",
    (("e", ("r", "r")), ONE): "pi",
    (ONE, ("e", ("r", "n"))): "2in",
    (ONE, ONE, ("e", ("r", "n"))): "3in",
    ((ONE, ("e", ("r", "n"))), ("r",)): "inp",
    (("e", ("r", "r")), ("e", ("r", "n"))): "pin",
    (("e", ("r", "r", "n")), ONE): "pni",
    (ONE, ONE, ("u",)): "2u",
    ((ONE, ONE, ("u",)), ("r",)): "up",
    ((("e", ("r", "n")), ("e", ("r", "n"))), ("n",)): "Not(And(Not(P()), Not(P())))",
    ((("e", ("r", "n")), ("e", ("r", "n"))), ("n", "r")): "P(Not(And(Not(P()), Not(P()))))",
}


class TestStructures:
    @pytest.mark.parametrize(("form", "shape"), STRUCTURES.items())
    def test_each_structure_has_its_shape(self, form: Any, shape: str) -> None:
        assert Structure.of(form).shape_name == shape

    @pytest.mark.parametrize(
        "form",
        ["e", ("e",), ("e", ("n",)), ("e", ()), ("e", ("r", "u")), (ONE, ("u",)), (ONE,), ("x", 1)],
    )
    def test_a_structure_without_meaning_is_refused(self, form: Any) -> None:
        with pytest.raises(Misshapen):
            Structure.of(form)


def small_dataset(seed: int, entities: int = 8) -> Dataset:
    """Random triples in three splits."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, entities, (40, 2)).tolist()
    relations = rng.integers(0, 3, 40).tolist()
    facts = [Fact(f"e{s}", f"r{r}", f"e{o}") for (s, o), r in zip(rows, relations, strict=True)]
    return Dataset.of({"train": facts[:28], "valid": facts[28:34], "test": facts[34:]})


def table_of(dataset: Dataset, split: str, shapes: tuple[str, ...], match: str) -> QueryTable:
    """A query or two of each shape with its answers."""
    walker = Walker(dataset.full_for(split), match)
    drawn = (walker.draw(parse_shape(s), np.random.default_rng(i)) for s in shapes for i in (1, 2))
    plans = [plan for plan in drawn if plan is not None]
    names = tuple(plan.shape_name for plan in plans)
    table = QueryTable.of(names, StepTable.of(plans), Ragged.empty(len(plans)))
    found = [answers(dataset, split, table, row) for row in range(len(plans))]
    easy, hard = (
        Ragged.of([np.array(sorted(one[side]), dtype=np.int64) for one in found]) for side in (0, 1)
    )
    return table.with_answers(easy, hard, missing=1)


def contents(table: QueryTable) -> set[tuple[Any, ...]]:
    """What a table says; atoms are told apart by no match, as triples are."""
    plans = replace(table.plans, closed=np.zeros_like(table.plans.closed))
    open_table = replace(table, plans=plans)
    return {
        (
            open_table.shape[row],
            signature_of(open_table.plans.plan(row)),
            *(tuple(sorted(one)) for one in told(table, row)),
        )
        for row in range(len(table))
    }


class TestBetaE:
    @settings(max_examples=30)
    @given(st.integers(0, 30), st.sampled_from(["open", "closed"]))
    def test_what_is_written_is_read_again(
        self, tmp_path_factory: pytest.TempPathFactory, seed: int, match: str
    ) -> None:
        folder = tmp_path_factory.getbasetemp() / "betae"
        dataset = small_dataset(seed)
        trees = (*BINARY, "Or(And(P(), P(P())), Not(P(Or(P(), P()))))", "Not(Not(P()))")
        splits = ("train", "valid", "test")
        tables = {split: table_of(dataset, split, trees, match) for split in splits}
        write_nested(dataset, tables, folder)
        again, read = read_nested(folder)
        for split in splits:
            assert contents(read[split]) == contents(tables[split])
            assert set(again.split(split)) == set(dataset.split(split))

    def test_the_structures_are_those_its_tools_know(self, tmp_path: Path) -> None:
        dataset = small_dataset(3)
        table = table_of(dataset, "train", BINARY, "open")
        write_nested(dataset, {"train": table}, tmp_path / "out")
        queries = safe_pickle.load(tmp_path / "out" / "train-queries.pkl")
        names = {STRUCTURES.get(form, Structure.of(form).shape_name) for form in queries}
        assert names == set(table.shape)
        assert {form for form, name in STRUCTURES.items() if name in names} <= set(queries)

    def test_the_graph_is_rebuilt_where_no_file_has_it(self, tmp_path: Path) -> None:
        """One-hop queries about every slot of every fact tell the whole graph."""
        dataset = small_dataset(5)
        folder = tmp_path / "out"
        write_nested(dataset, {}, folder)
        edges: dict[str, dict[Any, set[int]]] = {}
        for split in dataset.splits:
            edges[split] = {}
            for line in (folder / f"{split}.txt").read_text().splitlines():
                head, relation, tail = map(int, line.split())
                edges[split].setdefault((head, (relation,)), set()).add(tail)
            (folder / f"{split}.txt").unlink()
        files = {"train-queries": {ONE: set(edges["train"])}, "train-answers": edges["train"]}
        for split in ("valid", "test"):
            keys = edges[split]
            files[f"{split}-queries"] = {ONE: set(keys)}
            files[f"{split}-easy-answers"] = {key: set() for key in keys}
            files[f"{split}-hard-answers"] = edges[split]
        for name, content in files.items():
            (folder / f"{name}.pkl").write_bytes(pickle.dumps(content, 2))
        again, _ = read_nested(folder)
        known: set[Fact] = set()
        for split in dataset.splits:
            assert set(again.split(split)) == set(dataset.split(split)) - known
            known |= set(dataset.split(split))

    def test_names_of_both_kinds_of_reverse_relations_are_understood(self, tmp_path: Path) -> None:
        dataset = small_dataset(7)
        write_nested(
            dataset, {"train": table_of(dataset, "train", ("2p",), "open")}, tmp_path / "a"
        )
        shutil.copytree(tmp_path / "a", tmp_path / "b")
        signed = safe_pickle.load(tmp_path / "b" / "id2rel.pkl")
        plain = {n: x[1:] + ("_reverse" if x[0] == "-" else "") for n, x in signed.items()}
        (tmp_path / "b" / "id2rel.pkl").write_bytes(pickle.dumps(plain))
        assert read_nested(tmp_path / "a")[0] == read_nested(tmp_path / "b")[0]

    def test_only_builtin_containers_are_written(self, tmp_path: Path) -> None:
        dataset = small_dataset(1)
        table = table_of(dataset, "valid", BINARY, "open")
        write_nested(dataset, {"valid": table}, tmp_path / "out")
        found = sorted((tmp_path / "out").glob("*.pkl"))
        assert len(found) == 7
        for path in found:
            assert path.read_bytes()[:2] == b"\x80\x02"
            assert isinstance(safe_pickle.load(path), dict)

    def test_atoms_with_qualifiers_are_refused(self, tmp_path: Path) -> None:
        dataset = Dataset.of({"train": [Fact("a", "r", "b", (("q", "c"),)), Fact("b", "r", "d")]})
        walker = Walker(dataset.graph, "closed", draw_by="fact")
        shape, rng = parse_shape("1p"), np.random.default_rng(0)
        plans = [walker.draw(shape, rng) for _ in range(20)]
        by_length = {len(plan.target.slots): plan for plan in plans if plan is not None}
        for length, reason in ((3, "an atom with qualifiers"), (2, "a closed atom over a graph")):
            plans = StepTable.of([by_length[length]])
            table = QueryTable.of(("1p",), plans, Ragged.empty(1))
            with pytest.raises(StorageError, match=f"the shape 1p has {reason}"):
                write_nested(dataset, {"train": table}, tmp_path / "out")
        assert list(tmp_path.iterdir()) == []

    def test_a_bad_line_of_triples_is_told(self, tmp_path: Path) -> None:
        dataset = small_dataset(2)
        folder = tmp_path / "out"
        write_nested(dataset, {"train": table_of(dataset, "train", ("1p",), "open")}, folder)
        for line, reason in (("1\t2", "not three numbers"), ("1\t99\t2", "a number has no name")):
            (folder / "valid.txt").write_text(f"0\t0\t0\n{line}\n")
            with pytest.raises(InputError, match=rf"valid\.txt:2: {reason}"):
                read_nested(folder)
