"""Reads Wikidata's JSON: dumps with one entity per line, and what its interface gives."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import MsgspecError

from nqe.errors import InputError
from nqe.graph.fact import Fact, Qualifier
from nqe.readers.records import BadLine, DescribedId, Record, Records
from nqe.readers.source import Source
from nqe.readers.wikidata_json import Entity, Snak, Statement, decode_line
from nqe.readers.wikidata_policy import (
    DEPRECATED,
    EXTERNAL_ID,
    IMPOSSIBLE,
    NO_VALUES,
    OTHER_CLASS,
    OTHER_RELATION,
    REDIRECT,
    UNKNOWN_KIND,
    WikidataPolicy,
)
from nqe.readers.wikidata_terms import TermReader
from nqe.readers.wikidata_values import READERS

INSTANCE_OF = "P31"
_ENTITY_ID = re.compile(r"[A-Z][0-9]+")
_NO_END = "the array that the file begins with has no end; the file may be cut short, get it again"
# What decoding raises for a text that is no JSON, has another shape, or is no UTF-8.
_DECODE_ERRORS = (MsgspecError, UnicodeError, RecursionError)


def read(
    source: Source, *, language: str | None = None, policy: WikidataPolicy | None = None
) -> Records:
    """The description and the statements of one entity after another."""
    reader = EntityReader(language, policy or WikidataPolicy())
    number, line, is_array = 0, b"", False
    for number, line in source.byte_lines():
        is_array = is_array or (number == 1 and line.lstrip().startswith(b"["))
        try:
            entities = decode_line(line)
            records = [record for entity in entities for record in reader.list_records(entity)]
        except (*_DECODE_ERRORS, InputError) as error:
            records = [BadLine(_explain(error), line.decode(errors="backslashreplace"))]
        for record in records:
            yield number, record
    if is_array and not line.rstrip().endswith(b"]"):
        yield number, BadLine(_NO_END, line.decode(errors="backslashreplace"))


def _explain(error: Exception) -> str:
    if isinstance(error, InputError):
        return str(error)
    if isinstance(error, UnicodeDecodeError):
        byte = error.object[error.start]
        return f"not UTF-8 text (byte 0x{byte:02x}); save the file as UTF-8"
    return f"no entity of Wikidata ({error}); write each as JSON on a line of its own"


class EntityReader:
    """Turns entities into facts and descriptions, as a policy wants it."""

    def __init__(self, language: str | None, policy: WikidataPolicy) -> None:
        self._terms, self._policy = TermReader(language, policy.labels), policy
        self._left_out = policy.left_out

    def list_records(self, entity: Entity) -> Iterator[Record]:
        """The description of an entity, and a fact for each of its statements that is taken."""
        if entity.redirect is not None:
            self._left_out["entity"][REDIRECT] += 1
            return
        name = _check_entity(entity)
        described = DescribedId(name, self._terms.describe(entity))
        self._policy.entity_count += 1
        yield described
        if not self._is_in_class(entity):
            self._left_out["entity"][OTHER_CLASS] += 1
            return
        keep = self._policy.keep_relations
        for relation, statements in entity.list_statements():
            if keep is not None and relation not in keep:
                self._left_out["statement"][OTHER_RELATION] += len(statements)
                continue
            for statement in statements:
                if fact := self._make_fact(name, statement):
                    yield fact

    def _is_in_class(self, entity: Entity) -> bool:
        wanted = self._policy.keep_classes
        if wanted is None:
            return True
        claims = dict(entity.list_statements()).get(INSTANCE_OF, ())
        taken = (one.mainsnak for one in claims if self._is_taken(one))
        return any(_read_value(snak) in wanted for snak in taken)

    def _is_taken(self, statement: Statement) -> bool:
        return statement.rank != DEPRECATED or self._policy.deprecated

    def _make_fact(self, subject: str, statement: Statement) -> Fact | None:
        if not self._is_taken(statement):
            self._left_out["statement"][DEPRECATED] += 1
            return None
        main = statement.mainsnak
        value = self._find_value(main, "statement")
        if value is None:
            return None
        pairs = self._list_qualifiers(statement) if statement.qualifiers else ()
        return Fact(subject, main.property, value, pairs)

    def _list_qualifiers(self, statement: Statement) -> tuple[Qualifier, ...]:
        if not isinstance(statement.qualifiers, dict):
            return ()
        snaks = (snak for several in statement.qualifiers.values() for snak in several)
        pairs = ((snak.property, self._find_value(snak, "qualifier")) for snak in snaks)
        return tuple((attribute, value) for attribute, value in pairs if value is not None)

    def _find_value(self, snak: Snak, what: str) -> str | None:
        """The id of a snak's value; if there is none to take, the reason is counted."""
        if snak.datatype == "external-id" and not self._policy.external_ids:
            reason = EXTERNAL_ID
        elif snak.datavalue is None or snak.snaktype in NO_VALUES:
            reason = NO_VALUES.get(snak.snaktype, UNKNOWN_KIND)
        elif snak.datavalue.type not in READERS:
            reason = UNKNOWN_KIND
        elif value := _read_value(snak):
            return value
        else:
            reason = IMPOSSIBLE
        self._left_out[what][reason] += 1
        return None


def _read_value(snak: Snak) -> str | None:
    """The id of a snak's value; None if it has none, or one that cannot be, such as 31 June."""
    if snak.datavalue is None or snak.datavalue.type not in READERS:
        return None
    try:
        return READERS[snak.datavalue.type](snak.datavalue.value)
    except (MsgspecError, RecursionError, InputError):
        return None


def _check_entity(entity: Entity) -> str:
    """The id of an entity; a JSON object that is none is an error."""
    if entity.id is None or entity.type is None or not _ENTITY_ID.fullmatch(entity.id):
        raise InputError(
            "no entity of Wikidata: it needs an id such as Q42 and a type such as item; check "
            "that the file is a dump in JSON, or give --format nary if it is JSON of another kind"
        )
    return entity.id
