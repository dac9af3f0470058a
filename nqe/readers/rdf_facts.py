"""Facts of which RDF tells a part in each triple: reified triples, and Wikidata's statements.

What states a fact, and what only annotates one:

- A triple states a fact. So does a statement node of Wikidata, unless its rank is deprecated.
- A reifier annotates the triple that it reifies, and states nothing. If the triple is stated in the
  file, each of its reifiers is one fact, whose qualifiers are the triples about the reifier.
  Otherwise it is left out. A node with rdf:subject, rdf:predicate and rdf:object, or with the parts
  of an annotated axiom of OWL, is a reifier of that triple.
- A triple in which a reifier or a statement stands elsewhere is about a fact. Facts here are about
  entities, so it is left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from nqe.graph.fact import Fact
from nqe.readers.rdf_names import DESCRIBING, REIFICATIONS, REIFIED_PARTS, TYPE
from nqe.readers.rdf_terms import RdfTerms, Triple, is_anonymous
from nqe.readers.records import Records, Skipped
from nqe.readers.wikidata_nodes import StatementNodes

NESTED = "triples about facts"
UNSTATED = "quoted triples that are stated nowhere"
OF_LABELS = "annotations of labels and descriptions"

Pairs = dict[tuple[str, str], None]
"""Attributes and values in their order; as RDF is a set of triples, each pair is there once."""


@dataclass
class HeldTriples:
    """All triples of a file, until it is known which of them belong together."""

    terms: RdfTerms
    statements: StatementNodes
    _stated: dict[Triple, int] = field(default_factory=dict)
    """Each triple, with the number of its first place in the file."""
    _repeated: Counter[Triple] = field(default_factory=Counter)
    _reified: dict[str, dict[Triple, int]] = field(default_factory=dict)
    """The triples that each reifier reifies, with their places."""
    _parts: dict[str, dict[str, list[str]]] = field(default_factory=dict)
    """What each node has as the subject, relation and object of the triple that it reifies."""

    def add(self, number: int, triple: Triple) -> None:
        """Take a triple that is stated."""
        node, relation, value = triple
        if relation in REIFIED_PARTS and triple not in self._stated:
            self._parts.setdefault(node, {}).setdefault(relation, []).append(value)
        if self._stated.setdefault(triple, number) != number:
            self._repeated[triple] += 1

    def add_reifier(self, number: int, reifier: str, triple: Triple) -> None:
        """Take a triple that a reifier reifies."""
        self._reified.setdefault(reifier, {}).setdefault(triple, number)

    def is_reifier(self, key: str) -> bool:
        """Whether a key is that of a reifier, after all facts were collected."""
        return key in self._reified

    def finish(self, *, merge_quotes: bool) -> Records:
        """All facts; if `merge_quotes`, the quotes of a triple without a name are one reifier."""
        self._find_reifiers()
        annotations: dict[str, Pairs] = {}
        yield from self._annotate(annotations)
        facts: dict[Triple, list[Pairs]] = {}
        yield from self._collect(annotations, facts, merge_quotes=merge_quotes)
        direct = self.statements.list_triples()
        for triple, number in self._stated.items():
            subject, _, object_ = triple
            if subject in self._reified or subject in self.statements:
                continue
            if self._is_fact(object_):
                yield number, Skipped(NESTED)
            elif triple in facts:
                yield from ((number, self._write(triple, pairs)) for pairs in facts[triple])
            elif triple not in direct:
                fact = self._write(triple, {})
                yield from ((number, fact) for _ in range(1 + self._repeated[triple]))
        yield from self.statements.finish(self.terms)

    def _find_reifiers(self) -> None:
        """Make reifiers of the nodes that name each part of a triple once."""
        for node, values in self._parts.items():
            for type_, names in REIFICATIONS.items():
                found = [values.get(name, []) for name in names]
                if any(len(one) != 1 for one in found):
                    continue
                subject, relation, object_ = (one[0] for one in found)
                number = self._stated[node, names[0], subject]
                self.add_reifier(number, node, (subject, relation, object_))
                for name in names:
                    del self._stated[node, name, values[name][0]]
                self._stated.pop((node, TYPE, type_), None)

    def _annotate(self, annotations: dict[str, Pairs]) -> Iterator[tuple[int, Skipped]]:
        """Collect the attributes and values of each reifier; tell which are left out."""
        for (subject, relation, object_), number in self._stated.items():
            if subject not in self._reified:
                continue
            if self._is_fact(object_):
                yield number, Skipped(NESTED)
            else:
                annotations.setdefault(subject, {})[relation, object_] = None

    def _collect(
        self,
        annotations: dict[str, Pairs],
        facts: dict[Triple, list[Pairs]],
        *,
        merge_quotes: bool,
    ) -> Iterator[tuple[int, Skipped]]:
        """Collect the qualifiers of each fact of a reified triple; tell which are left out."""
        merged: dict[Triple, Pairs] = {}
        for reifier, triples in self._reified.items():
            pairs = annotations.get(reifier, {})
            for triple, number in triples.items():
                if self._is_fact(triple[0]) or self._is_fact(triple[2]):
                    yield number, Skipped(NESTED)
                elif triple not in self._stated:
                    yield number, Skipped(OF_LABELS if triple[1] in DESCRIBING else UNSTATED)
                elif merge_quotes and is_anonymous(reifier):
                    if triple not in merged:
                        merged[triple] = {}
                        facts.setdefault(triple, []).append(merged[triple])
                    merged[triple].update(pairs)
                elif pairs or not is_anonymous(reifier):
                    facts.setdefault(triple, []).append(pairs)

    def _is_fact(self, key: str) -> bool:
        return key in self._reified or key in self.statements

    def _write(self, triple: Triple, pairs: Pairs) -> Fact:
        name = self.terms.name
        qualifiers = tuple((attribute, name(value)) for attribute, value in pairs)
        return Fact(name(triple[0]), triple[1], name(triple[2]), qualifiers)
