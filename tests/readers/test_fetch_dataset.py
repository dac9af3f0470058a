"""Fetching: files are verified, kept once, taken from elsewhere, and imported."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest
from data_server import DataServer, serve
from helpers import files

import nqe
from nqe.errors import InputError, NqeError, StorageError
from nqe.graph import Dataset, Fact
from nqe.readers import archives
from nqe.readers.data_sets import DATA_SETS, DataFile, DataSet
from nqe.readers.downloads import WAITS, DownloadError
from nqe.readers.fetch_dataset import Fetched, compute_sha256, fetch_data_set
from nqe.readers.read_dataset import detect_split

CONTENTS = {
    "train.txt": b"a,knows,b\nb,knows,c,since,1903\n",
    "valid.txt": b"a,knows,c\n",
    "test.txt": b"c,knows,b\n",
}
KNOWN = tuple(DataFile(name, sha256(content).hexdigest()) for name, content in CONTENTS.items())
UNKNOWN = tuple(DataFile(name) for name in CONTENTS)
TINY = DataSet("Tiny", 4, 0.1, "CC0", "nobody", "", KNOWN, "statements")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The cache, with the sets `tiny`, `unknown` (without checksums) and `packed`."""
    home = tmp_path / "home"
    monkeypatch.setenv("NQE_HOME", str(home))
    monkeypatch.delenv("NQE_MIRROR", raising=False)
    members = tuple(replace(file, member=f"Release/{file.name}") for file in KNOWN)
    monkeypatch.setitem(DATA_SETS, "tiny", TINY)
    monkeypatch.setitem(DATA_SETS, "unknown", replace(TINY, files=UNKNOWN))
    monkeypatch.setitem(DATA_SETS, "packed", replace(TINY, files=members, archive="all.zip"))
    return home / "data"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[DataServer]:
    """A mirror of all sets, which NQE_MIRROR names."""
    named = {f"/{name}/{file}": CONTENTS[file] for name in ("tiny", "unknown") for file in CONTENTS}
    with serve({**named, "/packed/all.zip": pack(CONTENTS)}) as server:
        monkeypatch.setenv("NQE_MIRROR", server.address + "/")
        yield server


def pack(contents: dict[str, bytes], folder: str = "Release/") -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in contents.items():
            archive.writestr(folder + name, content)
    return packed.getvalue()


def put(folder: Path, contents: dict[str, bytes]) -> Path:
    folder.mkdir(exist_ok=True)
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    return folder


def get(name: str, folder: Path | None = None) -> Fetched:
    """Fetch without waiting between attempts."""
    return fetch_data_set(name, folder=folder, wait=lambda _: None)


def paths(server: DataServer) -> list[str]:
    return [path for path, _ in server.requests]


def test_a_fetched_set_is_a_graph_that_is_fetched_once(server: DataServer, home: Path) -> None:
    path = nqe.fetch("tiny")
    assert path == home / "tiny.graph"
    splits = Dataset.load(path).splits
    assert {name: len(facts) for name, facts in splits.items()} == {
        "train": 2,
        "valid": 1,
        "test": 1,
    }
    assert paths(server) == [f"/tiny/{name}" for name in CONTENTS]
    assert nqe.fetch("tiny") == path
    assert len(server.requests) == 3
    assert get("tiny").was_there


def test_without_a_mirror_a_set_comes_from_its_own_address(
    server: DataServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NQE_MIRROR")
    own = replace(TINY, base=f"{server.address}/unknown/")
    monkeypatch.setitem(DATA_SETS, "tiny", own)
    get("tiny")
    assert paths(server) == [f"/unknown/{name}" for name in CONTENTS]


def test_nothing_but_the_files_is_left_in_the_cache(server: DataServer, home: Path) -> None:
    server.drops = [5, 3]
    get("tiny")
    assert files(home / "tiny") == ["SHA256SUMS", "test.txt", "train.txt", "valid.txt"]
    assert sorted(path.name for path in home.iterdir()) == ["tiny", "tiny.graph"]


def test_an_interrupted_fetch_is_continued(server: DataServer, home: Path) -> None:
    server.drops = [100, 5] + [0] * len(WAITS)
    with pytest.raises(DownloadError, match=r"valid\.txt: cannot be reached"):
        get("tiny")
    assert files(home / "tiny") == [
        "SHA256SUMS",
        "train.txt",
        "valid.txt.part",
        "valid.txt.part.version",
    ]
    server.requests.clear()
    get("tiny")
    assert server.requests == [("/tiny/valid.txt", "bytes=5-"), ("/tiny/test.txt", None)]


def test_a_wrong_checksum_names_both_and_nothing_is_kept(server: DataServer, home: Path) -> None:
    wrong = b"<html>Sign in to use this network</html>"
    server.files["/tiny/valid.txt"] = wrong
    with pytest.raises(InputError) as caught:
        get("tiny")
    message = str(caught.value)
    assert f"{server.address}/tiny/valid.txt: wrong checksum" in message
    assert f"sha256 {KNOWN[1].sha256} expected, {sha256(wrong).hexdigest()} found" in message
    assert "; try again" in message
    assert files(home / "tiny") == ["SHA256SUMS", "train.txt"]
    assert not (home / "tiny.graph").exists()


def test_a_part_of_another_version_costs_only_a_second_download(
    server: DataServer, home: Path
) -> None:
    (home / "tiny").mkdir(parents=True)
    (home / "tiny" / "train.txt.part").write_bytes(b"other")
    get("tiny")
    assert (home / "tiny" / "train.txt").read_bytes() == CONTENTS["train.txt"]
    assert server.requests[:2] == [("/tiny/train.txt", "bytes=5-"), ("/tiny/train.txt", None)]


def test_a_damaged_file_in_the_cache_is_fetched_again(server: DataServer, home: Path) -> None:
    get("tiny")
    (home / "tiny" / "test.txt").write_bytes(b"c,knows,x\n")
    server.requests.clear()
    assert not get("tiny").was_there
    assert paths(server) == ["/tiny/test.txt"]


def test_a_damaged_graph_in_the_cache_is_imported_again(server: DataServer, home: Path) -> None:
    before = get("tiny").dataset.fingerprint
    (home / "tiny.graph" / "train.parquet").write_bytes(b"damaged")
    server.requests.clear()
    assert get("tiny").dataset.fingerprint == before
    assert Dataset.load(home / "tiny.graph").fingerprint == before
    assert server.requests == []


def test_without_known_checksums_those_of_the_first_download_count(
    server: DataServer, home: Path
) -> None:
    checksums = get("unknown").checksums.read_text()
    assert checksums == "".join(f"{file.sha256}  {file.name}\n" for file in KNOWN)
    server.files["/unknown/test.txt"] = b"c,knows,a\n"
    assert get("unknown").was_there
    (home / "unknown" / "test.txt").unlink()
    with pytest.raises(InputError, match=f"wrong checksum.*{KNOWN[2].sha256} expected.*delete"):
        get("unknown")


@pytest.mark.usefixtures("server")
def test_unreadable_recorded_checksums_are_an_error(home: Path) -> None:
    get("unknown")
    (home / "unknown" / "SHA256SUMS").write_bytes(b"nonsense\n")
    with pytest.raises(StorageError, match=r"SHA256SUMS: cannot be read .*delete it"):
        get("unknown")


def test_offline_the_error_says_which_files_to_put_where(monkeypatch: pytest.MonkeyPatch) -> None:
    with serve() as server:
        monkeypatch.setenv("NQE_MIRROR", server.address)
    with pytest.raises(DownloadError) as caught:
        get("tiny")
    assert str(caught.value).startswith(f"{server.address}/tiny/train.txt: cannot be reached (")
    assert str(caught.value).endswith(
        "; try again later, or put train.txt, valid.txt and test.txt into a folder and "
        "run `nqe fetch tiny --from FOLDER`"
    )
    with pytest.raises(DownloadError, match=r"put all\.zip into a folder"):
        get("packed")


def test_files_are_taken_from_a_folder(server: DataServer, home: Path, tmp_path: Path) -> None:
    folder = put(tmp_path / "mine", CONTENTS)
    assert nqe.fetch("tiny", folder=folder) == home / "tiny.graph"
    assert (folder / "train.txt").exists()
    assert server.requests == []


def test_files_of_a_folder_are_verified(home: Path, tmp_path: Path) -> None:
    folder = put(tmp_path / "mine", CONTENTS | {"test.txt": b"c,knows,a\n"})
    with pytest.raises(InputError, match=r"mine/test\.txt: wrong checksum"):
        get("tiny", folder)
    assert "test.txt" not in files(home / "tiny")


def test_a_folder_without_the_files_says_where_they_are(tmp_path: Path) -> None:
    folder = put(tmp_path / "mine", {"train.txt": CONTENTS["train.txt"]})
    with pytest.raises(InputError, match=r"mine: has no valid\.txt, test\.txt; get the files from"):
        get("tiny", folder)
    with pytest.raises(InputError, match=r"has no valid\.txt, test\.txt, or all\.zip; get"):
        get("packed", folder)
    with pytest.raises(InputError, match="nowhere: no such folder"):
        get("tiny", tmp_path / "nowhere")


@pytest.mark.usefixtures("server")
def test_labels_of_a_folder_are_added_also_later(tmp_path: Path) -> None:
    def label(fetched: Fetched) -> str:
        return fetched.dataset.vocabulary.entities.label_of("a")

    assert label(get("tiny")) == "a"
    folder = put(tmp_path / "mine", {"labels.tsv": b"a\tAda\n"})
    assert label(get("tiny", folder)) == "Ada"
    assert get("tiny", folder).was_there
    assert label(get("tiny")) == "Ada"


def test_bad_labels_of_a_folder_are_refused_and_not_kept(home: Path, tmp_path: Path) -> None:
    folder = put(tmp_path / "mine", CONTENTS | {"labels.tsv": b"a\n"})
    with pytest.raises(InputError, match=r"mine/labels\.tsv:1: "):
        get("tiny", folder)
    assert "labels.tsv" not in files(home / "tiny")


def test_files_without_known_checksums_that_hold_no_facts_are_not_kept(
    server: DataServer, home: Path
) -> None:
    server.files["/unknown/train.txt"] = b"<!DOCTYPE html><html>Sign in</html>"
    with pytest.raises(InputError, match=r"train\.txt:1: .*; the files were not kept"):
        get("unknown")
    assert not (home / "unknown").exists()
    server.files["/unknown/train.txt"] = CONTENTS["train.txt"]
    get("unknown")


def test_files_without_known_checksums_of_another_size_are_refused_and_not_kept(
    home: Path, tmp_path: Path
) -> None:
    folder = put(tmp_path / "mine", CONTENTS | {"test.txt": b"c,knows,b\nc,knows,a\n"})
    with pytest.raises(InputError, match="unknown: 5 statements were read, but 4 are published"):
        get("unknown", folder)
    assert not (home / "unknown").exists()
    assert not (home / "unknown.graph").exists()


def test_repetitions_count_for_the_size_of_a_set(tmp_path: Path) -> None:
    folder = put(tmp_path / "mine", CONTENTS | {"train.txt": b"a,knows,b\na,knows,b\n"})
    assert len(get("unknown", folder).dataset.splits["train"]) == 1


@pytest.mark.usefixtures("server")
def test_a_graph_of_another_size_in_the_cache_is_no_longer_used(home: Path) -> None:
    get("unknown")
    Dataset.of({"train": [Fact("a", "knows", "b")]}).save(home / "unknown.graph")
    assert not get("unknown").was_there
    assert len(Dataset.load(home / "unknown.graph").graph.facts) == 4


@pytest.mark.parametrize("name", ["tiny", "unknown", "packed"])
@pytest.mark.parametrize("is_packed", [True, False])
@pytest.mark.usefixtures("server")
def test_other_files_of_a_folder_are_refused_if_the_set_is_in_the_cache(
    tmp_path: Path, name: str, is_packed: bool
) -> None:
    get(name)
    same, other = CONTENTS, CONTENTS | {"test.txt": b"c,knows,a\n"}
    is_packed = is_packed and name == "packed"
    folder = put(tmp_path / "same", {"all.zip": pack(same)} if is_packed else same)
    assert get(name, folder).was_there
    folder = put(tmp_path / "other", {"all.zip": pack(other)} if is_packed else other)
    with pytest.raises(InputError, match=r"other/.*: wrong checksum, so test\.txt was not kept"):
        get(name, folder)
    assert get(name).was_there
    with pytest.raises(InputError, match=r"empty: has no train\.txt, valid\.txt, test\.txt"):
        get(name, put(tmp_path / "empty", {}))


def test_an_archive_is_unpacked_and_verified(server: DataServer, home: Path) -> None:
    server.drops = [20]
    get("packed")
    assert [asked for _, asked in server.requests] == [None, "bytes=20-"]
    assert files(home / "packed") == ["SHA256SUMS", "test.txt", "train.txt", "valid.txt"]
    assert (home / "packed" / "train.txt").read_bytes() == CONTENTS["train.txt"]


@pytest.mark.parametrize("is_packed", [True, False])
def test_of_a_folder_either_the_archive_or_its_files_are_taken(
    home: Path, tmp_path: Path, is_packed: bool
) -> None:
    folder = put(tmp_path / "mine", {"all.zip": pack(CONTENTS)} if is_packed else CONTENTS)
    assert get("packed", folder).path == home / "packed.graph"


def test_only_the_named_files_of_an_archive_are_written(server: DataServer, home: Path) -> None:
    evil = {"../../evil.txt": b"x", "/evil.txt": b"x", "Release/../../evil.txt": b"x"}
    inside = {f"Release/{name}": content for name, content in CONTENTS.items()}
    server.files["/packed/all.zip"] = pack(evil | inside, folder="")
    get("packed")
    assert files(home / "packed") == ["SHA256SUMS", "test.txt", "train.txt", "valid.txt"]
    assert not list(home.parent.parent.rglob("evil*"))


def test_a_file_in_an_archive_has_a_largest_size(tmp_path: Path) -> None:
    archive = tmp_path / "bomb.zip"
    archive.write_bytes(pack({"zeros": bytes(3 << 20)}, folder=""))
    with pytest.raises(InputError, match="zeros has more than 1 MB"):
        archives.unpack_file(archive, "zeros", tmp_path / "zeros", largest=1 << 20)
    assert (tmp_path / "zeros").stat().st_size <= 1 << 20


@pytest.mark.parametrize(
    ("archive", "problem"),
    [
        (b"<html>", "no zip archive, or a damaged one"),
        (pack(CONTENTS)[:-30], "no zip archive, or a damaged one"),
        (pack(CONTENTS, folder="Other/"), "has no file Release/train.txt"),
        (pack(CONTENTS | {"train.txt": b"a,knows,x\n"}), "wrong checksum"),
    ],
)
def test_a_wrong_archive_is_refused_and_not_kept(
    server: DataServer, home: Path, archive: bytes, problem: str
) -> None:
    server.files["/packed/all.zip"] = archive
    with pytest.raises(InputError, match=re.escape(problem)):
        get("packed")
    assert files(home / "packed") == []


def test_two_at_once_fetch_a_set_once(server: DataServer) -> None:
    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(get, ["tiny", "tiny"]))
    assert sorted(result.was_there for result in results) == [False, True]
    assert paths(server) == [f"/tiny/{name}" for name in CONTENTS]


def test_an_unknown_set_and_a_wrong_mirror_are_refused(home: Path) -> None:
    with pytest.raises(NqeError, match="unknown data set 'nosuch'; choose one of wd50k, "):
        nqe.fetch("nosuch")
    with pytest.raises(InputError, match="begin it with https"):
        nqe.fetch("wd50k", mirror="file:///tmp")
    assert not home.exists()


@pytest.mark.parametrize("name", ["wd50k", "wd50k_100", "jf17k"])
def test_the_real_files_have_the_known_checksums(shared_data: Path, name: str) -> None:
    for file in DATA_SETS[name].files:
        assert compute_sha256(shared_data / name / file.name) == file.sha256


@pytest.mark.parametrize("name", DATA_SETS)
def test_the_table_of_sets_is_complete(name: str) -> None:
    data_set = DATA_SETS[name]
    assert data_set.base.startswith("https://")
    assert data_set.base.endswith("/")
    assert [detect_split(file.name) for file in data_set.files] == ["train", "valid", "test"]
    for file in data_set.files:
        assert file.sha256 is None or re.fullmatch("[0-9a-f]{64}", file.sha256)
        assert (file.member is None) == (data_set.archive is None)
