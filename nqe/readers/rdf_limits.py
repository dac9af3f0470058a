"""Refuses RDF that would fill the memory or crash the parser, before the parser gets it.

pyoxigraph itself refuses a triple of more than 16 MB.
"""

from __future__ import annotations

import re
from typing import Protocol
from xml.parsers import expat

from nqe.errors import InputError
from nqe.readers.rdf_syntax import LINE_SYNTAXES, RDF_XML, Marks
from nqe.readers.source import LONGEST_LINE

DEEPEST_TERM = 100
"""How many triple terms may stand in each other; the parser crashes at some ten thousand."""
DEEPEST_XML = 2_000
"""How many XML elements may stand in each other; the parser's time grows with their square."""

# So many of the last bytes are searched again together with the next; no entity is longer.
_OVERLAP = 512
# An XML entity that stands for a short text without further entities.
_ENTITY = re.compile(
    rb"""<!ENTITY(\s+[\w.-]+\s+("[^"&%]{0,200}"|'[^'&%]{0,200}')\s*>"""
    rb"""|\s*[\w.-]*\s*("[^"&%]{0,200}"?|'[^'&%]{0,200}'?)?\s*\Z)"""  # cut by the chunk's end
)
# The most bytes of a text in which such entities can stand.
_LONGEST_WITH_ENTITIES = 1 << 20
# Turtle in parts of which each is complete, whatever follows.
_PARTS = re.compile(
    rb"""[^"'#<)\\]+|\\.|<[^<>"{}|^`\\\s]*>|\#[^\n]*\n|(?P<open><<\()|(?P<close>\)>>)"""
    rb"""|"{3}([^"\\]|\\.|"(?!""))*"{3}|"([^"\\]|\\.)*"(?=[^"])"""
    rb"""|'{3}([^'\\]|\\.|'(?!''))*'{3}|'([^'\\]|\\.)*'(?=[^'])|[<)](?=..)""",
    re.DOTALL,
)
_CUT_SHORT = ("no element found", "unclosed token")


class Limits(Protocol):
    """What looks at all bytes of a file in their order."""

    def feed(self, chunk: bytes) -> None:
        """Look at the next bytes; what is refused is an InputError."""

    def close(self) -> None:
        """Look at the end of the file."""


def choose_limits(name: str, syntax: str, marks: Marks | None) -> Limits:
    """The limits for a file of a syntax; the marks are None if it was not looked through."""
    if syntax == RDF_XML:
        return _XmlLimits(name)
    if syntax in LINE_SYNTAXES:
        return _LineLimits(name)
    return _TermLimits(name) if marks is None or marks.terms else _NoLimits()


class _NoLimits:
    def feed(self, chunk: bytes) -> None:
        """Any bytes will do."""

    def close(self) -> None:
        """Any end will do."""


class _RunLimit:
    """Refuses bytes without a sign among them, such as a line without end."""

    def __init__(self, sign: bytes, what: str) -> None:
        self._sign, self._what, self._length = sign, what, 0
        self.most = LONGEST_LINE

    def feed(self, chunk: bytes) -> list[bytes]:
        """Look at the next bytes, and return them split at the signs."""
        parts = chunk.split(self._sign)
        lengths = [self._length + len(parts[0]), *map(len, parts[1:])]
        if max(lengths) > self.most:
            raise InputError(f"{self._what} of more than {self.most >> 20} MB; shorten it")
        self._length = lengths[-1]
        return parts


class _LineLimits(_NoLimits):
    """Refuses long lines, and lines with triple terms in each other."""

    def __init__(self, name: str) -> None:
        self._name, self._lines, self._depth = name, _RunLimit(b"\n", f"{name}: a line"), 0

    def feed(self, chunk: bytes) -> None:
        """Look at the next lines."""
        lines = self._lines.feed(chunk)
        if b"<<(" not in chunk:
            self._depth = self._depth if len(lines) == 1 else 0
            return
        counts = [line.count(b"<<(") for line in lines]
        counts[0] += self._depth
        _check_depth(max(counts), self._name)
        self._depth = counts[-1]


class _TermLimits(_NoLimits):
    """Refuses Turtle with many triple terms in each other; strings and comments do not count."""

    def __init__(self, name: str) -> None:
        self._name, self._rest, self._depth = name, b"", 0

    def feed(self, chunk: bytes) -> None:
        """Look at the next bytes."""
        text, end = self._rest + chunk, 0
        while found := _PARTS.match(text, end):
            end = found.end()
            self._depth += bool(found["open"]) - bool(found["close"] and self._depth)
            _check_depth(self._depth, self._name)
        self._rest = text[end:]
        if len(self._rest) > LONGEST_LINE + len(chunk):
            raise InputError(f"{self._name}: a text of more than {LONGEST_LINE >> 20} MB")


class _XmlLimits:
    """Refuses what is no XML, endless texts, deep elements, and entities that blow texts up.

    pyoxigraph does not tell the lines of errors in XML, and does not notice a missing end.
    """

    def __init__(self, name: str) -> None:
        self._name, self._depth, self._last = name, 0, b""
        self._texts = _RunLimit(b"<", f"{name}: a text between two tags")
        self._parser = expat.ParserCreate()
        self._parser.StartElementHandler = self._open
        self._parser.EndElementHandler = self._close

    def feed(self, chunk: bytes) -> None:
        """Look at the next bytes."""
        self._check_entities(self._last + chunk)
        self._last = (self._last + chunk)[-_OVERLAP:]
        self._texts.feed(chunk)
        self._parse(chunk)

    def close(self) -> None:
        """Look at the end of the file."""
        self._parse(b"", is_last=True)

    def _check_entities(self, text: bytes) -> None:
        for found in re.finditer(rb"<!ENTITY", text):
            self._texts.most = _LONGEST_WITH_ENTITIES
            if not _ENTITY.match(text, found.start()):
                raise InputError(
                    f"{self._name}: an XML entity that is longer than 200 characters or uses "
                    "others; write its text where it is used"
                )

    def _parse(self, chunk: bytes, *, is_last: bool = False) -> None:
        try:
            self._parser.Parse(chunk, is_last)
        except expat.ExpatError as error:
            reason = expat.ErrorString(error.code)
            cut = reason in _CUT_SHORT
            advice = "the file may be cut short; get it again" if cut else "mend it"
            raise InputError(f"{self._name}:{error.lineno}: {reason}; {advice}") from error

    def _open(self, *_: object) -> None:
        self._depth += 1
        if self._depth > DEEPEST_XML:
            raise InputError(
                f"{self._name}:{self._parser.CurrentLineNumber}: more than {DEEPEST_XML:,} "
                "elements in each other; write them one after another"
            )

    def _close(self, _: object) -> None:
        self._depth -= 1


def _check_depth(depth: int, name: str) -> None:
    if depth > DEEPEST_TERM:
        raise InputError(
            f"{name}: more than {DEEPEST_TERM} triple terms in each other; a fact here is about "
            "entities, so leave them out"
        )
