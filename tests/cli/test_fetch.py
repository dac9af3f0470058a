"""The command `nqe fetch`: what it lists, prints and refuses."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from data_server import WITHOUT_PROXY, DataServer, serve
from helpers import Run, nqe, told, well

from nqe.readers.data_sets import DATA_SETS

# As many as are published, most of them repetitions.
SIZE = DATA_SETS["codex-s"].facts
FILES = {
    "/codex-s/train.txt": b"Q1\tP26\tQ2\nQ3\tP26\tQ4\n" + b"Q5\tP27\tQ6\n" * (SIZE - 4),
    "/codex-s/valid.txt": b"Q2\tP27\tQ6\n",
    "/codex-s/test.txt": b"Q1\tP27\tQ6\n",
    "/codex-m/train.txt": b"Q1\tP26\tQ2\n",
    "/codex-m/valid.txt": b"Q2\tP27\tQ6\n",
    "/codex-m/test.txt": b"Q1\tP27\tQ6\n",
    "/wd50k/train.txt": b"not this\n",
}


@pytest.fixture(scope="module")
def server() -> Iterator[DataServer]:
    with serve(FILES) as server:
        yield server


def fetch(cwd: Path, *arguments: str | Path, **env: str) -> Run:
    """Run the command with its cache in the folder `home`."""
    return nqe("fetch", *arguments, cwd=cwd, env={**WITHOUT_PROXY, "NQE_HOME": "home", **env})


def test_a_set_is_fetched_imported_and_can_be_asked(tmp_path: Path, server: DataServer) -> None:
    run = fetch(tmp_path, "codex-s", "--mirror", server.address)
    assert well(run).startswith("home/data/codex-s.graph: train 3, valid 1, test 1 facts; ")
    assert "licence: CC0 (Wikidata)" in run.err.splitlines()[0]
    assert "could not be verified; those of this time are recorded in home/data/" in run.err
    assert "next: nqe shell home/data/codex-s.graph" in run.err
    answers = well(nqe("ask", "home/data/codex-s.graph", "?x: P27(?x, Q6)", cwd=tmp_path))
    assert "Q5" in answers
    again = fetch(tmp_path, "codex-s", NQE_MIRROR="http://nowhere.invalid")
    assert well(again) == run.out
    assert "it was in the cache already" in again.err


def test_without_a_name_all_sets_are_listed(tmp_path: Path, server: DataServer) -> None:
    well(fetch(tmp_path, "codex-s", NQE_MIRROR=server.address))
    run = fetch(tmp_path)
    rows = [line.split("\t") for line in well(run).splitlines()]
    assert rows[0] == ["name", "facts", "MB", "licence", "checksums", "cached"]
    assert ["wd50k", "236507", "5.5", "CC BY 4.0", "known", ""] in rows
    assert ["codex-s", "36543", "0.7", "CC0 (Wikidata)", "recorded", "yes"] in rows
    assert "home/data" in run.err


def test_a_wrong_checksum_is_one_sentence(tmp_path: Path, server: DataServer) -> None:
    run = fetch(tmp_path, "wd50k", "--mirror", server.address)
    assert run.code == 2
    assert run.out == ""
    [_, sentence] = run.err.splitlines()
    assert sentence.startswith(f"nqe: {server.address}/wd50k/train.txt: wrong checksum")
    assert not (tmp_path / "home" / "data" / "wd50k.graph").exists()


def test_a_set_of_another_size_is_one_sentence(tmp_path: Path, server: DataServer) -> None:
    run = fetch(tmp_path, "codex-m", "--mirror", server.address)
    assert run.code == 2
    assert run.out == ""
    [_, sentence] = run.err.splitlines()
    assert sentence.startswith("nqe: codex-m: 3 statements were read, but 206,205 are published")
    assert not list((tmp_path / "home" / "data").glob("codex-m*"))


def test_a_file_that_no_server_has_says_what_to_put_where(
    tmp_path: Path, server: DataServer
) -> None:
    run = fetch(tmp_path, "wn18rr", "--mirror", server.address)
    assert run.code == 2
    assert run.err.splitlines()[-1].endswith(
        "the server answers 404 (Not Found); try again later, or put train.txt, valid.txt and "
        "test.txt into a folder and run `nqe fetch wn18rr --from FOLDER`"
    )


def test_the_real_files_are_taken_from_a_folder(tmp_path: Path, shared_data: Path) -> None:
    run = fetch(tmp_path, "wd50k", "--from", shared_data / "wd50k")
    assert well(run).startswith(
        "home/data/wd50k.graph: train 166,435, valid 23,913, test 46,159 facts; "
    )
    assert "the files have the known checksums" in run.err
    assert "licence: CC BY 4.0" in run.err


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["nosuch"], "unknown data set 'nosuch'; choose one of wd50k, "),
        (["--mirror", "http://a"], "--mirror has no meaning without a name; name a data set"),
        (["--from", "a"], "--from has no meaning without a name; name a data set"),
        (["wd50k", "--from", "a", "--mirror", "http://a"], "--mirror has no meaning with --from; "),
    ],
)
def test_what_has_no_meaning_is_refused(
    tmp_path: Path, arguments: list[str], sentence: str
) -> None:
    assert told(nqe("fetch", *arguments, cwd=tmp_path)).startswith(sentence)
