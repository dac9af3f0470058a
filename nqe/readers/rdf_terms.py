"""Terms of RDF as ids: IRIs, blank nodes and literals."""

from __future__ import annotations

import re
from typing import Any

import pyoxigraph

from nqe.readers.rdf_names import find_local_name, read_iri, read_typed

Triple = tuple[str, str, str]
"""Subject, relation and object: ids, or the keys of blank nodes."""

# The parser gives a blank node without a label a random one: 128 bits, without leading zeros.
_ANONYMOUS = re.compile(r"[a-f][0-9a-f]{22,31}")
# Before the label of a blank node in its key; no id has this character.
_BLANK = "\0"


class RdfTerms:
    """Makes ids of the terms of one file.

    While a file is read, a blank node is a key. It becomes an id when a fact has it, as most are
    none: the reifiers of triples.
    """

    def __init__(self, file_number: int = 1) -> None:
        # Blank nodes of different files are different, whatever their labels are.
        self._ending = "" if file_number == 1 else f"@{file_number}"
        self._ids: dict[str, str] = {}
        self._anonymous: dict[str, str] = {}

    def read(self, term: Any) -> str:
        """The id of an IRI or a literal, or the key of a blank node.

        A literal that does not fit its datatype is an InputError.
        """
        if isinstance(term, pyoxigraph.NamedNode):
            return self.read_iri(term.value)
        if isinstance(term, pyoxigraph.BlankNode):
            return _BLANK + term.value
        return read_literal(term)

    def read_iri(self, iri: str) -> str:
        """The id of an IRI; the same text whenever it is read."""
        name = self._ids.get(iri)
        if name is None:
            self._ids[iri] = name = read_iri(iri)
        return name

    def name(self, key: str) -> str:
        """The id of a key: `_:label` for a blank node that has one, `_:[1]` for the first other."""
        if not key.startswith(_BLANK):
            return key
        if not is_anonymous(key):
            return f"_:{key[1:]}{self._ending}"
        if key not in self._anonymous:
            self._anonymous[key] = f"_:[{len(self._anonymous) + 1}]{self._ending}"
        return self._anonymous[key]

    def list_local_names(self) -> list[tuple[str, str]]:
        """Every id that is an IRI, with its last part."""
        pairs = ((name, find_local_name(name)) for name in self._ids.values())
        return [(name, local) for name, local in pairs if local]


def read_literal(literal: Any) -> str:
    """The id of a literal; one that does not fit its datatype is an InputError."""
    return read_typed(literal.value, literal.datatype.value, find_language(literal))


def find_iri(term: Any) -> str:
    """The IRI of a term; empty if it is none."""
    return term.value if isinstance(term, pyoxigraph.NamedNode) else ""


def find_lexical(term: Any) -> str | None:
    """How a literal is written; None for an IRI or a blank node."""
    return term.value if isinstance(term, pyoxigraph.Literal) else None


def find_language(literal: Any) -> str | None:
    """The language of a text, with its direction if it has one; None if it has no language."""
    language: str | None = literal.language
    direction = f"--{literal.direction.value}" if literal.direction else ""
    return f"{language}{direction}" if language else None


def is_blank(key: str) -> bool:
    """Whether a key is that of a blank node."""
    return key.startswith(_BLANK)


def is_anonymous(key: str) -> bool:
    """Whether a key is that of a blank node without a label."""
    return is_blank(key) and is_anonymous_label(key[1:])


def is_anonymous_label(label: str) -> bool:
    """Whether the label of a blank node is one that the parser made."""
    return bool(_ANONYMOUS.fullmatch(label))
