"""Triples that an endpoint answers, parsed by pyoxigraph, as lines of N-Triples."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from hashlib import blake2b
from typing import Any

import pyoxigraph
from pyoxigraph import BlankNode, RdfFormat, Triple

from nqe.readers import rdf_syntax as syntaxes
from nqe.readers.rdf_limits import choose_limits
from nqe.readers.rdf_names import REIFIES
from nqe.readers.rdf_syntax import Marks
from nqe.readers.rdf_terms import is_anonymous_label
from nqe.readers.sparql_client import Answer, TemporaryFailure

# By media type; N-Triples are parsed as Turtle, as they may quote triples as RDF-star did.
SYNTAXES = {
    "application/n-triples": syntaxes.TURTLE,
    "text/plain": syntaxes.TURTLE,
    "text/ntriples": syntaxes.TURTLE,
    "text/turtle": syntaxes.TURTLE,
    "application/turtle": syntaxes.TURTLE,
    "application/x-turtle": syntaxes.TURTLE,
    "application/rdf+xml": syntaxes.RDF_XML,
}
_PARSERS = {syntaxes.TURTLE: RdfFormat.TURTLE, syntaxes.RDF_XML: RdfFormat.RDF_XML}


def list_lines(answer: Answer, page: int) -> list[bytes]:
    """The triples of an answer, each once, with names for the blank nodes of its page."""
    syntax = SYNTAXES[answer.media_type]
    marks = Marks(syntax)
    marks.feed(answer.body)
    limits = choose_limits("the answer", syntax)
    limits.feed(answer.body)
    try:
        triples = [one.triple for one in pyoxigraph.parse(answer.body, _PARSERS[syntax])]
    except SyntaxError as error:
        raise TemporaryFailure(f"the answer is no complete RDF ({error.msg!s:.200})") from error
    limits.close()
    names = _BlankNames(page)
    if marks.quotes and not marks.blocks:
        names.join_quotes(triples)
    lines = pyoxigraph.serialize(map(names.rename, triples), format=RdfFormat.N_TRIPLES) or b""
    return list(dict.fromkeys(lines.splitlines()))


class _BlankNames:
    """Names for the blank nodes of a page that no other page has."""

    def __init__(self, page: int) -> None:
        self._page = page
        self._names: dict[str, BlankNode] = {}

    def join_quotes(self, triples: Iterable[Triple]) -> None:
        """Give all quotes of a triple one name: RDF-star has no reifiers, only the triple."""
        for triple in _list_anonymous_reifiers(triples):
            quoted = str(self._rename_term(triple.object))
            self._names[triple.subject.value] = _make_anonymous(quoted)

    def rename(self, triple: Triple) -> Triple:
        """A triple with the new names."""
        return Triple(
            self._rename_term(triple.subject), triple.predicate, self._rename_term(triple.object)
        )

    def _rename_term(self, term: Any) -> Any:
        if isinstance(term, Triple):
            return self.rename(term)
        if not isinstance(term, BlankNode):
            return term
        label = term.value
        if label not in self._names:
            # What the RDF reader takes for a node without a label stays one.
            is_anonymous = is_anonymous_label(label)
            new = f"p{self._page}-{label}"
            self._names[label] = _make_anonymous(new) if is_anonymous else BlankNode(new)
        return self._names[label]


def _list_anonymous_reifiers(triples: Iterable[Triple]) -> Iterator[Any]:
    for triple in triples:
        subject = triple.subject
        if (
            triple.predicate.value == REIFIES
            and isinstance(triple.object, Triple)
            and isinstance(subject, BlankNode)
            and is_anonymous_label(subject.value)
        ):
            yield triple


def _make_anonymous(key: str) -> BlankNode:
    """A label such as the parser gives to blank nodes that have none."""
    return BlankNode("a" + blake2b(key.encode(), digest_size=15).hexdigest())
