"""Reads RDF (Turtle, TriG, N-Triples, N-Quads, RDF/XML) with pyoxigraph."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import IO, TYPE_CHECKING, Any

import pyoxigraph
from pyoxigraph import RdfFormat

from nqe.errors import InputError
from nqe.graph.fact import Fact
from nqe.graph.vocabulary import Description
from nqe.readers import rdf_names as names
from nqe.readers import rdf_syntax as syntaxes
from nqe.readers.rdf_facts import NESTED, HeldTriples
from nqe.readers.rdf_labels import LabelCollector
from nqe.readers.rdf_limits import Limits, choose_limits
from nqe.readers.rdf_syntax import Marks
from nqe.readers.rdf_terms import RdfTerms
from nqe.readers.records import BadLine, DescribedId, Record, Records, Skipped
from nqe.readers.source import LONGEST_LINE, Source
from nqe.readers.wikidata_nodes import StatementNodes

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

OTHER_LANGUAGE = "labels and descriptions in other languages"
OF_FACT = "labels and descriptions of facts"
GRAPH_NAME = "names of graphs"

_PARSERS = {
    syntaxes.TURTLE: RdfFormat.TURTLE,
    syntaxes.TRIG: RdfFormat.TRIG,
    syntaxes.N_TRIPLES: RdfFormat.N_TRIPLES,
    syntaxes.N_QUADS: RdfFormat.N_QUADS,
    syntaxes.RDF_XML: RdfFormat.RDF_XML,
}
# In these, a line is a statement, so that reading can go on after a bad one.
_LINE_PARSERS = (RdfFormat.N_TRIPLES, RdfFormat.N_QUADS)
# Bytes to give to the parser at once, at most.
_BUFFER = 1 << 17
_NO_GRAPH = pyoxigraph.DefaultGraph()


def read(source: Source, syntax: str, language: str | None = None, file_number: int = 1) -> Records:
    """The facts of a file, each with the number of its triple; then what describes their ids.

    If a fact may be made up of triples in several places, all are held until the file ends.
    """
    source.head_lines()  # refuses a first line that is too long or no text
    marks = syntaxes.scan(source, syntax)
    reader = _Reader(RdfTerms(file_number), LabelCollector(language), marks)
    passing = Marks(syntax)
    limits = choose_limits(source.name, syntax)
    stream = io.BufferedReader(_CheckedBytes(source, passing, limits), _BUFFER)
    parser = _choose_parser(source, syntax, marks)
    for number, quad in _parse(source.name, stream, parser, syntax):
        if isinstance(quad, BadLine):
            yield number, quad
        else:
            yield from ((number, record) for record in reader.take(number, *quad))
    yield from reader.finish_facts(passing)
    yield from ((0, described) for described in reader.describe())


class _Reader:
    """Makes records of the triples of one file."""

    def __init__(self, terms: RdfTerms, labels: LabelCollector, marks: Marks | None) -> None:
        self._terms, self._labels, self._statements = terms, labels, StatementNodes()
        self._held = HeldTriples(terms, self._statements)
        self._hold = marks is None or marks.has_compound_facts
        self._has_facts = False

    def take(
        self, number: int, subject: Any, predicate: Any, object_: Any, graph: Any
    ) -> Iterator[Record]:
        """What a triple gives at once."""
        if graph != _NO_GRAPH:
            yield Skipped(GRAPH_NAME)
        try:
            yield from self._take_triple(number, subject, predicate.value, object_)
        except InputError as error:  # a literal that does not fit its type
            text = str(pyoxigraph.Triple(subject, predicate, object_))
            yield BadLine(f"triple {number:,}: {error}", text)

    def finish_facts(self, marks: Marks) -> Records:
        """The facts that were held."""
        for number, record in self._held.finish(merge_quotes=marks.quotes and not marks.blocks):
            self._has_facts = self._has_facts or isinstance(record, Fact)
            yield number, record

    def describe(self) -> Iterator[DescribedId | Skipped]:
        """The labels, and the last parts of IRIs without one."""
        for key, description in self._labels.finish():
            is_of_fact = self._held.is_reifier(key)
            name = self._terms.name(key)
            yield Skipped(OF_FACT) if is_of_fact else DescribedId(name, description)
        for name, local in self._terms.list_local_names() if self._has_facts else ():
            if not self._labels.has_label(name):
                yield DescribedId(name, Description(aliases=(local,)))

    def _take_triple(
        self, number: int, subject: Any, predicate: str, object_: Any
    ) -> Iterator[Record]:
        key = self._terms.read(subject)
        if isinstance(object_, pyoxigraph.Triple):
            yield from self._take_quoted(number, key, predicate, object_)
        elif predicate in names.DESCRIBING and isinstance(object_, pyoxigraph.Literal):
            if not self._labels.add(key, predicate, object_):
                language = (object_.language or "").lower()
                yield Skipped(OTHER_LANGUAGE, language if predicate in names.LABELS else None)
        elif taken := self._statements.take(number, subject, predicate, object_, self._terms):
            if not isinstance(taken, bool):
                yield taken
        else:
            triple = key, self._terms.read_iri(predicate), self._terms.read(object_)
            if self._hold:
                self._held.add(number, triple)
            else:
                name, self._has_facts = self._terms.name, True
                yield Fact(name(triple[0]), triple[1], name(triple[2]))

    def _take_quoted(self, number: int, key: str, predicate: str, quoted: Any) -> Iterator[Record]:
        """Take a triple whose object is a triple."""
        inside = quoted.subject, quoted.object
        if predicate != names.REIFIES or any(
            isinstance(term, pyoxigraph.Triple) for term in inside
        ):
            yield Skipped(NESTED)
            return
        if not self._hold:
            raise InputError("rdf:reifies is written with escapes; write it without")
        subject, object_ = map(self._terms.read, inside)
        triple = subject, self._terms.read_iri(quoted.predicate.value), object_
        self._held.add_reifier(number, key, triple)


def _choose_parser(source: Source, syntax: str, marks: Marks | None) -> RdfFormat:
    """The parser of a syntax; N-Triples that quote as RDF-star did are parsed as Turtle."""
    if marks is None:
        marks = Marks(syntax)
        marks.feed(source.head)
    if syntax == syntaxes.N_TRIPLES and marks.quotes and not marks.blocks:
        return RdfFormat.TURTLE
    return _PARSERS[syntax]


def _parse(
    name: str, stream: IO[bytes], parser: RdfFormat, syntax: str
) -> Iterator[tuple[int, Any]]:
    """The triples of a source with their numbers; a bad line of a syntax of lines is a BadLine."""
    quads = pyoxigraph.parse(stream, parser)
    number, last_bad = 0, None
    while True:
        number += 1
        try:
            yield number, next(quads)
        except StopIteration:
            return
        except SyntaxError as error:
            if parser not in _LINE_PARSERS or error.lineno is None:
                place = f"{name}:{error.lineno}" if error.lineno else name
                raise InputError(f"{place}: {_explain(error, syntax)}") from error
            if error.lineno != last_bad:  # a line may be wrong in several ways
                yield error.lineno, BadLine(_explain(error, syntax), "")
            last_bad = error.lineno
        except MemoryError as error:
            raise InputError(
                f"{name}: a triple of more than {LONGEST_LINE >> 20} MB; shorten its texts"
            ) from error


class _CheckedBytes(io.RawIOBase):
    """The bytes of a source, each chunk looked at before the parser gets it."""

    def __init__(self, source: Source, marks: Marks, limits: Limits) -> None:
        self._chunks, self._rest = self._check(source, marks, limits), memoryview(b"")

    @staticmethod
    def _check(source: Source, marks: Marks, limits: Limits) -> Iterator[bytes]:
        for chunk in source.chunks():
            marks.feed(chunk)
            limits.feed(chunk)
            yield chunk
        limits.close()

    def readable(self) -> bool:
        """Always true."""
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        """Put the next bytes into a buffer, and return their number."""
        while not self._rest:
            chunk = next(self._chunks, None)
            if chunk is None:
                return 0
            self._rest = memoryview(chunk)
        view = memoryview(buffer)
        taken = self._rest[: len(view)]
        view[: len(taken)] = taken
        self._rest = self._rest[len(taken) :]
        return len(taken)


_ADVICE = {
    "No scheme found": "a relative IRI needs a base; add one, such as @base <http://…> .",
    "UTF-8": "save the file as UTF-8",
    "utf-8": "save the file as UTF-8",
    "end of file": "the file may be cut short; get it again",
}
"""What to do about an error of the parser, by words in its message."""


def _explain(error: SyntaxError, syntax: str) -> str:
    """Why the parser stopped, and what to do."""
    reason = _find_reason(error)
    advice = next((_ADVICE[words] for words in _ADVICE if words in reason), None)
    others = ", ".join(name for name in syntaxes.SYNTAXES if name != syntax)
    other = f"mend it, or if it is not {syntax}, name its format with --format ({others})"
    return f"{reason}; {advice or other}"


def _find_reason(error: SyntaxError) -> str:
    """What the parser says is wrong, with the column but without the line."""
    reason = str(error.msg)
    place, sign, rest = reason.partition(": ")
    if not (sign and place.startswith("Parser error at line")):
        return reason
    _, _, columns = place.removeprefix("Parser error at line ").partition(" ")
    return f"{rest} ({columns})"
