"""Receives the result of a query page by page, until the endpoint has no more.

The offset of the next page is moved by the solutions that the last one had, however many were asked
for, as endpoints may give fewer. A page without solutions is the end. The triples of a CONSTRUCT do
not tell how many solutions they are made of, so these are counted by a SELECT first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from nqe.errors import InputError
from nqe.progress import Progress
from nqe.readers import sparql_results as results
from nqe.readers.seen_lines import SeenLines
from nqe.readers.sparql_client import Answer, Client
from nqe.readers.sparql_pages import StoredPages
from nqe.readers.sparql_query import CONSTRUCT, SparqlQuery
from nqe.readers.sparql_results import Page

BEYOND = 1_000_000_000
"""An offset after the last solution of any result, to see whether an endpoint heeds offsets."""


@dataclass
class Download:
    """Receives the pages of one result."""

    query: SparqlQuery
    client: Client
    stored: StoredPages
    check_header: Callable[[Sequence[str]], None]
    """Refuses the names of columns that cannot be used, before more pages are asked for."""
    _seen: SeenLines = field(init=False)
    _last_sketch: bytes | None = None
    _heeds_offsets: bool = False

    def __post_init__(self) -> None:
        is_complete = self.stored.state.is_complete
        self._seen = SeenLines(() if is_complete else self.stored.list_lines())

    def run(self, progress: Progress) -> None:
        """Receive all pages that are missing."""
        if self.stored.state.header:
            self.check_header(self.stored.state.header)
        while not self.stored.state.is_complete:
            state = self.stored.state
            progress.update(0, state.lines, f"{self.client.url}, page {state.pages + 1}")
            self._receive_page()

    def describe(self) -> str | None:
        """What must be known of a result in pages; None if it has a single one, or an order."""
        state = self.stored.state
        if self.query.is_ordered or state.pages < 2:
            return None
        rows = "solutions" if self.query.form == CONSTRUCT else "rows"
        repeats = f" ({state.repeated:,} came on several)" if state.repeated else ""
        repeats = "" if self.query.form == CONSTRUCT else repeats
        return (
            f"{self.client.url}: the query has no ORDER BY, so its {state.pages:,} pages may "
            f"repeat or miss {rows}{repeats}; add one to be sure"
        )

    def _receive_page(self) -> None:
        """Receive the next page and store it; one without solutions ends the result."""
        state = self.stored.state
        most, offset = self._find_window()
        count, page = self._fetch(most, offset) if most else (0, Page([]))
        if not count:
            self.stored.append(
                [], replace(state, header=state.header or page.header, is_complete=True)
            )
            return
        if not state.pages and self.query.form != CONSTRUCT:
            self.check_header(page.header)
        self._check_progress(page)
        is_new = self._seen.add(page.lines)
        lines = page.lines
        if self.query.form == CONSTRUCT:  # which gives a set of triples
            lines = [line for line, new in zip(lines, is_new, strict=True) if new]
        self.stored.append(
            lines,
            replace(
                state,
                pages=state.pages + 1,
                solutions=state.solutions + count,
                lines=state.lines + len(lines),
                repeated=state.repeated + is_new.count(False),
                header=state.header or page.header,
            ),
        )

    def _find_window(self) -> tuple[int, int]:
        """How many solutions to ask for, and how many to skip."""
        state, limit = self.stored.state, self.query.limit
        rest = state.page_size if limit is None else limit - state.solutions
        return min(state.page_size, rest), self.query.offset + state.solutions

    def _fetch(self, most: int, offset: int) -> tuple[int, Page]:
        """The number of solutions on the page at an offset, and the page."""
        if self.query.form != CONSTRUCT:
            page = self._ask_rows(self.query.write_page(most, offset), most)
            return len(page.lines), page
        count = len(self._ask_rows(self.query.write_count(most, offset), most).lines)
        if not count:
            return 0, Page([])
        text = self.query.write_page(count, offset)
        return count, self._ask(text, results.TRIPLES, results.parse_triples)

    def _ask_rows(self, text: str, most: int) -> Page:
        page = self._ask(text, results.ROWS, results.parse_rows)
        if len(page.lines) > most:
            raise InputError(
                f"{self.client.url}: {len(page.lines):,} rows where at most {most:,} were asked "
                "for, so the endpoint cannot give pages; save the result, and import the file"
            )
        return page

    def _ask(self, text: str, accept: str, parse: results.Parse) -> Page:
        number = self.stored.state.pages + 1

        def read(answer: Answer) -> Page:
            try:
                return parse(answer, number)
            except InputError as error:
                raise InputError(f"{self.client.url}: {error}") from error

        return self.client.ask(text, accept, read)

    def _check_progress(self, page: Page) -> None:
        """Refuse an endpoint that gives the same page for every offset."""
        sketch = page.sketch()
        if sketch == self._last_sketch and not self._heeds_offsets:
            write = self.query.write_page
            if self.query.form == CONSTRUCT:
                write = self.query.write_count
            if self._ask(write(1, BEYOND), results.ROWS, results.parse_rows).lines:
                raise InputError(
                    f"{self.client.url}: the same page for every OFFSET, so the endpoint cannot "
                    "give pages; give a --page-size larger than the result"
                )
            self._heeds_offsets = True
        self._last_sketch = sketch
