"""Refuses RDF that would fill the memory or crash the parser, before the parser gets it.

pyoxigraph itself refuses a triple of more than 16 MB.
"""

from __future__ import annotations

import re
from typing import Protocol
from xml.parsers import expat

from nqe.errors import InputError
from nqe.readers.rdf_syntax import LINE_SYNTAXES, RDF_XML
from nqe.readers.source import LONGEST_LINE

DEEPEST_TERM = 100
"""How many triple terms may stand in each other; the parser crashes at some ten thousand."""
DEEPEST_BRACKET = 2_000
"""How many brackets may stand in each other in Turtle; each takes memory until it is closed."""
DEEPEST_XML = 2_000
"""How many XML elements may stand in each other; the parser's time grows with their square."""

# So many of the last bytes are searched again together with the next; no entity is longer.
_OVERLAP = 512
# An XML entity that stands for a short text without further entities.
_ENTITY = re.compile(
    rb"""<!ENTITY(\s+[\w.-]+\s+("[^"&%]{0,200}"|'[^'&%]{0,200}')\s*>"""
    rb"""|\s*[\w.-]*\s*("[^"&%]{0,200}"?|'[^'&%]{0,200}'?)?\s*\Z)"""  # cut by the chunk's end
)
# The most bytes of a text in which such entities or tags can stand, as each takes much memory.
_LONGEST_MARKED_TEXT = 1 << 20
# Turtle up to its next bracket, in parts of which each is whole, also if more bytes follow.
_NO_BRACKETS = re.compile(
    rb"""(?:[^"'#<>()\[\]{}\\]++|\\.|<[^<>"{}|^`\\\s]*+>|\#[^\n]*+\n"""
    rb"""|<(?!<|[^<>"{}|^`\\\s]*+\Z)|>(?!>|\Z)"""
    rb"""|"{3}(?:[^"\\]++|\\.|"(?!""))*+"{3}|"(?!"")(?:[^"\\]++|\\.)*+"(?=[^"])"""
    rb"""|'{3}(?:[^'\\]++|\\.|'(?!''))*+'{3}|'(?!'')(?:[^'\\]++|\\.)*+'(?=[^']))*+""",
    re.DOTALL,
)
_BRACKET = re.compile(rb"<<|>>|[\[\](){}]")
_STEPS = {b"<<": 1, b">>": -1, b"[": 1, b"]": -1, b"(": 1, b")": -1, b"{": 1, b"}": -1}
# What rdf:parseType can be; anything else means XML as a value.
_PARSE_TYPES = ("Resource", "Collection", "Triple")
_CUT_SHORT = ("no element found", "unclosed token")


class Limits(Protocol):
    """What looks at all bytes of a file in their order."""

    def feed(self, chunk: bytes) -> None:
        """Look at the next bytes; what is refused is an InputError."""

    def close(self) -> None:
        """Look at the end of the file."""


def choose_limits(name: str, syntax: str) -> Limits:
    """The limits for a file of a syntax."""
    if syntax == RDF_XML:
        return _XmlLimits(name)
    if syntax in LINE_SYNTAXES:
        return _LineLimits(name)
    return _BracketLimits(name)


class _LineLimits:
    """Refuses long lines, and lines with triple terms in each other."""

    def __init__(self, name: str) -> None:
        self._name, self._length, self._depth = name, 0, 0

    def feed(self, chunk: bytes) -> None:
        """Look at the next lines."""
        lines = chunk.split(b"\n")
        lengths = [self._length + len(lines[0]), *map(len, lines[1:])]
        if max(lengths) > LONGEST_LINE:
            raise InputError(
                f"{self._name}: a line of more than {LONGEST_LINE >> 20} MB; shorten it"
            )
        self._length = lengths[-1]
        if b"<<(" not in chunk:
            self._depth = self._depth if len(lines) == 1 else 0
            return
        counts = [line.count(b"<<(") for line in lines]
        counts[0] += self._depth
        _check_depth(max(counts), self._name)
        self._depth = counts[-1]

    def close(self) -> None:
        """Any end will do."""


class _BracketLimits:
    """Refuses Turtle with many brackets in each other, but for those in strings and comments."""

    def __init__(self, name: str) -> None:
        self._name, self._rest, self._terms, self._brackets = name, b"", 0, 0

    def feed(self, chunk: bytes) -> None:
        """Look at the next bytes."""
        self._rest = self._count(self._rest + chunk)
        if len(self._rest) > LONGEST_LINE + len(chunk):
            raise InputError(
                f"{self._name}: a text of more than {LONGEST_LINE >> 20} MB; shorten it"
            )

    def close(self) -> None:
        """Any end will do."""

    def _count(self, text: bytes) -> bytes:
        """Count the brackets, and return what remains of a part that is cut by the text's end."""
        place = 0
        while True:
            skipped = _NO_BRACKETS.match(text, place)
            place = skipped.end() if skipped else place
            found = _BRACKET.match(text, place)
            if found is None:
                return text[place:]
            place = found.end()
            self._step(found[0])

    def _step(self, bracket: bytes) -> None:
        if len(bracket) == 2:
            self._terms = max(0, self._terms + _STEPS[bracket])
            _check_depth(self._terms, self._name)
            return
        self._brackets = max(0, self._brackets + _STEPS[bracket])
        if self._brackets > DEEPEST_BRACKET:
            raise InputError(
                f"{self._name}: more than {DEEPEST_BRACKET:,} brackets in each other; name the "
                "blank nodes, and write them one after another"
            )


class _XmlLimits:
    """Refuses what is no XML, endless texts, deep elements, and entities that blow texts up.

    pyoxigraph does not tell the lines of errors in XML, and does not notice a missing end.
    """

    def __init__(self, name: str) -> None:
        self._name, self._depth, self._last = name, 0, b""
        self._most, self._fed, self._tag = LONGEST_LINE, 0, 0
        self._literal: int | None = None
        self._parser = expat.ParserCreate()
        self._parser.StartElementHandler = self._open
        self._parser.EndElementHandler = self._close

    def feed(self, chunk: bytes) -> None:
        """Look at the next bytes."""
        self._check_entities(self._last + chunk)
        self._last = (self._last + chunk)[-_OVERLAP:]
        self._parse(chunk)
        self._fed += len(chunk)
        most = self._most if self._literal is None else _LONGEST_MARKED_TEXT
        if self._fed - self._tag > most:
            raise InputError(
                f"{self._name}: a tag, a comment or a text between two tags of more than "
                f"{most >> 20} MB; shorten it"
            )

    def close(self) -> None:
        """Look at the end of the file."""
        self._parse(b"", is_last=True)

    def _check_entities(self, text: bytes) -> None:
        for found in re.finditer(rb"<!ENTITY", text):
            self._most = _LONGEST_MARKED_TEXT
            if not _ENTITY.match(text, found.start()):
                raise InputError(
                    f"{self._name}: an XML entity that is longer than 200 characters or uses "
                    "others or a file; write its text where it is used"
                )

    def _parse(self, chunk: bytes, *, is_last: bool = False) -> None:
        try:
            self._parser.Parse(chunk, is_last)
        except expat.ExpatError as error:
            reason = expat.ErrorString(error.code)
            cut = reason in _CUT_SHORT
            advice = "the file may be cut short; get it again" if cut else "mend it"
            raise InputError(f"{self._name}:{error.lineno}: {reason}; {advice}") from error

    def _open(self, _: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth > DEEPEST_XML:
            raise InputError(
                f"{self._name}:{self._parser.CurrentLineNumber}: more than {DEEPEST_XML:,} "
                "elements in each other; write them one after another"
            )
        if self._literal is None:
            self._tag = self._parser.CurrentByteIndex
            if attributes and _holds_xml(attributes):
                self._literal = self._depth

    def _close(self, _: str) -> None:
        if self._literal in (None, self._depth):
            self._tag, self._literal = self._parser.CurrentByteIndex, None
        self._depth -= 1


def _holds_xml(attributes: dict[str, str]) -> bool:
    """Whether what an element of such attributes holds is one value, with the tags in it."""
    return any(
        name.endswith(":parseType") and value not in _PARSE_TYPES
        for name, value in attributes.items()
    )


def _check_depth(depth: int, name: str) -> None:
    if depth > DEEPEST_TERM:
        raise InputError(
            f"{name}: more than {DEEPEST_TERM} triple terms in each other; a fact here is about "
            "entities, so leave them out"
        )
