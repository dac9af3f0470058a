"""Nested-tuple queries: the files of Query2Box and BetaE, compared with the exact engine."""

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
from nqe.readers.source import LONGEST_LINE
from nqe.sampling import Walker
from nqe.sampling.exchange import add_missing_links, read_tuple_queries, safe_pickle, write_betae
from nqe.sampling.exchange.tuple_structures import MalformedTuple, Structure
from nqe.sampling.query_table import QueryTable
from nqe.sampling.signature import signature_of

Read = tuple[Dataset, dict[str, QueryTable]]
QUERY2BOX = "queries/query2box-fb15k-237"
POSITIVE_BINARY = {"1p", "2p", "3p", "2i", "3i", "ip", "pi", "2u", "up"}
BINARY = tuple(name for name in SHAPES if not name.endswith("cp"))


def answers(dataset: Dataset, split: str, table: QueryTable, row: int) -> tuple[set[int], set[int]]:
    """Compute the easy and the hard answers of a query by the exact engine."""
    every = set(execute(table.plans.plan(row), dataset.full_for(split)).answers.tolist())
    before = set(execute(table.plans.plan(row), dataset.known_for(split)).answers.tolist())
    return every & before, every - before


def answers_in(table: QueryTable, row: int) -> tuple[set[int], set[int]]:
    return set(table.easy[row].tolist()), set(table.hard[row].tolist())


@pytest.fixture(scope="module")
def read(shared_data: Path) -> Read:
    return read_tuple_queries(shared_data / QUERY2BOX)


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
                easy, hard = answers_in(table, row)
                assert hard == every - before
                assert easy == every & before or self._left_out(dataset, split, table, row)

    @staticmethod
    def _left_out(dataset: Dataset, split: str, table: QueryTable, row: int) -> bool:
        """A known error in the files: if train has no answer, a test query lacks those of valid."""
        in_train = execute(table.plans.plan(row), dataset.known("train"))
        return split == "test" and table.shape[row] == "1p" and not len(in_train)

    def test_the_answers_that_no_file_contains_are_computed(
        self, read: Read, shared_data: Path
    ) -> None:
        assert not (shared_data / QUERY2BOX / "test_ans_ic.pkl").exists()
        _, tables = read
        rows = np.flatnonzero(np.array(tables["test"].shape) == "ip")
        assert len(rows) == 5_000
        assert tables["test"].easy.lengths[rows].sum() > 0


@pytest.fixture(scope="module")
def two_facts() -> dict[str, Any]:
    """The files of a folder of Query2Box with two facts."""
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


def write_pickles(folder: Path, files: dict[str, Any]) -> Path:
    """Write a folder of pickles."""
    folder.mkdir()
    for name, content in files.items():
        (folder / f"{name}.pkl").write_bytes(pickle.dumps(content, 2))
    return folder


class TestSmallQuery2Box:
    def test_reverse_relations_ask_for_the_subject(self, tmp_path: Path, two_facts: Any) -> None:
        dataset, tables = read_tuple_queries(write_pickles(tmp_path / "in", two_facts))
        assert list(dataset.split("train")) == [Fact("a", "r", "b")]
        assert list(dataset.split("valid")) == [Fact("b", "r", "c")]
        assert [tables["train"].plans.plan(row).target.asked for row in (0, 1)] == [1, 0]
        assert not any(step.closed for step in tables["train"].plans.plan(0).steps)

    def test_answers_of_missing_files_are_computed(self, tmp_path: Path, two_facts: Any) -> None:
        dataset, tables = read_tuple_queries(write_pickles(tmp_path / "in", two_facts))
        valid = tables["valid"]
        assert valid.shape == ("1p", "2p")
        assert answers_in(valid, 1) == answers(dataset, "valid", valid, 1) == (set(), {2})

    def test_missing_links_are_unknown_until_they_are_counted(
        self, tmp_path: Path, two_facts: Any
    ) -> None:
        dataset, tables = read_tuple_queries(write_pickles(tmp_path / "in", two_facts))
        assert tables["valid"].missing.values.tolist() == [-1, -1]
        assert add_missing_links(dataset, tables)["valid"].missing.values.tolist() == [1, 1]

    @pytest.mark.parametrize(
        ("name", "content", "where"),
        [
            ("ind2ent", {1: "a"}, "ind2ent.pkl: not a dict of entity ids by numbers from 0"),
            ("ind2ent", {0: "a", 1: "a"}, "ind2ent.pkl: two numbers have the same entity id"),
            ("ind2ent", {0: "a\n"}, "ind2ent.pkl: entity id"),
            ("ind2ent", {0: 3}, "ind2ent.pkl: not a dict of entity ids"),
            ("ind2rel", ["r"], "ind2rel.pkl: contains no dict"),
            ("ind2rel", {0: "_reverse"}, "ind2rel.pkl: an empty relation id"),
            ("train_ans_1c", {((1, (0,)),): {0}}, "train_ans_1c.pkl: no answers to"),
            ("train_ans_1c", {((1, (0,)),): {9}, ((0, (1,)),): {1}}, "an answer to one of its"),
            ("train_ans_1c", {((1, (0,)),): {"b"}, ((0, (1,)),): {1}}, "an answer to one of its"),
            ("train_triples_1c", {}, "train_triples_1c.pkl: contains no list"),
            ("train_triples_1c", [3], "train_triples_1c.pkl: a query does not have Query2Box's"),
            ("valid_triples_2c", [((1, (0,), 0), "x")], "does not have the structure"),
            ("valid_triples_2c", [((1, (0, 7), 0), "x")], "has 7 in place of 'r'"),
            ("valid_triples_2c", [((1, (0, "r"), 0), "x")], "a query has 'r' in place of a num"),
            ("valid_triples_2i", [((1, (0,)), 0, "x")], "does not have the structure"),
        ],
    )
    def test_a_wrong_file_is_an_error(
        self, tmp_path: Path, two_facts: Any, name: str, content: Any, where: str
    ) -> None:
        folder = write_pickles(tmp_path / "in", two_facts | {name: content})
        with pytest.raises(InputError) as error:
            read_tuple_queries(folder)
        assert where in str(error.value)
        assert "; " in str(error.value)
        assert str(folder) in str(error.value)

    def test_a_folder_without_training_queries_or_of_another_kind_is_an_error(
        self, tmp_path: Path, two_facts: Any
    ) -> None:
        with pytest.raises(InputError, match=r"neither ind2ent\.pkl"):
            read_tuple_queries(tmp_path)
        folder = write_pickles(tmp_path / "in", two_facts)
        (folder / "train_triples_1c.pkl").unlink()
        with pytest.raises(InputError, match="no one-hop training queries"):
            read_tuple_queries(folder)
        for path in folder.glob("*triples*"):
            path.unlink()
        with pytest.raises(InputError, match="contains no queries"):
            read_tuple_queries(folder)


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
        with pytest.raises(MalformedTuple):
            Structure.of(form)


def small_dataset(seed: int, entities: int = 8) -> Dataset:
    """Build random triples in three splits."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, entities, (40, 2)).tolist()
    relations = rng.integers(0, 3, 40).tolist()
    facts = [Fact(f"e{s}", f"r{r}", f"e{o}") for (s, o), r in zip(rows, relations, strict=True)]
    return Dataset.of({"train": facts[:28], "valid": facts[28:34], "test": facts[34:]})


def table_of(dataset: Dataset, split: str, shapes: tuple[str, ...], match: str) -> QueryTable:
    """Draw up to two queries of each shape, with their answers."""
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
    """Return what a table contains; open and closed atoms count as the same."""
    plans = replace(table.plans, closed=np.zeros_like(table.plans.closed))
    open_table = replace(table, plans=plans)
    return {
        (
            open_table.shape[row],
            signature_of(open_table.plans.plan(row)),
            *(tuple(sorted(one)) for one in answers_in(table, row)),
        )
        for row in range(len(table))
    }


def nest(depth: int) -> Any:
    """A tuple of that depth."""
    return (nest(depth - 1),) if depth else 1


class TestBetaE:
    @settings(max_examples=30)
    @given(st.integers(0, 30), st.sampled_from(["open", "closed"]))
    def test_what_is_written_can_be_read_again(
        self, tmp_path_factory: pytest.TempPathFactory, seed: int, match: str
    ) -> None:
        folder = tmp_path_factory.getbasetemp() / "betae"
        dataset = small_dataset(seed)
        trees = (*BINARY, "Or(And(P(), P(P())), Not(P(Or(P(), P()))))", "Not(Not(P()))")
        splits = ("train", "valid", "test")
        tables = {split: table_of(dataset, split, trees, match) for split in splits}
        write_betae(dataset, tables, folder)
        again, read = read_tuple_queries(folder)
        for split in splits:
            assert contents(read[split]) == contents(tables[split])
            assert set(again.split(split)) == set(dataset.split(split))

    def test_the_structures_are_those_of_betae(self, tmp_path: Path) -> None:
        dataset = small_dataset(3)
        table = table_of(dataset, "train", BINARY, "open")
        write_betae(dataset, {"train": table}, tmp_path / "out")
        queries = safe_pickle.load(tmp_path / "out" / "train-queries.pkl")
        names = {STRUCTURES.get(form, Structure.of(form).shape_name) for form in queries}
        assert names == set(table.shape)
        assert {form for form, name in STRUCTURES.items() if name in names} <= set(queries)

    def test_the_graph_is_rebuilt_if_no_file_contains_it(self, tmp_path: Path) -> None:
        """One-hop queries about every slot of every fact determine the whole graph."""
        dataset = small_dataset(5)
        folder = tmp_path / "out"
        write_betae(dataset, {}, folder)
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
        again, _ = read_tuple_queries(folder)
        known: set[Fact] = set()
        for split in dataset.splits:
            assert set(again.split(split)) == set(dataset.split(split)) - known
            known |= set(dataset.split(split))

    def test_both_notations_of_reverse_relations_are_understood(self, tmp_path: Path) -> None:
        dataset = small_dataset(7)
        write_betae(dataset, {"train": table_of(dataset, "train", ("2p",), "open")}, tmp_path / "a")
        shutil.copytree(tmp_path / "a", tmp_path / "b")
        signed = safe_pickle.load(tmp_path / "b" / "id2rel.pkl")
        plain = {n: x[1:] + ("_reverse" if x[0] == "-" else "") for n, x in signed.items()}
        (tmp_path / "b" / "id2rel.pkl").write_bytes(pickle.dumps(plain))
        assert read_tuple_queries(tmp_path / "a")[0] == read_tuple_queries(tmp_path / "b")[0]

    def test_only_built_in_containers_are_written(self, tmp_path: Path) -> None:
        dataset = small_dataset(1)
        table = table_of(dataset, "valid", BINARY, "open")
        write_betae(dataset, {"valid": table}, tmp_path / "out")
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
                write_betae(dataset, {"train": table}, tmp_path / "out")
        assert list(tmp_path.iterdir()) == []

    def test_a_bad_line_of_triples_is_an_error(self, tmp_path: Path) -> None:
        dataset = small_dataset(2)
        folder = tmp_path / "out"
        write_betae(dataset, {"train": table_of(dataset, "train", ("1p",), "open")}, folder)
        for line, reason in (("1\t2", "not three numbers"), ("1\t99\t2", "a number has no name")):
            (folder / "valid.txt").write_text(f"0\t0\t0\n{line}\n")
            with pytest.raises(InputError, match=rf"valid\.txt:2: {reason}"):
                read_tuple_queries(folder)

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"train-queries": {(): set()}}, r"the structure \(\) has no meaning"),
            ({"train-queries": {((),): set()}}, "the structure .* has no meaning"),
            ({"train-queries": {nest(200): set()}}, "would grow too large .*100 deep"),
            ({"train-queries": {ONE: {nest(200)}}}, "would grow too large .*100 deep"),
            ({"train-queries": {nest(90): {nest(90)}}}, "has letters besides e, r, n and u"),
            ({"train-queries": {ONE: {(10**5_000, (0,))}}}, "no answers to a tuple that is too"),
            ({"train-queries": {ONE: 7}}, "the queries of a structure are not a set"),
            ({"train-queries": {ONE: {(0, (0,)), "x"}}}, "queries of one structure differ"),
            ({"train-answers": {(0, (0,)): [10**5_000]}}, "is not the number of an entity"),
            ({"train-answers": {(0, (0,)): [[1], 2]}}, "is not the number of an entity"),
            ({"train-answers": {(0, (0,)): None}}, "no answers to"),
            ({"id2ent": {0: None, 1: "b"}}, "not a dict of entity ids by numbers from 0"),
            ({"id2ent": {0: "\ud800", 1: "b"}}, "entity id .* has a line break"),
        ],
    )
    def test_hostile_content_is_an_error(
        self, tmp_path: Path, change: dict[str, Any], message: str
    ) -> None:
        files: dict[str, Any] = {
            "id2ent": {0: "a", 1: "b"},
            "id2rel": {0: "r"},
            "train-queries": {ONE: {(0, (0,))}},
            "train-answers": {(0, (0,)): {1}},
        }
        assert len(read_tuple_queries(write_pickles(tmp_path / "good", files))[0].graph) == 1
        with pytest.raises(InputError, match=message):
            read_tuple_queries(write_pickles(tmp_path / "bad", files | change))

    def test_triples_with_too_many_digits_or_of_zeros_are_an_error(self, tmp_path: Path) -> None:
        dataset = small_dataset(1)
        table = table_of(dataset, "train", ("1p",), "open")
        write_betae(dataset, {"train": table}, tmp_path / "out")
        (tmp_path / "out" / "train.txt").write_text(f"0\t0\t{'9' * 5_000}\n")
        with pytest.raises(InputError, match=r"train\.txt:1: a number has no name"):
            read_tuple_queries(tmp_path / "out")
        (tmp_path / "out" / "train.txt").write_bytes(bytes(LONGEST_LINE + 1))
        with pytest.raises(InputError, match=r"train\.txt:1: a line of more than 16 MB"):
            read_tuple_queries(tmp_path / "out")
