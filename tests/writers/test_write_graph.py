"""Written graphs: what is written and read again is the same graph."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import wild_datasets, wild_ids

from nqe.errors import NqeError, StorageError
from nqe.graph import Dataset, Description, Fact
from nqe.graph.literals import Text, to_id
from nqe.readers import read
from nqe.writers import write

ENDINGS = (".txt", ".csv", ".tsv", ".parquet")
COMPRESSIONS = ("", ".gz", ".bz2", ".zst")
texts = wild_ids.filter(lambda text: "\u0085" not in text)


@pytest.mark.parametrize("compression", COMPRESSIONS)
@pytest.mark.parametrize("ending", ENDINGS)
@settings(max_examples=25)
@given(dataset=wild_datasets())
def test_a_graph_in_a_file_is_read_as_the_same_graph(
    dataset: Dataset, ending: str, compression: str
) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"graph{ending}{compression}"
        write(dataset, path)
        again = read(path)
    assert again.graph == dataset.graph
    assert list(again.splits) == ["train"]


@pytest.mark.parametrize("format", ["statements", "csv", "tsv", "parquet"])
@settings(max_examples=40)
@given(dataset=wild_datasets(), data=st.data())
def test_a_folder_is_read_as_the_same_data_set_with_its_labels(
    dataset: Dataset, format: str, data: st.DataObject
) -> None:
    described = st.builds(
        Description,
        texts,
        st.none() | texts,
        st.lists(texts, unique=True, max_size=3).map(tuple),
    )
    names = [*dataset.vocabulary.entities.ids, *dataset.vocabulary.relations.ids]
    dataset = dataset.describe(data.draw(st.dictionaries(st.sampled_from(names), described)))
    with TemporaryDirectory() as folder:
        write(dataset, Path(folder) / "out", format=format)
        again = read(Path(folder) / "out")
    assert again == dataset
    for mine, theirs in (
        (again.vocabulary.entities, dataset.vocabulary.entities),
        (again.vocabulary.relations, dataset.vocabulary.relations),
    ):
        assert mine.labels == theirs.labels
        assert mine.descriptions == theirs.descriptions
        aliases = {n: set(a) - {theirs.labels[n]} for n, a in theirs.aliases.items()}
        found = {n: set(a) - {mine.labels[n]} for n, a in mine.aliases.items()}
        assert {n: a for n, a in found.items() if a} == {n: a for n, a in aliases.items() if a}


FACTS = {
    "train": [Fact("a", "r", "b", (("q", "c"), ("q", "d"))), Fact("a", "r", "b")],
    "test": [Fact("b", "r", "a")],
}


@pytest.fixture
def dataset() -> Dataset:
    return Dataset.of(FACTS)


def test_statements_are_written_as_wd50k_has_them(dataset: Dataset, tmp_path: Path) -> None:
    write(dataset, tmp_path / "all.txt")
    assert (tmp_path / "all.txt").read_text() == "a,r,b\nb,r,a\na,r,b,q,c,q,d\n"


def test_a_table_has_as_many_columns_of_an_attribute_as_a_fact_has_values(
    dataset: Dataset, tmp_path: Path
) -> None:
    write(dataset, tmp_path / "all.csv", facts="train")
    expected = "subject,relation,object,q,q\na,r,b,,\na,r,b,c,d\n"
    assert (tmp_path / "all.csv").read_text() == expected


def test_a_fact_stated_twice_is_written_twice(tmp_path: Path) -> None:
    write(Dataset.of({"train": [Fact("a", "r", "b")] * 2}), tmp_path / "all.txt")
    assert (tmp_path / "all.txt").read_text() == "a,r,b\na,r,b\n"


def test_only_the_named_splits_are_written(dataset: Dataset, tmp_path: Path) -> None:
    write(dataset, tmp_path / "test.tsv", facts="test")
    assert (tmp_path / "test.tsv").read_text() == "subject\trelation\tobject\nb\tr\ta\n"
    write(dataset, tmp_path / "out", facts="test")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "nqe-export.txt",
        "test.txt",
    ]


def test_a_name_that_ends_in_a_slash_is_a_folder(dataset: Dataset, tmp_path: Path) -> None:
    write(dataset, f"{tmp_path}/v1.0/")
    assert read(tmp_path / "v1.0") == dataset


def test_an_exported_folder_is_replaced_and_a_foreign_one_is_not(
    dataset: Dataset, tmp_path: Path
) -> None:
    write(dataset, tmp_path / "out", format="csv")
    write(dataset, tmp_path / "out", format="statements")
    assert not (tmp_path / "out" / "train.csv").exists()
    (tmp_path / "out" / "mynotes.txt").touch()
    with pytest.raises(StorageError, match=r"would delete mynotes\.txt, which nqe did not write"):
        write(dataset, tmp_path / "out", format="csv")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "train.txt").write_text("my,own,work")
    with pytest.raises(StorageError, match="holds other files"):
        write(dataset, tmp_path / "mine")
    assert (tmp_path / "mine" / "train.txt").read_text() == "my,own,work"


@pytest.mark.parametrize("name", ["all.json", "all.gz", "all.statements"])
def test_an_ending_that_stands_for_no_format_is_refused(
    dataset: Dataset, tmp_path: Path, name: str
) -> None:
    expected = r"the ending stands for no format; end the name in \.txt, \.csv"
    with pytest.raises(NqeError, match=expected):
        write(dataset, tmp_path / name)
    write(dataset, tmp_path / name, format="statements")
    assert read(tmp_path / name).graph == dataset.graph


def test_an_unknown_format_lists_the_known_ones(dataset: Dataset, tmp_path: Path) -> None:
    for target in ("-", tmp_path / "out", tmp_path / "out.csv"):
        with pytest.raises(NqeError, match="unknown format 'xml'; choose one of statements, csv"):
            write(dataset, target, format="xml")
    assert list(tmp_path.iterdir()) == []


def test_the_same_graph_is_always_the_same_bytes(dataset: Dataset, tmp_path: Path) -> None:
    for name in ("a.txt.gz", "a.csv.bz2", "a.tsv.zst", "a.parquet"):
        write(dataset, tmp_path / name)
        first = (tmp_path / name).read_bytes()
        write(Dataset.of({k: v[::-1] for k, v in FACTS.items()}), tmp_path / name)
        assert (tmp_path / name).read_bytes() == first


@pytest.mark.parametrize("text", ["a\tb", "a\nb", " a", "a\x1f"])
def test_a_label_that_would_be_read_back_as_another_one_is_refused(
    dataset: Dataset, tmp_path: Path, text: str
) -> None:
    for described in (Description(text), Description("a", text), Description("a", None, (text,))):
        with pytest.raises(NqeError, match=r"entity 'a' is described by .* cannot hold tabs"):
            write(dataset.describe({"a": described}), tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_control_characters_in_labels_are_written_and_read_back_exactly(tmp_path: Path) -> None:
    labels = {"a": Description("\x1b[31m\x9b\x85\u2028x", "\x00y", ("\u202e ", " y", "y\r|\x07z"))}
    dataset = Dataset.of(FACTS).describe(labels)
    write(dataset, tmp_path / "out")
    again = read(tmp_path / "out")
    assert again == dataset
    assert again.vocabulary.entities.descriptions == dataset.vocabulary.entities.descriptions
    assert dataset.vocabulary.entities.descriptions[0] == "y"  # no file of text can hold a NUL


@pytest.mark.parametrize("format", ["statements", "csv", "tsv", "parquet"])
def test_literals_are_read_again_as_literals(format: str, tmp_path: Path) -> None:
    texts = [Text('two\nlines, "quoted"', "en"), Text(" \\ \t"), Text("")]
    names = ["1903-06-01^^time", "0044 BCE^^time", "12.5 Q11573^^number", *map(to_id, texts)]
    facts = [Fact("a", "r", name, (("q", name),)) for name in names]
    dataset = Dataset.of({"train": facts}).describe({"Q11573": Description("metre")})
    write(dataset, tmp_path / "out", format=format)
    again = read(tmp_path / "out")
    assert again == dataset
    assert again.vocabulary.entities.labels == dataset.vocabulary.entities.labels
    assert again.vocabulary.entities.literals is not None


# Graphs whose files could be taken for something else.
AMBIGUOUS = {
    "a header": [
        Fact("airport", "subclass of", "place"),
        *(Fact(code, "route", "JFK") for code in ("HEL", "LHR", "CDG")),
    ],
    "usual names of columns": [Fact("from", "is a", "value"), Fact("x", "r", "y")],
    "numbers of pandas": [Fact("a", "r", "b", (("q", "1903.0"),)), Fact("c", "r", "2.0")],
    "a JSON array": [Fact("[1", "2", "3]")],
}


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("facts", AMBIGUOUS.values(), ids=AMBIGUOUS)
def test_what_could_be_taken_for_something_else_is_read_as_it_was(
    tmp_path: Path, facts: list[Fact], ending: str
) -> None:
    write(Dataset.of({"train": facts}), tmp_path / f"graph{ending}")
    assert set(read(tmp_path / f"graph{ending}").graph) == set(facts)
