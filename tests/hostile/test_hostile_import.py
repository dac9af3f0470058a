"""Hostile sources of every format: an import gives the right facts or one sentence, never half."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from helpers import Run, files, nqe, nqe_here, told, well
from hostile_files import to_parquet, to_zstd

from nqe.graph import Dataset


def entity(name: str, value: Any, kind: str = "wikibase-entityid") -> str:
    """An item of Wikidata with one statement."""
    snak = {"snaktype": "value", "property": "P1", "datavalue": {"type": kind, "value": value}}
    return json.dumps({"type": "item", "id": name, "claims": {"P1": [{"mainsnak": snak}]}})


XML = (
    '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:u="urn:">\n'
    '<rdf:Description rdf:about="urn:a"><u:r rdf:resource="urn:b"/></rdf:Description>\n'
    '<rdf:Description rdf:about="urn:c"><u:r rdf:resource="urn:@"/></rdf:Description>\n</rdf:RDF>\n'
)
ITEMS = entity("Q1", {"id": "Q2"}), entity("Q3", {"id": "Q@"})
# By name of the file: two facts or three, with a place `@` in the last id of the last.
SOURCES = {
    "statements.txt": "a,r,b\nc,r,@\n",
    "columns.txt": "r\ta\tb\nr\td\te\tx\nr\tc\tx\t@\n",
    "roles.json": '{"subject":"a","relation":"r","object":"b"}\n'
    '{"subject":"c","relation":"r","object":"@"}\n',
    "table.csv": "subject,relation,object\na,r,b\nc,r,@\n",
    "table.tsv": "subject\trelation\tobject\na\tr\tb\nc\tr\t@\n",
    "lines.json": f"{ITEMS[0]}\n{ITEMS[1]}\n",
    "array.json": f"[\n{ITEMS[0]},\n{ITEMS[1]}\n]\n",
    "facts.ttl": "<urn:a> <urn:r> <urn:b> .\n<urn:c> <urn:r> <urn:@> .\n",
    "facts.trig": "<urn:a> <urn:r> <urn:b> .\n<urn:g> { <urn:c> <urn:r> <urn:@> . }\n",
    "facts.nt": "<urn:a> <urn:r> <urn:b> .\n<urn:c> <urn:r> <urn:@> .\n",
    "facts.nq": "<urn:a> <urn:r> <urn:b> <urn:g> .\n<urn:c> <urn:r> <urn:@> <urn:g> .\n",
    "facts.rdf": XML,
    "labels.tsv": "a\tAnna\nb\t@\n",
}
FACT_COUNTS = {"columns.txt": 3, "labels.tsv": 1}
BAD_LINES = {"columns.txt": 3, "table.csv": 3, "table.tsv": 3, "array.json": 3, "facts.rdf": 3}
every_source = pytest.mark.parametrize("name", SOURCES)


def write(name: str, inside: bytes = b"5") -> bytes:
    """The content of a source, with these bytes at the place."""
    return SOURCES[name].encode().replace(b"@", inside)


def run_import(folder: Path, name: str, content: bytes, *options: str) -> Run:
    """Import a file, or statements with it as the file of labels."""
    (folder / name).write_bytes(content)
    if name != "labels.tsv":
        return nqe_here("import", name, *options, "-o", "g.graph", cwd=folder)
    (folder / "good.txt").write_bytes(b"a,r,b\n")
    return nqe_here("import", "good.txt", "--labels", name, *options, "-o", "g.graph", cwd=folder)


def refused(folder: Path, name: str, content: bytes, *options: str) -> str:
    """The sentence of an import that leaves nothing behind."""
    sentence = told(run_import(folder, name, content, *options))
    assert set(files(folder)) <= {name, "good.txt"}
    assert len(sentence) < 600
    return sentence


READ: Mapping[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "bzip2": bz2.compress,
    "xz": lzma.compress,
    "zstd": to_zstd,
    "gzip in two parts": lambda content: gzip.compress(content[:9]) + gzip.compress(content[9:]),
    "bzip2 in two parts": lambda content: bz2.compress(content[:9]) + bz2.compress(content[9:]),
    "xz in two parts": lambda content: lzma.compress(content[:9]) + lzma.compress(content[9:]),
    "zeros after gzip": lambda content: gzip.compress(content) + bytes(512),
    "zeros after xz": lambda content: lzma.compress(content) + bytes(512),
    "CRLF": lambda content: content.replace(b"\n", b"\r\n"),
    "CR": lambda content: content.replace(b"\n", b"\r"),
    "a byte-order mark": lambda content: b"\xef\xbb\xbf" + content,
    "a byte-order mark in gzip": lambda content: gzip.compress(b"\xef\xbb\xbf" + content),
    "no last line end": lambda content: content.rstrip(b"\n"),
}


@pytest.fixture(scope="module")
def graphs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Dataset]:
    """The graphs of all sources as they are."""
    folders = {name: tmp_path_factory.mktemp("plain") for name in SOURCES}
    for name, folder in folders.items():
        well(run_import(folder, name, write(name)))
    return {name: Dataset.load(folder / "g.graph") for name, folder in folders.items()}


@every_source
@pytest.mark.parametrize("change", READ.values(), ids=READ)
def test_what_does_not_change_the_text_does_not_change_the_graph(
    tmp_path: Path, name: str, change: Callable[[bytes], bytes], graphs: dict[str, Dataset]
) -> None:
    well(run_import(tmp_path, name, change(write(name))))
    assert Dataset.load(tmp_path / "g.graph") == graphs[name]
    assert len(graphs[name].graph) == FACT_COUNTS.get(name, 2)


CUT = r"{name}: the archive is cut short or damaged \(.*\); get the file again"
REFUSED: Mapping[str, tuple[Callable[[bytes], bytes], str]] = {
    "gzip cut short": (lambda content: gzip.compress(content * 50)[:-9], CUT),
    "bzip2 cut short": (lambda content: bz2.compress(content * 50)[:-9], CUT),
    "xz cut short": (lambda content: lzma.compress(content * 50)[:-9], CUT),
    "zstd cut short": (lambda content: to_zstd(content * 50)[:-9], CUT),
    "garbage after gzip": (lambda content: gzip.compress(content) + b"garbage", CUT),
    "garbage after bzip2": (lambda content: bz2.compress(content) + b"garbage", CUT),
    "garbage after xz": (lambda content: lzma.compress(content) + b"garbage", CUT),
    "garbage after zstd": (lambda content: to_zstd(content) + b"garbage", CUT),
    "UTF-16": (lambda content: content.decode().encode("utf-16"), r"{name}:1: .*\(UTF-16, by its"),
    "UTF-32": (lambda content: content.decode().encode("utf-32"), r"{name}:1: .*\(UTF-32, by its"),
    "UTF-16 without a mark": (
        lambda content: content.decode().encode("utf-16-be"),
        "{name}:1: a NUL byte, which no text has; if the file is UTF-16, save it as UTF-8",
    ),
    "zeros": (lambda _: bytes(4096), "{name}:1: a NUL byte, which no text has"),
    "nothing": (lambda _: b"", "{name}: (empty|no labels in it); "),
    "white space": (lambda _: b" \n\t\r\n\n", "{name}: (empty|no labels in it); "),
    "nothing in an archive": (lambda _: gzip.compress(b""), "{name}: (empty|no labels in it); "),
    "comments alone": (
        lambda _: b"# nothing\n# else\n",
        "{name}(: empty|:1: the format cannot be detected|:1: not well-formed|:1: no tab)",
    ),
    "compressed twice": (
        lambda content: gzip.compress(gzip.compress(content)),
        "{name}:1: (looks like a file that is compressed twice; decompress it once|not UTF-8)",
    ),
}


@every_source
@pytest.mark.parametrize(("change", "sentence"), REFUSED.values(), ids=REFUSED)
def test_a_source_that_cannot_be_read_is_one_sentence_and_nothing_is_left(
    tmp_path: Path, name: str, change: Callable[[bytes], bytes], sentence: str
) -> None:
    found = refused(tmp_path, name, change(write(name)))
    assert re.match(sentence.replace("{name}", re.escape(name)), found), found


@every_source
@pytest.mark.parametrize("inside", [b"\xff", b"\xc3", b"\xed\xa0\x80", b"\0", b"\x1b[31m", b"\x07"])
def test_bytes_that_no_id_can_have_are_told_with_their_line(
    tmp_path: Path, name: str, inside: bytes
) -> None:
    if name == "labels.tsv" and inside in (b"\x1b[31m", b"\x07"):
        well(run_import(tmp_path, name, write(name, inside)))  # labels are shown with escapes
        return
    sentence = refused(tmp_path, name, write(name, b"x" + inside + b"y"))
    assert sentence.startswith(f"{name}:{BAD_LINES.get(name, 2)}: "), sentence


@every_source
@pytest.mark.parametrize("inside", ["\u202eb", "\u200d", "😀", "x" * 100_000, "%s{0}"])
def test_unusual_ids_are_kept_as_they_are(tmp_path: Path, name: str, inside: str) -> None:
    if name.startswith("facts") and "{" in inside:
        inside = "%25s"  # braces are no part of an IRI
    run = run_import(tmp_path, name, write(name, f"x{inside}y".encode()))
    assert "\u202e" not in well(run)
    entities = Dataset.load(tmp_path / "g.graph").vocabulary.entities
    assert any(f"x{inside}y" in (text or "") for text in (*entities.ids, *entities.labels))


TRUNCATED = {"roles.json", "lines.json", "array.json"} | {n for n in SOURCES if n[:5] == "facts"}


@pytest.mark.parametrize("name", sorted(TRUNCATED))
def test_a_file_that_ends_within_a_fact_is_refused(tmp_path: Path, name: str) -> None:
    whole = write(name).rstrip()
    for size in (len(whole) - 1, len(whole) - 6):
        refused(tmp_path, name, whole[:size])


def test_a_dump_that_lacks_the_end_of_its_array_is_refused(tmp_path: Path) -> None:
    sentence = refused(tmp_path, "array.json", f"[\n{ITEMS[0]},\n".encode())
    assert sentence.startswith("array.json:2: the array that the file begins with has no end; the")


def roles(value: str) -> bytes:
    return (
        b'{"subject":"a","relation":"r","object":"b"}\n{"subject":"c","relation":"r","object":%b}'
        % (value.encode())
    )


DEEP = "[" * 99_999 + "]" * 99_999
BAD_ROLES = {
    '"\\ud800"': "entity id '\\ud800' has a line break, a control character",
    '"x\\u0000y"': "entity id 'x\\x00y' has a line break, a control character",
    "1e400": "role 'object' holds inf; give texts, numbers",
    "NaN": "role 'object' holds nan; give texts, numbers",
    "null": "role 'object' holds None; give texts, numbers",
    "{}": "role 'object' holds {}; give texts, numbers",
    DEEP: "not JSON (maximum recursion depth",
    '"x","object":"y"': "not JSON (a role stands twice",
}


@pytest.mark.parametrize(("value", "sentence"), BAD_ROLES.items(), ids=[v[:9] for v in BAD_ROLES])
def test_values_of_json_that_are_no_ids_are_told(tmp_path: Path, value: str, sentence: str) -> None:
    assert refused(tmp_path, "f.json", roles(value)).startswith(f"f.json:2: {sentence}")


@pytest.mark.parametrize("number", ["9" * 5_000, "1e400", "1e999999999", "-1e-999999999999"])
@pytest.mark.parametrize("policy", ["keep", "bands"])
def test_numbers_beyond_every_machine_are_told_in_little_time(
    tmp_path: Path, number: str, policy: str
) -> None:
    typed = f'<urn:a> <urn:r> "{number}"^^<http://www.w3.org/2001/XMLSchema#double> .\n'
    for name, content in (
        ("f.json", roles(number)),
        ("f.txt", f"a,r,b\nc,r,{number}^^number\n".encode()),
        ("f.nt", b"<urn:a> <urn:r> <urn:b> .\n" + typed.encode()),
    ):
        sentence = refused(tmp_path, name, content, "--literals", policy)
        assert sentence.startswith(f"{name}:2: "), sentence
        (tmp_path / name).unlink()


def time(text: str, precision: Any = 11) -> tuple[str, Any]:
    return "time", {"time": text, "precision": precision, "calendarmodel": ""}


IMPOSSIBLE = [
    time("+0000-00-00T00:00:00Z", 9),
    time("+2020-13-01T00:00:00Z"),
    time("+2020-06-31T00:00:00Z"),
    time("-9999999999999999-01-01T00:00:00Z"),
    time("+2020-01-01T00:00:00Z", 10**30),
    ("time", {"time": 5}),
    *[("quantity", {"amount": amount}) for amount in ("9" * 99_999, "+1e400", "NaN", 5, None)],
    ("globecoordinate", {"latitude": "x", "longitude": 0}),
    ("string", {}),
    ("wikibase-entityid", {"id": 5}),
    ("wikibase-entityid", {"entity-type": "item", "numeric-id": -1}),
    ("wikibase-entityid", []),
]


@pytest.mark.parametrize(("kind", "value"), IMPOSSIBLE)
def test_a_value_of_wikidata_that_cannot_be_is_left_out_and_counted(
    tmp_path: Path, kind: str, value: Any
) -> None:
    content = f"{ITEMS[0]}\n{entity('Q5', value, kind)}\n".encode()
    run = run_import(tmp_path, "f.json", content)
    assert "train 1 facts" in well(run)
    assert "left out: 1 statement (1 with an impossible value)" in run.err


BAD_ENTITIES = [
    '"id":"Q1","claims":5',
    '"id":"Q1","claims":{"P1":{}}',
    '"id":"Q1","claims":{"P1":[{}]}',
    '"id":"Q1","claims":{"P1":[{"mainsnak":{}}]}',
    '"id":5,"claims":{}',
    '"id":"Q1","labels":{"en":{"value":5}}',
    '"id":"Q1","labels":{"en":{"value":"\\ud800"}}',
    f'"id":"Q1","claims":{{}},"x":{DEEP}',
]


@pytest.mark.parametrize("inside", BAD_ENTITIES, ids=[text[:40] for text in BAD_ENTITIES])
def test_an_entity_of_another_shape_is_told_with_its_line(tmp_path: Path, inside: str) -> None:
    content = f'{ITEMS[0]}\n{{"type":"item",{inside}}}\n'.encode()
    sentence = refused(tmp_path, "f.json", content)
    assert sentence.startswith("f.json:2: no entity of Wikidata ("), sentence


MAPPING = '["t.csv"]\nsubject = "s"\nobject = "o"\nrelation_name = "r"\n'


@pytest.mark.parametrize("change", ["\ufeff{}", "{}"])
def test_a_mapping_of_windows_is_read(tmp_path: Path, change: str) -> None:
    (tmp_path / "t.csv").write_text("s,o\na,b\n")
    (tmp_path / "m.toml").write_bytes(change.format(MAPPING).replace("\n", "\r\n").encode())
    assert "train 1 facts" in well(
        nqe_here("import", "--mapping", "m.toml", "-o", "g", cwd=tmp_path)
    )


BAD_MAPPINGS = {
    "subject = []": "m.toml [t.csv] subject: [] is no name",
    "subject = 1.5": "m.toml [t.csv] subject: 1.5 is no name",
    "qualifiers = 5": "m.toml [t.csv] qualifiers: 5 is no list",
    'header = "x"': "m.toml [t.csv] header: 'x' is neither true nor false",
    "split = {}": "m.toml [t.csv] split: {} is not possible",
    "literals = { o = { kind = [] } }": "m.toml [t.csv] literals o kind: [] is no name",
    f"subject = {'9' * 5_000}": "m.toml: not a TOML file (Exceeds the limit",
    f"subject = {'[' * 99_999}": "m.toml: not a TOML file (maximum recursion depth",
    f"a{'.a' * 99_999} = 1": "m.toml: a key of 30 names and more; put",
    "[" + '"a".' * 99_999 + '"a"]': "m.toml: a key of 30 names and more; put",
    "subject = '\0'": "m.toml: not a TOML file (Found invalid character",
}


@pytest.mark.parametrize(
    ("line", "sentence"), BAD_MAPPINGS.items(), ids=[m[:20] for m in BAD_MAPPINGS]
)
def test_a_mapping_of_other_types_is_told(tmp_path: Path, line: str, sentence: str) -> None:
    (tmp_path / "m.toml").write_text(f'["t.csv"]\n{line}\n')
    found = told(nqe_here("import", "--mapping", "m.toml", "-o", "g.graph", cwd=tmp_path))
    assert found.startswith(sentence)
    assert files(tmp_path) == ["m.toml"]


def make_places(folder: Path) -> None:
    """What can stand in the place of a file."""
    (folder / "good.txt").write_text("a,r,b\n")
    (folder / "folder").mkdir()
    (folder / "loop").symlink_to("loop")
    (folder / "nowhere").symlink_to("not-there")
    for name in ("loop", "pipe", "nowhere", "device", "labels"):
        (folder / f"with_{name}").mkdir()
        (folder / f"with_{name}" / "train.txt").write_text("a,r,b\n")
    (folder / "with_loop" / "valid.txt").symlink_to("valid.txt")
    (folder / "with_nowhere" / "valid.txt").symlink_to("not-there")
    (folder / "with_device" / "valid.txt").symlink_to("/dev/zero")
    os.mkfifo(folder / "with_pipe" / "valid.txt")
    os.mkfifo(folder / "with_labels" / "labels.tsv")


IN_PLACE = "a pipe, a device, a folder or a link that leads nowhere; put a file in its place"
PLACES = {
    "loop": "'loop': cannot be read (Too many levels of symbolic links); check the path",
    "nowhere": "nowhere: no such file; check the path",
    "folder": "folder: no train, valid or test file in the folder; name the files",
    "good.txt --labels loop": "loop: cannot be opened (Too many levels of symbolic links)",
    "good.txt --labels folder": "folder: a folder; name its files one by one",
    "--mapping loop": "loop: cannot be opened (Too many levels of symbolic links); name a mapp",
    "--mapping folder": "folder: cannot be opened (Is a directory); name a mapping in TOML",
    "--mapping /dev/zero": "/dev/zero: more than 1,048,576 bytes; name a mapping in TOML",
    "/dev/zero": "/dev/zero:1: a line of more than 16 MB; check that the file is text",
    "/dev/null": "/dev/null: empty; there is nothing to import",
    "/proc/self/mem": "/proc/self/mem: cannot be read (Input/output error); check the file",
    "with_loop": f"with_loop/valid.txt: {IN_PLACE}",
    "with_pipe": f"with_pipe/valid.txt: {IN_PLACE}",
    "with_nowhere": f"with_nowhere/valid.txt: {IN_PLACE}",
    "with_device": f"with_device/valid.txt: {IN_PLACE}",
    "with_labels": f"with_labels/labels.tsv: {IN_PLACE}",
}


@pytest.mark.parametrize(("arguments", "sentence"), PLACES.items(), ids=PLACES)
def test_what_is_no_file_is_told_and_never_waited_for(
    tmp_path: Path, arguments: str, sentence: str
) -> None:
    make_places(tmp_path)
    before = files(tmp_path)
    found = told(nqe("import", *arguments.split(), "-o", "g.graph", cwd=tmp_path))
    assert found.startswith(sentence), found
    assert files(tmp_path) == before


def test_links_of_a_folder_to_itself_are_no_splits(tmp_path: Path) -> None:
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / "train.txt").write_text("a,r,b\n")
    (tmp_path / "s" / "test").symlink_to(".")
    (tmp_path / "s" / "valid").symlink_to("../s")
    assert "train 1 facts" in well(nqe_here("import", "s", "-o", "g.graph", cwd=tmp_path))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every file")
def test_a_file_that_may_not_be_read_is_told(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("a,r,b\n")
    (tmp_path / "f").chmod(0)
    sentence = told(nqe("import", "f", "-o", "g.graph", cwd=tmp_path))
    assert sentence.startswith("f: cannot be opened (Permission denied); check the path")


@pytest.mark.parametrize(
    "name", [b"a\nb", b"a\x1b[31mb", b"\xe2\x80\xae.txt", b"s\xff", b" f ", b"-f"]
)
def test_file_names_may_have_any_bytes(tmp_path: Path, name: bytes) -> None:
    path, given = tmp_path / os.fsdecode(name), os.fsdecode(b"./" + name)
    path.write_text("a,r,b\n")
    assert "train 1 facts" in well(nqe_here("import", given, "-o", "g.graph", cwd=tmp_path))
    path.write_text("a,r,b\na,r,b,q\n")
    sentence = told(nqe_here("import", given, "-o", "h.graph", cwd=tmp_path))
    assert ":2: qualifier 'q' has no value" in sentence
    assert not {"\x1b", "\u202e"} & set(sentence)


def test_a_parquet_file_with_a_lying_footer_is_refused(tmp_path: Path) -> None:
    whole = to_parquet()
    for size in (0, 1, 2**31 - 1, 2**32 - 1):
        content = whole[:-8] + size.to_bytes(4, "little") + b"PAR1"
        sentence = refused(tmp_path, "f.parquet", content)
        assert sentence.startswith("f.parquet: damaged Parquet ("), sentence
