"""SPARQL endpoints that fail: waiting, trying again, giving up, and going on afterwards."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

pytest.importorskip("pyoxigraph", reason="pyoxigraph, which the endpoint runs on, is missing")

from helpers import files
from sparql_server import BUSY, HTML, RESULTS, TURTLE, Endpoint, Reply, fail, serve

from nqe.errors import InputError, StorageError
from nqe.readers import EndpointQuery, read, sparql_client, sparql_pages
from nqe.readers.seen_lines import SeenLines
from nqe.readers.sparql_client import LONGEST_WAIT, TRIES

PREFIX = "PREFIX : <http://e/> "
ROADS = PREFIX + "SELECT ?subject (:road AS ?relation) ?object { ?subject :road ?object } "
ORDERED = ROADS + "ORDER BY ?subject"
CONSTRUCT = PREFIX + "CONSTRUCT { ?s :road ?o } WHERE { ?s :road ?o } ORDER BY ?s"
BOTH = pytest.mark.parametrize("text", [ORDERED, CONSTRUCT])


@dataclass
class Importer:
    """Imports the roads of an endpoint, and remembers what was said."""

    endpoint: Endpoint
    folder: Path | None = None
    told: list[str] = field(default_factory=list)
    waits: list[float] = field(default_factory=list)

    def count_facts(self, text: str = ORDERED, page_size: int = 2) -> int:
        query = EndpointQuery(text, page_size, self.folder, self.told.append, self.waits.append)
        return len(read(self.endpoint.source, query=query).graph)

    def fail(self, problem: str, text: str = ORDERED, page_size: int = 2) -> str:
        with pytest.raises(InputError, match=problem) as caught:
            self.count_facts(text, page_size)
        assert str(caught.value).startswith(self.endpoint.url)
        assert ";" in str(caught.value)
        return str(caught.value)


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with serve(
        PREFIX + ":a :road :b . :b :road :c . :c :road :d . :d :road :e . :e :road :a ."
    ) as one:
        yield one


@pytest.fixture
def importer(endpoint: Endpoint) -> Importer:
    return Importer(endpoint)


# Waiting.


@pytest.mark.parametrize("status", [429, 503])
def test_the_wait_that_an_endpoint_asks_for_is_kept(importer: Importer, status: int) -> None:
    importer.endpoint.faults = {2: fail(status, "slow down", Retry_After="7")}
    assert importer.count_facts() == 5
    assert importer.waits == [7.0]
    assert f"{status} " in importer.told[0]
    assert "slow down; asking again in 7 s" in importer.told[0]


def test_a_wait_may_be_told_as_a_date(importer: Importer) -> None:
    now, later = "Wed, 21 Oct 2099 07:28:00 GMT", "Wed, 21 Oct 2099 07:28:30 GMT"
    assert sparql_client._read_wait(_message(**{"Retry-After": later, "Date": now})) == 30.0
    importer.endpoint.faults = {1: fail(429, Retry_After=later)}
    importer.fail("asks to wait [0-9,]* seconds; try again later")


def _message(**headers: str) -> sparql_client.Message:
    message = sparql_client.Message()
    for name, value in headers.items():
        message[name] = value
    return message


@pytest.mark.parametrize(
    ("written", "seconds"),
    [("0", 0.0), ("120", 120.0), ("soon", None), ("", None), ("-5", None), ("9" * 50, 1e12)],
)
def test_a_wait_is_a_number_of_seconds(written: str, seconds: float | None) -> None:
    found = sparql_client._read_wait(_message(**{"Retry-After": written}))
    assert found == pytest.approx(seconds)


def test_a_date_that_is_over_is_no_wait() -> None:
    headers = _message(**{"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"})
    assert sparql_client._read_wait(headers) == 0.0


def test_who_is_told_to_wait_too_long_stops(importer: Importer) -> None:
    importer.endpoint.always = fail(429, "", Retry_After=str(int(LONGEST_WAIT) + 1))
    importer.fail("asks to wait 3,601 seconds; try again later")
    assert importer.waits == []


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
def test_other_failures_are_tried_again_after_longer_and_longer(
    importer: Importer, status: int
) -> None:
    importer.endpoint.faults = {number: fail(status) for number in (2, 3, 4)}
    assert importer.count_facts() == 5
    assert importer.waits == [1.0, 2.0, 4.0]


def test_after_a_few_failures_in_a_row_one_sentence_says_so(importer: Importer) -> None:
    trace = "SPARQL-QUERY: queryStr=SELECT 1\njava.lang.Error: out of time\n at Main\n"
    importer.endpoint.always = fail(500, trace)
    problem = importer.fail("java.lang.Error: out of time")
    assert problem.endswith(f"({TRIES} times in a row); try again later")
    assert len(importer.endpoint.queries) == TRIES


def test_an_endpoint_that_always_asks_to_wait_is_given_up(importer: Importer) -> None:
    importer.endpoint.always = BUSY
    importer.fail("30 times in a row")


@BOTH
def test_an_answer_that_breaks_off_is_asked_for_again(importer: Importer, text: str) -> None:
    importer.endpoint.faults = {1: 20, 2: 0, 4: 30}
    assert importer.count_facts(text) == 5
    assert importer.waits == [1.0, 2.0, 1.0]
    assert "bytes are missing" in importer.told[0]


def test_a_compressed_answer_that_breaks_off_is_asked_for_again(importer: Importer) -> None:
    importer.endpoint.compress = True
    importer.endpoint.faults = {1: 30}
    assert importer.count_facts() == 5
    assert len(importer.waits) == 1


@pytest.mark.parametrize(
    ("text", "reply"),
    [
        (ORDERED, Reply(200, b'{"head": {"vars": []}, "results"', {"Content-Type": RESULTS})),
        (ORDERED, Reply(200, b'{"boolean": true}', {"Content-Type": RESULTS})),
        (ORDERED, Reply(200, b"[" * 100_000, {"Content-Type": RESULTS})),
        (ORDERED, Reply(206, b"{}", {"Content-Type": RESULTS})),
        (ORDERED, Reply(200, b"{}", {"Content-Type": RESULTS, "X-SQL-State": "S1TAT"})),
    ],
)
def test_a_part_of_a_result_is_never_taken_for_all_of_it(
    importer: Importer, text: str, reply: Reply
) -> None:
    importer.endpoint.faults = {2: reply}
    assert importer.count_facts(text) == 5
    assert importer.waits == [1.0]


@pytest.mark.parametrize("cell", ["5", "{}", '{"type": "uri"}', '{"value": "a"}', "[1]", '"a"'])
def test_a_cell_that_is_no_term_is_no_result(importer: Importer, cell: str) -> None:
    body = f'{{"head": {{"vars": ["s"]}}, "results": {{"bindings": [{{"s": {cell}}}]}}}}'
    importer.endpoint.always = Reply(200, body.encode(), {"Content-Type": RESULTS})
    importer.fail("no complete result in JSON")


@pytest.mark.parametrize(
    "cell",
    [
        '{"type": "uri", "value": "\\ud800"}',
        '{"type": "uri", "value": "a\\u0000b"}',
        '{"type": "bnode", "value": "a\\nb"}',
        '{"type": "literal", "value": "\\ud800"}',
        '{"type": "literal", "value": "a", "xml:lang": 5.5}',
        '{"type": "literal", "value": ["a"], "datatype": "http://www.w3.org/2001/XMLSchema#date"}',
    ],
)
def test_a_term_that_can_be_no_id_is_a_bad_line(importer: Importer, cell: str) -> None:
    term = '{"type": "uri", "value": "a:a"}'
    row = f'{{"subject": {term}, "relation": {term}, "object": {cell}}}'
    body = (
        '{"head": {"vars": ["subject", "relation", "object"]}, '
        f'"results": {{"bindings": [{row}]}}}}'
    )
    importer.endpoint.faults = {1: Reply(200, body.encode(), {"Content-Type": RESULTS})}
    with pytest.raises(InputError, match=r"1\.lines:1: "):
        importer.count_facts(ROADS + "LIMIT 1")


def test_rdf_that_is_cut_or_followed_by_an_error_is_asked_for_again(importer: Importer) -> None:
    cut = b"<http://e/a> <http://e/road> <http://e/b> .\njava.lang.Error: out of time"
    importer.endpoint.faults = {2: Reply(200, cut, {"Content-Type": TURTLE})}
    assert importer.count_facts(CONSTRUCT) == 5
    assert len(importer.waits) == 1


def test_an_endpoint_that_is_not_there_is_given_up() -> None:
    with serve("") as endpoint:
        pass
    importer = Importer(endpoint)
    importer.fail("the connection failed .*refused.*5 times in a row")
    assert importer.waits == [1.0, 2.0, 4.0, 8.0]


# What is refused at once.


def test_a_wrong_query_gives_the_endpoint_s_own_message(importer: Importer) -> None:
    problem = importer.fail("400 Bad Request: Malformed query: ", "SELECT ?x { ?x }")
    assert problem.endswith("; correct the query")
    assert len(importer.endpoint.queries) == 1


def test_a_message_in_html_is_shown_as_text(importer: Importer) -> None:
    page = b"<html><head><title>No</title></head><body><p>No such&nbsp;page</p></body></html>"
    importer.endpoint.always = Reply(404, page, {"Content-Type": "text/html"})
    assert importer.fail("404 Not Found: ").endswith(": No such page; check the address")


@BOTH
def test_a_page_about_the_endpoint_is_no_result(importer: Importer, text: str) -> None:
    importer.endpoint.always = HTML
    importer.fail(
        "an answer of the type text/html, where application/.* was asked for; check", text
    )
    assert len(importer.endpoint.queries) == 1


def test_more_rows_than_asked_for_are_refused(importer: Importer) -> None:
    importer.endpoint.ignores_limits = True
    importer.fail("5 rows where at most 2 were asked for")


@BOTH
def test_an_endpoint_that_ignores_offsets_is_refused(importer: Importer, text: str) -> None:
    importer.endpoint.ignores_limits = True
    importer.fail("the same page for every OFFSET", text, 5)


def test_pages_that_are_rightly_the_same_are_taken(importer: Importer) -> None:
    text = PREFIX + "SELECT (:a AS ?subject) (:r AS ?relation) (:b AS ?object) { ?s :road ?o }"
    assert importer.count_facts(text, 1) == 1
    # The five pages, the last one, and one question beyond all offsets.
    assert len(importer.endpoint.queries) == 7


@pytest.mark.parametrize("compress", [False, True])
def test_a_page_may_not_fill_the_memory(
    importer: Importer, compress: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sparql_client, "LARGEST_PAGE", 1 << 20)
    body = b" " * (3 << 20)
    headers = {"Content-Type": RESULTS} | ({"Content-Encoding": "gzip"} if compress else {})
    sent = gzip.compress(body) if compress else body
    importer.endpoint.always = Reply(200, sent, headers)
    importer.fail("a page of more than 1 MB; give a smaller --page-size")


# How it is asked.


def test_requests_name_the_program_and_its_version(importer: Importer) -> None:
    importer.count_facts()
    assert {agent.split()[0] for agent in importer.endpoint.agents} == {"nqe/0.1.0"}


def test_a_long_query_is_sent_in_the_body(importer: Importer) -> None:
    importer.count_facts(ORDERED + " # " + "x" * 3_000)
    assert set(importer.endpoint.methods) == {"POST"}
    importer.count_facts()
    assert "GET" in importer.endpoint.methods


@pytest.mark.parametrize("status", [301, 302, 307, 308])
@pytest.mark.parametrize("comment", ["", "# " + "x" * 3_000])
def test_redirects_are_followed_with_the_query(
    endpoint: Endpoint, status: int, comment: str
) -> None:
    with serve("") as old:
        old.always = Reply(status, b"", {"Location": endpoint.url})
        if not comment:
            text = ORDERED + "\nLIMIT 5 OFFSET 0\n"
            target = f"{endpoint.url}?{sparql_client.urlencode({'query': text})}"
            old.always = Reply(status, b"", {"Location": target})
        query = EndpointQuery(ORDERED + " LIMIT 5" + comment, 5)
        assert len(read(old.source, query=query).graph) == 5


def test_a_redirect_to_a_file_is_refused(importer: Importer) -> None:
    importer.endpoint.always = Reply(302, b"", {"Location": "file:///etc/hosts"})
    importer.fail("302 .*; check the address")


def test_redirects_without_end_are_refused(importer: Importer) -> None:
    importer.endpoint.always = Reply(302, b"", {"Location": importer.endpoint.url + "?query=x"})
    importer.fail("302 .*; check the address")


def test_compressed_answers_are_read(importer: Importer) -> None:
    importer.endpoint.compress = True
    assert importer.count_facts() == importer.count_facts(CONSTRUCT) == 5


# Going on.


@pytest.fixture
def kept(importer: Importer, tmp_path: Path) -> Importer:
    """An importer that keeps pages."""
    importer.folder = tmp_path / "kept"
    return importer


@BOTH
def test_an_import_goes_on_after_the_last_page_that_was_stored(kept: Importer, text: str) -> None:
    per_page = 1 if text is ORDERED else 2
    kept.endpoint.faults = {2 * per_page + 1 + n: fail(500) for n in range(TRIES)}
    assert kept.fail("500", text).endswith("; run the same command to go on after page 2")
    before = len(kept.endpoint.queries)
    assert kept.count_facts(text) == 5
    # The third page, and one without solutions.
    assert len(kept.endpoint.queries) - before == per_page + 1
    assert kept.told[-1] == f"{kept.folder}: going on after page 2"


def test_a_complete_result_is_not_asked_for_again_until_it_is_cleared(kept: Importer) -> None:
    kept.count_facts()
    before = len(kept.endpoint.queries)
    assert kept.count_facts() == 5
    assert len(kept.endpoint.queries) == before
    EndpointQuery(ORDERED, folder=kept.folder).clear()
    assert kept.folder is not None
    assert not kept.folder.exists()


@pytest.mark.parametrize(("text", "page_size"), [(ROADS, 2), (ORDERED, 3)])
def test_another_query_or_page_size_starts_afresh_and_says_so(
    kept: Importer, text: str, page_size: int
) -> None:
    kept.endpoint.always = None
    kept.count_facts()
    before = len(kept.endpoint.queries)
    assert kept.count_facts(text, page_size) == 5
    assert len(kept.endpoint.queries) > before
    assert "pages of another query or address; starting afresh" in kept.told[0]


def test_another_address_starts_afresh(kept: Importer) -> None:
    kept.count_facts()
    with serve(PREFIX + ":x :road :y .") as other:
        assert Importer(other, kept.folder, kept.told).count_facts() == 1
    assert "starting afresh" in kept.told[0]


@pytest.mark.parametrize("damage", [b"", b"{}", b"\xff", b'{"version": 1}'])
def test_a_damaged_state_starts_afresh(kept: Importer, damage: bytes) -> None:
    kept.count_facts()
    assert kept.folder is not None
    (kept.folder / "1.json").write_bytes(damage)
    assert kept.count_facts() == 5


def test_lines_that_are_missing_start_afresh_and_too_many_are_cut(kept: Importer) -> None:
    kept.count_facts()
    assert kept.folder is not None
    lines = kept.folder / "1.lines"
    lines.write_bytes(lines.read_bytes() + b'{"half')
    before = len(kept.endpoint.queries)
    assert kept.count_facts() == 5
    assert len(kept.endpoint.queries) == before
    lines.write_bytes(lines.read_bytes()[:-5])
    assert kept.count_facts() == 5
    assert len(kept.endpoint.queries) > before


def test_ctrl_c_keeps_the_pages(kept: Importer) -> None:
    kept.endpoint.faults = {3: BUSY}

    def interrupt(_: float) -> None:
        raise KeyboardInterrupt

    query = EndpointQuery(ORDERED, 2, kept.folder, kept.told.append, interrupt)
    with pytest.raises(KeyboardInterrupt):
        read(kept.endpoint.source, query=query)
    assert kept.told[-1].endswith("2 page(s) are kept, to go on with")
    before = len(kept.endpoint.queries)
    assert kept.count_facts() == 5
    assert len(kept.endpoint.queries) - before == 2


def test_a_failure_of_the_first_page_leaves_nothing(kept: Importer, tmp_path: Path) -> None:
    kept.endpoint.always = HTML
    kept.fail("text/html")
    assert files(tmp_path) == []


def test_clearing_leaves_other_files_alone(kept: Importer) -> None:
    kept.count_facts()
    assert kept.folder is not None
    (kept.folder / "mine.txt").touch()
    EndpointQuery(ORDERED, folder=kept.folder).clear()
    assert files(kept.folder) == ["mine.txt"]


def test_two_imports_do_not_write_the_same_pages(kept: Importer) -> None:
    assert kept.folder is not None
    with (
        sparql_pages.hold_folder(kept.folder),
        pytest.raises(StorageError, match="is being written by"),
    ):
        kept.count_facts()


def test_two_endpoints_keep_their_pages_apart(kept: Importer) -> None:
    with serve(PREFIX + ":x :road :y .") as other:
        query = EndpointQuery(ORDERED, 2, kept.folder)
        sources = [kept.endpoint.source, other.source]
        assert len(read(sources, query=query).graph) == 6
        assert len(read(sources, query=query).graph) == 6
        assert len(other.queries) == 2


def test_lines_are_new_only_once() -> None:
    seen = SeenLines([b"a", b"b"])
    assert seen.add([b"b", b"c", b"c"]) == [False, True, True]
    assert seen.add([b"a", b"c", b"d"]) == [False, False, True]
