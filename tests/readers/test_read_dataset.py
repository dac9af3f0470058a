"""Reading whole data sets: the files of each split, limits, bad lines, saved graphs."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers import ReadContent

from nqe.errors import InputError
from nqe.graph import Dataset, Fact
from nqe.readers import BadLines, read
from nqe.readers.read_dataset import detect_split


def fill(folder: Path, **files: str) -> Path:
    """A folder with these files; a dot in a name is written as two underscores."""
    folder.mkdir(exist_ok=True)
    for name, content in files.items():
        (folder / name.replace("__", ".")).write_text(content)
    return folder


@pytest.mark.parametrize(
    ("name", "split"),
    [
        ("train.txt", "train"),
        ("valid.txt.gz", "valid"),
        ("validation.csv", "valid"),
        ("n-ary_dev.json", "valid"),
        ("test-00000-of-00002.parquet", "test"),
        ("wd50k_test.txt", "test"),
        ("facts.txt", None),
        ("latest.txt", None),
        ("train_test.txt", None),
        ("labels.tsv", None),
    ],
)
def test_a_file_name_names_its_split(name: str, split: str | None) -> None:
    assert detect_split(name) == split


def test_a_folder_has_the_splits_its_files_are_named_after(tmp_path: Path) -> None:
    folder = fill(
        tmp_path / "data", train__txt="a,r,b\n", dev__txt="b,r,c\n", test__txt="c,r,d\n", x__md="?"
    )
    dataset = read(folder)
    assert {name: len(facts) for name, facts in dataset.splits.items()} == {
        "train": 1,
        "valid": 1,
        "test": 1,
    }
    assert list(dataset.splits) == ["train", "valid", "test"]
    assert set(dataset.split("valid")) == {Fact("b", "r", "c")}
    assert len(dataset.vocabulary.entities) == 4


def test_splits_may_be_missing(tmp_path: Path) -> None:
    dataset = read(fill(tmp_path / "data", test__txt="a,r,b\n"))
    assert list(dataset.splits) == ["test"]


def test_several_files_of_one_split_are_read_together(tmp_path: Path) -> None:
    folder = fill(tmp_path / "data", **{"train-0__txt": "a,r,b\n", "train-1__txt": "a,r,c\n"})
    assert len(read(folder).split("train")) == 2


def test_files_are_named_one_by_one_and_without_a_split_in_the_name_are_train(
    tmp_path: Path,
) -> None:
    folder = fill(tmp_path, facts__txt="a,r,b\n", more__txt="c,r,d\n", test__txt="b,r,a\n")
    dataset = read([folder / "test.txt", folder / "facts.txt", folder / "more.txt"])
    assert {name: len(facts) for name, facts in dataset.splits.items()} == {"train": 2, "test": 1}


def test_folders_and_files_go_together(tmp_path: Path) -> None:
    folder = fill(tmp_path / "data", train__txt="a,r,b\n", test__txt="b,r,a\n")
    more = fill(tmp_path, more__txt="a,r,b\nx,r,y\n") / "more.txt"
    dataset = read([folder, more])
    train = dataset.split("train")
    counts = dict(zip(train, train.facts.count.tolist(), strict=True))
    assert counts == {Fact("a", "r", "b"): 2, Fact("x", "r", "y"): 1}


def test_a_folder_without_splits_is_reported(tmp_path: Path) -> None:
    folder = fill(tmp_path / "data", facts__txt="a,r,b\n")
    with pytest.raises(InputError, match="data: no train, valid or test file in the folder; name"):
        read(folder)


# The same facts in two formats.
NARY = "rel\ta\tb\tc\nrel\td\te\n"
STATEMENTS = "a,rel,b,rel_0,c\nd,rel,e\n"


def test_a_split_in_several_formats_asks_which_to_read(tmp_path: Path) -> None:
    folder = fill(tmp_path / "data", train__txt=NARY, train__csv=STATEMENTS)
    message = (
        r"several train files .*: train.csv \(statements\), train.txt \(nary\); choose with --fo"
    )
    with pytest.raises(InputError, match=message):
        read(folder)
    assert read(folder, format="nary") == read(folder, format="statements")


def test_a_format_that_no_file_of_a_split_has_is_reported(tmp_path: Path) -> None:
    folder = fill(tmp_path / "data", train__txt=NARY, train__csv=STATEMENTS)
    with pytest.raises(InputError, match="no table file among train files"):
        read(folder, format="table")
    with pytest.raises(InputError, match="unknown format 'nray'"):
        read(folder, format="nray")


def test_a_limit_is_the_number_of_facts_read_from_each_file(tmp_path: Path) -> None:
    many = "".join(f"a,r,b{i}\n" for i in range(9))
    folder = fill(tmp_path / "data", train__txt=many, test__txt=many)
    dataset = read(folder, limit=4)
    assert {name: len(facts) for name, facts in dataset.splits.items()} == {"train": 4, "test": 4}
    assert set(dataset.split("train")) == {Fact("a", "r", f"b{i}") for i in range(4)}


def test_a_limit_stops_before_what_is_bad_after_it(read_content: ReadContent) -> None:
    assert len(read_content("a,r,b\na,r,c\na,r\n", limit=2).graph) == 2


def test_bad_lines_do_not_count_for_the_limit(read_content: ReadContent) -> None:
    bad = BadLines(skip=True)
    assert len(read_content("a,r,b\na,r\na,r,c\na,r,d\n", limit=2, bad=bad).graph) == 2
    assert bad.count == 1


@pytest.mark.parametrize("limit", [0, -1])
def test_a_limit_below_one_is_refused(read_content: ReadContent, limit: int) -> None:
    with pytest.raises(InputError, match=f"a limit of {limit} facts; read 1 or more"):
        read_content("a,r,b\n", limit=limit)


def test_bad_lines_are_skipped_counted_and_kept(read_content: ReadContent) -> None:
    bad = BadLines(skip=True)
    dataset = read_content("a,r,b\na,r,b,q\nc,r,d\n ,r,d\na\x01,r,b\n", bad=bad)
    assert set(dataset.graph) == {Fact("a", "r", "b"), Fact("c", "r", "d")}
    assert bad.count == len(bad.kept) == 3
    rows = [row.split("\t") for row in bad.to_tsv().splitlines()]
    assert rows[0] == ["where", "what", "line"]
    assert [row[0].rpartition(":")[2] for row in rows[1:]] == ["2", "4", "5"]
    assert rows[1][1:] == ["qualifier 'q' has no value; add one or drop the pair", "a,r,b,q"]


def test_only_bad_lines_are_an_error_even_when_they_are_skipped(read_content: ReadContent) -> None:
    with pytest.raises(InputError, match="facts: only bad lines; run without --skip-bad"):
        read_content("a,r,b,q\nc,r\n", bad=BadLines(skip=True))


def test_very_many_bad_lines_are_counted_but_not_all_kept(read_content: ReadContent) -> None:
    bad = BadLines(skip=True)
    read_content("a,r,b\n" + "x,y,z,q\n" * 10_100, bad=bad)
    assert (bad.count, len(bad.kept)) == (10_100, 10_000)


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    Dataset.of({"train": [Fact("a", "r", "b", (("q", "c"),))]}).save(tmp_path / "graph")
    return tmp_path / "graph"


def test_a_saved_graph_is_read_as_it_is(saved: Path) -> None:
    assert read(saved) == Dataset.load(saved)


def test_a_saved_graph_is_not_taken_for_tables_of_numbers(saved: Path, tmp_path: Path) -> None:
    more = fill(tmp_path, more__txt="a,r,b\n") / "more.txt"
    with pytest.raises(InputError, match="a saved graph cannot be joined with others; export it"):
        read([saved, more])
    with pytest.raises(InputError, match="a cell holds"):
        read(saved / "train.parquet")
    for options in ({"limit": 1}, {"format": "table"}):
        with pytest.raises(InputError, match="read as it is; leave out --format, --limit and"):
            read(saved, **options)


def test_a_folder_with_a_manifest_of_its_own_is_read_by_its_splits(tmp_path: Path) -> None:
    folder = fill(tmp_path / "data", train__txt="a,r,b\n", manifest__json='{"name": "x"}')
    assert set(read(folder).graph) == {Fact("a", "r", "b")}


def test_progress_is_reported_for_every_source(read_content: ReadContent) -> None:
    seen: list[tuple[str, int | None]] = []
    progress: list[tuple[int, int]] = []

    class Recorder:
        def start(self, task: str, total: int | None) -> None:
            seen.append((task, total))

        def update(self, done: int, items: int, detail: str = "") -> None:
            progress.append((done, items))

    content = "".join(f"a{i},r,b\n" for i in range(5_000))
    read_content(content, progress=Recorder())
    assert seen == [("facts", len(content))]
    assert progress[-1] == (len(content), 5_000)
    assert [facts for _, facts in progress] == sorted(facts for _, facts in progress)
