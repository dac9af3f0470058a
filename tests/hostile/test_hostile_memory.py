"""Sources that would fill the memory: refused, or read within a limit of the address space."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from helpers import files, nqe, start, told, well
from hostile_files import to_zstd

MB = 1 << 20
# Much less than the bombs hold, and some more than the program itself needs.
LIMITED = ("bash", "-c", 'ulimit -v 600000 && exec "$@"', "bash")
RDF_XML = (
    b'<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:u="urn:">\n'
    b'<rdf:Description rdf:about="urn:a"><u:r rdf:resource="urn:b"/></rdf:Description>\n'
)
TRIPLE = b"<urn:a> <urn:r> <urn:b> .\n"
ITEM = json.dumps({"type": "item", "id": "Q1", "claims": {}}).encode()
LINE = "{name}:2: a line of more than 16 MB; check that the file is text"
TAGS = "{name}: a tag, a comment or a text between two tags of more than 16 MB; shorten it"
BRACKETS = "{name}: more than 2,000 brackets in each other; name"
# By what it is: the file's name, how it begins, what is repeated, how many MB, and the sentence.
BOMBS: dict[str, tuple[str, bytes, bytes, int, str]] = {
    "a line of statements": ("f.txt", b"a,r,b\n", b"x", 1000, LINE),
    "a cell in quotes": ("f.csv", b'subject,relation,object\na,r,"', b"x", 1000, LINE),
    "a JSON string": ("f.json", b'{"a":"x","b":"y"}\n{"a":"', b"x", 1000, LINE),
    "a string of Wikidata": ("f.json", ITEM + b'\n{"type":"', b"x", 1000, LINE),
    "a line of N-Triples": ("f.nt", TRIPLE + b'<urn:a> <urn:r> "', b"x", 300, "{name}: a line of"),
    "a Turtle literal": (
        "f.ttl",
        TRIPLE + b'<urn:a> <urn:r> """',
        b"text\n",
        150,
        "{name}: a t",  # a triple or a text
    ),
    "Turtle's blank nodes": ("f.ttl", TRIPLE + b"<urn:a> <urn:r> ", b"[<urn:r>\n", 9, BRACKETS),
    "Turtle's lists": ("f.ttl", TRIPLE + b"<urn:a> <urn:r> ", b"(", 9, BRACKETS),
    "Turtle's annotations": ("f.ttl", TRIPLE[:-2], b"{| <urn:r> <urn:o>\n", 9, BRACKETS),
    "Turtle's quotes": ("f.ttl", TRIPLE, b"<< ", 9, "{name}: more than 100 triple terms"),
    "a text of XML": ("f.rdf", RDF_XML + b"<u:A><u:r>", b"x", 100, TAGS),
    "a comment of XML": ("f.rdf", RDF_XML + b"<!--", b"< ", 100, TAGS),
    "a section of XML": ("f.rdf", RDF_XML + b"<u:A><u:r><![CDATA[", b"< ", 100, TAGS),
    "XML as a value": (
        "f.rdf",
        RDF_XML + b'<u:A><u:r rdf:parseType="Literal">',
        b"<x>y</x>",
        100,
        TAGS.replace("16", "1"),
    ),
    "elements of XML": ("f.rdf", RDF_XML, b"<u:A><u:r>", 9, "{name}:3: more than 2,000 elements"),
}


@pytest.mark.parametrize(("name", "head", "part", "size", "sentence"), BOMBS.values(), ids=BOMBS)
def test_a_bomb_is_refused_before_it_fills_the_memory(
    tmp_path: Path, name: str, head: bytes, part: bytes, size: int, sentence: str
) -> None:
    block = part * (MB // len(part))
    (tmp_path / name).write_bytes(gzip.compress(head) + gzip.compress(block) * size)
    found = told(nqe("import", name, "-o", "g.graph", cwd=tmp_path, before=LIMITED))
    assert found.startswith(sentence.replace("{name}", name)), found
    assert files(tmp_path) == [name]


COMPRESSIONS = {"bzip2": bz2.compress, "xz": lzma.compress, "zstd": to_zstd}


@pytest.mark.parametrize("compress", COMPRESSIONS.values(), ids=COMPRESSIONS)
def test_an_endless_line_is_refused_in_every_compression(
    tmp_path: Path, compress: Callable[[bytes], bytes]
) -> None:
    (tmp_path / "f").write_bytes(compress(b"a,r,b\n") + compress(bytes(64 * MB)) * 20)
    found = told(nqe("import", "f", "-o", "g.graph", cwd=tmp_path, before=LIMITED))
    assert found.startswith("f:2: a line of more than 16 MB; check")


def test_an_xz_archive_that_asks_for_gigabytes_is_refused(tmp_path: Path) -> None:
    filters = [{"id": lzma.FILTER_LZMA2, "dict_size": 1 << 28}]
    # The window is what an archive asks for, however little it holds.
    (tmp_path / "f").write_bytes(lzma.compress(b"a,r,b\n", filters=filters))
    sentence = told(nqe("import", "f", "-o", "g.graph", cwd=tmp_path, before=LIMITED))
    assert sentence.startswith("f: the archive is cut short or damaged (Memory usage limit")


ENTITIES = {
    "a billion laughs": b'<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;">',
    "a file of the system": b'<!ENTITY a SYSTEM "file:///etc/passwd">',
    "entities of another file": b'<!ENTITY % a SYSTEM "http://127.0.0.1:9/a.dtd"> %a;',
}


@pytest.mark.parametrize("declared", ENTITIES.values(), ids=ENTITIES)
def test_xml_entities_are_never_fetched_or_multiplied(tmp_path: Path, declared: bytes) -> None:
    content = b"<!DOCTYPE rdf:RDF [" + declared + b"]>\n" + RDF_XML + b"</rdf:RDF>"
    (tmp_path / "f.rdf").write_bytes(content)
    sentence = told(nqe("import", "f.rdf", "-o", "g.graph", cwd=tmp_path, before=LIMITED))
    assert sentence.startswith("f.rdf: an XML entity that is longer than 200 characters or uses")


VALUE = {"type": "wikibase-entityid", "value": {"id": "Q2"}}
SNAK = {"snaktype": "value", "property": "P1", "datavalue": VALUE}
FACT_OF_WIKIDATA = json.dumps(
    {"type": "item", "id": "Q1", "claims": {"P1": [{"mainsnak": SNAK}]}}
).encode()
OTHER = {"type": "item", "id": "Q1", "claims": {}, "sitelinks": {"x": "y" * (MB >> 2)}}
LEFT_OUT = {
    "empty lines": ("f.txt", b"a,r,b\n", b"\n" * MB, 300, ()),
    "bad lines": ("f.txt", b"a,r,b\n", (b"x" * 65_000 + b"\n") * 16, 150, ("--skip-bad",)),
    "comments": ("f.ttl", TRIPLE, b"# nothing but a comment\n" * 40_000, 150, ()),
    "labels in another language": (
        "f.nt",
        TRIPLE,
        b'<urn:a> <http://www.w3.org/2000/01/rdf-schema#label> "%b"@xx .\n' % (b"x" * MB),
        150,
        (),
    ),
    "other keys of Wikidata": ("f.json", b"", (json.dumps(OTHER).encode() + b"\n") * 4, 150, ()),
}


@pytest.mark.parametrize(
    ("name", "head", "block", "count", "options"), LEFT_OUT.values(), ids=LEFT_OUT
)
def test_what_is_left_out_takes_no_memory(
    tmp_path: Path, name: str, head: bytes, block: bytes, count: int, options: tuple[str, ...]
) -> None:
    end = FACT_OF_WIKIDATA if name == "f.json" else b""
    content = gzip.compress(head) + gzip.compress(block) * count + gzip.compress(end)
    (tmp_path / name).write_bytes(content)
    run = nqe("import", name, *options, "-o", "g.graph", cwd=tmp_path, before=LIMITED)
    assert "train 1 facts" in well(run)


SOURCES = {
    "f.txt": b"a,r,b\n",
    "f.json": b'{"subject":"a","relation":"r","object":"b"}\n',
    "f.csv": b"subject,relation,object\n" + b"a,r,b\n" * 9,
    "wikidata.json": ITEM + b"\n",
    "f.nt": TRIPLE,
    "f.ttl": TRIPLE,
}


def wait_until_open(process: int, path: Path) -> None:
    """Wait until a process has opened a file, at most a minute."""
    for _ in range(600):
        time.sleep(0.1)
        if str(path) in map(os.path.realpath, Path(f"/proc/{process}/fd").iterdir()):
            return
    raise AssertionError(f"{path} was not opened")


@pytest.mark.skipif(sys.platform != "linux", reason="the open files of a process are in /proc")
@pytest.mark.parametrize("name", SOURCES)
def test_ctrl_c_in_the_middle_of_a_large_archive_leaves_nothing(tmp_path: Path, name: str) -> None:
    first, _, last = SOURCES[name].rstrip(b"\n").rpartition(b"\n")
    many = gzip.compress((last + b"\n") * (MB // len(last)))
    (tmp_path / name).write_bytes(gzip.compress(first + b"\n") + many * 300)
    with start("import", name, "-o", "g.graph", cwd=tmp_path) as process:
        try:
            wait_until_open(process.pid, tmp_path / name)
            process.send_signal(signal.SIGINT)
            _, error = process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == 130
    assert error == b"nqe: interrupted; nothing is left half-written\n"
    assert files(tmp_path) == [name]
