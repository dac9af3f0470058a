"""The JSON of the NQE paper: what is written can be read again; every wrong line is an error."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers import files
from hypothesis import assume, given
from hypothesis import strategies as st

import nqe
from nqe.errors import InputError, NqeError, StorageError
from nqe.graph import Dataset, Fact
from nqe.graph.ragged import Ragged
from nqe.query import SHAPES, execute
from nqe.query.plan import Op, Plan, PlanBuilder
from nqe.query.shapes import Shape, parse_shape
from nqe.query.step_table import StepTable
from nqe.sampling import Walker
from nqe.sampling.exchange import read_nqe_json, write_nqe_json
from nqe.sampling.query_table import QueryTable
from nqe.sampling.signature import signature_of

ATLAS = nqe.demo_dataset()
VOCABULARY = ATLAS.vocabulary
shapes = st.recursive(
    st.just(Shape("P")),
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=2).map(lambda one: Shape("P", tuple(one))),
        inner.map(lambda one: Shape("Not", (one,))),
        st.builds(
            Shape,
            st.sampled_from(["And", "Or"]),
            st.lists(inner, min_size=2, max_size=3).map(tuple),
        ),
    ),
    max_leaves=6,
)


def table_of(plans: list[Plan], hard: int = 0) -> QueryTable:
    """Build queries with their answers over atlas, of which the first `hard` count as hard."""
    answers = [execute(plan, ATLAS).answers for plan in plans]
    easy = Ragged.of([one[hard:] for one in answers])
    rest = Ragged.of([one[:hard] for one in answers])
    names = tuple(plan.shape_name for plan in plans)
    return QueryTable.of(names, StepTable.of(plans), easy, rest, missing=1)


def draw(shape: str | Shape, count: int = 1, match: str = "closed") -> list[Plan]:
    walker = Walker(ATLAS.graph, match)
    tree = parse_shape(shape) if isinstance(shape, str) else shape
    plans = [walker.draw(tree, np.random.default_rng(seed)) for seed in range(count)]
    return [plan for plan in plans if plan is not None]


def contents(table: QueryTable) -> list[tuple[Any, ...]]:
    """Return what a table contains, regardless of the order of queries and of their parts."""
    rows = (
        (
            table.shape[i],
            signature_of(table.plans.plan(i)),
            table.easy[i].tolist(),
            table.hard[i].tolist(),
        )
        for i in range(len(table))
    )
    return sorted(rows)


def is_writable(shape: Shape) -> bool:
    """Whether every connective has a projection among its inputs."""
    return all(
        one.word == "P" or any(inner.word == "P" for inner in one.inputs) for one in shape.walk()
    )


@pytest.fixture(scope="module")
def all_shapes() -> dict[str, QueryTable]:
    plans = [plan for name in SHAPES for plan in draw(name, 6)]
    return {"train": table_of(plans), "valid": table_of(plans, 1), "test": table_of(plans, 2)}


def test_queries_of_all_shapes_are_read_as_they_were_write_folder(
    tmp_path: Path, all_shapes: dict[str, QueryTable]
) -> None:
    write_nqe_json(all_shapes, VOCABULARY, tmp_path / "out")
    read = read_nqe_json(tmp_path / "out", VOCABULARY)
    assert list(read) == ["train", "valid", "test"]
    for split, table in all_shapes.items():
        assert set(table.shape) == set(SHAPES)
        assert contents(read[split]) == contents(table)
        assert read[split].answer_count.tolist() == [
            len(e) + len(h) for _, _, e, h in _in_order(read[split])
        ]
        assert set(read[split].missing.values.tolist()) <= {-1}


def _in_order(table: QueryTable) -> list[tuple[Any, ...]]:
    return [(0, 0, table.easy[i], table.hard[i]) for i in range(len(table))]


@given(shapes, st.integers(0, 99))
def test_any_tree_is_read_as_it_was_written_or_refused(
    tmp_path_factory: pytest.TempPathFactory, shape: Shape, seed: int
) -> None:
    plan = Walker(ATLAS.graph).draw(shape, np.random.default_rng(seed))
    assume(plan is not None)
    assert plan is not None
    table = table_of([plan], 1)
    folder = tmp_path_factory.getbasetemp() / "tree"
    if is_writable(shape):
        write_nqe_json({"test": table}, VOCABULARY, folder)
        assert contents(read_nqe_json(folder, VOCABULARY)["test"]) == contents(table)
    else:
        with pytest.raises(StorageError, match="without a projection among its inputs"):
            write_nqe_json({"test": table}, VOCABULARY, folder)


def test_the_folder_has_one_file_per_shape_and_split_and_a_vocabulary(tmp_path: Path) -> None:
    table = table_of(draw("1p") + draw("2in"), 1)
    write_nqe_json({"train": table, "valid": table}, VOCABULARY, tmp_path / "out")
    expected = ["1p/train.json", "1p/validation.json", "2in/train.json", "2in/validation.json"]
    found = [path for path in files(tmp_path / "out" / "tasks") if path.endswith("json")]
    assert found == expected
    tokens = (tmp_path / "out" / "vocab.txt").read_text().splitlines()
    assert tokens[:2] == ["[PAD]\t0", "[MASK]\t1"]
    assert len(tokens) == 2 + len({*VOCABULARY.entities.ids, *VOCABULARY.relations.ids})


def test_a_negation_is_written_as_the_paper_does(tmp_path: Path) -> None:
    write_nqe_json({"test": table_of(draw("2in"), 1)}, VOCABULARY, tmp_path / "out")
    [query] = json.loads((tmp_path / "out/tasks/2in/test.json").read_text()).values()
    assert list(query) == ["hrf0", "logic0", "hrf1", "logic1"]
    assert query["logic0"] == {"type": "not", "in_vars": [0]}
    assert query["logic1"] == {"type": "and", "in_vars": [1, 2]}
    assert query["hrf0"]["answers"] == {"easy": [], "hard": []}
    assert query["hrf1"]["N"] == len(query["hrf1"]["hrf"]) - 1


def test_an_open_atom_and_an_unrestricted_variable_are_refused(tmp_path: Path) -> None:
    table = table_of(draw("2i", match="open"))
    with pytest.raises(StorageError, match="the shape 2i has an open atom"):
        write_nqe_json({"train": table}, VOCABULARY, tmp_path / "out")
    builder = PlanBuilder()
    anything = builder.add_connective(Op.ANY, "y", ())
    builder.add_projection("x", 0, (), (None, None), 1, True, ((0, anything),))
    table = table_of([builder.finish()])
    with pytest.raises(StorageError, match=r"the shape P\(Any\(\)\) has a variable without any"):
        write_nqe_json({"train": table}, VOCABULARY, tmp_path / "out")
    assert files(tmp_path) == []


def test_an_unknown_split_and_a_reserved_id_are_refused(tmp_path: Path) -> None:
    with pytest.raises(NqeError, match="unknown split 'dev'"):
        write_nqe_json({"dev": table_of(draw("1p"))}, VOCABULARY, tmp_path / "out")
    odd = Dataset.of({"train": [Fact("VAR", "r", "b")]})
    with pytest.raises(StorageError, match="the id 'VAR'"):
        write_nqe_json({}, odd.vocabulary, tmp_path / "out")


def test_only_an_earlier_export_is_replaced(tmp_path: Path) -> None:
    table = table_of(draw("1p"))
    for _ in range(2):
        write_nqe_json({"train": table}, VOCABULARY, tmp_path / "out")
    (tmp_path / "out" / "mynotes.txt").touch()
    with pytest.raises(StorageError, match=r"would delete mynotes\.txt"):
        write_nqe_json({"train": table}, VOCABULARY, tmp_path / "out")
    other = tmp_path / "other"
    other.mkdir()
    (other / "vocab.txt").write_text("mine")
    with pytest.raises(StorageError, match="holds other files"):
        write_nqe_json({"train": table}, VOCABULARY, other)
    assert files(other) == ["vocab.txt"]


GRAPH = Dataset.of({"train": [Fact("a", "r", "b", (("q", "c"),)), Fact("b", "s", "c")]})
GOOD: dict[str, Any] = {
    "hrf0": {
        "N": 4,
        "hrf": ["a", "r", "VAR", "q", "c"],
        "out_pos": 2,
        "in_pos": [],
        "in_vars": [],
        "answers": {"easy": []},
    },
    "logic0": {"type": "direct", "in_vars": [0]},
    "hrf1": {
        "N": 2,
        "hrf": ["VAR", "s", "VAR"],
        "out_pos": 2,
        "in_pos": [0],
        "in_vars": [1],
        "answers": {"easy": ["c"], "hard": ["a", "b"]},
    },
    "logic1": {"type": "direct", "in_vars": [2]},
}


def write_folder(folder: Path, *lines: str, name: str = "validation.json") -> Path:
    """Write a folder with one task file that has the given lines."""
    path = folder / "tasks" / "2p" / name
    path.parent.mkdir(parents=True)
    path.write_text("".join(line + "\n" for line in lines))
    (folder / "vocab.txt").write_text("[PAD]\n[MASK]\na\nb\nc\nq\nr\ns\n")
    return folder


@pytest.mark.parametrize("name", ["valid.json", "validation.json"])
def test_a_query_is_read(tmp_path: Path, name: str) -> None:
    folder = write_folder(
        tmp_path, json.dumps({"2p_0": GOOD}), "", json.dumps({"x": GOOD}), name=name
    )
    table = read_nqe_json(folder, GRAPH.vocabulary)["valid"]
    assert table.shape == ("2p", "2p")
    assert execute(table.plans.plan(0), GRAPH).ids == ["c"]
    assert (table.easy[0].tolist(), table.hard[0].tolist()) == ([2], [0, 1])
    assert all(step.closed for step in table.plans.plan(0).steps)


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("hrf0.hrf.0", "z", "hrf0 has 'z', which is no entity of the graph; read"),
        ("hrf0.hrf.1", "a", "hrf0 has 'a', which is no relation of the graph; read"),
        ("hrf0.hrf.3", 7, "hrf0 has 7, which is no relation"),
        ("hrf1.answers.hard.0", "z", r"hrf1\.answers\.hard has 'z', which is no entity"),
        ("hrf1.answers.hard.0", "c", "'c' is both an easy and a hard answer; remove"),
        ("hrf1.answers.easy", "c", r"hrf1\.answers\.easy is not a list; write"),
        ("hrf1.answers", None, r"hrf1\.answers is None; write a JSON object"),
        ("hrf0.N", 3, r"hrf0\.N is 3; with 5 tokens it must be 4"),
        ("hrf0.N", "4", r"hrf0\.N is '4'; write a JSON whole number"),
        ("hrf0.hrf", ["a", "r"], "hrf0 has 2 tokens; write"),
        ("hrf0.out_pos", 1, "hrf0 has a variable at position 1, which has no 'VAR';"),
        ("hrf0.out_pos", 0, "hrf0 has a variable at position 0"),
        ("hrf0.out_pos", 8, "hrf0 has a variable at position 8"),
        ("hrf0.out_pos", True, r"hrf0\.out_pos is True; write"),
        ("hrf1.in_pos", [[0]], r"hrf1 has a variable at position \[0\]"),
        ("hrf1.in_pos", [2], "hrf1 has 2 'VAR' for out_pos 2 and in_pos"),
        ("hrf1.in_pos", [], "hrf1 has 0 in_pos for 1 in_vars; give"),
        ("hrf0.hrf.0", "VAR", "hrf0 has 2 'VAR' for out_pos 2"),
        ("hrf1.in_vars", [9], "hrf1 uses the unknown variable 9; variables are 0 to 3"),
        ("hrf1.in_vars", ["1"], "hrf1 uses the unknown variable '1'"),
        ("hrf1.in_vars", [3], "hrf1 uses variable 3 before it is defined, perhaps in a cycle;"),
        ("logic0.in_vars", [1], "logic0 uses variable 1 before it is defined"),
        ("logic1.in_vars", [0], "the result of hrf1 is not used; use"),
        ("logic1", {"type": "and", "in_vars": [1, 2]}, "variable 1 is used twice; give"),
        ("logic1.type", "xor", "logic1 is 'xor' with 1 variables; 'direct'"),
        ("logic1.type", "and", "logic1 is 'and' with 1 variables; 'direct'"),
        ("logic1.in_vars", [], "logic1 is 'direct' with 0 variables; 'direct'"),
        ("logic1.in_vars", 2, r"logic1\.in_vars is 2; write a JSON list"),
        ("logic0", None, "logic0 is missing or not an object; keys"),
        ("hrf7", {}, "hrf2 is missing or not an object; keys"),
    ],
)
def test_an_error_in_a_query_is_reported_with_its_line(
    tmp_path: Path, path: str, value: Any, message: str
) -> None:
    query = deepcopy(GOOD)
    holder: Any = query
    *above, last = path.split(".")
    for key in above:
        holder = holder[key]
    holder[int(last) if isinstance(holder, list) else last] = value
    folder = write_folder(tmp_path, json.dumps({"0": GOOD}), json.dumps({"1": query}))
    with pytest.raises(InputError, match=rf"2p/validation\.json:2: {message}"):
        read_nqe_json(folder, GRAPH.vocabulary)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "not JSON"),
        ("[1]", "not an object; write"),
        ('{"0": 3}', "a query is not an object; write"),
        ('{"0": {}}', "a query is not an object; write"),
        ("[" * 100_000, "not JSON"),
        ('{"0": 1, "0": 2}', r"not JSON \(a key stands twice\)"),
        (f'{{"0": {"9" * 5_000}}}', "not JSON"),
    ],
)
def test_a_line_without_a_query_is_an_error(tmp_path: Path, line: str, message: str) -> None:
    with pytest.raises(InputError, match=rf"validation\.json:1: {message}"):
        read_nqe_json(write_folder(tmp_path, line), GRAPH.vocabulary)


def test_a_folder_without_vocabulary_or_tasks_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"vocab\.txt: no such file; check the path"):
        read_nqe_json(tmp_path, VOCABULARY)
    (tmp_path / "vocab.txt").write_text("[PAD]\t0\n[MASK]\tone\n")
    with pytest.raises(InputError, match=r"vocab\.txt:2: not a token and its number"):
        read_nqe_json(tmp_path, VOCABULARY)
    (tmp_path / "vocab.txt").write_text("[PAD]\n")
    with pytest.raises(InputError, match=r"the token \[MASK\] is missing"):
        read_nqe_json(tmp_path, VOCABULARY)
    (tmp_path / "vocab.txt").write_text("[PAD]\n[MASK]\n")
    with pytest.raises(InputError, match=r"no tasks/SHAPE/train\.json"):
        read_nqe_json(tmp_path, VOCABULARY)


def test_two_files_of_one_split_are_refused(tmp_path: Path) -> None:
    folder = write_folder(tmp_path, json.dumps({"0": GOOD}))
    (folder / "tasks/2p/valid.json").write_text("")
    with pytest.raises(InputError, match=r"validation\.json exists as well; keep one"):
        read_nqe_json(folder, GRAPH.vocabulary)
