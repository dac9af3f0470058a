"""The syntaxes of RDF: which one a file has, and what must be known of it before it is parsed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from nqe.readers.source import Source

SYNTAXES = ("turtle", "trig", "n-triples", "n-quads", "rdf-xml")
TURTLE, TRIG, N_TRIPLES, N_QUADS, RDF_XML = SYNTAXES
ENDINGS = {
    ".ttl": TURTLE,
    ".trig": TRIG,
    ".nt": N_TRIPLES,
    ".nq": N_QUADS,
    ".rdf": RDF_XML,
    ".owl": RDF_XML,
}
LINE_SYNTAXES = (N_TRIPLES, N_QUADS)
"""The syntaxes in which a line is a statement, so that a bad one can be skipped."""

_XML = re.compile(r"(<\?xml\s[^>]*>\s*)?(<!--.*?-->\s*)*(<!DOCTYPE\s+rdf:|<rdf:)", re.DOTALL)
_TRIPLE = r"(<[^<>\s]*>|_:\S+)\s*<[^<>\s]*>\s*(<[^<>\s]*>|_:\S+|\"([^\"\\]|\\.)*\"\S*|<<\(.*\)>>)"
_TRIPLE_LINE = re.compile(rf"{_TRIPLE}\s*\.\s*(#.*)?")
_QUAD_LINE = re.compile(rf"{_TRIPLE}\s*(<[^<>\s]*>|_:\S+)\s*\.\s*(#.*)?")
_DIRECTIVE = re.compile(r"@?prefix\s+\S*:\s*<|@?base\s+<|@?version\s+[\"']", re.IGNORECASE)
_STATEMENT = re.compile(
    r"(<<|\{\s*(<|_:)|((graph\s+)?<[^<>\s]*>|_:[\w.-]+)(\s*[{<]|\s+a\s|\s+[\w.-]*:\S*\s|\s*$))",
    re.IGNORECASE,
)
_ENDS = (".", "}")

# So many of the last bytes are searched again together with the next; no sign is longer.
_OVERLAP = 32
_QUOTE = re.compile(rb"<<(?!\()")
_TERM, _BLOCK = b"<<(", b"{|"
# Signs of reifiers, and of Wikidata's statements, by syntax.
_TEXT_MARKS = (b"reifies", b"/prop/statement/", b":predicate", b"#predicate", b"annotatedSource")
_MARKS = {
    TURTLE: (*_TEXT_MARKS, b"~"),
    TRIG: (*_TEXT_MARKS, b"~"),
    N_TRIPLES: _TEXT_MARKS,
    N_QUADS: _TEXT_MARKS,
    RDF_XML: (*_TEXT_MARKS, b":annotation", b"Triple", b":ID="),
}


def detect_syntax(source: Source) -> str | None:
    """The syntax of a source that looks like RDF; None if it does not."""
    lines = [line for line in source.head_lines() if not line.lstrip().startswith("#")]
    if not lines:
        return None
    if _XML.match("\n".join(lines).lstrip()):
        return RDF_XML
    by_ending = detect_ending(source.name)
    if not _looks_like_rdf(lines):
        return None
    # An ending says which of the text syntaxes is meant, as some are parts of others.
    return by_ending if by_ending not in (None, RDF_XML) else _detect_text_syntax(lines)


def detect_ending(name: str) -> str | None:
    """The syntax that a file's name stands for, with or without the ending of a compression."""
    endings = [ENDINGS[suffix] for suffix in Path(name.lower()).suffixes[-2:] if suffix in ENDINGS]
    return endings[-1] if endings else None


def _looks_like_rdf(lines: list[str]) -> bool:
    """Whether lines begin and end as those of RDF; tables of IRIs have no dots at their ends."""
    first = lines[0].lstrip()
    if _DIRECTIVE.match(first):
        return True
    return bool(_STATEMENT.match(first)) and any(line.rstrip().endswith(_ENDS) for line in lines)


def _detect_text_syntax(lines: list[str]) -> str:
    """N-Triples or N-Quads if all lines are such; otherwise TriG, of which Turtle is a part."""
    triples = sum(bool(_TRIPLE_LINE.fullmatch(line.strip())) for line in lines)
    quads = sum(bool(_QUAD_LINE.fullmatch(line.strip())) for line in lines)
    if triples + quads < len(lines):
        return TRIG
    return N_QUADS if quads else N_TRIPLES


@dataclass
class Marks:
    """What the bytes of a file tell of its content, collected while they pass."""

    syntax: str
    quotes: bool = False
    """Whether triples are quoted as in RDF-star: `<<s p o>>`."""
    blocks: bool = False
    """Whether there are annotations `{| … |}` or triple terms `<<( … )>>`, as RDF 1.2 has them."""
    terms: bool = False
    """Whether there are triple terms."""
    others: bool = False
    """Whether there is any other sign of facts that several triples make up."""
    _last: bytes = b""

    @property
    def has_compound_facts(self) -> bool:
        """Whether a fact may be made up of triples in several places."""
        return self.quotes or self.blocks or self.others

    def feed(self, chunk: bytes) -> None:
        """Look at the next bytes."""
        text = self._last + chunk
        # Looking for bytes is much faster than a pattern, which most files need not be tried with.
        self.quotes = self.quotes or (b"<<" in text and bool(_QUOTE.search(text)))
        self.terms = self.terms or _TERM in text
        self.blocks = self.blocks or self.terms or _BLOCK in text
        self.others = self.others or any(sign in text for sign in _MARKS[self.syntax])
        self._last = text[-_OVERLAP:]


def scan(source: Source, syntax: str) -> Marks | None:
    """What the bytes of a whole file tell; None if it can be read only once."""
    if source.size is None:
        return None
    marks = Marks(syntax)
    with Source(source.name) as again:
        for chunk in again.chunks():
            marks.feed(chunk)
    return marks
